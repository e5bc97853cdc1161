"""Payloads of events. Orchestrators and providers name the same field differently, and so do older
logs: each field is looked up under all of its names.

Source: amplifier-core 2.0.2 (`models.Usage`, `message_models`), loop-basic, loop-streaming, the
Tool Contract's page (`input`, `tool_result`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from math import isfinite
from typing import Any

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import canonical
from agentool_otel.model.messages import Part, reasoning, text, tool_call
from agentool_otel.model.operations import UNSET, Usage
from agentool_otel.providers.shapes import parts_of

__all__ = [
    "Data",
    "cost_of",
    "error_of",
    "event_time",
    "input_key",
    "labels_of",
    "part_of",
    "string",
    "tool_input",
    "tool_result",
    "usage_of",
]

Data = Mapping[str, Any]

_INPUTS = ("tool_input", "input", "arguments")
_RESULTS = ("result", "tool_result", "output")
_TOKENS = {
    "input_tokens": ("input_tokens", "input"),
    "output_tokens": ("output_tokens", "output"),
    "cache_read_tokens": ("cache_read_tokens", "cache_read", "cache_read_input_tokens"),
    "cache_write_tokens": ("cache_write_tokens", "cache_write", "cache_creation_input_tokens"),
    "reasoning_tokens": ("reasoning_tokens",),
    "total_tokens": ("total_tokens",),
}
_MEMBER = re.compile(r"(?<!\w)(\w{1,64})=(?:Decimal\(')?([0-9.eE+-]{1,64})")
"""A member of a model's `repr`, which loop-basic sends in place of the model."""

_LABELS = frozenset({
    "action", "agent", "iteration", "module_id", "module_type", "name", "orchestrator", "phase",
    "provider", "reason_code", "reason_type", "risk_level", "source", "status", "strategy",
    "sub_session_id", "tool_call_id", "tool_name", "trigger",
})  # fmt: skip
"""Members with names. Other text may be content of users, models and tools."""

_TIME = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)", re.ASCII
)
_STAMPED = frozenset({"session_id", "parent_id", "timestamp", "request_id"})
_SECOND_NS = 1_000_000_000
_END_NS = 1 << 63
"""The first number of nanoseconds, and of tokens, that an attribute has no room for."""


def string(data: Data, *names: str) -> str | None:
    """Return the first member that is text, and not empty."""
    for name in names:
        value = data.get(name)
        if isinstance(value, str) and value:
            return value
    return None


def _first(data: Data, names: tuple[str, ...]) -> Any:
    return next((data[name] for name in names if name in data), UNSET)


def event_time(stamp: Any) -> int | None:
    """Return nanoseconds since the epoch of an RFC 3339 time with up to nine decimals; None of a
    time that no span can have."""
    parts = _TIME.fullmatch(stamp) if isinstance(stamp, str) else None
    if parts is None:
        return None
    seconds, decimals, zone = parts.groups()
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(seconds + zone.replace("Z", "+00:00"))
        at_ns = int(moment.timestamp()) * _SECOND_NS + int((decimals or "").ljust(9, "0"))
        return at_ns if 0 < at_ns < _END_NS else None
    return None


def tool_input(data: Data) -> Any:
    """Return a tool's arguments, `UNSET` where the event has none."""
    return _first(data, _INPUTS)


def input_key(data: Data) -> str:
    """Return the key that calls with equal arguments share."""
    value = tool_input(data)
    return "" if value is UNSET else canonical(value)


def tool_result(data: Data) -> tuple[Any, str | None]:
    """Return the result of a tool, and its error text if it reports a failure.

    The result is `UNSET` where the event has none. Of `{success, output, error}`, a ToolResult, the
    output is the result; a plain value, as loop-basic sends it, is the result itself.
    """
    value = _first(data, _RESULTS)
    if not isinstance(value, Mapping) or not isinstance(value.get("success"), bool):
        return value, None
    output = value.get("output")
    if not value["success"]:
        return output, error_of(value)[1] or (output if isinstance(output, str) else "failed")
    return (value.get("content") if output is None else output), None


def error_of(data: Data) -> tuple[str | None, str | None]:
    """Return the type and the message of an error: text, or an object with `type` and `message`."""
    error = data.get("error")
    if isinstance(error, Mapping):
        return string(error, "type", "code"), string(error, "message", "msg")
    if isinstance(error, str) and error:
        return string(data, "error_type"), error
    return string(data, "error_type"), None


def usage_of(data: Data) -> Usage | None:
    """Return token counts: of a Usage as JSON, in older words, or as the `repr` of one."""
    members = _members(data.get("usage"))
    counts: dict[str, Any] = {}
    for field, names in _TOKENS.items():
        value = _first(members, names)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _END_NS:
            counts[field] = value
    return Usage(**counts) if counts else None


def cost_of(data: Data) -> float | None:
    """Return the cost of a call in US dollars; Amplifier writes a decimal number as text."""
    for members in (_members(data.get("usage")), data):
        value = members.get("cost_usd")
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            with suppress(ValueError, OverflowError):
                cost = float(value)
                return cost if isfinite(cost) else None
    return None


def _members(usage: Any) -> Data:
    if isinstance(usage, Mapping):
        return usage
    if not isinstance(usage, str):
        return {}
    matches = _MEMBER.findall(usage)
    return {name: int(value) if value.isdecimal() else value for name, value in matches}


def part_of(block: Any) -> Part | None:
    """Return the message part that a content block is."""
    if not isinstance(block, Mapping):
        return None
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return text(block["text"])
    if kind in ("thinking", "reasoning") and (thought := string(block, "thinking", "text")):
        return reasoning(thought)
    if kind in ("tool_call", "tool_use") and (name := string(block, "name", "tool_name")):
        arguments = _first(block, ("input", "arguments"))
        return tool_call(name, None if arguments is UNSET else arguments, string(block, "id"))
    parts = parts_of(dict(block))
    return parts[0] if parts else None


def labels_of(data: Data, content: bool) -> dict[str, Any]:
    """Return the attributes of a span event: numbers, names, and texts where content is kept."""
    members: dict[str, Any] = {}
    for name, value in data.items():
        if name in _STAMPED or value is None:
            continue
        if isinstance(value, str):
            if content or name in _LABELS:
                members[f"amplifier.{name}"] = value
        elif isinstance(value, (bool, int, float)):
            members[f"amplifier.{name}"] = value
        elif content:
            members[f"amplifier.{name}"] = canonical(value)
    return members
