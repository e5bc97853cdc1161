"""Model calls that another tracer records again, in an OTel trace of its own.

A framework's callbacks do not make its span the current one, so the span of a provider's SDK, or of
a tracer around it, becomes a root: a loose call that duplicates one of the run. So does the span of
a server that gets no trace context. It has the same response id, is from another tracer, and one of
the two lasts while the other does. Without a run two loose calls duplicate each other in the same
way. A failed call has no response id, so its duplicate
stays.

Seen with OpenInference's LangChain 0.1.80 beside its OpenAI 0.1.66, OpenLLMetry's OpenAI 0.62.4 and
the spans of anthropic 2.12.0.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import NamedTuple

from agentool_otel.model.operations import Inference
from agentool_otel.reading.rebuild.correlation.disk_store import LARGEST, Rows
from agentool_otel.reading.rebuild.run_spans import RunSpans
from agentool_otel.reading.rebuild.tree import Node

__all__ = ["Answered", "AnsweredCalls", "answered", "answered_in"]

_PARTS = 32
"""Number of partitions of the calls; only one is in memory."""


_NEAR = 8
"""Most earlier calls of the same id that a call is compared with: some servers repeat one id."""


class Answered(NamedTuple):
    """A model call whose response has an id."""

    response_id: str
    start_ns: int
    end_ns: int
    scope: str


def answered(node: Node) -> Answered | None:
    """Return the key that identifies a call; None if unknown."""
    operation = node.operation
    if type(operation) is not Inference or operation.response_id is None:
        return None
    if node.start_ns is None or node.end_ns is None:
        return None
    return Answered(operation.response_id, node.start_ns, node.end_ns, node.span.scope)


def answered_in(run: RunSpans) -> list[Answered]:
    """Return the calls in a run that other tracers may record as well."""
    if run.root is None:
        return []
    return [call for node in run.nodes if (call := answered(node)) is not None]


class AnsweredCalls:
    """Calls of any number of traces, on disk where they are many."""

    def __init__(self) -> None:
        self._rows = Rows(5, _PARTS)
        """Response, start, end, scope and number of a call."""

    def add(self, call: Answered, number: int = 0) -> None:
        """Add a call.

        Raises:
            SourceError: the temporary folder is full.
        """
        response = hash(call.response_id)
        if 0 <= call.start_ns <= call.end_ns <= LARGEST:  # else a time is invalid
            scope = hash(call.scope)
            self._rows.add(response % _PARTS, response, call.start_ns, call.end_ns, scope, number)

    def duplicates(self, others: AnsweredCalls) -> set[int]:
        """Return the numbers of these calls that duplicate one of the others: another tracer's, one
        of which lasts while the other does."""
        numbers: set[int] = set()
        for part in self._rows.parts():
            own: dict[int, list[_Row]] = defaultdict(list)
            for row in map(_Row._make, self._rows.of(part)):
                own[row.response].append(row)
            around: dict[int, list[_Row]] = defaultdict(list)
            for row in map(_Row._make, others._rows.of(part)):
                if row.response in own:
                    around[row.response].append(row)
            for response, rows in around.items():
                calls, others_of_it = sorted(own[response]), sorted(rows)
                numbers.update(_within(calls, others_of_it))
                numbers.update(_around(calls, others_of_it))
        return numbers

    def pairs(self, trace_of: Callable[[int], int]) -> Iterator[tuple[int, int]]:
        """Yield the numbers of each two of these calls that are one.

        Args:
            trace_of: the OTel trace of a call, by its number. Two spans in one trace are no matter
                of ids and times: where they stand in it tells more.
        """
        for part in self._rows.parts():
            alike: dict[int, list[_Row]] = defaultdict(list)
            for row in sorted(_Row(*item) for item in self._rows.of(part)):
                for other in alike[row.response][-_NEAR:]:
                    if row.is_also(other) and trace_of(row.number) != trace_of(other.number):
                        yield other.number, row.number
                alike[row.response].append(row)

    def close(self) -> None:
        self._rows.close()


class _Row(NamedTuple):
    response: int
    start_ns: int
    end_ns: int
    scope: int
    number: int

    def is_also(self, other: _Row) -> bool:
        """Return whether the other row is of another tracer and overlaps in time with this one."""
        if self.scope == other.scope:
            return False
        start, end = max(self.start_ns, other.start_ns), min(self.end_ns, other.end_ns)
        return (start, end) in ((self.start_ns, self.end_ns), (other.start_ns, other.end_ns))


def _within(calls: list[_Row], others: list[_Row]) -> Iterator[int]:
    """Yield the numbers of calls that lie within one of others of another tracer, both sorted by
    start: of those that have begun, the two that end last are enough, if they are of two tracers.
    """
    latest: list[_Row] = []
    begun = 0
    for call in calls:
        while begun < len(others) and others[begun].start_ns <= call.start_ns:
            latest = _last_two(latest, others[begun])
            begun += 1
        if any(row.end_ns >= call.end_ns and row.scope != call.scope for row in latest):
            yield call.number


def _around(calls: list[_Row], others: list[_Row]) -> Iterator[int]:
    """Yield the numbers of calls within which one of others of another tracer lies, both sorted by
    start: of those that begin later, the two that end first are enough, if they are of two tracers.
    """
    starts = [row.start_ns for row in others]
    later: list[list[_Row]] = [[]]
    for row in reversed(others):
        later.append(_first_two(later[-1], row))
    later.reverse()
    for call in calls:
        rows = later[bisect_left(starts, call.start_ns)]
        if any(row.end_ns <= call.end_ns and row.scope != call.scope for row in rows):
            yield call.number


def _first_two(first: list[_Row], row: _Row) -> list[_Row]:
    """Return those of up to three calls that end first, one of a tracer."""
    by_scope: dict[int, _Row] = {}
    for item in sorted((*first, row), key=attrgetter("end_ns"), reverse=True):
        by_scope[item.scope] = item
    return sorted(by_scope.values(), key=attrgetter("end_ns"))[:2]


def _last_two(latest: list[_Row], row: _Row) -> list[_Row]:
    """Return those of up to three calls that end last, one of a tracer."""
    by_scope: dict[int, _Row] = {}
    for item in sorted((*latest, row), key=attrgetter("end_ns")):
        by_scope[item.scope] = item
    return sorted(by_scope.values(), key=attrgetter("end_ns"))[-2:]
