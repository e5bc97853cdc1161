"""Translate other vocabularies into the attributes of the GenAI conventions.

Most vocabularies have the fields of the conventions under other names. Such a dialect renames the
attributes in `Reader.rest`, and the `gen_ai` dialect reads the result; what it cannot use stays in
the rest, and so ends up in `extra`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.dialects.kit.errors import take_exception
from agentool_otel.dialects.kit.flattened import tree
from agentool_otel.dialects.kit.provider_messages import (
    json_or_text,
    messages_from,
    parts_from,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.messages import Message, Part, message, parts_of, text, tool_response
from agentool_otel.model.operations import Operation, Unclassified
from agentool_otel.model.spans import STATUS_ERROR
from agentool_otel.providers import tools as provider_tools
from agentool_otel.semconv import core, gen_ai

__all__ = [
    "UNSET",
    "as_messages",
    "as_operation",
    "definitions",
    "drop",
    "dumps",
    "failed",
    "include_cache",
    "mend_definitions",
    "mend_responses",
    "mend_thoughts",
    "mend_tool_messages",
    "move_functions",
    "move_messages",
    "move_milliseconds",
    "put",
    "put_input",
    "put_output",
    "rename",
    "set_documents",
    "set_from_events",
    "set_query",
    "set_result",
    "set_system",
    "total",
    "unclassified",
]

_BASE = GenAI()
_WORDS = ("prompt", "input", "query", "question", "task", "text", "output", "result", "response")
"""Members that hold the text where a program wraps its input or output in an object."""


def as_operation(span: Reader, operation: str | None = None) -> Operation:
    """Read a span whose attributes have been translated to the conventions.

    Args:
        operation: the `gen_ai.operation.name` to set; None to leave it as it is.
    """
    if operation is not None:
        span.rest[gen_ai.OPERATION_NAME] = operation
    take_exception(span)
    return _BASE.read(span)


def unclassified(span: Reader) -> Unclassified:
    """Read a span that is internal to a framework and stands for no operation."""
    take_exception(span)
    error = span.text(core.ERROR_TYPE)
    if error is None and span.span.status == STATUS_ERROR:
        error = core.ERROR_TYPE_OTHER
    return Unclassified(
        error_type=error,
        error_message=span.span.status_message if error is not None else None,
        conversation_id=span.text(gen_ai.CONVERSATION_ID),
        extra=span.rest,
    )


def failed(operation: Operation, kind: str | None, described: str | None) -> Operation:
    """Return an operation with an error that the span's status does not have."""
    if operation.error_type is not None or (kind is None and described is None):
        return operation
    return msgspec.structs.replace(
        operation,
        error_type=kind or core.ERROR_TYPE_OTHER,
        error_message=described or operation.error_message,
    )


def rename(span: Reader, names: Mapping[str, str]) -> None:
    """Rename attributes to their names in the conventions.

    Of several with the same meaning the first in `names` is used. Equal ones are removed;
    one with another value stays.
    """
    attributes = span.rest
    for old, new in names.items():
        if old in attributes and old != new:
            if new not in attributes:
                attributes[new] = attributes.pop(old)
            elif attributes[new] == attributes[old]:
                del attributes[old]


def put(span: Reader, key: str, value: Any) -> None:
    """Set an attribute that the span does not have, to a value that is known."""
    if value is not None and key not in span.rest:
        span.rest[key] = value


def put_input(span: Reader, value: Any) -> None:
    """Set the input messages that a span does not have; see `as_messages`."""
    put(span, gen_ai.INPUT_MESSAGES, as_messages(value, "user") or None)


def put_output(span: Reader, value: Any) -> None:
    """Set the output messages that a span does not have; see `as_messages`."""
    put(span, gen_ai.OUTPUT_MESSAGES, as_messages(value, "assistant") or None)


def drop(span: Reader, *keys: str) -> None:
    """Remove attributes that are understood and have no field: they identify the kind of span."""
    for key in keys:
        span.rest.pop(key, None)


def move_messages(span: Reader, target: str, role: str, *keys: str) -> None:
    """Set messages from the first of several attributes that holds any; see `as_messages`."""
    if target in span.rest:
        return
    for key in keys:
        if key in span.rest and (messages := as_messages(span.json(key), role)):
            span.rest[target] = messages
            return


