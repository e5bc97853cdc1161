"""Runs that span several OTel traces, each of them a part.

A runtime that passes messages from agent to agent starts a trace with every message, and links it
to the span that sent the message, so that a run is many traces. Any later trace may be a part, so
parts wait on disk until all traces have been read; for runs known only by an id, the times of each
part stay in memory. A run has to fit into memory, as a trace has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from agentool_otel.dialects import LinkingDialect, linking_dialects
from agentool_otel.ground.stable_hash import stable_hash
from agentool_otel.model.spans import Deduplicated, SpanRecord, copies_of
from agentool_otel.reading.rebuild.correlation.disk_store import Units, unpacked
from agentool_otel.reading.rebuild.correlation.keys import Keys
from agentool_otel.reading.rebuild.correlation.union_find import Joining, rank_of
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import gen_ai

__all__ = ["Part", "Parts", "gather", "nested", "part_of"]


class Part(NamedTuple):
    """An OTel trace that is one of several of a run."""

    spans: list[SpanRecord]
    keys: Keys
    run_ids: list[int]
    """Ids of runs; parts of the same id that overlap in time belong together."""


def part_of(spans: list[SpanRecord], nodes: Iterable[Node]) -> Part | None:
    """Return a trace as a part of a run; None if it stands for itself.

    Args:
        spans: all of the trace.
        nodes: their nodes.
    """
    known = linking_dialects()
    named = {node.dialect for node in nodes if node.dialect in known}
    scopes = {span.scope: span for span in spans}
    for name, dialect in known.items():  # its agent may write spans that another dialect reads
        owns = getattr(dialect, "owns", None)
        if owns is not None and any(map(owns, scopes.values())):
            named.add(name)
    linked = [
        (name, links)
        for name in sorted(filter(None, named))
        if (links := known[name].trace_links(spans))
    ]
    if not linked:
        return None
    offered, needed, run_ids = (
        [stable_hash(name, key) for name, links in linked for key in links[n]] for n in range(3)
    )
    return Part(spans, Keys(offered, needed), run_ids)


def gather(spans: list[SpanRecord]) -> list[SpanRecord]:
    """Return the spans of a run as its dialect has put them in order.

    Raises:
        Exception: whatever a dialect raises.
        ValueError: one gives other spans back than it was given.
    """
    arranged = spans
    dialects: Iterable[LinkingDialect] = linking_dialects().values()
    for dialect in dialects:
        given, arranged = arranged, list(dialect.arrange(arranged))
        if getattr(dialect, "makes_spans", False):
            continue
        if arranged != given and sorted(map(_id_of, arranged)) != sorted(map(_id_of, given)):
            raise ValueError(
                f"dialect {dialect.name!r} arranged {len(given)} spans into {len(arranged)}, "
                "not all of them the same"
            )
    copies = copies_of(spans)
    return Deduplicated(arranged, copies) if copies else arranged


def nested(spans: list[SpanRecord]) -> list[SpanRecord]:
    """Return the spans of a trace, those of a session file below their turns: the file has events,
    none of which names its parent.

    Raises:
        Exception: whatever a dialect raises.
    """
    ids = {span.span_id for span in spans}
    if len(spans) == 1 or any(span.parent_id in ids for span in spans):
        return spans
    for dialect in linking_dialects().values():
        if getattr(dialect, "makes_spans", False):
            spans = list(dialect.arrange(spans))
    return spans


_id_of = attrgetter("trace_id", "span_id")


class Parts:
    """Holds traces that are parts of larger runs until every trace has been read."""

    def __init__(self) -> None:
        self._joining = Joining()
        self._units = Units()
        self._times: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        """By the id of a run, when each part of it began and ended, and its number."""
        self._copies: dict[int, int] = {}
        self._refers: dict[int, str] = {}
        """The parts that refer to others, and their traces."""

    def add(self, part: Part) -> None:
        """Add a part.

        Raises:
            SourceError: the temporary folder is full.
        """
        first = part.spans[0]
        order = f"{first.start_ns or 0:020} {first.trace_id}"
        number = self._joining.add(part.keys, rank_of(first.start_ns, order))
        for span in part.spans:
            self._units.add(number, span, order if span is first else "")
        if part.run_ids:
            work = [span for span in part.spans if gen_ai.EVALUATION_NAME not in span.attributes]
            work = work or part.spans
            starts = [span.start_ns or 0 for span in work]
            ends = [span.end_ns or span.start_ns or 0 for span in work]
            for run_id in part.run_ids:
                self._times[run_id].append((min(starts), max(ends), number))
        if copies := copies_of(part.spans):
            self._copies[number] = copies
        if part.keys.needed:
            self._refers[number] = first.trace_id

    def unjoined(self) -> Iterator[str]:
        """Yield the trace of each part that refers to others of which none is there; to be called
        after `runs`."""
        for number, trace_id in self._refers.items():
            if not self._joining.is_joined(number):
                yield trace_id

    def runs(self) -> Iterator[list[SpanRecord]]:
        """Yield the spans that belong together, in order of the first; nothing can be added any
        more."""
        self._joining.settle()
        for times in self._times.values():
            self._tie_overlapping(times)
        for group in self._units.groups(self._joining.group_of, len(self._joining)):
            spans = list(map(unpacked, self._units.get(group)))
            if len({span.span_id for span in spans}) < len(spans):  # which one would be a parent?
                for _, part in groupby(spans, key=attrgetter("trace_id")):
                    yield list(part)
                continue
            spans.sort(key=lambda span: (span.start_ns or 0, span.trace_id, span.span_id))
            copies = sum(self._copies.get(number, 0) for number in group.units)
            yield Deduplicated(spans, copies) if copies else spans

    def _tie_overlapping(self, times: list[tuple[int, int, int]]) -> None:
        """Tie the parts of each run of one id. The same crew is run a thousand times; tied by its
        id alone, all of them would have to be in memory at once."""
        times.sort()
        _, latest, first = times[0]
        for start_ns, end_ns, number in times:
            if start_ns > latest:
                first = number
            self._joining.tie(first, number)
            latest = max(latest, end_ns)

    def close(self) -> None:
        self._joining.close()
        self._units.close()
