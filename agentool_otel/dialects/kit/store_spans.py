"""An operation from a type, a name, an input and an output, which is how trace stores keep them.

The input and output are whatever the traced function was given and gave back: a provider's request
and response, a framework's state, or plain values.
"""

from __future__ import annotations

import re
from typing import Any

from agentool_otel.dialects.kit import langchain_values as langchain
from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.provider_messages import json_or_text, parts_from
from agentool_otel.dialects.kit.reading import Reader
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
    """The operation of a chain or function: a run where it is the root and says something.

    Below the root such spans are steps of a program, and the operations are inside them.
    """
    if span.span.parent_id is not None or not any(key in span.rest for key in keys):
        return None
    return "invoke_agent" if span.span.name == "LangGraph" else "invoke_workflow"


def read_call(
    span: Reader, operation: str | None, name: str | None, given: str, gave: str
) -> Operation:
    """Read a span of a store.

    Args:
        span: the span.
        operation: its `gen_ai.operation.name`; None where it stands for no operation.
        name: what was called.
        given: the attribute that holds the input.
        gave: the attribute that holds the output.
    """
    name = name or span.span.name or None
    if operation is None:
        return onto.unclassified(span)
    if operation == "embeddings":  # whose content no field takes
        return onto.as_operation(span, operation)
    put_in, put_out = span.json(given), span.json(gave)
    if operation in ("chat", "text_completion"):
        _read_request(span, put_in)
        _read_response(span, put_out)
        onto.include_cache(span)
    elif operation == "execute_tool":
        onto.put(span, gen_ai.TOOL_NAME, name)
        _read_tool(span, put_in, put_out)
    elif operation in ("invoke_agent", "invoke_workflow"):
        own = gen_ai.AGENT_NAME if operation == "invoke_agent" else gen_ai.WORKFLOW_NAME
        onto.put(span, own, name)
        onto.put(span, gen_ai.INPUT_MESSAGES, onto.said(_only_argument(put_in), "user") or None)
        onto.put(span, gen_ai.OUTPUT_MESSAGES, _answer(put_out) or None)
    elif operation == "retrieval":
        onto.set_query(span, put_in)
        onto.set_documents(span, put_out)
    return onto.as_operation(span, operation)


def _read_tool(span: Reader, put_in: Any, put_out: Any) -> None:
    if put_in is not onto.UNSET:
        onto.put(span, gen_ai.TOOL_CALL_ARGUMENTS, langchain.unwrapped_call(put_in))
    given = langchain.tool_message(put_out)
    if given is not None:
        onto.put(span, gen_ai.TOOL_CALL_ID, given.call_id)
        if given.failed:
            onto.put(span, agentool.TOOL_ERROR, str(given.content))
        put_out = given.content
    elif isinstance(put_out, dict) and put_out.keys() == {"output"}:
        put_out = put_out["output"]
    onto.set_result(span, put_out)


def _only_argument(put_in: Any) -> Any:
    """What a traced function was called with, where that was one value."""
    put_in = langchain.unwrapped_call(put_in)
    if isinstance(put_in, dict) and put_in.keys() == {"args", "kwargs"}:
        args = put_in["args"]
        if not put_in["kwargs"] and isinstance(args, list) and len(args) == 1:
            return args[0]
    return put_in


def _answer(put_out: Any) -> list[Message]:
    """What a run answered: of a state that holds the whole conversation, its last words."""
    said = onto.said(_messages_in(put_out), "assistant")
    spoken = [it for it in said if it.get("role") == "assistant" and text_of(it)]
    return (spoken or said)[-1:]


