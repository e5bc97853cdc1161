"""Tool calls and results in the messages of Vercel's AI SDK.

Source: ai at 4 to 6, packages/provider-utils/src/types/content-part.ts.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.model.messages import Part, tool_response
from agentool_otel.providers.calls import call_part, parse_structured
from agentool_otel.providers.fields import get, record, string

__all__ = ["is_part", "part_of"]

_RESULTS = ("tool-result", "tool-error")


def is_part(value: Any) -> bool:
    """True for a call or a result; a call may be recorded without its type."""
    if string(value, "type") in _RESULTS:
        return True
    return get(value, "toolCallId") is not None and string(value, "toolName") is not None


def part_of(value: Any) -> Part:
    """Return a call or a result as a part."""
    call_id = string(value, "toolCallId")
    if string(value, "type") in _RESULTS:
        return _result(value, call_id)
    return call_part(string(value, "toolName"), _first(value, "input", "args"), call_id)


def _result(value: Any, call_id: str | None) -> Part:
    content = _first(value, "output", "result", "error")
    failed = string(value, "type") == "tool-error"
    wrapper = record(content)
    if wrapper is not None and wrapper.keys() == {"type", "value"}:  # since 5
        failed = failed or (string(wrapper, "type") or "").startswith("error")
        content = wrapper["value"]
    response = tool_response(parse_structured(content), call_id)
    return response | ({"is_error": True} if failed else {})


def _first(value: Any, *names: str) -> Any:
    """Return the first of several members that there is."""
    return next((entry for name in names if (entry := get(value, name)) is not None), None)
