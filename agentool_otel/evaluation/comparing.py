"""Compare an expected value with an actual one, of which parts may be hidden."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from agentool_otel.evaluation.verdicts import Difference
from agentool_otel.ground import json_codec
from agentool_otel.reading.rebuild.report.content_marks import marks_on
from agentool_otel.semconv.marks import MARK_TRUNCATED, MARK_UNENCODABLE
from agentool_otel.semconv.redaction import cut_end, has_marker, visible_parts

__all__ = [
    "Match",
    "difference",
    "equal",
    "gap_in",
    "hides_members",
    "same",
    "short",
]

_SHORT = 80
_LONGEST = 300
"""Characters of a value in a difference."""
_MARKS = frozenset({MARK_TRUNCATED, MARK_UNENCODABLE})


class Match(NamedTuple):
    """Result of comparing a value with the expected one."""

    holds: bool | None
    """None if the arguments are unknown."""
    detail: str = ""
    """The actual arguments, worded for a reason."""
    differences: tuple[Difference, ...] = ()
    """The arguments that are not as expected, without the step."""


def same(expected: Any, actual: Any) -> bool:
    """Return whether two JSON values are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(
            same(value, actual[key]) for key, value in expected.items()
        )
    if isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    return bool(expected == actual)


def equal(expected: Any, actual: Any) -> bool | None:
    """Return whether a value is the expected one; None if hidden data decides.

    What is visible decides as far as it goes: a member that differs makes the whole differ.
    """
    if isinstance(actual, str) and (has_marker(actual) or cut_end(actual) is not None):
        return _may_be(expected, actual)
    if isinstance(actual, dict):
        if MARK_UNENCODABLE in actual or (MARK_TRUNCATED in actual and len(actual) == 1):
            return None
        return _equal_objects(expected, actual) if isinstance(expected, dict) else False
    if isinstance(actual, (list, tuple)):
        return _equal_lists(expected, actual) if isinstance(expected, (list, tuple)) else False
    return same(expected, actual)


def _may_be(expected: Any, shown: str) -> bool | None:
    """Return False if no value in place of the gaps makes a text the expected one, else None."""
    if not isinstance(expected, str):
        return None
    parts = [_without_space(part) for part in visible_parts(shown)]
    text = _without_space(expected)
    fits = text.startswith(parts[0]) and text.endswith(parts[-1])
    return None if fits and len(text) >= len(parts[0]) + len(parts[-1]) else False


def _without_space(text: str) -> str:
    """Return a text without white space, which may change where JSON in it is masked."""
    return "".join(text.split())


def _equal_objects(expected: dict[str, Any], actual: dict[str, Any]) -> bool | None:
    open_ended = hides_members(actual)
    shown = {key: value for key, value in actual.items() if not _is_mark(key)}
    if shown.keys() - expected.keys():
        return False
    if expected.keys() - shown.keys() and not open_ended:
        return False
    outcome = _all(equal(expected[key], value) for key, value in shown.items())
    return None if outcome and open_ended else outcome


def _equal_lists(expected: Any, actual: Any) -> bool | None:
    open_ended = bool(actual) and isinstance(actual[-1], dict) and not _MARKS.isdisjoint(actual[-1])
    shown = actual[:-1] if open_ended else actual
    if len(shown) > len(expected) or (len(shown) < len(expected) and not open_ended):
        return False
    outcome = _all(equal(item, value) for item, value in zip(expected, shown, strict=False))
    return None if outcome and open_ended else outcome


def _all(outcomes: Iterable[bool | None]) -> bool | None:
    outcome_list = list(outcomes)
    return False if False in outcome_list else None if None in outcome_list else True


def _is_mark(key: str) -> bool:
    return key.startswith("$") or has_marker(key)


def hides_members(value: Any) -> bool:
    """Return whether an object may have had members that it does not show."""
    return isinstance(value, dict) and (not _MARKS.isdisjoint(value) or any(map(has_marker, value)))


def gap_in(value: Any) -> str | None:
    """Return the parts of a value that its own marks show as masked, shortened or not encodable."""
    for note in marks_on(value, "", None):
        return f"is {note.outcome}: {note.rule}"
    return None


def short(value: Any, most: int = _SHORT) -> str:
    """Return a value as JSON for a reason; only its beginning if it is long."""
    try:
        text = json_codec.dumps(value)
    except (TypeError, ValueError):
        text = repr(type(value))
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def difference(name: str, expected: Any, actual: Any) -> Difference:
    """Return a difference between two JSON values."""
    return Difference(name, short(expected, _LONGEST), short(actual, _LONGEST))
