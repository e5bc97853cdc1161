"""Runs that are only wrappers of another run.

ADK, the OpenAI Agents SDK, LangGraph and others open a span for the whole before the one of the
agent. If it only wraps one run, the two are one run with the agent's name, the outer times, and the
input and output of either.

The span of another tracer may also be inside: Anthropic's own, of its tool runner, is inside ours,
and ours inside that of whoever was there first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from agentool_otel.model.operations import (
    AgentInvocation,
    ToolExecution,
    Unclassified,
    WorkflowInvocation,
)
from agentool_otel.reading.rebuild.tree import Node, has_summed_usage, is_late
from agentool_otel.semconv import agentool

__all__ = ["Body", "leave_out_repeated", "run_name", "unwrapped"]

_INSTANCE = "service.instance.id"
_FILLED = ("input", "output", "conversation_id", "error_type", "error_message", "usage")


class Body:
    """The nodes of a run down to the next runs, those included.

    Args:
        makes_step: whether a node becomes a step.
    """

    def __init__(self, makes_step: Callable[[Node], bool]) -> None:
        self.runs: dict[Node, None] = {}
        """Those that are runs."""
        self.nodes: dict[Node, None] = {}
        """To be added to in order of start."""
        self._in_order = True
        self._makes_step = makes_step
        self._has_steps: bool | None = None

    def ordered(self) -> list[Node]:
        """Return the nodes in order of start."""
        nodes = list(self.nodes)
        return nodes if self._in_order else sorted(nodes, key=lambda node: node.order)

    def has_steps(self) -> bool:
        """Return whether one of the spans that is no run becomes a step."""
        if self._has_steps is None:
            self._has_steps = any(not node.is_run and self._makes_step(node) for node in self.nodes)
        return self._has_steps

    def replace(self, outer: Node, inner: Node) -> None:
        """Put a run in the place of its wrapper."""
        self.leave_out(outer)
        self.nodes[inner] = self.runs[inner] = None
        self._in_order = False

    def leave_out(self, run: Node) -> None:
        del self.nodes[run], self.runs[run]

    def take(self, other: Body, *wrappers: Node) -> None:
        """Take the nodes of a run that is one with this one, and spans that became plumbing. The
        fewer ones are moved: thousands of runs may be one."""
        self._has_steps = self.has_steps() or other.has_steps()
        self.nodes = _joined(self.nodes, other.nodes)
        self.nodes.update(dict.fromkeys(wrappers))
        self._in_order = False
        self.runs = _joined(self.runs, other.runs)


def _joined(one: dict[Node, None], other: dict[Node, None]) -> dict[Node, None]:
    few, many = sorted((one, other), key=len)
    many.update(few)
    return many


class _Runs:
    """Nesting of runs while runs are merged."""

    def __init__(self, parents: dict[Node, Node | None]):
        self.around = parents
        self._now: dict[Node, Node] = {}

    def join(self, gone: Node, run: Node) -> None:
        """Note that the direct children of one run are now in another."""
        self._now[gone] = run

    def above(self, run: Node) -> Node | None:
        """Return the parent of a run."""
        passed: list[Node] = []
        up = self.around[run]
        while up is not None and up in self._now:
            passed.append(up)
            up = self._now[up]
        for one in passed:
            assert up is not None
            self._now[one] = up
        return up


def unwrapped(
    roots: list[Node],
    bodies: dict[Node, Body],
    run_around: dict[Node, Node | None],
) -> list[Node]:
    """Return the runs without mere wrappers, which become spans inside the runs that they wrapped.

    Args:
        roots: the runs of an OTel trace.
        bodies: what is in each run; updated.
        run_around: the run that each node is in; updated for the runs that are returned.
    """
    nodes: dict[Node, None] = {}
    runs = _Runs(run_around)
    for outer in reversed(_outer_first(roots, bodies, run_around)):
        body = bodies[outer]
        if (twin := _recorded_twice(outer, body)) is not None:
            nodes.pop(twin, None)
            _fill(outer, twin)
            del body.runs[twin]
            body.take(bodies.pop(twin))
            runs.join(twin, outer)
        if (twin := _recorded_by_us(outer, body)) is not None:
            for run in _outer_first([twin], bodies, {twin: None}):
                nodes.pop(run, None)
                del bodies[run]
            body.leave_out(twin)
            _fill(outer, twin)
        inner = _only_run(outer, body)
        if inner is None:
            nodes[outer] = None
            continue
        above = runs.above(outer)
        _absorb(outer, inner)
        body.leave_out(inner)
        del bodies[outer]
        bodies[inner].take(body, outer)
        runs.join(outer, inner)
        run_around[inner] = above
        if above is not None:
            bodies[above].replace(outer, inner)
    for run in nodes:
        run_around[run] = runs.above(run)
    return [run for run in roots if run in nodes]


def _outer_first(
    roots: list[Node], bodies: dict[Node, Body], run_around: dict[Node, Node | None]
) -> list[Node]:
    """Return runs with parents before children, whichever start first: clocks differ."""
    ordered = [run for run in roots if run_around[run] is None]
    for run in ordered:  # grows
        ordered += bodies[run].runs
    return ordered


def leave_out_repeated(nodes: list[Node]) -> None:
    """Turn runs that repeat their parent into spans inside it.

    That is a run without a name or id, of another tracer, right below a run of ours. What fields of
    ours have no value take theirs.
    """
    for node in nodes:
        parent, operation = node.parent, node.operation
        if (
            node.is_run
            and parent is not None
            and isinstance(operation, AgentInvocation)
            and not (operation.agent_name or operation.agent_id)
            and isinstance(parent.operation, AgentInvocation)
            and parent.span.scope.startswith(_OURS)
            and not node.span.scope.startswith(_OURS)
        ):
            parent.operation = replace(parent.operation, **_missing(parent, node))
            node.operation = Unclassified(extra=operation.extra)
            node.is_run = False


_OURS = "agentool_otel"
"""Prefix of our own scopes."""


def run_name(node: Node) -> str | None:
    """Return the name of the agent or the workflow that a span is a run of."""
    operation = node.operation
    if isinstance(operation, AgentInvocation):
        return operation.agent_name
    return operation.workflow_name if isinstance(operation, WorkflowInvocation) else None


def _only_run(outer: Node, body: Body) -> Node | None:
    """Return the run that `outer` is a mere wrapper of.

    An agent of another name is no wrapper, even if all it did was to call one: that is a handoff.
    Neither is a workflow around one that the same tracer names otherwise, a run that ended
    otherwise than the one inside, a span of ours with a timeline or a trace id, nor one that had
    ended when the run inside began.
    """
    if len(body.runs) != 1 or body.has_steps():
        return None
    (inner,) = body.runs
    if _follows(inner, outer):
        return None
    if agentool.TRACE_ID in outer.span.attributes:
        return None
    if any(event.name == agentool.STEP_EVENT for event in outer.span.events):
        return None
    if _ends_otherwise(outer, inner):
        return None
    one, other = run_name(outer), run_name(inner)
    is_of_kind = isinstance(outer.operation, AgentInvocation) or (
        # Two tracers may have two names for one workflow.
        isinstance(inner.operation, WorkflowInvocation)
        and other is not None
        and inner.span.scope == outer.span.scope
    )
    return None if is_of_kind and one is not None and one != other else inner


def _ends_otherwise(outer: Node, inner: Node) -> bool:
    """Return whether one of two runs failed and the other, as far as is known, did not: a wrapper
    that tells neither a failure nor an output may be of a run that failed.
    """
    failed, failed_inside = (run.operation.error_type is not None for run in (outer, inner))
    if failed_inside and not failed:
        return bool(getattr(outer.operation, "output", None))
    return failed and not failed_inside


def _recorded_twice(outer: Node, body: Body) -> Node | None:
    """Return the run inside that is the same one, as another tracer has recorded it: the only one
    of the same name, or where the outer one has none, of the same input; no tool has called it.

    What is inside a span of ours with a timeline may stand there already, so it must be all.
    """
    name = run_name(outer)
    same = [run for run in body.runs if _is_same(run, outer, name)]
    if len(same) != 1:
        return None
    (inner,) = same
    if inner.span.scope == outer.span.scope or _has_tool_between(inner, outer):
        return None
    if _follows(inner, outer):
        return None
    has_timeline = any(event.name == agentool.STEP_EVENT for event in outer.span.events)
    if has_timeline and (len(body.runs) > 1 or body.has_steps()):
        return None
    return inner


def _recorded_by_us(outer: Node, body: Body) -> Node | None:
    """Return the run inside a span of ours that another tracer has recorded as well, where ours has
    no name and the same input. The timeline of ours has all of its steps.
    """
    if run_name(outer) is not None or not outer.span.scope.startswith(_OURS):
        return None
    if not any(event.name == agentool.STEP_EVENT for event in outer.span.events):
        return None
    same = [run for run in body.runs if _is_same(run, outer, None)]
    if len(same) != 1 or same[0].span.scope.startswith(_OURS):
        return None
    return None if _has_tool_between(same[0], outer) else same[0]


def _is_same(run: Node, outer: Node, name: str | None) -> bool:
    if name is not None:
        return run_name(run) == name
    one, other = run.operation, outer.operation
    if not isinstance(one, AgentInvocation) or not isinstance(other, AgentInvocation):
        return False
    return bool(one.input) and list(one.input or ()) == list(other.input or ())


def _follows(node: Node, other: Node) -> bool:
    """Return whether a run began after another one had ended, by the clock of one process."""
    process = other.span.resource.get(_INSTANCE)
    same = process is not None and process == node.span.resource.get(_INSTANCE)
    return same and is_late(node, other)


def _has_tool_between(node: Node, parent: Node) -> bool:
    if not node.is_below(parent):
        return True
    tool = node.nearest(_is_tool)
    return tool is not None and tool.is_below(parent)


def _is_tool(node: Node) -> bool:
    return isinstance(node.operation, ToolExecution)


def _fill(outer: Node, inner: Node) -> None:
    """Complete a run with another tracer's data about it, whose span is plumbing then."""
    filled = _missing(outer, inner)
    if isinstance(outer.operation, AgentInvocation) and not outer.operation.agent_name:
        filled["agent_name"] = run_name(inner)
    outer.operation = replace(outer.operation, **filled)
    inner.operation = Unclassified(extra=inner.operation.extra)
    inner.is_run = False


def _absorb(outer: Node, inner: Node) -> None:
    operation, parent = inner.operation, outer.operation
    filled = _missing(inner, outer)
    if isinstance(operation, AgentInvocation) and not (operation.agent_name or operation.agent_id):
        filled["agent_name"] = run_name(outer)
    inner.operation = replace(operation, **filled)
    inner.start_ns, inner.end_ns = outer.start_ns, outer.end_ns
    inner.order = (inner.start_ns or 0, inner.span.span_id)
    outer.operation = Unclassified(extra=parent.extra)
    outer.is_run = False


def _missing(node: Node, other: Node) -> dict[str, Any]:
    """Return the fields that one run has no value for, with those of another."""
    fields = (item for item in _FILLED if item != "usage" or not has_summed_usage(other.span))
    return {
        field: value
        for field in fields
        if hasattr(node.operation, field)
        and not getattr(node.operation, field)
        and (value := getattr(other.operation, field, None))
    }
