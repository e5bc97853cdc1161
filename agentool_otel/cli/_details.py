"""Details of a run that its spans have and its document lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.rebuild.tree import Node

__all__ = ["NO_DETAILS", "CallsByTime", "Details", "details_of"]


class Details(NamedTuple):
    """Details of one run."""

    is_inferred: bool = False
    """Whether the run is a plain loop around a client."""
    is_recoverable: bool = False
    """Whether `recover` may find the missing spans of an incomplete run."""
    at_most: frozenset[str | None] = frozenset()
    """Ids of the tool calls whose durations are upper bounds."""
    calls: Sequence[Node] = ()
    """The model calls to show, in order of start."""


NO_DETAILS = Details()


def details_of(rebuilt: Rebuilt, is_recoverable: bool, with_calls: bool) -> Details:
    """Read the details from the spans of a run."""
    return Details(
        rebuilt.is_inferred,
        is_recoverable,
        frozenset(rebuilt.calls_of_unknown_length()) if rebuilt.is_inferred else frozenset(),
        rebuilt.calls() if with_calls else (),
    )


class CallsByTime:
    """Gives model calls out between steps."""

    def __init__(self, calls: Sequence[Node]):
        self._waiting = [*reversed(calls)]

    def before(self, at_ns: int | None) -> Iterator[Node]:
        """Yield the calls that began before a time and were not given out; none if it is None."""
        while at_ns is not None and self._waiting and (self._waiting[-1].start_ns or 0) < at_ns:
            yield self._waiting.pop()

    def rest(self) -> Iterator[Node]:
        """Yield the calls that are left."""
        while self._waiting:
            yield self._waiting.pop()