def _read_request(span: Reader, put_in: Any) -> None:
    if not isinstance(put_in, dict):
        sent, offered = _without_definitions(put_in)
        onto.put(span, gen_ai.INPUT_MESSAGES, onto.said(sent, "user") or None)
        onto.put(span, gen_ai.TOOL_DEFINITIONS, onto.definitions(offered) or None)
        return
    if isinstance(put_in.get("modelId"), str):
        put_in = _of_bedrock(put_in)
    set_parameters(span, put_in)
    onto.put(span, gen_ai.TOOL_DEFINITIONS, onto.definitions(put_in.get("tools")) or None)
    if "messages" in put_in or "contents" in put_in or "input" in put_in:
        onto.set_system(span, put_in.get("system", put_in.get("instructions")))
        sent = next(put_in[key] for key in ("messages", "contents", "input") if key in put_in)
        if isinstance(sent, list) and any(isinstance(it, str) for it in sent):
            sent = [message("user", parts_from(sent))]  # Google takes the parts of one message
        onto.put(span, gen_ai.INPUT_MESSAGES, onto.said(sent, "user") or None)
    else:
        onto.put(span, gen_ai.INPUT_MESSAGES, onto.said(put_in, "user") or None)


def _of_bedrock(put_in: dict[str, Any]) -> dict[str, Any]:
    """A request to Bedrock: `converse`, or `invoke_model` with the one to the model as its body."""
    config, body = put_in.get("toolConfig"), json_or_text(put_in.get("body"))
    tools = config.get("tools") if isinstance(config, dict) else None
    inner = body if isinstance(body, dict) else {}
    return {"model": put_in["modelId"], "tools": tools, **put_in, **inner}


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


def _read_response(span: Reader, put_out: Any) -> None:
    if put_out == "None":  # what some SDKs write for an answer that was only a tool call
        return
    if isinstance(put_out, str) and _PRINTED.fullmatch(put_out):  # a stream that nobody read
        return
    if isinstance(put_out, dict) and "ResponseMetadata" in put_out and "body" in put_out:
        put_out = put_out["body"]  # of Bedrock's `invoke_model`; a stream is a word
        if not isinstance(put_out, dict):
            return
    answered = onto.said(_messages_in(put_out), "assistant")
    if isinstance(put_out, dict):
        if isinstance(put_out.get("output"), list):  # its items are parts of one answer
            answered = _as_one(answered)
        if isinstance(put_out.get("model"), str):
            onto.put(span, gen_ai.RESPONSE_MODEL, put_out["model"])
        if isinstance(put_out.get("id"), str) and "choices" in put_out:
            onto.put(span, gen_ai.RESPONSE_ID, put_out["id"])
        set_usage(span, put_out.get("usage"))
    onto.put(span, gen_ai.OUTPUT_MESSAGES, answered or None)


def _as_one(said: list[Message]) -> list[Message]:
    if len(said) < 2 or any(it.get("role") != "assistant" for it in said):
        return said
    return [message("assistant", [part for it in said for part in parts_of(it)])]


def _messages_in(put_out: Any) -> Any:
    """The messages in a provider's or LangChain's response."""
    put_out = json_or_text(put_out)
    if not isinstance(put_out, dict):
        return put_out
    choices = put_out.get("choices")
    if isinstance(choices, list) and choices:
        return choices
    candidates = put_out.get("candidates")
    if isinstance(candidates, list):
        contents = [one.get("content") for one in candidates if isinstance(one, dict)]
        return [content for content in contents if isinstance(content, dict)]
    generated = put_out.get("generations")
    while isinstance(generated, list) and len(generated) == 1 and isinstance(generated[0], list):
        generated = generated[0]
    if isinstance(generated, list):
        return [_generated(one) for one in generated if isinstance(one, dict)]
    if isinstance(put_out.get("output"), list):  # of the responses API
        return put_out["output"]
    return put_out


def _generated(one: dict[str, Any]) -> dict[str, Any]:
    inner = one.get("message")
    if isinstance(inner, dict):
        return inner
    return {"role": "assistant", "content": one.get("text")}


def set_parameters(span: Reader, parameters: Any) -> None:
    """Set the model and the settings of a request from an object that may hold them."""
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
            told = inner.get("reasoning_tokens", inner.get("reasoning"))
            counts.setdefault("reasoning", told)
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
    known = {
        key: value
        for key, value in costs.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    for key in ("total", "total_cost", "totalCost"):
        if key in known:
            return known[key]
    return sum(known.values()) if known else None
