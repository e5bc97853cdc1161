"""Group the model calls of an OTel trace into runs where their messages are unknown.

Without messages no call refers to another. What is left is where the calls are, when they were,
their conversation and how each of them ended: an answer that requests tools is followed by another
call, and any other answer ends its run. A call belongs to the run that waits for it nearest to it
in the tree. Several runs that wait equally near cannot be distinguished, and are one run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from agentool_otel.model.operations import Inference
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.reading.rebuild.tree import Node

__all__ = ["has_messages", "request_of", "same_runs", "waits_for_tools"]

_REQUESTS = frozenset({"SERVER", "CONSUMER"})
"""Kinds of the spans that serve a request or a message of another process."""
_WAITING = frozenset({"tool_call", "pause_turn"})
"""Finish reasons of an answer that another call follows; the second is Anthropic's."""
_ENDING = frozenset({"stop", "length", "content_filter", "error"})
"""Those of an answer that nothing has to follow; of any other it is not known."""

_OPEN = 64
"""Most open runs of one request. With more, the oldest ones end, so that the work per call does not
grow with the trace. Known conversations still link them.
"""


class _Run(NamedTuple):
    """The calls of a run so far."""

    first: Node
    last: Node
    """The last one that was answered."""
    end_ns: int
    waits: bool | None
    """Whether another call follows; None if unknown."""
    followed: Node | None = None
    """The nearest span around the last one that a call after it is below."""


def has_messages(node: Node) -> bool:
    """Return whether the input messages of a model call are known."""
    operation = node.operation
    return isinstance(operation, Inference) and operation.input is not None


def waits_for_tools(node: Node) -> bool:
    """Return whether the answer to a model call requests tools."""
    return node.operation.error_type is None and "tool_call" in _reasons(node)


def request_of(node: Node) -> Node | None:
    """Return the nearest span around a node that serves a request."""
    return node.nearest(_is_request)


def _is_request(node: Node) -> bool:
    return node.span.kind in _REQUESTS


def same_runs(calls: Iterable[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield pairs of model calls that are of one run.

    Args:
        calls: those of an OTel trace whose messages are not known, in any order.
    """
    by_place: dict[Node, list[Node]] = defaultdict(list)
    for node in calls:
        if node.parent is not None:
            by_place[request_of(node) or node.lineage.top(node)].append(node)
    for members in by_place.values():
        yield from _same_runs(sorted(members, key=lambda node: node.order))


def _same_runs(calls: list[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield pairs among the calls of one request, in order of start."""
    runs: list[_Run] = []
    of_conversation: dict[str, Node] = {}
    latest = _latest(calls)
    for node in calls:
        start_ns = node.start_ns or 0
        runs = [run for run in runs if run.waits is not False or run.end_ns > start_ns]
        conversation = node.operation.conversation_id
        if conversation is not None:
            yield of_conversation.setdefault(conversation, node), node
        scope = node.span.scope
        possible = [
            run
            for run in runs
            if run.waits is None or run.end_ns <= start_ns or run.last.span.scope != scope
        ]
        alike = [run for run in possible if _may_share_conversation(run, node)]
        twins = [run for run in alike if _overlaps(run, node)]
        before = [run for run in alike if _may_precede(run, node)]
        continued = _nearest(twins or before, node)
        for run in continued:
            yield run.first, node
        runs = [run for run in runs if run not in continued]
        run = _joined(continued, node, bool(twins))
        runs = [*runs[-_OPEN + 1 :], run._replace(followed=_followed(run, latest))]


def _latest(calls: list[Node]) -> dict[Node, Node]:
    """Return the last call below each span, of calls in order of start."""
    latest: dict[Node, Node] = {}
    for node in reversed(calls):
        up = node.parent
        while up is not None and up not in latest:
            latest[up] = node
            up = up.parent
    return latest


def _followed(run: _Run, latest: dict[Node, Node]) -> Node | None:
    """Return the nearest span around the last call of a run that a call after it is below."""
    return run.last.lineage.lowest(run.last, lambda up: _is_after(latest[up], run))


def _may_share_conversation(run: _Run, node: Node) -> bool:
    one, other = run.last.operation.conversation_id, node.operation.conversation_id
    return one is None or other is None or one == other


def _overlaps(run: _Run, node: Node) -> bool:
    """Return whether a call may be another tracer's span of the last call of a run."""
    return run.end_ns > (node.start_ns or 0) and run.last.span.scope != node.span.scope


def _may_precede(run: _Run, node: Node) -> bool:
    """Return whether a call may be the next one of a run: no later call is closer to the
    last one.
    """
    if run.waits is None:
        return True
    if not (run.waits and _is_after(node, run)):
        return False
    return run.followed is None or node.is_below(run.followed)


def _is_after(node: Node, run: _Run) -> bool:
    return node.order > run.last.order and run.end_ns <= (node.start_ns or 0)


def _nearest(runs: list[_Run], node: Node) -> list[_Run]:
    """Return the runs with the most spans around both their last call and this one, of these those
    that are known to wait."""
    if len(runs) < 2:
        return runs
    around = node.lineage.lowest(node, lambda up: any(run.last.is_below(up) for run in runs))
    nearest = [run for run in runs if around is None or run.last.is_below(around)]
    return [run for run in nearest if run.waits] or nearest


def _joined(runs: list[_Run], node: Node, is_twin: bool) -> _Run:
    """Return the run of a call that belongs to some, or to none.

    One that failed answers nothing: what waited for it still waits.
    """
    end_ns = max([node.end_ns or node.start_ns or 0, *(run.end_ns for run in runs)])
    waits = _waits(node)
    if not runs:
        return _Run(node, node, end_ns, waits)
    before = runs[0]
    if node.operation.error_type is not None or (is_twin and waits is None):
        return before._replace(end_ns=end_ns)
    return _Run(before.first, node, end_ns, waits)


def _waits(node: Node) -> bool | None:
    """Return whether another call follows an answer; None if unknown."""
    reasons = _reasons(node)
    if node.operation.error_type is not None:
        return None  # it may have been tried again
    if reasons & _WAITING:
        return True
    return False if reasons & _ENDING else None


def _reasons(node: Node) -> set[str | None]:
    operation = node.operation
    reasons = operation.finish_reasons if isinstance(operation, Inference) else None
    return {finish_reason(reason) for reason in reasons or ()}
