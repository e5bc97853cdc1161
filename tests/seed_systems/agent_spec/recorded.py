"""Recorded spans for inspection."""

from __future__ import annotations

import re
from typing import Any

from opentelemetry import trace

__all__ = ["current", "everything", "lines", "named"]


def named(spans: Any, name: str) -> Any:
    """Return the only span of a name."""
    [result] = [item for item in spans.finished() if item.name == name]
    return result


def lines(spans: Any) -> list[str]:
    """Return the names of the spans, indented by depth."""
    return [re.sub(r"\b {2,}.*", "", line) for line in spans.tree().splitlines()]


def current() -> str | None:
    """Return the name of the current span."""
    return getattr(trace.get_current_span(), "name", None)


def everything(spans: Any) -> str:
    """Return all that would leave, as text."""
    results = [
        (
            item.name,
            dict(item.attributes),
            [(e.name, dict(e.attributes)) for e in item.events],
            item.status.description,
        )
        for item in spans.finished()
    ]
    return repr(results)
