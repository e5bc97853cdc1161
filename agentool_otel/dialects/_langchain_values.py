"""What LangChain and LangGraph put into the inputs and outputs of their runs.

Source: langchain-core `messages/base.py`, `load/serializable.py`; langgraph `types.py`. Trace
stores with LangChain callbacks (Langfuse, LangSmith, MLflow) keep these as they came.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from agentool_otel.dialects._provider_messages import json_or_text
from agentool_otel.dialects._python_text import object_in, value_in

__all__ = ["ToolMessage", "tool_message", "unwrapped_call"]

_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_PRINTED = re.compile(
    rf"content=({_TEXT}) (?:name='([^']*)' )?(?:.* )?tool_call_id='([^']*)'(.*)", re.S
)
"""The `str` of a tool message, which has no name of a class."""


class ToolMessage(NamedTuple):
    """What a tool gave back."""

    call_id: str | None
    name: str | None
    content: Any
    failed: bool


def tool_message(value: Any) -> ToolMessage | None:
    """Return the tool message that an output is, in any of its wrappings; None if it is none."""
    value = json_or_text(value)
    if isinstance(value, str):
        return _printed(value)
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


def _printed(value: str) -> ToolMessage | None:
    said = _PRINTED.fullmatch(value) if value.startswith("content=") else None
    if said is None:
        return None
    failed = " status='error'" in said[4]
    return ToolMessage(said[3], said[2], value_in(said[1]), failed)


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
