"""Inputs and outputs of the runs of LangChain and LangGraph.

Source: langchain-core `messages/base.py`, `load/serializable.py`; langgraph `types.py`. Trace
stores with LangChain callbacks (Langfuse, LangSmith, MLflow) keep these as they came.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.python_text import object_in, value_in
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.literals import TEXT

__all__ = ["ToolMessage", "is_plumbing", "parse_printed_messages", "tool_message", "unwrapped_call"]

_PRINTED = re.compile(
    rf"content=({TEXT}) (?:name='([^']*)' )?(?:.* )?tool_call_id='([^']*)'(.*)", re.DOTALL
)
"""The `str` of a tool message, which has no name of a class."""

_TEXT_OR_MEMBER = re.compile(
    rf"{TEXT}|(?P<member> (?:additional_kwargs|response_metadata|name|id|tool_calls|usage_metadata"
    r"|tool_call_id)=)",
    re.DOTALL,
)
_AI_FIELDS = re.compile(
    r" (?:tool_calls=\[|usage_metadata=\{|response_metadata=\{'|id='(?:lc_)?run-)"
)


class ToolMessage(NamedTuple):
    """The result of a tool, from LangChain's message."""

    call_id: str | None
    name: str | None
    content: Any
    failed: bool


def is_plumbing(name: str, node: Any) -> bool:
    """Return whether a tracer reports a runnable as an agent only because its name contains
    "agent": a graph node of that name, the writer of its state, a parser.

    Args:
        name: the runnable's.
        node: the node of LangGraph it runs in, if any.
    """
    if name == "agent":
        return bool(node == name)
    return "<" in name or name.startswith("Runnable") or name.endswith("OutputParser")


def tool_message(value: Any) -> ToolMessage | None:
    """Return the tool message that an output is, in any of its wrappings; None if it is none."""
    value = json_or_text(value)
    if isinstance(value, str):
        return _parse_printed(value)
    if isinstance(value, dict) and isinstance(value.get("output"), dict):
        value = value["output"]
    if not isinstance(value, dict):
        return None
    if value.get("type") == "constructor" and isinstance(value.get("kwargs"), dict):
        value = {"type": "", **value["kwargs"]}
        if "tool_call_id" in value:
            value["type"] = "tool"
    if value.get("type") != "tool" or "tool_call_id" not in value:
        return None
    call_id, name = value.get("tool_call_id"), value.get("name")
    return ToolMessage(
        call_id if isinstance(call_id, str) else None,
        name if isinstance(name, str) else None,
        value.get("content"),
        value.get("status") == "error",
    )


def _parse_printed(value: str) -> ToolMessage | None:
    printed = _PRINTED.fullmatch(value) if value.startswith("content=") else None
    if printed is None:
        return None
    failed = " status='error'" in printed[4]
    return ToolMessage(printed[3], printed[2], value_in(printed[1]), failed)


def parse_printed_messages(value: Any) -> Any:
    """Return a value with the messages in it that were printed as messages again: the state of a
    graph, a list of them, one under `output`."""
    match value:
        case str() if value.startswith("content="):
            return _message(value)
        case [*items]:
            return [parse_printed_messages(item) for item in items]
        case {"messages": [*items]}:
            return {**value, "messages": [parse_printed_messages(item) for item in items]}
        case {"output": str(said)} if len(value) == 1 and said.startswith("content="):
            return _message(said)
        case _:
            return value


def _message(printed: str) -> dict[str, Any]:
    """Return a printed message as LangChain writes one, without the calls in it. A system's looks
    like a user's."""
    if (result := _parse_printed(printed)) is not None:
        return {"type": "tool", "tool_call_id": result.call_id, "content": result.content}
    content, end = _content(printed)
    return {"type": "ai" if _AI_FIELDS.search(printed, end) else "human", "content": content}


def _content(printed: str) -> tuple[Any, int]:
    """Return the content of a printed message and where it ends."""
    begin = len("content=")
    parts = _TEXT_OR_MEMBER.finditer(printed, begin)
    end = next((part.start() for part in parts if part["member"]), len(printed))
    content_text = printed[begin:end]
    content = value_in(content_text)
    if content is not content_text or end == len(printed):
        return content, end
    return printed[begin:], len(printed)


def unwrapped_call(value: Any) -> Any:
    """Return the arguments of a call from {"args": [], "kwargs": {…}}, and from LangChain's text.

    Positional arguments have no names here, so a call with any stays as it is.
    """
    value = object_in(value)
    if isinstance(value, dict) and value.keys() == {"args", "kwargs"} and not value["args"]:
        return value["kwargs"]
    if isinstance(value, dict) and value.keys() == {"input"}:
        inner = object_in(value["input"])
        return inner if isinstance(inner, dict) else value
    return value