def set_from_events(span: Reader, key: str) -> None:
    """Set the messages of a model call from an attribute that holds the older message events.

    The answer is a choice, or the last messages of the assistant: the items of a response.
    """
    inputs: list[Message] = []
    outputs: list[Message] = []
    for event in span.array(key) or ():
        if isinstance(event, dict):
            chosen = event.get("event.name") == "gen_ai.choice"
            bare = {
                name: value for name, value in event.items() if "." not in name and name != "index"
            }
            if event.get("event.name") == "gen_ai.unknown" and isinstance(event.get("data"), dict):
                bare = event["data"]  # an item of a response that Logfire has no event for
            messages = messages_from([bare], "assistant" if chosen else "user")
            (outputs if chosen else inputs).extend(messages)
    if not outputs:
        parts: list[Part] = []
        while inputs and inputs[-1].get("role") == "assistant":
            parts = [*parts_of(inputs.pop()), *parts]
        outputs = [message("assistant", parts)] if parts else []
    put(span, gen_ai.INPUT_MESSAGES, inputs or None)
    put(span, gen_ai.OUTPUT_MESSAGES, outputs or None)


def move_functions(span: Reader, prefix: str) -> None:
    """Set tool definitions from `<prefix>.0.name`, `.description` and `.parameters`."""
    if functions := definitions(tree(span, prefix)):
        put(span, gen_ai.TOOL_DEFINITIONS, functions)


def move_milliseconds(span: Reader, key: str, target: str) -> None:
    """Set an attribute in seconds from one in milliseconds."""
    if target not in span.rest and (value := span.number(key)) is not None:
        span.rest[target] = value / 1000


def include_cache(span: Reader) -> None:
    """Make input tokens include the cached ones, where the reported total shows they do not.

    Providers differ, and SDKs pass their counts on: Anthropic and Bedrock count cached tokens
    apart from input tokens, OpenAI and the conventions among them.
    """
    attributes = span.rest
    tokens = attributes.get(gen_ai.USAGE_INPUT_TOKENS)
    cached = total(
        attributes.get(gen_ai.USAGE_CACHE_READ_INPUT_TOKENS),
        attributes.get(gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS),
    )
    if not cached or not isinstance(tokens, int):
        return
    separate = total(tokens, cached, attributes.get(gen_ai.USAGE_OUTPUT_TOKENS))
    if separate == attributes.get(gen_ai.USAGE_TOTAL_TOKENS):
        attributes[gen_ai.USAGE_INPUT_TOKENS] = tokens + cached


def as_messages(value: Any, role: str) -> list[Message]:
    """Return the input or output of an agent or a model as messages.

    A value in no known shape of messages becomes one message: a text as it is, an object with one
    descriptive member as that member's text, anything else as JSON text.
    """
    value = json_or_text(value)
    if value is None or value is UNSET or value in ("", [], {}):
        return []
    if isinstance(value, dict) and _are_pairs(value.get("messages")):
        value = value["messages"]
    if _are_pairs(value):  # LangChain takes messages as (role, text), too
        value = [{"role": role, "content": words} for role, words in value]
    if _are_messages(value):
        return [converted for converted in messages_from(value, role) if converted.get("parts")]
    if isinstance(value, dict):
        for word in _WORDS:
            inner = value.get(word)
            if isinstance(inner, str) and (len(value) == 1 or word in _WORDS[:2]):
                return [message(role, [text(inner)])]
            if isinstance(inner, (list, dict)) and _are_messages(inner):
                return as_messages(inner, role)
    words = value if isinstance(value, str) else dumps(value)
    return [message(role, [text(words)])]


def _are_pairs(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(item, list)
            and len(item) == 2
            and all(isinstance(word, str) for word in item)
            for item in value
        )
    )


def _are_messages(value: Any) -> bool:
    if isinstance(value, dict):
        if isinstance(value.get("messages"), list):
            return _are_messages(value["messages"])
        if "role" in value or "parts" in value or isinstance(value.get("message"), dict):
            return True
        if value.get("type") == "constructor":  # LangChain's own serialisation
            return isinstance(value.get("kwargs"), dict)
        return "content" in value and ("type" in value or "tool_calls" in value)
    if not isinstance(value, list) or not value:
        return False
    if len(value) == 1 and isinstance(value[0], list):
        return _are_messages(value[0])
    return all(isinstance(item, dict) and (_are_messages(item) or _is_item(item)) for item in value)


def _is_item(value: dict[str, Any]) -> bool:
    """Return whether a value is a content block, or an item of a responses API."""
    kind = value.get("type")
    types = ("text", "message", "function_call", "function_call_output", "reasoning", "tool_use")
    return (
        kind in types
        or "toolCallId" in value
        or (len(value) == 1 and ("text" in value or "toolUse" in value))
    )


def set_system(span: Reader, value: Any) -> None:
    """Set the system instructions from text or content blocks."""
    if gen_ai.SYSTEM_INSTRUCTIONS not in span.rest and (parts := parts_from(value)):
        span.rest[gen_ai.SYSTEM_INSTRUCTIONS] = parts


def definitions(tools: Any, complete: bool = False) -> list[Any]:
    """Return tool definitions, which may be JSON text or names alone, as the conventions have them.

    Args:
        tools: a list of them, an object of them by name, or one.
        complete: whether everything stays that is known of them, also of what is no tool.
    """
    results: list[Any] = []
    for tool in map(json_or_text, _each(tools)):
        named = {"name": tool} if isinstance(tool, str) and tool else tool
        results += provider_tools.definitions([named], complete) or ([tool] if complete else [])
    return results


