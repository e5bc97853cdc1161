"""Group spans into runs.

The span of an agent or a workflow is a run and holds everything below it, down to the next such
span, which is a run of its own. Spans below none of them are loose: calls of a provider SDK without
an agent around them, which `correlation.keys` ties together. `correlation.linked_traces` puts
together the runs that span several OTel traces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, Protocol, TypeVar

from agentool_otel.model.operations import (
    AgentCreation,
    Embeddings,
    Inference,
    McpRequest,
    Unclassified,
)
from agentool_otel.model.spans import SpanRecord, copies_of
from agentool_otel.reading.rebuild.correlation.disk_store import unpacked
from agentool_otel.reading.rebuild.correlation.duplicate_calls import (
    Answered,
    AnsweredCalls,
    answered_in,
)
from agentool_otel.reading.rebuild.correlation.keys import turns_in
from agentool_otel.reading.rebuild.correlation.linked_traces import Part, Parts, gather, part_of
from agentool_otel.reading.rebuild.correlation.loose_calls import (
    LooseCalls,
    LooseNodes,
    LooseRun,
    order_of,
)
from agentool_otel.reading.rebuild.correlation.open_requests import (
    OpenRequests,
    OpenRun,
    OpenTrace,
    SettledTrace,
    open_run,
)
from agentool_otel.reading.rebuild.cost import Prices
from agentool_otel.reading.rebuild.error_isolation import Report, skip_on_error
from agentool_otel.reading.rebuild.evaluation_spans import Judgement, separate_evaluations
from agentool_otel.reading.rebuild.lineage import Nearest
from agentool_otel.reading.rebuild.run_spans import TURNS_BEFORE, UNMATCHED_TOOLS, RunSpans
from agentool_otel.reading.rebuild.trace import Batch, Rebuilt
from agentool_otel.reading.rebuild.tree import Node, is_uncaught
from agentool_otel.reading.rebuild.wrappers import Body, leave_out_repeated, unwrapped
from agentool_otel.semconv import agentool

__all__ = [
    "Deferred",
    "DeferredWork",
    "rebuild_groups",
    "rebuild_loose",
    "rebuild_settled",
    "rebuild_trace",
    "trace_ids_of",
]

_ROOM = 16 << 20
"""Bytes of spans that stay in memory while their runs wait for tools."""


class _Collected(Protocol):
    """A span as it comes from a source, decoded or not."""

    @property
    def trace_id(self) -> str: ...


_Span = TypeVar("_Span", bound=_Collected)


def rebuild_groups(
    groups: Iterable[Sequence[_Span]],
    complete: Callable[[Sequence[_Span]], list[SpanRecord]],
    prices: Prices | None = None,
    report: Report | None = None,
    unjoined: Callable[[str], None] | None = None,
) -> Iterator[Rebuilt]:
    """Yield a rebuilt trace per run, from the spans of one OTel trace after another.

    Runs with an agent's span come in the order of their OTel traces, then those that span several
    traces, then those that requested a tool that no span in them executes: it may be anywhere.
    Loose calls come last. Any later trace may be a part of the former, or continue the
    latter.

    Args:
        groups: the spans, each group those of one trace.
        complete: returns the spans of a group decoded, in their order and each once.
        prices: computes the cost of model calls whose spans do not have it.
        report: takes what is wrong with a trace that is left out; see `skip_on_error`.
        unjoined: takes the trace of each loose call, and of each part of a run, that refers to
            others that are not among these groups.
    """
    waiting = DeferredWork()
    try:
        for group in groups:
            with skip_on_error(group[0].trace_id, report):
                yield from rebuild_trace(complete(group), waiting.add, prices)
        for spans in waiting.parts.runs():
            with skip_on_error(spans[0].trace_id, report):
                yield from rebuild_trace(gather(spans), waiting.add, prices, gathered=True)
        if unjoined is not None:
            for trace_id in waiting.parts.unjoined():
                unjoined(trace_id)
        yield from waiting.early()
        for trace in waiting.open_runs():
            with skip_on_error(trace.spans[0].trace_id, report):
                yield from rebuild_settled(trace, prices)
        for run in waiting.loose_runs():
            if run.continues and unjoined is not None:
                unjoined(run.trace_id)
            with skip_on_error(run.trace_id, report):
                yield rebuild_loose(run, prices)
    finally:
        waiting.close()


class DeferredWork:
    """Work that is deferred until all traces have been read."""

    def __init__(self) -> None:
        self.parts = Parts()
        self._loose = LooseCalls()
        self._answered = AnsweredCalls()
        self._open = OpenRequests()
        self._early: list[tuple[list[SpanRecord], list[Rebuilt]]] = []
        """Traces whose runs wait for tools, and these runs without such tools."""
        self._room = _ROOM

    def add(self, remainder: Deferred) -> None:
        if isinstance(remainder, Part):
            self.parts.add(remainder)
        elif isinstance(remainder, LooseNodes):
            self._loose.add(remainder)
        elif isinstance(remainder, OpenTrace):
            self._add_open(remainder)
        else:
            self._answered.add(remainder)

    def _add_open(self, trace: OpenTrace) -> None:
        if self._room > 0 and trace.rebuild is not None:
            self._room -= sum(map(_weight, trace.spans))
            self._early.append((trace.spans, trace.rebuild()))
        else:
            self._open.add(trace)

    def early(self) -> Iterator[Rebuilt]:
        """Yield the runs that waited for tools, as far as they are in memory, if there is no tool
        outside any run; to be called before `open_runs`."""
        early, self._early = self._early, []
        for spans, runs in early:
            if not self._loose.has_tools:
                yield from runs
                continue
            ordered, _ = separate_evaluations(spans)
            waiting = _open_runs(_split(ordered)[0])
            self._open.add(OpenTrace(spans, waiting))
            for node in ordered:
                node.unlink()

    def open_runs(self) -> Iterator[SettledTrace]:
        """Yield the traces whose runs waited for tools, with these; to be called after `parts.runs`
        and before `loose_runs`."""
        if self._open:
            self._loose.settle(self._open)
        return self._open.traces()

    def loose_runs(self) -> Iterator[LooseRun]:
        """Yield the runs of loose calls; nothing can be added any more."""
        return self._loose.runs(self._answered)

    def add_rest(self, spans: list[SpanRecord], *, gathered: bool = False) -> None:
        """Add the deferred parts of an OTel trace whose runs are rebuilt elsewhere."""
        self._room = 0  # such runs are rebuilt elsewhere, too
        ordered, judgements = separate_evaluations(spans)
        runs, loose = _split(ordered)
        _defer(spans, ordered, judgements, runs, loose, self._add_other, gathered)
        for node in ordered:
            node.unlink()

    def _add_other(self, remainder: Deferred) -> None:
        if not isinstance(remainder, Answered):  # they come by themselves
            self.add(remainder)

    def close(self) -> None:
        self.parts.close()
        self._loose.close()
        self._answered.close()
        self._open.close()


Deferred = Part | LooseNodes | OpenTrace | Answered
"""Deferred parts of an OTel trace: loose nodes, parts of runs and runs that miss a tool, which are
rebuilt later, and the model calls of its runs, which may have duplicates.
"""


def rebuild_trace(
    spans: list[SpanRecord],
    defer: Callable[[Deferred], None],
    prices: Prices | None = None,
    *,
    gathered: bool = False,
) -> Iterator[Rebuilt]:
    """Yield the runs of one OTel trace, or of several that have been gathered.

    What has to wait for other traces goes to `defer`, which must read it at once: loose nodes, or
    the whole trace if it is a part of a run or misses a tool.
    """
    ordered, judgements = separate_evaluations(spans)
    runs, loose = _split(ordered)
    if not _defer(spans, ordered, judgements, runs, loose, defer, gathered, prices):
        yield from _rebuilt(spans, runs, prices)
    for node in ordered:
        node.unlink()


def rebuild_settled(trace: SettledTrace, prices: Prices | None = None) -> Iterator[Rebuilt]:
    """Yield the runs of an OTel trace that waited until all traces had been read."""
    ordered, judgements = separate_evaluations(trace.spans)
    runs, loose = _split(ordered)
    _assign(judgements, runs, loose)
    for run in runs:
        names = trace.unmatched.get(run.root.span.span_id) if run.root is not None else None
        if names:
            run.link[UNMATCHED_TOOLS] = names
    yield from _rebuilt(trace.spans, runs, prices)
    for node in ordered:
        node.unlink()


def _rebuilt(
    spans: list[SpanRecord], runs: list[RunSpans], prices: Prices | None
) -> Iterator[Rebuilt]:
    ids = {run.root: run.trace_id for run in runs if run.root is not None}
    again, batch = Relinked(spans), Batch(len(runs))
    for run in runs:
        relink = partial(again.run, run.trace_id)
        yield Rebuilt(run, ids, relink, prices, batch)


def _defer(
    spans: list[SpanRecord],
    ordered: list[Node],
    judgements: list[Judgement],
    runs: list[RunSpans],
    loose: list[Node],
    defer: Callable[[Deferred], None],
    gathered: bool,
    prices: Prices | None = None,
) -> bool:
    """Defer the parts that have to wait, and return whether that is the whole trace."""
    part = None if gathered else part_of(spans, ordered)
    if part is not None:
        defer(part)
        return True
    of_loose = _assign(judgements, runs, loose)
    for run in runs:
        for call in answered_in(run):
            defer(call)
    if loose:
        defer(LooseNodes(loose, spans, bool(runs), of_loose))
    if waiting := _open_runs(runs):
        defer(OpenTrace(spans, waiting, lambda: [*_rebuilt(spans, runs, prices)]))
    return bool(waiting)


def _open_runs(runs: list[RunSpans]) -> list[OpenRun]:
    return [item for item in map(open_run, runs) if item is not None]


def _weight(span: SpanRecord) -> int:
    """Return about how many bytes a span takes in memory."""
    return 1000 + sum(
        len(attribute) for attribute in span.attributes.values() if isinstance(attribute, str)
    )


def rebuild_loose(calls: LooseRun, prices: Prices | None = None) -> Rebuilt:
    """Rebuild a run of loose calls."""
    spans = [unpacked(call) for call in calls.calls]
    relinked = partial(_relinked_loose, spans, calls.copies, calls.session)
    run = relinked()
    run.trace_id = calls.trace_id
    if calls.unmatched:
        run.link[UNMATCHED_TOOLS] = [*calls.unmatched]
    if calls.has_turns_before and (turns := _turns_before(run)):
        run.link[TURNS_BEFORE] = turns
    rebuilt = Rebuilt(run, {}, relinked, prices)
    for node in run.nodes:
        node.unlink()
    return rebuilt


def _turns_before(run: RunSpans) -> list[dict[str, str]]:
    """Return the turns that the first model call of a run repeats."""
    operations = (node.operation for node in run.nodes)
    first = next((item for item in operations if isinstance(item, Inference)), None)
    return [] if first is None else turns_in(first.input or ())


def _assign(
    judgements: list[Judgement], runs: list[RunSpans], loose: list[Node]
) -> list[Judgement]:
    """Add each judgement to its run, and return those of loose nodes. A judgement of an unknown
    span, or of one that is part of no run, counts for the first run."""
    if not judgements:
        return judgements
    of_span = {node.span.span_id: run for run in runs for node in run.nodes}
    of_span |= {run.root.span.span_id: run for run in runs if run.root is not None}
    loose_ids = {node.span.span_id for node in loose}
    of_loose: list[Judgement] = []
    for judgement in judgements:
        about = judgement.about or ""
        if about in loose_ids or not runs:
            of_loose.append(judgement)
        else:
            of_span.get(about, runs[0]).judgements.append(judgement)
    return of_loose


def _split(ordered: list[Node]) -> tuple[list[RunSpans], list[Node]]:
    """Return the runs of an OTel trace and the nodes that belong to none of them."""
    leave_out_repeated(ordered)
    bodies = {node: Body(_makes_step) for node in ordered if node.is_run}
    if not bodies:
        return [], [node for node in ordered if _is_loose(node)]
    roots = list(bodies)
    loose: list[Node] = []
    run_around: dict[Node, Node | None] = {}
    nearest = Nearest(_is_run)
    for node in ordered:
        up = node.parent
        run = run_around[node] = up if up is None or up.is_run else nearest.at(up)
        if run is not None:
            bodies[run].nodes[node] = None
            if node.is_run:
                bodies[run].runs[node] = None
        elif not node.is_run and _is_loose(node):
            loose.append(node)
    roots = unwrapped(roots, bodies, run_around)
    several = len(roots) > 1 or (len(roots) == 1 and bool(loose))
    ids = {root: _trace_id(root, several) for root in roots}
    runs: list[RunSpans] = []
    for root in roots:
        spans = RunSpans(ids[root], root, bodies[root].ordered())
        above = run_around[root]
        if above is not None:
            spans.link["parent_trace_id"] = ids[above]
        runs.append(spans)
    return runs, loose


def _is_run(node: Node) -> bool:
    return node.is_run


class Relinked:
    """The spans of an OTel trace, linked again on demand for all of its runs."""

    def __init__(self, spans: list[SpanRecord]):
        self._spans = spans

    def run(self, trace_id: str) -> RunSpans:
        """Return one of the runs."""
        return self._runs[trace_id]

    @cached_property
    def _runs(self) -> dict[str, RunSpans]:
        runs: dict[str, RunSpans] = {}
        for run in _split(separate_evaluations(self._spans).nodes)[0]:
            run.copies = copies_of(self._spans)
            runs.setdefault(run.trace_id, run)
        return runs


def _relinked_loose(spans: list[SpanRecord], copies: int, session: str | None) -> RunSpans:
    """Link the spans of a run of loose calls, each OTel trace by itself."""
    traces: dict[str, list[SpanRecord]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    run = RunSpans("", None, [])
    for members in traces.values():
        nodes, judgements = separate_evaluations(members)
        run.nodes += nodes
        run.judgements += judgements
    run.nodes.sort(key=order_of)
    run.copies = copies
    run.session = session
    return run


def _is_loose(node: Node) -> bool:
    """True for a span outside any run that belongs to a run of loose calls."""
    if is_uncaught(node):
        return node.parent is not None and _makes_step(node.parent)
    return _makes_step(node)


def _makes_step(node: Node) -> bool:
    """True for a span that can become a step; plumbing and noise cannot.

    Neither can MCP requests other than tool calls, such as listing tools or reading a resource.
    """
    operation = node.operation
    if isinstance(operation, (Unclassified, Embeddings, AgentCreation)):
        return False
    if isinstance(operation, McpRequest) and operation.method != "tools/call":
        return False
    return node.span.name != agentool.STEPS_SPAN


def trace_ids_of(spans: Iterable[SpanRecord]) -> Iterator[str]:
    """Yield the ids that traces rebuilt from spans of one OTel trace may have."""
    for span in spans:
        yield span.trace_id
        yield f"{span.trace_id}:{span.span_id}"
        trace_id = span.attributes.get(agentool.TRACE_ID)
        if isinstance(trace_id, str):
            yield trace_id


def _trace_id(root: Node, several: bool) -> str:
    trace_id: Any = root.span.attributes.get(agentool.TRACE_ID)
    if isinstance(trace_id, str):
        return trace_id
    return f"{root.span.trace_id}:{root.span.span_id}" if several else root.span.trace_id
