"""The order in which runs are numbered: that of time, a run followed by the runs inside it.

A new run never changes the number of an earlier one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from agentool_otel.cli._text import or_none
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.times import to_ns

__all__ = ["Place", "in_order", "newest", "outermost", "outermost_of", "place_of", "start_key"]


class Place(NamedTuple):
    """Sort key of a run."""

    trace_id: str
    parent_id: str | None
    """Trace id of the run that it is inside of."""
    started_ns: int | None
    """None if it is not known: after all others, as they are read."""


def place_of(trace: ReasoningTrace) -> Place:
    above = (or_none(trace.metadata) or {}).get("parent_trace_id")
    started = or_none(trace.started_at)
    return Place(
        trace.trace_id,
        above if isinstance(above, str) else None,
        to_ns(started) if isinstance(started, str) else None,
    )


def in_order(places: Sequence[Place]) -> list[int]:
    """Return the positions of the runs in the order of their numbers."""
    tops = outermost(places)

    def key(position: int) -> tuple[float, int, bool, float, int]:
        top = tops[position]
        is_nested = position != top
        return start_key(places[top]), top, is_nested, start_key(places[position]), position

    return sorted(range(len(places)), key=key)


def newest(places: Sequence[Place], count: int) -> list[int]:
    """Return the positions of the last runs, with all that is inside them, in order."""
    tops = outermost(places)
    order = in_order(places)
    heads = set([number for number in order if tops[number] == number][-count:])
    return [position for position in order if tops[position] in heads]


def outermost(places: Sequence[Place]) -> list[int]:
    """Return for every run the position of its outermost ancestor, which may be itself."""
    heads = outermost_of(places, [True] * len(places))
    return [position if head is None else head for position, head in enumerate(heads)]


def outermost_of(places: Sequence[Place], selected: Sequence[bool]) -> list[int | None]:
    """Return for every run the position of its outermost selected ancestor, which may be itself;
    None if none is selected.
    """
    positions: dict[str, int] = {}
    for position, place in enumerate(places):
        positions.setdefault(place.trace_id, position)
    heads: dict[int, int | None] = {}
    for start in range(len(places)):
        way: dict[int, None] = {}
        at: int | None = start
        while at is not None and at not in way and at not in heads:
            way[at] = None
            at = positions.get(places[at].parent_id or "")
        head = None if at is None else heads.get(at)
        for position in reversed(way):
            if head is None and selected[position]:
                head = position
            heads[position] = head
    return [heads[position] for position in range(len(places))]


def start_key(place: Place) -> float:
    """Return when a run started, for sorting: one whose start is not known is the newest."""
    return math.inf if place.started_ns is None else place.started_ns
