"""`input.value`, `output.value` and invocation parameters: whatever an instrumentor had at hand.

Source: openinference-instrumentation-{openai 0.1.66, langchain 0.1.80, openai-agents 2.6.0,
smolagents 0.1.43, crewai 1.1.21}, recorded in `tests/fixtures/spans`; Agno, ADK and Claude Agent
SDK from collected traces.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, structs

from agentool_otel.dialects.kit import langchain_values as langchain
from agentool_otel.dialects.kit.flattened import members, tree
from agentool_otel.dialects.kit.provider_messages import agent_messages, json_or_text
from agentool_otel.dialects.kit.python_text import object_in
from agentool_otel.dialects.kit.reading import LazyJson, Reader
from agentool_otel.dialects.kit.store_spans import set_usage
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.messages import Message, Part, message, parts_of, text
from agentool_otel.model.operations import ToolExecution
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.semconv import gen_ai
from agentool_otel.semconv import openinference as oi

__all__ = [
    "agent_of",
    "arguments",
    "complete_messages",
    "completions",
    "crewai_role",
    "drop",
    "handoff_target",
    "is_plumbing",
    "is_whole_run",
    "join_messages",
    "langchain_agent",
    "messages",
    "prompts",
    "query",
    "response_id",
    "result",
    "take_call",
    "take_parameters",
    "take_usage",
    "task",
    "unwrap_result",
    "write_parameters",
    "write_value",
]

_MIME = {oi.INPUT_VALUE: oi.INPUT_MIME_TYPE, oi.OUTPUT_VALUE: oi.OUTPUT_MIME_TYPE}
_OPENAI_AGENTS = (
    "openinference.instrumentation.openai_agents",
    "@arizeai/openinference-instrumentation-openai-agents",
)
_CALLS = ("tool_call", "tool_call_response")
_AGNO_USAGE = re.compile(
    r"^ModelResponse\(.*response_usage=Metrics\(input_tokens=(\d+), output_tokens=(\d+)", re.DOTALL
)
_ROLE = re.compile(r"\brole='([^']+)' goal=")
_RESPONSE_ID = re.compile(r'(?<!\\)"id":\s?"((?:chatcmpl|resp|msg)[\w-]+)"')


# -------------------------------------------------------------------------------------- values


def drop(span: Reader, key: str) -> None:
    """Remove a value that repeats others."""
    span.rest.pop(key, None)
    span.rest.pop(_MIME[key], None)


def take(span: Reader, key: str) -> Any:
    """Take a value: JSON by its MIME type or its look, else text; UNSET if there is none.

    Spec: a value without a MIME type is text; in practice it is often an object.
    """
    mime = span.rest.get(_MIME[key])
    value = span.rest.get(key)
    structured = not isinstance(value, str) or value[:1] in ("{", "[")
    if mime == oi.JSON or (mime is None and structured):
        value = span.lazy_json(key)
    else:
        value = span.text(key)
    if value is None and key in span.rest:
        value = UNSET
    if key not in span.rest:
        span.rest.pop(_MIME[key], None)
    return UNSET if value is None and mime != oi.JSON else value


def write_value(key: str, value: Any, into: Attributes) -> None:
    """Write a value with its MIME type."""
    if value is UNSET:
        return
    if isinstance(value, str):
        into[key], into[_MIME[key]] = value, oi.TEXT
    else:
        into[key] = value.text if isinstance(value, LazyJson) else dumps(value)
        into[_MIME[key]] = oi.JSON


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, LazyJson) else value


def query(span: Reader) -> str | None:
    """Take the query of a retrieval."""
    value = _plain(take(span, oi.INPUT_VALUE))
    if isinstance(value, dict):
        words = value.get("query", value.get("input"))
        return words if isinstance(words, str) else dumps(value)
    return value if isinstance(value, str) else None


# ------------------------------------------------------------------------------------ messages


def messages(span: Reader, key: str, role: str) -> list[Message]:
    """Take the messages in a value; a value that holds none is one message."""
    value = take(span, key)
    if "content='" in (value.text if isinstance(value, LazyJson) else str(value)):
        value = langchain.parse_printed_messages(_plain(value))  # LangChain's, until early 2025
    return [] if value is UNSET else agent_messages(value, role)


def complete_messages(span: Reader, key: str, messages: list[Message]) -> list[Message]:
    """Return messages completed from the span's value, which holds the same ones.

    The value's replace them if calls lack their ids or a message its content (LangChain JS), or if
    a message may have held more tool results than the names have room for (Anthropic JS, Bedrock).
    Otherwise what flattened messages have no name for is added: LangChain's reasoning, and that a
    result is an error.
    """
    value = span.rest.get(key)
    complete = _complete(messages)
    if complete and not (isinstance(value, str) and _leaves_out(value, messages)):
        return messages
    value = json_or_text(value)
    recorded = agent_messages(value, "user") if isinstance(value, (dict, list)) else []
    system = [item for item in messages if item.get("role") == "system"]
    if not any(
        item.get("role") == "system" for item in recorded
    ):  # of Anthropic, apart from the others
        recorded = system + recorded
    alike = [_turn(item) for item in recorded] == [_turn(item) for item in messages]
    if not complete:
        return recorded if alike else messages
    return _with_errors(_with_thoughts(messages, recorded) if alike else messages, recorded)


def _turn(item: Message) -> Any:
    """Return the role that a message counts for; for Anthropic's models, tool results come from the
    user.
    """
    return "tool" if _answers_a_call(parts_of(item)) else item.get("role")


def _leaves_out(value: str, messages: list[Message]) -> bool:
    """Return whether a value has more than the messages and is worth parsing."""
    kinds = {part.get("type") for item in messages for part in parts_of(item)}
    if "tool_call_response" in kinds:
        return '"is_error"' in value or '"error"' in value
    return "reasoning" not in kinds and ('thinking"' in value or 'reasoning_content"' in value)


def _with_thoughts(messages: list[Message], recorded: list[Message]) -> list[Message]:
    if any(part.get("type") == "reasoning" for item in messages for part in parts_of(item)):
        return messages
    merged: list[Message] = []
    for one, other in zip(messages, recorded, strict=True):
        thoughts = [part for part in parts_of(other) if part.get("type") == "reasoning"]
        merged.append({**one, "parts": [*thoughts, *parts_of(one)]} if thoughts else one)
    return merged


def _with_errors(messages: list[Message], recorded: list[Message]) -> list[Message]:
    failed = {part.get("id") for item in recorded for part in parts_of(item) if "is_error" in part}
    for item in messages if failed else ():
        for part in parts_of(item):
            if part.get("type") == "tool_call_response" and part.get("id") in failed:
                part["is_error"] = True
    return messages


def _complete(messages: list[Message]) -> bool:
    for item in messages:
        parts = parts_of(item)
        if not parts or (item.get("role") == "user" and _answers_a_call(parts)):
            return False
        for part in parts:
            if part.get("id") is None and part.get("type") in _CALLS:
                return False
    return True


def _answers_a_call(parts: list[Part]) -> bool:
    return any(part.get("type") == "tool_call_response" for part in parts)


def task(span: Reader) -> list[Message]:
    """Take the task of a CrewAI agent: its value has the arguments of CrewAI's own method."""
    description = span.text("formatted_description") if "task_key" in span.rest else None
    return [message("user", [text(description)])] if description else []


