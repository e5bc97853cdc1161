"""An operation from a type, a name, an input and an output, which is how trace stores keep them.

The input and output are whatever the traced function received and returned: a provider's request
and response, a framework's state, or plain values.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import langchain_values as langchain
from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.provider_messages import json_or_text, parts_from
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.messages import Message, message, parts_of, text_of
from agentool_otel.model.operations import Operation
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["read_call", "read_costs", "run_at_root", "set_parameters", "set_usage"]

_PRINTED = re.compile(r"<[\w.]+ object at 0x[0-9a-f]+>")
_PARAMETERS = {
    "model": gen_ai.REQUEST_MODEL,
    "temperature": gen_ai.REQUEST_TEMPERATURE,
    "top_p": gen_ai.REQUEST_TOP_P,
    "max_tokens": gen_ai.REQUEST_MAX_TOKENS,
    "max_completion_tokens": gen_ai.REQUEST_MAX_TOKENS,
    "max_output_tokens": gen_ai.REQUEST_MAX_TOKENS,
    "frequency_penalty": gen_ai.REQUEST_FREQUENCY_PENALTY,
    "presence_penalty": gen_ai.REQUEST_PRESENCE_PENALTY,
    "seed": gen_ai.REQUEST_SEED,
}
_TOKENS = {
    gen_ai.USAGE_INPUT_TOKENS: ("input_tokens", "prompt_tokens", "inputTokens", "promptTokens"),
    gen_ai.USAGE_OUTPUT_TOKENS: (
        *("output_tokens", "completion_tokens", "outputTokens", "completionTokens"),
    ),
    gen_ai.USAGE_TOTAL_TOKENS: ("total_tokens", "totalTokens", "tokens"),
    gen_ai.USAGE_CACHE_READ_INPUT_TOKENS: (
        *("cache_read_input_tokens", "prompt_cached_tokens", "cachedInputTokens"),
        *("cache_read", "cacheReadInputTokens", "cachedContentTokens"),
    ),
    gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS: (
        *("cache_creation_input_tokens", "prompt_cache_creation_tokens", "cache_creation"),
        "cacheCreationInputTokens",
    ),
    gen_ai.USAGE_REASONING_OUTPUT_TOKENS: (
        *("reasoning_tokens", "completion_reasoning_tokens", "reasoningTokens", "reasoning"),
        "thoughtsTokens",
    ),
}


def run_at_root(span: Reader, *keys: str) -> str | None:
    """Return the operation of a chain or function: a run if it is a root with any content.

    Below the root such spans are steps of a program, and the operations are inside them.
    """
    if span.span.parent_id is not None or not any(key in span.rest for key in keys):
        return None
    return "invoke_agent" if span.span.name == "LangGraph" else "invoke_workflow"


def read_call(
    span: Reader, operation: str | None, name: str | None, input_key: str, output_key: str
) -> Operation:
    """Read a span of a store.

    Args:
        span: the span.
        operation: its `gen_ai.operation.name`; None if it stands for no operation.
        name: the name of the function or agent.
        input_key: the attribute that holds the input.
        output_key: the attribute that holds the output.
    """
    name = name or span.span.name or None
    if operation is None:
        return onto.unclassified(span)
    if operation == "embeddings":  # whose content no field takes
        return onto.as_operation(span, operation)
    input_value, output_value = span.json(input_key), span.json(output_key)
    if operation in ("chat", "text_completion"):
        _read_request(span, input_value)
        _read_response(span, output_value)
        onto.include_cache(span)
    elif operation == "execute_tool":
        onto.put(span, gen_ai.TOOL_NAME, name)
        _read_tool(span, input_value, output_value)
    elif operation in ("invoke_agent", "invoke_workflow"):
        name_key = gen_ai.AGENT_NAME if operation == "invoke_agent" else gen_ai.WORKFLOW_NAME
        onto.put(span, name_key, name)
        onto.put_input(span, _only_argument(input_value))
        onto.put(span, gen_ai.OUTPUT_MESSAGES, _answer(output_value) or None)
    elif operation == "retrieval":
        onto.set_query(span, input_value)
        onto.set_documents(span, output_value)
    return onto.as_operation(span, operation)


def _read_tool(span: Reader, input_value: Any, output_value: Any) -> None:
    if input_value is not onto.UNSET:
        onto.put(span, gen_ai.TOOL_CALL_ARGUMENTS, langchain.unwrapped_call(input_value))
    tool_message = langchain.tool_message(output_value)
    if tool_message is not None:
        onto.put(span, gen_ai.TOOL_CALL_ID, tool_message.call_id)
        if tool_message.failed:
            onto.put(span, agentool.TOOL_ERROR, str(tool_message.content))
        output_value = tool_message.content
    elif isinstance(output_value, dict) and output_value.keys() == {"output"}:
        output_value = output_value["output"]
    onto.set_result(span, output_value)


def _only_argument(input_value: Any) -> Any:
    """Return the only argument of a traced function; None unless there was exactly one."""
    input_value = langchain.unwrapped_call(input_value)
    if isinstance(input_value, dict) and input_value.keys() == {"args", "kwargs"}:
        args = input_value["args"]
        if not input_value["kwargs"] and isinstance(args, list) and len(args) == 1:
            return args[0]
    return input_value


def _answer(output_value: Any) -> list[Message]:
    """Return the answer of a run: of a state with the whole conversation, the last answer in it."""
    messages = onto.as_messages(_messages_in(output_value), "assistant")
    answers = [item for item in messages if item.get("role") == "assistant" and text_of(item)]
    return (answers or messages)[-1:]


def _read_request(span: Reader, input_value: Any) -> None:
    if not isinstance(input_value, dict):
        sent, offered = _without_definitions(input_value)
        onto.put_input(span, sent)
        onto.put(span, gen_ai.TOOL_DEFINITIONS, onto.definitions(offered) or None)
        return
    if isinstance(input_value.get("modelId"), str):
        input_value = _of_bedrock(input_value)
    set_parameters(span, input_value)
    onto.put(span, gen_ai.TOOL_DEFINITIONS, onto.definitions(input_value.get("tools")) or None)
    if "messages" in input_value or "contents" in input_value or "input" in input_value:
        onto.set_system(span, input_value.get("system", input_value.get("instructions")))
        sent = next(
            input_value[key] for key in ("messages", "contents", "input") if key in input_value
        )
        if isinstance(sent, list) and any(isinstance(item, str) for item in sent):
            sent = [message("user", parts_from(sent))]  # Google takes the parts of one message
        onto.put_input(span, sent)
    else:
        onto.put_input(span, input_value)


def _of_bedrock(input_value: dict[str, Any]) -> dict[str, Any]:
    """A request to Bedrock: `converse`, or `invoke_model` with the one to the model as its body."""
    config, body = input_value.get("toolConfig"), json_or_text(input_value.get("body"))
    tools = config.get("tools") if isinstance(config, dict) else None
    inner = body if isinstance(body, dict) else {}
    return {"model": input_value["modelId"], "tools": tools, **input_value, **inner}


def _without_definitions(sent: Any) -> tuple[Any, list[Any]]:
    """Messages without the tool definitions that Langfuse's LangChain callback puts among them."""
    if not isinstance(sent, list):
        return sent, []
    messages: list[Any] = []
    tools: list[Any] = []
    for item in sent:
        content = item.get("content") if isinstance(item, dict) else None
        is_definition = isinstance(content, dict) and content.get("type") == "function"
        (tools if is_definition else messages).append(content if is_definition else item)
    return messages, tools