def _each(value: Any) -> Iterable[Any]:
    value = json_or_text(value)
    if isinstance(value, dict) and ("name" in value or "function" in value):
        return [value]
    if isinstance(value, dict):  # by name, each without its own
        return [
            {"name": name, **tool} if isinstance(tool, dict) else name
            for name, tool in value.items()
        ]
    return value if isinstance(value, list) else ()


def set_result(span: Reader, value: Any) -> None:
    """Set a tool's result, which may be null; UNSET leaves it unknown.

    Text that is JSON of an object or array is one; any other stays text, also where it is a number.
    """
    if value is UNSET or gen_ai.TOOL_CALL_RESULT in span.rest:
        return
    value = json_or_text(value)
    if value is None or isinstance(value, str):
        value = dumps(value)
    span.rest[gen_ai.TOOL_CALL_RESULT] = value


def mend_definitions(span: Reader) -> None:
    """Make tool definitions flat, where an SDK has left them in a provider's shape."""
    tools = span.rest.get(gen_ai.TOOL_DEFINITIONS)
    if isinstance(tools, str) and ('"function":' in tools or '"function_declarations":' in tools):
        span.rest[gen_ai.TOOL_DEFINITIONS] = definitions(tools, complete=True) or tools


def mend_responses(span: Reader) -> None:
    """Give tool results in messages the name of the conventions; some SDKs call them `result`."""
    for key in (gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES):
        value = span.rest.get(key)
        if isinstance(value, str) and '"result"' in value:
            value = json_or_text(value)
        for item in value if isinstance(value, list) else ():
            for part in parts_of(item) if isinstance(item, dict) else ():
                if part.get("type") == "tool_call_response" and "result" in part:
                    part.setdefault("response", part.pop("result"))
                    span.rest[key] = value


_BLOCK = re.compile(r'\{\s*"(?:reasoningContent"|type"\s*:\s*"(?:redacted_)?thinking")')


def mend_thoughts(span: Reader) -> None:
    """Turn text that is the JSON of a thought into a thought: an SDK that does not know the part
    encodes it.
    """
    for key in (gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES):
        value = span.rest.get(key)
        if not isinstance(value, str) or not ("reasoningContent" in value or "thinking" in value):
            continue
        value = json_or_text(value)
        for item in value if isinstance(value, list) else ():
            parts = parts_of(item) if isinstance(item, dict) else []
            mended = [item for part in parts for item in (_thought(part) or [part])]
            if mended != parts:
                item["parts"] = mended
                span.rest[key] = value


def _thought(part: dict[str, Any]) -> list[dict[str, Any]]:
    words = part.get("content")
    if part.get("type") != "text" or not isinstance(words, str) or not _BLOCK.match(words):
        return []
    return [part for part in parts_from(words) if part.get("type") == "reasoning"]


def mend_tool_messages(span: Reader) -> None:
    """Turn the text of tool messages into tool responses, for SDKs that write no call id."""
    messages = span.rest.get(gen_ai.INPUT_MESSAGES)
    if isinstance(messages, str) and '"tool"' in messages:
        messages = json_or_text(messages)
    if not isinstance(messages, list):
        return
    mended = [
        _response(item) if isinstance(item, dict) and item.get("role") == "tool" else item
        for item in messages
    ]
    if mended != messages:
        span.rest[gen_ai.INPUT_MESSAGES] = mended


def _response(item: dict[str, Any]) -> dict[str, Any]:
    parts = parts_of(item)
    if len(parts) != 1 or parts[0].get("type") != "text":
        return item
    return {**item, "parts": [tool_response(json_or_text(parts[0].get("content")), None)]}


def total(*counts: Any) -> int | None:
    """Return the sum of the counts that are known; None if none is."""
    integers = [count for count in counts if isinstance(count, int) and not isinstance(count, bool)]
    return sum(integers) if integers else None


def set_query(span: Reader, value: Any) -> None:
    """Set the query of a retrieval, from text or from an object with a descriptive member."""
    if isinstance(value, dict):
        telling = (value[word] for word in _WORDS if isinstance(value.get(word), str))
        value = next(telling, dumps(value))
    put(span, gen_ai.RETRIEVAL_QUERY_TEXT, value if isinstance(value, str) else None)


def set_documents(span: Reader, value: Any) -> None:
    """Set the documents of a retrieval, from a list or an object that holds one."""
    value = json_or_text(value)
    if isinstance(value, dict):
        value = next((item for item in value.values() if isinstance(item, list)), value)
    if value is not UNSET and value is not None:
        put(span, gen_ai.RETRIEVAL_DOCUMENTS, value if isinstance(value, list) else [value])
