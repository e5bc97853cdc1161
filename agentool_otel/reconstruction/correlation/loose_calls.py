"""Model calls and tools without an agent around them, until it is known which belong together."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from agentool_otel.model.operations import Inference
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reconstruction.correlation.duplicate_calls import AnsweredCalls, answered
from agentool_otel.reconstruction.correlation.keys import keys_of
from agentool_otel.reconstruction.correlation.spooled import Packed, Units
from agentool_otel.reconstruction.correlation.union_find import Joining, rank_of
from agentool_otel.reconstruction.judgements import Judgement
from agentool_otel.reconstruction.tree import Node, is_record
from agentool_otel.sources.grouping.by_trace import copies_of

__all__ = ["BareCalls", "BareRun", "Loose", "order_of"]


class Loose(NamedTuple):
    """What of one OTel trace belongs to no run in it."""

    nodes: list[Node]
    spans: list[SpanRecord]
    """All of the trace."""
    several: bool
    """Whether there are runs in it as well."""
    judgements: Sequence[Judgement] = ()
    """Of them."""


class BareRun(NamedTuple):
    """Bare calls that belong together."""

    trace_id: str
    """Of the rebuilt trace."""
    calls: list[Packed]
    """And what judges them."""
    copies: int
    """How many copies of spans were left out of the OTel traces they are from."""


class BareCalls:
    """Bare calls of all traces, until it is known which of them belong together.

    A unit is a model call with what it caused, or a tool execution that stands by itself. Units are
    numbered in the order they come, those of one trace in a row. Any later trace may continue them,
    so all have to wait, on disk; some thirteen bytes a call stay in memory.
    """

    def __init__(self) -> None:
        self._joining = Joining()
        self._units = Units()
        self._answered = AnsweredCalls()
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
        self._copies.append(copies_of(loose.spans))
        nodes = loose.nodes
        kept = {id(node) for node in nodes}
        units: dict[int, int] = {}
        calls = [node for node in nodes if isinstance(node.operation, Inference)]
        for node in calls:
            units[id(node)] = self._unit(node, kept)
        for node in nodes:
            if id(node) in units:
                continue
            holder = _nearest(node, units)
            if holder is not None:
                self._units.add(holder, _as_kept(node, kept))
                units[id(node)] = holder
                continue
            number = units[id(node)] = self._unit(node, kept)
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
        of_span = {node.span.span_id: units[id(node)] for node in nodes}
        for judgement in loose.judgements:
            unit = of_span.get(judgement.about or "", units[id(nodes[0])])
            self._units.add(unit, judgement.record)

    def _unit(self, node: Node, kept: set[int]) -> int:
        order = order_of(node)
        number = self._joining.add(keys_of(node), rank_of(node.start_ns, order))
        if (call := answered(node)) is not None:
            self._answered.add(call, number)
        self._units.add(number, _as_kept(node, kept), order)
        return number

    def close(self) -> None:
        self._joining.close()
        self._units.close()
        self._answered.close()

    def runs(self, told: AnsweredCalls) -> Iterator[BareRun]:
        """Yield the runs, in order of their first call; nothing can be added any more.

        Args:
            told: the calls that runs with an agent tell of: they are not told again.

        Raises:
            SourceError: the temporary folder is full.
        """
        self._joining.settle()
        ghosts = self._answered.ghosts(told)
        for group in self._units.groups(self._joining.group_of, len(self._joining), ghosts):
            _, trace_id, span_id = group.order.decode("utf-8", "surrogatepass").split(" ", 2)
            several = self._several(self._trace_of(group.units[0]), ghosts)
            traces = set(map(self._trace_of, group.units))
            yield BareRun(
                f"{trace_id}:{span_id}" if several else trace_id,
                self._units.get(group),
                sum(self._copies[trace] for trace in traces),
            )

    def _trace_of(self, unit: int) -> int:
        return bisect_right(self._firsts, unit) - 1

    def _several(self, trace: int, ghosts: set[int]) -> bool:
        """Return whether the units of a trace are not all of one run, or not all of it."""
        if self._shared[trace]:
            return True
        first = self._firsts[trace]
        after = self._firsts[trace + 1] if trace + 1 < len(self._firsts) else len(self._joining)
        group_of = self._joining.group_of
        groups = (group_of(unit) for unit in range(first, after) if unit not in ghosts)
        one = next(groups, None)
        return any(group != one for group in groups)


def order_of(node: Node) -> str:
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


def _as_kept(node: Node, kept: set[int]) -> SpanRecord:
    """Return a span that hangs below the nearest one that is kept with it, if there is one. A
    parent that was there and is no call is not missing; one that was not there is."""
    up = node.parent
    if up is None or id(up) in kept:
        return node.span
    while up is not None and id(up) not in kept:
        up = up.parent
    same = up is not None and up.span.trace_id == node.span.trace_id
    parent_id = up.span.span_id if up is not None and same else None
    return msgspec.structs.replace(node.span, parent_id=parent_id)