def _read_response(span: Reader, output_value: Any) -> None:
    if output_value == "None":  # what some SDKs write for an answer that was only a tool call
        return
    if isinstance(output_value, str) and _PRINTED.fullmatch(
        output_value
    ):  # a stream that nobody read
        return
    if (
        isinstance(output_value, dict)
        and "ResponseMetadata" in output_value
        and "body" in output_value
    ):
        output_value = output_value["body"]  # of Bedrock's `invoke_model`; a stream is a word
        if not isinstance(output_value, dict):
            return
    answered = onto.as_messages(_messages_in(output_value), "assistant")
    if isinstance(output_value, dict):
        if isinstance(output_value.get("output"), list):  # its items are parts of one answer
            answered = _as_one(answered)
        if isinstance(output_value.get("model"), str):
            onto.put(span, gen_ai.RESPONSE_MODEL, output_value["model"])
        if isinstance(output_value.get("id"), str) and "choices" in output_value:
            onto.put(span, gen_ai.RESPONSE_ID, output_value["id"])
        set_usage(span, output_value.get("usage"))
    onto.put(span, gen_ai.OUTPUT_MESSAGES, answered or None)


def _as_one(messages: list[Message]) -> list[Message]:
    if len(messages) < 2 or any(item.get("role") != "assistant" for item in messages):
        return messages
    return [message("assistant", [part for item in messages for part in parts_of(item)])]


