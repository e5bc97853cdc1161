"""`traceloop.entity.input` and `.output`: values in the envelopes of what was instrumented.

Source: OpenLLMetry 0.62.4, langchain `callback_handler.py` (`{"inputs", "input_str", "kwargs"}`
and `{"output"}` or `{"outputs"}`), mcp `instrumentation.py` (`{"tool_name", "arguments"}` and
`{"result"}`) and the decorators of its SDK (`{"args", "kwargs"}`).
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from agentool_otel.dialects.kit.python_text import object_in
from agentool_otel.dialects.kit.reading import LazyJson, Reader
from agentool_otel.model.operations import ToolExecution

__all__ = [
    "answered",
    "arguments",
    "asked",
    "call_id",
    "documents",
    "envelope",
    "mcp_arguments",
    "mcp_result",
    "query",
    "result",
]


def envelope(span: Reader, *keys: str) -> Any:
    """Take the value of an entity, parsed, and drop what repeats it; UNSET if there is none."""
    said: Any = UNSET
    for key in keys:
        value = span.json(key) if key in span.rest else UNSET
        said = value if said is UNSET else said
    return said.value if isinstance(said, LazyJson) else said


def arguments(said: Any) -> Any:
    """Return the arguments of a tool."""
    match said:
        case {"inputs": inputs} if inputs is not None or "input_str" not in said:
            return inputs
        case {"input_str": str(text)}:
            return object_in(text)
        case {"args": [], "kwargs": dict(named)} | {"args": None, "kwargs": dict(named)}:
            return named
        case {"args": [dict(only)], "kwargs": named} if not named:
            return only
        case _:
            return said


def call_id(said: Any) -> str | None:
    """Return the id of the call, where the envelope knows it."""
    match said:
        case {"kwargs": {"tool_call_id": str(found)}}:
            return found
        case _:
            return None


def mcp_arguments(said: Any) -> Any:
    """Return the arguments of a tool called through MCP, which the envelope names once more."""
    match said:
        case {"tool_name": str(), **rest} if rest.keys() <= {"arguments"}:
            return rest.get("arguments", UNSET)
        case _:
            return said


def mcp_result(said: Any) -> Any:
    """Return the result of a tool called through MCP."""
    match said:
        case {"result": value, **rest} if rest.keys() <= {"is_error"}:
            return value
        case _:
            return said


def result(said: Any, operation: ToolExecution) -> dict[str, Any]:
    """Return the fields of a tool's execution that tell what came of it."""
    value = _opened(said)
    match value:
        case {"kwargs": {"content": content, "tool_call_id": found}}:
            failed = value["kwargs"].get("status") == "error"
            return {
                "result": content,
                "tool_error": str(content) if failed else operation.tool_error,
                "call_id": operation.call_id or (found if isinstance(found, str) else None),
            }
        case _:
            return {"result": value}


def _opened(said: Any) -> Any:
    match said:
        case {"output": value, **others} | {"outputs": value, **others} if others.keys() <= {
            "kwargs"
        }:
            return value
        case _:
            return said


def asked(said: Any) -> Any:
    """Return what went into an agent or a workflow."""
    match said:
        case {"inputs": inputs}:
            return inputs
        case {"args": [only], "kwargs": named} if not named:
            return only
        case {"args": [], "kwargs": dict(named)}:
            return named or None
        case _:
            return said


def answered(said: Any) -> Any:
    """Return what came out of an agent or a workflow; LangChain's executor names it."""
    match _opened(said):
        case {"output": str(words)}:
            return words
        case value:
            return value


def query(said: Any) -> str | None:
    """Return the query of a retrieval."""
    match said:
        case {"query": str(words)} | {"inputs": str(words)} | str(words):
            return words
        case _:
            return None


def documents(said: Any) -> list[Any] | None:
    """Return what a retrieval found, its text under the name the conventions have for it."""
    match said:
        case {"documents": list(found)} | [*found]:
            return [_document(it) for it in found]
        case _:
            return None


def _document(said: Any) -> Any:
    if isinstance(said, dict) and "page_content" in said and "content" not in said:
        return {"content" if key == "page_content" else key: value for key, value in said.items()}
    return said
