"""Which spans make which run.

An agent's or a workflow's span is a run and holds everything below it, down to the next such span,
which is a run of its own. What is below none of them is bare: calls of a provider SDK without an
agent around them, which `conversations` ties together.
"""

from __future__ import annotations

import pickle
import tempfile
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import msgspec

from agentool_otel.model.operations import (
    AgentCreation,
    Embeddings,
    EvaluationResult,
    Inference,
    McpRequest,
    Unclassified,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.rebuild.conversations import Joining, keys_of
from agentool_otel.rebuild.cost import Prices
from agentool_otel.rebuild.trace import Rebuilt, RunSpans
from agentool_otel.rebuild.tree import Node, grow, is_record
from agentool_otel.rebuild.wrappers import unwrapped
from agentool_otel.semconv import agentool
from agentool_otel.sources.grouping import Deduplicated

__all__ = ["BareCalls", "BareRun", "Loose", "rebuild_bare", "rebuild_groups", "rebuild_trace"]

_SPOOL = 16 << 20
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(SpanRecord).decode


def rebuild_groups(
    groups: Iterable[list[SpanRecord]], prices: Prices | None = None
) -> Iterator[Rebuilt]:
    """Yield a rebuilt trace per run, from the spans of one OTel trace after another.

    Runs with an agent's span come as their OTel trace does. Bare calls come last, because any later
    trace may continue them.
    """
    bare = BareCalls()
    try:
        for spans in groups:
            yield from rebuild_trace(spans, bare.add, prices)
        for run in bare.runs():
            yield rebuild_bare(run, prices)
    finally:
        bare.close()


class Loose(NamedTuple):
    """What of one OTel trace belongs to no run in it."""

    nodes: list[Node]
    spans: list[SpanRecord]
    """All of the trace."""
    several: bool
    """Whether there are runs in it as well."""


def rebuild_trace(
    spans: list[SpanRecord], bare: Callable[[Loose], None], prices: Prices | None = None
) -> Iterator[Rebuilt]:
    """Yield the runs of one OTel trace. What belongs to none goes to `bare`, to be read at once."""
    ordered = grow(spans)
    runs, loose = _split(ordered)
    ids = {id(run.root): run.trace_id for run in runs}
    for run in runs:
        yield Rebuilt(run, ids, partial(_again, spans, run.trace_id), prices)
    if loose:
        bare(Loose(loose, spans, bool(runs)))
    for node in ordered:
        node.unlink()


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
    run = _bare_again(spans, calls.copies)
    run.trace_id = calls.trace_id
    rebuilt = Rebuilt(run, {}, partial(_bare_again, spans, calls.copies), prices)
    for node in run.nodes:
        node.unlink()
    return rebuilt


def _split(ordered: list[Node]) -> tuple[list[RunSpans], list[Node]]:
    """Return the runs of an OTel trace and the nodes that belong to none of them."""
    bodies: dict[int, list[Node]] = {id(node): [] for node in ordered if node.is_run}
    roots: list[Node] = []
    loose: list[Node] = []
    if not bodies:
        return [], [node for node in ordered if _tells(node)]
    held_by: dict[int, Node | None] = {}
    for node in ordered:
        run = node.parent
        while run is not None and not run.is_run:
            if id(run) in held_by:
                run = held_by[id(run)]
                break
            run = run.parent
        held_by[id(node)] = run
        if run is not None:
            bodies[id(run)].append(node)
        elif not node.is_run and _tells(node):
            loose.append(node)
        if node.is_run:
            roots.append(node)
    roots = unwrapped(roots, bodies, held_by, _tells)
    several = len(roots) > 1 or (len(roots) == 1 and bool(loose))
    ids = {id(root): _trace_id(root, several) for root in roots}
    runs: list[RunSpans] = []
    for root in roots:
        spans = RunSpans(ids[id(root)], root, bodies[id(root)])
        above = held_by[id(root)]
        if above is not None:
            spans.link["parent_trace_id"] = ids[id(above)]
        runs.append(spans)
    return runs, loose


def _again(spans: list[SpanRecord], trace_id: str) -> RunSpans:
    """Link the spans of an OTel trace again and return one of its runs."""
    runs, _ = _split(grow(spans))
    run = next(run for run in runs if run.trace_id == trace_id)
    run.copies = _copies(spans)
    return run


def _copies(spans: list[SpanRecord]) -> int:
    return spans.copies if isinstance(spans, Deduplicated) else 0


def _bare_again(spans: list[SpanRecord], copies: int) -> RunSpans:
    """Link the spans of a bare run again, of every OTel trace by itself."""
    traces: dict[str, list[SpanRecord]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    nodes = [node for members in traces.values() for node in grow(members)]
    run = RunSpans("", None, sorted(nodes, key=_order))
    run.copies = copies
    return run


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
        self._places = _Places()
        self._shared: set[str] = set()
        self._copies: dict[str, int] = {}
        """By trace id, how many copies of its spans were left out."""
        self._store = _Store()

    def add_trace(self, spans: list[SpanRecord]) -> None:
        """Add the bare calls of an OTel trace whose runs have been rebuilt elsewhere."""
        ordered = grow(spans)
        runs, loose = _split(ordered)
        self.add(Loose(loose, spans, bool(runs)))
        for node in ordered:
            node.unlink()

    def add(self, loose: Loose) -> None:
        """Add the bare nodes of one OTel trace, each model call a unit with what it caused."""
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
                self._places.add(holder, self._store.put(node.span))
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
        trace_id = nodes[0].span.trace_id
        if loose.several:
            self._shared.add(trace_id)
        if copies := _copies(loose.spans):
            self._copies[trace_id] = copies

    def _unit(self, node: Node) -> int:
        number = self._joining.add(keys_of(node))
        self._orders.append(_order(node))
        self._places.add(number, self._store.put(node.span))
        return number

    def close(self) -> None:
        self._store.close()

    def runs(self) -> Iterator[BareRun]:
        """Yield the runs, in order of their first call; nothing can be added any more."""
        orders = self._orders
        groups = [sorted(group, key=orders.__getitem__) for group in self._joining.groups()]
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


class _Places:
    """Where the spans of every unit are kept."""

    def __init__(self) -> None:
        self._units = array("q")
        self._starts = array("q")
        self._sizes = array("q")

    def add(self, unit: int, place: tuple[int, int]) -> None:
        self._units.append(unit)
        self._starts.append(place[0])
        self._sizes.append(place[1])

    def by_unit(self) -> Callable[[int], Iterator[tuple[int, int]]]:
        """Return a function that gives the places of a unit."""
        entries = sorted(range(len(self._units)), key=self._units.__getitem__)
        ordered = array("q", (self._units[entry] for entry in entries))

        def of(unit: int) -> Iterator[tuple[int, int]]:
            for at in range(bisect_left(ordered, unit), bisect_right(ordered, unit)):
                yield self._starts[entries[at]], self._sizes[entries[at]]

        return of


class _Store:
    """Spans on disk, in memory as long as they are few."""

    def __init__(self) -> None:
        self._file: Any = None
        self._end = 0

    def put(self, span: SpanRecord) -> tuple[int, int]:
        data = _packed(span)
        if self._file is None:
            self._file = tempfile.SpooledTemporaryFile(_SPOOL)  # noqa: SIM115 - `close` closes it
        self._file.write(data)  # at the end: all is put before anything is got
        place = (self._end, len(data))
        self._end += len(data)
        return place

    def get(self, start: int, size: int) -> Packed:
        self._file.seek(start)
        data: Packed = self._file.read(size)
        return data

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


Packed = bytes
"""A span as it is kept on disk."""


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


def _tells(node: Node) -> bool:
    """True for a span that a trace can be made of; plumbing, noise and judgements are not.

    Nor is what an MCP client asks a server beside calls of its tools: what it has, a resource.
    """
    operation = node.operation
    if isinstance(operation, (Unclassified, Embeddings, AgentCreation, EvaluationResult)):
        return False
    if isinstance(operation, McpRequest) and operation.method != "tools/call":
        return False
    return node.span.name != agentool.STEPS_SPAN


def _trace_id(root: Node, several: bool) -> str:
    said: Any = root.span.attributes.get(agentool.TRACE_ID)
    if isinstance(said, str):
        return said
    return f"{root.span.trace_id}:{root.span.span_id}" if several else root.span.trace_id
