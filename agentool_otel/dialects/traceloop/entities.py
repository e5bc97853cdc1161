"""`traceloop.entity.input` and `.output`: values in envelopes of the instrumented library.

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
    "arguments",
    "call_id",
    "documents",
    "envelope",
    "mcp_arguments",
    "mcp_result",
    "query",
    "result",
    "run_input",
    "run_output",
]


def envelope(span: Reader, *keys: str) -> Any:
    """Take the value of an entity, parsed, and drop its copies; UNSET if there is none."""
    first: Any = UNSET
    for key in keys:
        value = span.json(key) if key in span.rest else UNSET
        first = value if first is UNSET else first
    return first.value if isinstance(first, LazyJson) else first


def arguments(wrapped: Any) -> Any:
    """Return the arguments of a tool."""
    match wrapped:
        case {"inputs": inputs} if inputs is not None or "input_str" not in wrapped:
            return inputs
        case {"input_str": str(text)}:
            return object_in(text)
        case {"args": [], "kwargs": dict(named)} | {"args": None, "kwargs": dict(named)}:
            return named
        case {"args": [dict(only)], "kwargs": named} if not named:
            return only
        case _:
            return wrapped


def call_id(wrapped: Any) -> str | None:
    """Return the id of the call, where the envelope knows it."""
    match wrapped:
        case {"kwargs": {"tool_call_id": str(tool_call_id)}}:
            return tool_call_id
        case _:
            return None


def mcp_arguments(wrapped: Any) -> Any:
    """Return the arguments of a tool called through MCP, which the envelope names once more."""
    match wrapped:
        case {"tool_name": str(), **rest} if rest.keys() <= {"arguments"}:
            return rest.get("arguments", UNSET)
        case _:
            return wrapped


def mcp_result(wrapped: Any) -> Any:
    """Return the result of a tool called through MCP."""
    match wrapped:
        case {"result": value, **rest} if rest.keys() <= {"is_error"}:
            return value
        case _:
            return wrapped


def result(wrapped: Any, operation: ToolExecution) -> dict[str, Any]:
    """Return the fields of a tool's execution that hold its outcome."""
    value = _open_envelope(wrapped)
    match value:
        case {"kwargs": {"content": content, "tool_call_id": tool_call_id}}:
            failed = value["kwargs"].get("status") == "error"
            return {
                "result": content,
                "tool_error": str(content) if failed else operation.tool_error,
                "call_id": operation.call_id
                or (tool_call_id if isinstance(tool_call_id, str) else None),
            }
        case _:
            return {"result": value}


def _open_envelope(wrapped: Any) -> Any:
    match wrapped:
        case {"output": value, **others} | {"outputs": value, **others} if others.keys() <= {
            "kwargs"
        }:
            return value
        case _:
            return wrapped


def run_input(wrapped: Any) -> Any:
    """Return the input of an agent or a workflow."""
    match wrapped:
        case {"inputs": inputs}:
            return inputs
        case {"args": [only], "kwargs": named} if not named:
            return only
        case {"args": [], "kwargs": dict(named)}:
            return named or None
        case _:
            return wrapped


def run_output(wrapped: Any) -> Any:
    """Return the output of an agent or a workflow; LangChain's executor wraps it once more."""
    match _open_envelope(wrapped):
        case {"output": str(words)}:
            return words
        case value:
            return value


def query(wrapped: Any) -> str | None:
    """Return the query of a retrieval."""
    match wrapped:
        case {"query": str(words)} | {"inputs": str(words)} | str(words):
            return words
        case _:
            return None


def documents(wrapped: Any) -> list[Any] | None:
    """Return the documents of a retrieval, their text under the conventions' name."""
    match wrapped:
        case {"documents": list(items)} | [*items]:
            return [_document(item) for item in items]
        case _:
            return None


def _document(document: Any) -> Any:
    if isinstance(document, dict) and "page_content" in document and "content" not in document:
        return {
            "content" if key == "page_content" else key: value for key, value in document.items()
        }
    return document
