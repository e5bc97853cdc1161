"""Values as short texts for people. Recorded text is never trusted: see `ground.untrusted_text`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, TypeVar, cast

from msgspec import UNSET, UnsetType

from agentool_otel.ground import json_codec
from agentool_otel.ground.untrusted_text import clean, line
from agentool_otel.ground.untrusted_text import count_text as count
from agentool_otel.model.times import to_ns

__all__ = [
    "arguments",
    "clean",
    "clock",
    "count",
    "duration",
    "ids",
    "line",
    "number",
    "or_none",
    "pretty",
    "short_id",
    "size",
    "value",
    "when",
]

T = TypeVar("T")


def or_none(value: T | UnsetType | None) -> T | None:
    """Return a member of a document, None if it is absent."""
    return None if isinstance(value, UnsetType) else value


def value(of: Any) -> str:
    """Return a JSON value on one line; a string without its quotes."""
    return line(of if isinstance(of, str) else _dumps(of))


def arguments(of: Any) -> str:
    """Return the arguments of a call as source code would have them."""
    if of is UNSET:
        return "..."
    if isinstance(of, Mapping):
        members = cast("Mapping[str, Any]", of)
        return ", ".join(f"{line(key)}={line(_dumps(item))}" for key, item in members.items())
    return value(of)


def pretty(of: Any) -> str:
    """Return a value in full, on as many lines as it takes."""
    if isinstance(of, str):
        return clean(of)
    return clean(json.dumps(of, indent=2, ensure_ascii=False))


def _dumps(of: Any) -> str:
    try:
        return json_codec.dumps(of)
    except (TypeError, ValueError):
        return repr(of)


def number(of: Any) -> str:
    """Return a number with separators, a dash if it is not known."""
    if isinstance(of, float) and not of.is_integer():
        return f"{of:,.4g}"
    return f"{int(of):,}" if isinstance(of, (int, float)) else "-"


def duration(ms: float | None) -> str:
    """Return a length of time in its most readable unit."""
    if ms is None:
        return "-"
    if ms < 0:
        return f"-{duration(-ms)}"
    if ms < 1:
        return f"{ms:.2f} ms"
    if ms < 1000:
        return f"{ms:.3g} ms" if ms < 999.5 else "1.00 s"
    if ms < 60_000:
        return f"{ms / 1000:.3g} s"
    minutes, seconds = divmod(round(ms / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s"


def ids(of: list[Any]) -> str:
    """Return ids, separated by commas."""
    return ", ".join(map(value, of))


def size(of_bytes: int) -> str:
    """Return a number of bytes in its most readable unit."""
    amount = float(of_bytes)
    for unit in ("B", "KB", "MB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:,.3g} GB"


def when(text: Any) -> str:
    """Return a document's time to the second, UTC."""
    ns = to_ns(text) if isinstance(text, str) else None
    if ns is None:
        return value(text) if isinstance(text, str) else "-"
    moment = datetime.fromtimestamp(ns // 1_000_000_000, timezone.utc)
    return f"{moment:%Y-%m-%d %H:%M:%S}Z"


def clock(ns: int | None) -> str:
    """Return a time of the Unix epoch as a clock here shows it: of today without the date."""
    if ns is None:
        return "-"
    try:
        moment, now = datetime.fromtimestamp(ns // 1_000_000_000), datetime.now()
    except (OverflowError, ValueError, OSError):  # the first and the last day of all
        return "-"
    if moment.date() == now.date():
        return f"{moment:%H:%M:%S}"
    return f"{moment:%m-%d %H:%M}" if moment.year == now.year else f"{moment:%Y-%m-%d}"


def short_id(trace_id: str) -> str:
    """Return a short form of an id: `51eecce3`, or `51eecce3:7a5d` for part of a trace."""
    trace, colon, span = trace_id.partition(":")
    if not re.fullmatch(r"[0-9a-f]{32}", trace):
        return line(trace_id)
    return f"{trace[:8]}{colon}{span[:4]}"
