"""Documents of the agentool spec that are no traces, recognised by their members.

More members are required than by `model.validation.identify`: an object may come from any file, and
a span or a row of a table has a name and a description, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentool_otel.ground.json_codec import Json
from agentool_otel.model.documents import (
    STEP_TYPES,
    Document,
    EvalCase,
    EvalResult,
    ToolCall,
    ToolExchange,
    ToolRegistry,
    ToolResult,
    ToolSpec,
)

__all__ = ["CLASSES", "document_class", "is_step"]

_MEMBERS: tuple[tuple[type[Document], dict[str, type]], ...] = (
    (EvalResult, {"case_id": str, "assertion_results": list}),
    (EvalCase, {"case_id": str, "assertions": list}),
    (ToolRegistry, {"registry_id": str, "tools": list}),
    (ToolExchange, {"tool_call": dict, "tool_result": dict}),
    (ToolSpec, {"name": str, "description": str, "parameters": dict}),
    (ToolCall, {"id": str, "name": str, "arguments": dict}),
    (ToolResult, {"call_id": str, "output": object}),
    (ToolResult, {"call_id": str, "error": str}),
)
"""The members that a document has for certain, and their types."""
_CALLS = ("tool_call", "tool_result")
_OF_CALL_STEPS = frozenset({"step_id", *_CALLS})
CLASSES = {cls.__name__: cls for cls, _ in _MEMBERS}


def document_class(value: Json) -> type[Document] | None:
    """Return the class of a document that is no trace; None if a value is none."""
    if value.__class__ is not dict:
        return None
    for cls, members in _MEMBERS:
        if all(name in value and isinstance(value[name], kind) for name, kind in members.items()):
            return None if is_step(value) else cls
    return None


def is_step(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a step of a trace, whose unknown members may be those of a call.

    An object whose type is `tool_call` or `tool_result` may be the call or the result itself, as a
    part of a message; it is a step if it has an id of steps or a member for its call.
    """
    kind = value.get("type")
    if kind not in STEP_TYPES:
        return False
    return kind not in _CALLS or not _OF_CALL_STEPS.isdisjoint(value)
