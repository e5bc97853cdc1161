"""Shorten a long trace to the number of characters that a judge may be sent.

The rule is the same for everybody: first the long texts give, all down to one length, their
beginning and end staying; then steps from the middle of the run. Input and output have half of the
room to themselves, where they need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from agentool_otel.ground import json_codec

__all__ = ["Fitted", "fit", "line"]

_SHORTEST = 200
"""Characters below which no text is shortened."""
_BREAKS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"}
"""Characters that end a line for some readers and that JSON leaves as they are."""


class Fitted(NamedTuple):
    """The lines of a trace, and a note on the parts left out."""

    lines: list[str]
    left_out: str | None


def line(record: dict[str, Any]) -> str:
    """Return an object as one line of JSON."""
    return json_codec.dumps(record).translate(_BREAKS)


def fit(
    first: dict[str, Any], steps: Sequence[dict[str, Any]], last: dict[str, Any], budget: int
) -> Fitted:
    """Return a trace as lines of JSON within a budget of characters. Input and output always keep
    their beginning and end, even beyond it.

    Args:
        first: the input.
        steps: the steps, each with its `step_id`.
        last: the output.
        budget: characters.
    """
    lines = [line(record) for record in (first, *steps, last)]
    if _size(lines) <= budget:
        return Fitted(lines, None)
    ends, limit = _cut([first, last], max(budget // 2, budget - _size(lines[1:-1])))
    inner, inner_limit = _cut(steps, budget - _size(ends))
    shown, dropped = _from_both_ends(inner, budget - _size(ends))
    words = [
        _shortening_note("input or output", limit),
        _shortening_note("texts of steps", inner_limit),
    ]
    if dropped:
        names = [str(steps[at].get("step_id")) for at in (dropped.start, dropped.stop - 1)]
        words.append(f"{len(dropped)} of {len(steps)} steps left out, {names[0]} to {names[1]}")
    return Fitted([ends[0], *shown, ends[1]], "; ".join(filter(None, words)))


def _shortening_note(parts: str, limit: int | None) -> str:
    return "" if limit is None else f"{parts} shortened to {limit:,} characters"


def _size(lines: Sequence[str]) -> int:
    return sum(map(len, lines)) + len(lines)


def _cut(records: Sequence[dict[str, Any]], budget: int) -> tuple[list[str], int | None]:
    """Return lines whose texts are cut to one length, the largest with which they fit."""
    all_lines = [line(record) for record in records]
    if _size(all_lines) <= budget:
        return all_lines, None
    low, high = _SHORTEST, max(_SHORTEST, budget)
    best = [line(_shorten(record, low)) for record in records]
    while high - low > _SHORTEST // 4:
        middle = (low + high) // 2
        lines = [line(_shorten(record, middle)) for record in records]
        if _size(lines) <= budget:
            low, best = middle, lines
        else:
            high = middle
    return best, low


def _shorten(record: dict[str, Any], limit: int) -> dict[str, Any]:
    return {name: _text(value, limit) for name, value in record.items()}


def _text(value: Any, limit: int) -> Any:
    """Return a value if its JSON is short enough, else the beginning and the end of its text."""
    text = value if isinstance(value, str) else json_codec.dumps(value)
    if len(text) <= limit:
        return value
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]} … [{len(text) - head - tail} characters left out] … {text[-tail:]}"


def _from_both_ends(lines: list[str], budget: int) -> tuple[list[str], range]:
    """Return the lines that fit, taken from both ends in turn, with a line in place of the others,
    and the range of those.
    """
    if _size(lines) <= budget:
        return lines, range(0)
    room = budget - 100  # for the line that tells of it
    start, stop = 0, len(lines)
    while start < stop:
        at = start if start <= len(lines) - stop else stop - 1
        room -= len(lines[at]) + 1
        if room < 0:
            break
        if at == start:
            start += 1
        else:
            stop -= 1
    gap = line({"left_out": f"{stop - start} steps"})
    return [*lines[:start], gap, *lines[stop:]], range(start, stop)
