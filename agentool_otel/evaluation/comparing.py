"""Compare an expected value with an actual one, which may be masked or shortened."""

from __future__ import annotations

from typing import Any, NamedTuple

from agentool_otel.ground import json_codec
from agentool_otel.reconstruction.report.content_marks import marks_on

__all__ = ["Match", "gap_in", "same", "short"]

_SHORT = 80


class Match(NamedTuple):
    """Whether a value is as expected."""

    holds: bool | None
    """None where the arguments cannot tell."""
    detail: str = ""
    """What the arguments are instead, in the words of a reason."""


def same(expected: Any, actual: Any) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(
            same(value, actual[key]) for key, value in expected.items()
        )
    if isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    return bool(expected == actual)


def gap_in(value: Any) -> str | None:
    """Return what is missing from a value by its own marks: masked, shortened, not encodable."""
    for note in marks_on(value, "", None):
        return f"is {note.outcome}: {note.rule}"
    return None


def short(value: Any) -> str:
    """Return a value as JSON for a reason; only its beginning if it is long."""
    try:
        text = json_codec.dumps(value)
    except (TypeError, ValueError):
        text = repr(type(value))
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}… ({len(text)} characters)"
