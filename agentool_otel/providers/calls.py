"""Tool calls in messages, and their results: the common parts of all providers' APIs."""

from __future__ import annotations

from typing import Any

from agentool_otel.content.values import jsonable
from agentool_otel.ground.json_codec import loads
from agentool_otel.model.messages import Part, tool_call
from agentool_otel.providers.fields import get, items, plain_text, string

__all__ = [
    "arguments_of",
    "call_of",
    "call_part",
    "calls_of",
    "parse_structured",
    "result_of",
    "with_calls",
]


def arguments_of(arguments: Any) -> Any:
    """Return a tool call's arguments: an object or a list if the text is JSON of one, even of such
    text, else the text; None if they are not known.
    """
    words = plain_text(arguments)
    if words is None:
        return None if arguments is None else jsonable(arguments)
    if not words.strip():
        return {}
    try:
        value = loads(words)
    except ValueError:
        return words
    value = parse_structured(value) if isinstance(value, str) else value
    return value if isinstance(value, (dict, list)) else words


def parse_structured(value: Any) -> Any:
    """Return an object or a list where a text is JSON of one; any other value as it is, as JSON."""
    words = plain_text(value)
    if words is None:
        return jsonable(value)
    if words[:1] in ("{", "["):
        try:
            return loads(words)
        except ValueError:
            return words
    return words


def call_part(name: str | None, arguments: Any, call_id: str | None) -> Part:
    return tool_call(name or "unknown", arguments_of(arguments), call_id)


_ARGUMENTS = ("arguments", "args", "input")


def call_of(call: Any) -> Part:
    """Return a call of OpenAI's (of a function or a custom tool) or of LangChain's."""
    function = get(call, "function")
    function = get(call, "custom") if function is None else function
    source = call if function is None else function
    values = (get(source, name) for name in _ARGUMENTS)
    arguments = next((item for item in values if item is not None), None)
    return call_part(
        string(source, "name"), arguments, string(call, "call_id") or string(call, "id")
    )


def calls_of(item: Any) -> list[Part]:
    """Return the calls in the members of a message, also of OpenAI's oldest form."""
    calls = [call_of(each) for each in items(item, "tool_calls")]
    older = get(item, "function_call")
    return calls if older is None else [*calls, call_of(older)]


def with_calls(content: list[Part], calls: list[Part]) -> list[Part]:
    """Return content and calls as the parts of a message, without the calls in the content that
    repeat one of those beside it."""
    ids = {call.get("id") for call in calls}
    names = {call["name"] for call in calls}
    return [part for part in content if not _repeats(part, ids, names)] + calls


def _repeats(part: Part, ids: set[Any], names: set[Any]) -> bool:
    if part.get("type") != "tool_call":
        return False
    return part["id"] in ids if "id" in part else part.get("name") in names


def result_of(content: Any, parts: list[Part]) -> Any:
    """Return a tool's result: its text, or its parts if they are not only text.

    Args:
        content: what it gave, for a result that is not made of blocks.
        parts: the blocks of the content as parts.
    """
    if parts and all(part["type"] == "text" for part in parts):
        return "\n".join(part["content"] for part in parts)
    return parts or jsonable(content)
