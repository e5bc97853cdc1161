"""Model calls and tools without an agent around them, until it is known which belong together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from agentool_otel.model.operations import Inference
from agentool_otel.model.spans import SpanRecord
from agentool_otel.rebuild._waiting import Packed, Places, Store
from agentool_otel.rebuild.conversations import Joining, keys_of
from agentool_otel.rebuild.ghosts import AnsweredCalls, answered
from agentool_otel.rebuild.tree import Node, is_record
from agentool_otel.sources.grouping import copies_of

__all__ = ["BareCalls", "BareRun", "Loose", "order_of"]


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


class BareCalls:
    """Bare calls of all traces, until it is known which of them belong together.

    Any later trace may continue them, so all have to wait; only what they refer to each other by
    stays in memory, the spans themselves wait on disk.
    """

    def __init__(self) -> None:
        self._joining = Joining()
        self._orders: list[str] = []
        """By the number of a unit, a model call or a tool execution of its own: its start, trace id
        and span id, as one text that sorts like them."""
        self._places = Places()
        self._shared: set[str] = set()
        self._copies: dict[str, int] = {}
        """By trace id, how many copies of its spans were left out."""
        self._store = Store()
        self._answered = AnsweredCalls()

    def add(self, loose: Loose) -> None:
        """Add the bare nodes of one OTel trace, each model call a unit with what it caused."""
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
                self._places.add(holder, self._store.put(_as_kept(node, kept)))
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
        trace_id = nodes[0].span.trace_id
        if loose.several:
            self._shared.update(node.span.trace_id for node in nodes)
        if copies := copies_of(loose.spans):
            self._copies[trace_id] = copies

    def _unit(self, node: Node, kept: set[int]) -> int:
        number = self._joining.add(keys_of(node))
        self._orders.append(order_of(node))
        if (call := answered(node)) is not None:
            self._answered.add(call, number)
        self._places.add(number, self._store.put(_as_kept(node, kept)))
        return number

    def close(self) -> None:
        self._store.close()

    def runs(self, told: AnsweredCalls) -> Iterator[BareRun]:
        """Yield the runs, in order of their first call; nothing can be added any more.

        Args:
            told: the calls that runs with an agent tell of: they are not told again.
        """
        orders = self._orders
        ghosts = self._answered.ghosts(told)
        found = ([n for n in group if n not in ghosts] for group in self._joining.groups())
        groups = [sorted(group, key=orders.__getitem__) for group in found if group]
        groups.sort(key=lambda group: orders[group[0]])
        held: dict[str, int] = {}
        for group in groups:
            for trace_id in self._traces_of(group):
                held[trace_id] = held.get(trace_id, 0) + 1
        places = self._places.by_unit()
        for group in groups:
            trace_id, span_id = _ids_in(orders[group[0]])
            several = held[trace_id] > 1 or trace_id in self._shared
            name = f"{trace_id}:{span_id}" if several else trace_id
            calls = [self._store.get(*place) for number in group for place in places(number)]
            copies = 0
            if self._copies:
                copies = sum(self._copies.get(it, 0) for it in self._traces_of(group))
            yield BareRun(name, calls, copies)

    def _traces_of(self, group: list[int]) -> set[str]:
        return {_ids_in(self._orders[number])[0] for number in group}


def order_of(node: Node) -> str:
    return f"{node.start_ns or 0:020} {node.span.trace_id} {node.span.span_id}"


def _ids_in(order: str) -> tuple[str, str]:
    _, trace_id, span_id = order.split(" ")
    return trace_id, span_id


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