def _messages_in(output_value: Any) -> Any:
    """The messages in a provider's or LangChain's response."""
    output_value = json_or_text(output_value)
    if not isinstance(output_value, dict):
        return output_value
    choices = output_value.get("choices")
    if isinstance(choices, list) and choices:
        return choices
    candidates = output_value.get("candidates")
    if isinstance(candidates, list):
        contents = [one.get("content") for one in candidates if isinstance(one, dict)]
        return [content for content in contents if isinstance(content, dict)]
    generated = output_value.get("generations")
    while isinstance(generated, list) and len(generated) == 1 and isinstance(generated[0], list):
        generated = generated[0]
    if isinstance(generated, list):
        return [_generated_text(one) for one in generated if isinstance(one, dict)]
    if isinstance(output_value.get("output"), list):  # of the responses API
        return output_value["output"]
    return output_value


def _generated_text(one: dict[str, Any]) -> dict[str, Any]:
    inner = one.get("message")
    if isinstance(inner, dict):
        return inner
    return {"role": "assistant", "content": one.get("text")}


def set_parameters(span: Reader, parameters: Any) -> None:
    """Set the model and the settings of a request from an object that may have them."""
    for key, attribute in _PARAMETERS.items():
        value = parameters.get(key) if isinstance(parameters, dict) else None
        fits = isinstance(value, str if key == "model" else (int, float))
        onto.put(span, attribute, value if fits else None)


def set_usage(span: Reader, usage: Any) -> None:
    """Set token counts from an object in any provider's or store's spelling."""
    usage = json_or_text(usage)
    if not isinstance(usage, dict):
        return
    counts = dict(usage)
    for outer in ("prompt_tokens_details", "input_tokens_details", "input_token_details"):
        inner = usage.get(outer)
        if isinstance(inner, dict):
            counts.setdefault("cache_read", inner.get("cached_tokens", inner.get("cache_read")))
            counts.setdefault("cache_creation", inner.get("cache_creation"))
    for outer in ("completion_tokens_details", "output_tokens_details", "output_token_details"):
        inner = usage.get(outer)
        if isinstance(inner, dict):
            reasoning_tokens = inner.get("reasoning_tokens", inner.get("reasoning"))
            counts.setdefault("reasoning", reasoning_tokens)
    for attribute, keys in _TOKENS.items():
        for key in keys:
            value = counts.get(key)
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if isinstance(value, int) and not isinstance(value, bool):
                onto.put(span, attribute, value)


def read_costs(costs: Any) -> float | None:
    """Return the total of a store's costs by part, which are US dollars."""
    costs = json_or_text(costs)
    if isinstance(costs, bool) or not isinstance(costs, (dict, int, float)):
        return None
    if isinstance(costs, (int, float)):
        return costs
    numbers = {
        key: value
        for key, value in costs.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    for key in ("total", "total_cost", "totalCost"):
        if key in numbers:
            return numbers[key]
    return sum(numbers.values()) if numbers else None