def prompts(span: Reader) -> list[Message]:
    """Take the prompts of a text completion."""
    items = members(tree(span, oi.LLM_PROMPTS), "prompt")
    return [message("user", [text(str(item["text"]))]) for item in items if "text" in item]


def completions(span: Reader) -> list[Message]:
    """Take the choices of a text completion."""
    items = members(tree(span, oi.LLM_CHOICES), "completion")
    return [message("assistant", [text(str(item["text"]))]) for item in items if "text" in item]


def response_id(span: Reader) -> str | None:
    """Return the id of a response whose raw body is the span's value."""
    value = span.rest.get(oi.OUTPUT_VALUE)
    if not isinstance(value, str) or span.rest.get(oi.OUTPUT_MIME_TYPE) != oi.JSON:
        return None
    match = _RESPONSE_ID.search(value)
    return match[1] if match else None


def join_messages(messages: list[Message]) -> list[Message]:
    """Join the items of one response into one message: OpenAI's responses API has no choices."""
    parts = [part for item in messages for part in parts_of(item)]
    return [{**item, "parts": parts} for item in messages[-1:]]


# ---------------------------------------------------------------------------------------- tools


def take_call(span: Reader) -> None:
    """Take the model's tool call from a tool's own span that lacks the tool's names."""
    for name, other in (
        (oi.TOOL_ID, oi.TOOL_CALL_ID),
        (oi.TOOL_NAME, oi.TOOL_CALL_FUNCTION_NAME),
        (oi.INPUT_VALUE, oi.TOOL_CALL_FUNCTION_ARGUMENTS),
        (oi.INPUT_VALUE, "gcp.vertex.agent.tool_call_args"),
    ):
        if other in span.rest:
            value = span.rest.pop(other)
            span.rest.setdefault(name, value)


