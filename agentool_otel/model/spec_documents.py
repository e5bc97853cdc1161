"""Documents of the agentool spec that are no traces, recognised by their members.

More members are required than by `model.validation.identify`: an object may come from any file, and
a span or a row of a table has a name and a description, too.
"""

from __future__ import annotations

from agentool_otel.ground.json_codec import Json
from agentool_otel.model.documents import (
    Document,
    EvalCase,
    EvalResult,
    ToolCall,
    ToolExchange,
    ToolRegistry,
    ToolResult,
    ToolSpec,
)

__all__ = ["CLASSES", "document_class"]

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
CLASSES = {cls.__name__: cls for cls, _ in _MEMBERS}


def document_class(value: Json) -> type[Document] | None:
    """Return the class of a document that is no trace; None if a value is none."""
    if value.__class__ is not dict:
        return None
    for cls, members in _MEMBERS:
        if all(name in value and isinstance(value[name], kind) for name, kind in members.items()):
            return cls
    return None
