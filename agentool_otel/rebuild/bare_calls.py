"""Calls of provider SDKs without an agent around them, until their runs are known.

Any later trace may continue a call, so the calls of all traces wait on disk; what they refer to
each other by does as well, and some thirteen bytes a call stay in memory.
"""

from __future__ import annotations

import pickle
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from heapq import merge
from operator import attrgetter
from typing import NamedTuple
from zlib import crc32

import msgspec

from agentool_otel.model.operations import Inference
from agentool_otel.model.spans import SpanRecord
from agentool_otel.rebuild._waiting import Bytes, Rows
from agentool_otel.rebuild.conversations import keys_of
from agentool_otel.rebuild.cost import Prices
from agentool_otel.rebuild.joining import Joining
from agentool_otel.rebuild.trace import Rebuilt, RunSpans
from agentool_otel.rebuild.tree import Node, grow, is_record
from agentool_otel.sources.grouping import Deduplicated

__all__ = ["BareCalls", "BareRun", "Loose", "copies_in", "rebuild_bare"]

_UNITS = 1 << 14
"""How many units are put into order at once, about."""
_BLOCK = 64
"""Groups that are read again at once when parts are merged."""
_MOST = (1 << 63) - 1
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(SpanRecord).decode


class Loose(NamedTuple):
    """What of one OTel trace belongs to no run in it."""

    nodes: list[Node]
    spans: list[SpanRecord]
    """All of the trace."""
    several: bool
    """Whether there are runs in it as well."""


Packed = bytes
"""A span as it is kept on disk."""


class BareRun(NamedTuple):
    """Bare calls that belong together."""

    trace_id: str
    """Of the rebuilt trace."""
    calls: list[Packed]
    copies: int
    """How many copies of spans were left out of the OTel traces they are from."""


def rebuild_bare(calls: BareRun, prices: Prices | None = None) -> Rebuilt:
    """Return a run of bare calls."""
    spans = [_unpacked(call) for call in calls.calls]
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


class _Group(msgspec.Struct, array_like=True, gc=False):
    """Units that belong together."""

    order: bytes
    """Of the first one."""
    several: bool
    """Whether that one's OTel trace holds more than this."""
    copies: int
    places: list[tuple[int, int]]
    """Of the spans, in the order of the units."""


_unpack_groups = msgspec.msgpack.Decoder(list[_Group]).decode


class BareCalls:
    """Bare calls of all traces.

    A unit is a model call with what it caused, or a tool execution that stands by itself. Units
    are numbered in the order they come, those of one trace in a row.
    """

    def __init__(self) -> None:
        self._joining = Joining()
        self._spans = Bytes()
        """Spans; before the one that is a unit itself its order, which sorts like start, trace id
        and span id."""
        self._places = Rows(4)
        """The unit, where the order begins and how long it is, 0 for what is not the unit itself,
        and how long the span is that follows."""
        self._index = Bytes()
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
                self._keep(holder, node, b"")
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
        order = _order(node).encode("utf-8", "surrogatepass")
        start = min(max(node.start_ns or 0, 0), _MOST)
        number = self._joining.add(keys_of(node), (start, crc32(order)))
        self._keep(number, node, order)
        return number

    def _keep(self, unit: int, node: Node, order: bytes) -> None:
        data = _packed(node.span)
        self._places.add(0, unit, self._spans.put(order + data), len(order), len(data))

    def runs(self) -> Iterator[BareRun]:
        """Yield the runs, in order of their first call; nothing can be added any more.

        Raises:
            SourceError: the temporary folder is full.
        """
        self._joining.settle()
        group_of = self._joining.group_of
        parts = 1 + len(self._joining) // _UNITS
        places = Rows(5, parts)
        try:
            for unit, *place in self._places.of(0):
                group = group_of(unit)
                places.add(group % parts, group, unit, *place)
            ordered: list[Iterable[_Group]] = []
            for part in range(parts):
                groups = self._groups(places.of(part))
                ordered.append(self._read_again(groups) if parts > 1 else groups)
        finally:
            places.close()
        for it in merge(*ordered, key=attrgetter("order")):
            _, trace_id, span_id = it.order.decode("utf-8", "surrogatepass").split(" ", 2)
            yield BareRun(
                f"{trace_id}:{span_id}" if it.several else trace_id,
                [self._spans.get(*place) for place in it.places],
                it.copies,
            )

    def _groups(self, rows: Iterator[tuple[int, ...]]) -> list[_Group]:
        """Return the groups of a part, in order."""
        units: dict[int, dict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
        orders: dict[int, bytes] = {}
        for group, unit, start, order, size in rows:
            if order:
                orders[unit] = self._spans.get(start, order)
            units[group][unit].append((start + order, size))
        groups: list[_Group] = []
        for members in units.values():
            numbers = sorted(members, key=orders.__getitem__)
            traces = {self._trace_of(number) for number in numbers}
            groups.append(
                _Group(
                    orders[numbers[0]],
                    self._several(self._trace_of(numbers[0])),
                    sum(self._copies[trace] for trace in traces),
                    [place for number in numbers for place in members[number]],
                )
            )
        return sorted(groups, key=attrgetter("order"))

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

    def _read_again(self, groups: list[_Group]) -> Iterator[_Group]:
        """Put groups on disk at once, and yield them when they are asked for."""
        blocks: list[tuple[int, int]] = []
        for at in range(0, len(groups), _BLOCK):
            data = _pack(groups[at : at + _BLOCK])
            blocks.append((self._index.put(data), len(data)))
        return (group for block in blocks for group in _unpack_groups(self._index.get(*block)))

    def close(self) -> None:
        self._joining.close()
        self._spans.close()
        self._places.close()
        self._index.close()


def copies_in(spans: list[SpanRecord]) -> int:
    """Return how many copies of spans were left out of a trace."""
    return spans.copies if isinstance(spans, Deduplicated) else 0


def _packed(span: SpanRecord) -> Packed:
    try:
        return b"m" + _pack(span)
    except (OverflowError, UnicodeEncodeError, TypeError):  # 65-bit integers, lone surrogates
        return b"p" + pickle.dumps(span)


def _unpacked(data: Packed) -> SpanRecord:
    if data[:1] == b"p":
        kept: SpanRecord = pickle.loads(data[1:])  # written by ourselves into a private file
        return kept
    return _unpack(data[1:])


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