def arguments(span: Reader) -> Any:
    """Take the arguments of a tool."""
    typed = oi.INPUT_MIME_TYPE in span.rest
    raw = take(span, oi.INPUT_VALUE)
    parameters = json_or_text(span.rest.get(oi.TOOL_PARAMETERS))
    if raw is UNSET and isinstance(parameters, dict) and not _is_schema(parameters):
        del span.rest[oi.TOOL_PARAMETERS]
        return parameters
    value = _plain(raw) if _is_smolagents(raw) else None
    if value is not None:
        return _smolagents_arguments(value, parameters)
    if isinstance(raw, LazyJson) and '"tool_string"' in raw.text:
        return _crewai_arguments(raw)
    if span.rest.get(oi.TOOL_PARAMETERS) is not None and raw == parameters:
        del span.rest[oi.TOOL_PARAMETERS]  # Agno and Claude repeat the arguments there
    if isinstance(raw, str) and not typed:  # LangChain's, if it begins like an object
        return object_in(raw)
    return raw


def _is_schema(parameters: dict[str, Any]) -> bool:
    return "properties" in parameters or any(
        isinstance(parameter, dict) and "type" in parameter for parameter in parameters.values()
    )


def _crewai_arguments(raw: LazyJson) -> Any:
    """Unpack the call of CrewAI's `ToolUsage._use`, which has the tool's printed into it."""
    value = raw.value
    calling = value.get("calling") if isinstance(value, dict) else None
    if not isinstance(calling, str):
        return raw
    printed = calling.partition(" arguments=")[2]
    named = object_in(printed)
    return named if isinstance(named, dict) else raw


def _is_smolagents(value: Any) -> bool:
    return isinstance(value, LazyJson) and '"sanitize_inputs_outputs"' in value.text


def _smolagents_arguments(value: Any, parameters: Any) -> Any:
    """Unpack the call of smolagents' `Tool.__call__`, positional arguments by their names."""
    if not isinstance(value, dict):
        return value
    named = value.get("kwargs")
    by_name: dict[str, Any] = dict(named) if isinstance(named, dict) else {}
    positional = value.get("args")
    positional = positional if isinstance(positional, list) else []
    if len(positional) == 1 and isinstance(positional[0], dict) and not by_name:
        return positional[0]
    names = list(parameters) if isinstance(parameters, dict) else []
    for n, argument in enumerate(positional):
        by_name[names[n] if n < len(names) else f"arg{n}"] = argument
    return by_name


def result(span: Reader) -> Any:
    """Take the result of a tool."""
    return take(span, oi.OUTPUT_VALUE)


def unwrap_result(operation: ToolExecution) -> ToolExecution:
    """Unwrap a tool result from the message that LangChain, LangGraph or ADK put it in."""
    result = operation.result
    if not _looks_wrapped(result.text if isinstance(result, LazyJson) else str(result)):
        return operation
    value = _plain(result)
    if isinstance(value, dict) and value.keys() == {"output"}:  # LangChain JS
        value = value["output"]
    if isinstance(value, str) and (printed := langchain.tool_message(value)) is not None:
        return structs.replace(
            operation,
            result=printed.content,
            tool_error=str(printed.content) if printed.failed else operation.tool_error,
            call_id=operation.call_id or printed.call_id,
        )
    if not isinstance(value, dict):
        return operation
    inner = value.get("data", value) if value.get("type") == "tool" else value.get("kwargs")
    if isinstance(inner, dict) and "content" in inner and "tool_call_id" in inner:
        content, call_id = inner["content"], inner["tool_call_id"]
        failed = inner.get("status") == "error"
    elif value.keys() == {"id", "name", "response"}:
        content, call_id, failed = value["response"], value["id"], False
    else:
        return operation
    return structs.replace(
        operation,
        result=content,
        tool_error=str(content) if failed else operation.tool_error,
        call_id=operation.call_id or (call_id if isinstance(call_id, str) else None),
    )


def _looks_wrapped(raw: str) -> bool:
    return '"tool_call_id"' in raw or '"response"' in raw or "tool_call_id='" in raw


def handoff_target(span: SpanRecord) -> str | None:
    """Return the agent that a handoff of openai-agents goes to."""
    name = span.name
    return name.removeprefix("handoff to ") if name.startswith("handoff to ") else None


# --------------------------------------------------------------------------------------- agents


def is_whole_run(span: SpanRecord) -> bool:
    """Return whether a span is openai-agents' span of a whole run: an AGENT without a name."""
    return span.scope in _OPENAI_AGENTS or span.name == "Agent workflow"


def crewai_role(span: Reader) -> str | None:
    """Return the role of the agent that does a task of CrewAI's, printed among the arguments."""
    if "task_key" not in span.rest:
        return None
    match = _ROLE.search(str(span.rest.get(oi.INPUT_VALUE)))
    return match[1] if match else None


def agent_of(name: str) -> str | None:
    """Return the agent a span is named after: `weather.run`, `agent_run [weather]`."""
    if match := re.fullmatch(r"(?:agent_run|invoke_agent) \[?(.+?)\]?", name):
        return match[1]
    if name == "invoke_agent":
        return None
    return re.sub(r"\.a?(?:run|invoke)(?:_stream)?$", "", name) or None


