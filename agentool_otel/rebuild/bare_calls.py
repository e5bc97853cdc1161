"""Calls of provider SDKs without an agent around them, until their runs are known.

Any later trace may continue a call, so the calls of all traces wait on disk; what they refer to
each other by does as well, and some thirteen bytes a call stay in memory.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple
from zlib import crc32

from agentool_otel.model.operations import Inference
from agentool_otel.model.spans import SpanRecord
from agentool_otel.rebuild._waiting import Packed, Units, unpacked
from agentool_otel.rebuild.conversations import keys_of
from agentool_otel.rebuild.cost import Prices
from agentool_otel.rebuild.joining import Joining
from agentool_otel.rebuild.trace import Rebuilt, RunSpans
from agentool_otel.rebuild.tree import Node, grow, is_record
from agentool_otel.sources.grouping import Deduplicated

__all__ = ["BareCalls", "BareRun", "Loose", "copies_in", "rebuild_bare"]

_MOST = (1 << 63) - 1


class Loose(NamedTuple):
    """What of one OTel trace belongs to no run in it."""

    nodes: list[Node]
    spans: list[SpanRecord]
    """All of the trace."""
    several: bool
    """Whether there are runs in it as well."""


class BareRun(NamedTuple):
    """Bare calls that belong together."""

    trace_id: str
    """Of the rebuilt trace."""
    calls: list[Packed]
    copies: int
    """How many copies of spans were left out of the OTel traces they are from."""


def rebuild_bare(calls: BareRun, prices: Prices | None = None) -> Rebuilt:
    """Return a run of bare calls."""
    spans = [unpacked(call) for call in calls.calls]
    run = _linked(spans, calls.copies)
    run.trace_id = calls.trace_id
    rebuilt = Rebuilt(run, {}, partial(_linked, spans, calls.copies), prices)
    for node in run.nodes:
        node.unlink()
    return rebuilt


def _linked(spans: list[SpanRecord], copies: int) -> RunSpans:
    """Link the spans of a bare run, of every OTel trace by itself."""
    traces: dict[str, list[SpanRecord]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    nodes = [node for members in traces.values() for node in grow(members)]
    run = RunSpans("", None, sorted(nodes, key=_order))
    run.copies = copies
    return run


class BareCalls:
    """Bare calls of all traces.

    A unit is a model call with what it caused, or a tool execution that stands by itself. Units
    are numbered in the order they come, those of one trace in a row.
    """

    def __init__(self) -> None:
        self._joining = Joining()
        self._units = Units()
        self._firsts = array("I")
        """By trace: its first unit,"""
        self._shared = bytearray()
        """whether there are runs in it that are not bare,"""
        self._copies = array("I")
        """and how many copies of its spans were left out."""

    def add(self, loose: Loose) -> None:
        """Add the bare nodes of one OTel trace, at least one.

        Raises:
            SourceError: the temporary folder is full.
        """
        self._firsts.append(len(self._joining))
        self._shared.append(loose.several)
        self._copies.append(copies_in(loose.spans))
        nodes = loose.nodes
        units: dict[int, int] = {}
        calls = [node for node in nodes if isinstance(node.operation, Inference)]
        for node in calls:
            units[id(node)] = self._unit(node)
        for node in nodes:
            if id(node) in units:
                continue
            holder = _nearest(node, units)
            if holder is not None:
                self._units.add(holder, node.span)
                units[id(node)] = holder
                continue
            number = units[id(node)] = self._unit(node)
            neighbour = _neighbour(node, calls)
            if neighbour is not None:
                self._joining.tie(number, units[id(neighbour)])
        orphans: dict[str, int] = {}
        for node in nodes:  # of one parent that is missing: what is left of one run
            lost = node.span.parent_id if node.parent is None else None
            if lost is not None:
                self._joining.tie(orphans.setdefault(lost, units[id(node)]), units[id(node)])
        records = [units[id(node)] for node in nodes if is_record(node)]
        for number in records:  # of a session whose prompts were not recorded
            self._joining.tie(records[0], number)
        silent: dict[int, int] = {}
        for node in calls:  # without content nothing tells but the span they all lie below
            operation = node.operation
            if isinstance(operation, Inference) and operation.input is None and node.parent:
                *_, top = node.ancestors()
                self._joining.tie(silent.setdefault(id(top), units[id(node)]), units[id(node)])
        for node in calls:  # the same call seen twice: an SDK's span below a framework's
            for up in node.ancestors():
                if id(up) in units:
                    self._joining.tie(units[id(up)], units[id(node)])

    def _unit(self, node: Node) -> int:
        order = _order(node)
        start = min(max(node.start_ns or 0, 0), _MOST)
        rank = (start, crc32(order.encode("utf-8", "surrogatepass")))
        number = self._joining.add(keys_of(node), rank)
        self._units.add(number, node.span, order)
        return number

    def runs(self) -> Iterator[BareRun]:
        """Yield the runs, in order of their first call; nothing can be added any more.

        Raises:
            SourceError: the temporary folder is full.
        """
        self._joining.settle()
        for group in self._units.groups(self._joining.group_of, len(self._joining)):
            _, trace_id, span_id = group.order.decode("utf-8", "surrogatepass").split(" ", 2)
            several = self._several(self._trace_of(group.units[0]))
            traces = set(map(self._trace_of, group.units))
            yield BareRun(
                f"{trace_id}:{span_id}" if several else trace_id,
                self._units.get(group),
                sum(self._copies[trace] for trace in traces),
            )

    def _trace_of(self, unit: int) -> int:
        return bisect_right(self._firsts, unit) - 1

    def _several(self, trace: int) -> bool:
        """Return whether the units of a trace are not all of one run, or not all of it."""
        first = self._firsts[trace]
        after = self._firsts[trace + 1] if trace + 1 < len(self._firsts) else len(self._joining)
        group_of = self._joining.group_of
        group = group_of(first)
        return bool(self._shared[trace]) or any(
            group_of(unit) != group for unit in range(first + 1, after)
        )

    def close(self) -> None:
        self._joining.close()
        self._units.close()


def copies_in(spans: list[SpanRecord]) -> int:
    """Return how many copies of spans were left out of a trace."""
    return spans.copies if isinstance(spans, Deduplicated) else 0


def _order(node: Node) -> str:
    return f"{node.start_ns or 0:020} {node.span.trace_id} {node.span.span_id}"


def _nearest(node: Node, units: dict[int, int]) -> int | None:
    for up in node.ancestors():
        if id(up) in units:
            return units[id(up)]
    return None


def _neighbour(node: Node, calls: list[Node]) -> Node | None:
    """The last model call before a node under the nearest span that holds both."""
    for up in node.ancestors():
        near = [call for call in calls if any(a is up for a in call.ancestors())]
        if near:
            before = [call for call in near if call.order <= node.order]
            return before[-1] if before else near[0]
    return None