def is_plumbing(span: SpanRecord) -> bool:
    """Return whether LangChain's instrumentation calls a runnable an AGENT only because of its
    name.
    """
    if not span.scope.startswith("openinference.instrumentation.langchain"):
        return False
    metadata = json_or_text(span.attributes.get(oi.METADATA))
    return langchain.is_plumbing(
        span.name, metadata.get("langgraph_node") if isinstance(metadata, dict) else None
    )


def langchain_agent(span: Reader) -> str | None:
    """Return the agent a CHAIN runs: LangChain names it in the metadata of all that it runs."""
    metadata = span.rest.get(oi.METADATA)
    if isinstance(metadata, str) and '"lc_agent_name"' in metadata:
        metadata = json_or_text(metadata)
    name = metadata.get("lc_agent_name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and name == span.span.name else None


def take_usage(span: Reader) -> None:
    """Take the token counts in a raw answer of OpenAI's: an instrumentation that did not know the
    responses API recorded nothing else."""
    body = span.rest.get(oi.OUTPUT_VALUE)
    if not isinstance(body, str):
        return
    if printed := _AGNO_USAGE.search(body):
        set_usage(
            span,
            dict(zip(("input_tokens", "output_tokens"), map(int, printed.groups()), strict=True)),
        )
    elif '"usage"' in body and isinstance(answer := json_or_text(body), dict):
        set_usage(span, answer.get("usage"))


# ------------------------------------------------------------------------ invocation parameters

_NUMBER = (int, float)
_PARAMETERS: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "model": (gen_ai.REQUEST_MODEL, str),
    "temperature": (gen_ai.REQUEST_TEMPERATURE, _NUMBER),
    "top_p": (gen_ai.REQUEST_TOP_P, _NUMBER),
    "top_k": (gen_ai.REQUEST_TOP_K, int),
    "max_tokens": (gen_ai.REQUEST_MAX_TOKENS, int),
    "max_completion_tokens": (gen_ai.REQUEST_MAX_TOKENS, int),
    "max_output_tokens": (gen_ai.REQUEST_MAX_TOKENS, int),
    "frequency_penalty": (gen_ai.REQUEST_FREQUENCY_PENALTY, _NUMBER),
    "presence_penalty": (gen_ai.REQUEST_PRESENCE_PENALTY, _NUMBER),
    "stop": (gen_ai.REQUEST_STOP_SEQUENCES, (str, list)),
    "stop_sequences": (gen_ai.REQUEST_STOP_SEQUENCES, list),
    "seed": (gen_ai.REQUEST_SEED, int),
    "n": (gen_ai.REQUEST_CHOICE_COUNT, int),
    "stream": (gen_ai.REQUEST_STREAM, bool),
    "reasoning_effort": (gen_ai.REQUEST_REASONING_LEVEL, str),
    "previous_response_id": (gen_ai.REQUEST_PREVIOUS_RESPONSE_ID, str),
    "dimensions": (gen_ai.EMBEDDINGS_DIMENSION_COUNT, int),
    "encoding_format": (gen_ai.REQUEST_ENCODING_FORMATS, str),
    "encoding_formats": (gen_ai.REQUEST_ENCODING_FORMATS, list),
}
_WRITTEN = {
    key: name
    for name, (key, _) in reversed(_PARAMETERS.items())
    if name not in ("model", "encoding_format")
}


def take_parameters(span: Reader, key: str) -> None:
    """Take the parameters the conventions have names for; the others stay where they are."""
    parameters = json_or_text(span.rest.get(key))
    if not isinstance(parameters, dict):
        return
    others: dict[str, Any] = {}
    for name, value in parameters.items():
        parameter = _PARAMETERS.get(name)
        if value is None:
            continue
        if parameter is None or not isinstance(value, parameter[1]) or parameter[0] in span.rest:
            others[name] = value
        elif value is not False:
            span.rest[parameter[0]] = (
                [value] if name in ("stop", "encoding_format") and isinstance(value, str) else value
            )
    tools = others.pop("tools", None)
    if tools is not None and not any(item.startswith(oi.LLM_TOOLS) for item in span.rest):
        others["tools"] = tools
    if others:
        span.rest[key] = dumps(others)
    else:
        del span.rest[key]


def write_parameters(key: str, attributes: Attributes) -> None:
    """Write those parameters of a request that OpenInference has no attributes for."""
    parameters = {
        name: attributes.pop(attribute)
        for attribute, name in _WRITTEN.items()
        if attribute in attributes
    }
    if not parameters:
        return
    others = attributes.get(key)
    if isinstance(others, str):
        others = json_or_text(others)
    attributes[key] = dumps({**parameters, **others} if isinstance(others, dict) else parameters)
