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
from agentool_otel.reconstruction.tree import Node
from agentool_otel.semconv import agentool

__all__ = ["leave_out_repeated", "run_name", "unwrapped"]

_FILLED = ("input", "output", "conversation_id", "error_type", "error_message", "usage")


def unwrapped(
    roots: list[Node],
    bodies: dict[Node, list[Node]],
    run_around: dict[Node, Node | None],
    makes_step: Callable[[Node], bool],
) -> list[Node]:
    """Return the runs without mere wrappers, which become spans inside the runs that they wrapped.

    Args:
        roots: the runs of an OTel trace.
        bodies: the nodes of each run down to the next runs, those included; updated.
        run_around: the run that each node is in; updated.
        makes_step: whether a node becomes a step.
    """
    kept: list[Node] = []
    for outer in reversed(roots):  # inner runs mostly start later, so one pass is enough
        if (twin := _recorded_twice(outer, bodies[outer], makes_step)) is not None:
            kept.remove(twin)
            _fill(outer, twin)
            inside = bodies.pop(twin)
            bodies[outer] = sorted({*bodies[outer], *inside}, key=lambda node: node.order)
            for node in (*inside, twin):
                run_around[node] = outer
        inner = _only_run(outer, bodies[outer], makes_step)
        if inner is None:
            kept.append(outer)
            continue
        above = run_around[outer]
        _absorb(outer, inner)
        plumbing = [node for node in bodies.pop(outer) if node is not inner]
        bodies[inner] = sorted([*bodies[inner], *plumbing, outer], key=lambda node: node.order)
        for node in (*plumbing, outer):
            run_around[node] = inner
        run_around[inner] = above
        if above is not None:
            held = bodies[above]
            held[held.index(outer)] = inner
    kept.reverse()
    return kept


def leave_out_repeated(nodes: list[Node]) -> None:
    """Turn runs that repeat the one around them into spans inside it.

    That is a run without a name or id, of another tracer, right below a run of ours. What fields of
    ours have no value take theirs.
    """
    for node in nodes:
        around, operation = node.parent, node.operation
        if (
            node.is_run
            and around is not None
            and isinstance(operation, AgentInvocation)
            and not (operation.agent_name or operation.agent_id)
            and isinstance(around.operation, AgentInvocation)
            and around.span.scope.startswith(_OURS)
            and not node.span.scope.startswith(_OURS)
        ):
            around.operation = replace(around.operation, **_missing(around, node))
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


def _only_run(outer: Node, body: list[Node], makes_step: Callable[[Node], bool]) -> Node | None:
    """Return the run that `outer` is a mere wrapper of.

    An agent of another name is no wrapper, even if all it did was to call one: that is a handoff.
    Neither is a span of ours with a timeline or a trace id.
    """
    inner: Node | None = None
    for node in body:
        if node.is_run:
            if inner is not None:
                return None
            inner = node
        elif makes_step(node):
            return None
    if inner is None or agentool.TRACE_ID in outer.span.attributes:
        return None
    if any(event.name == agentool.STEP_EVENT for event in outer.span.events):
        return None
    if isinstance(outer.operation, AgentInvocation) and run_name(outer) is not None:
        return inner if run_name(outer) == run_name(inner) else None
    return inner


def _recorded_twice(
    outer: Node, body: list[Node], makes_step: Callable[[Node], bool]
) -> Node | None:
    """Return the run inside that is the same one, as another tracer has recorded it: the only one
    of the same name, which no tool has called.

    What is inside a span of ours with a timeline may stand there already, so it must be all.
    """
    name = run_name(outer)
    same = [node for node in body if node.is_run and name is not None and run_name(node) == name]
    if len(same) != 1:
        return None
    (inner,) = same
    if inner.span.scope == outer.span.scope or _has_tool_between(inner, outer):
        return None
    if any(event.name == agentool.STEP_EVENT for event in outer.span.events) and any(
        node.is_run or makes_step(node) for node in body if node is not inner
    ):
        return None
    return inner


def _has_tool_between(node: Node, around: Node) -> bool:
    for up in node.ancestors():
        if up is around:
            return False
        if isinstance(up.operation, ToolExecution):
            return True
    return True


def _fill(outer: Node, inner: Node) -> None:
    """Complete a run with what another tracer recorded of it, whose span is plumbing then."""
    operation, also = outer.operation, inner.operation
    filled: dict[str, Any] = {
        field: value
        for field in _FILLED
        if hasattr(operation, field)
        and not getattr(operation, field)
        and (value := getattr(also, field, None))
    }
    outer.operation = replace(operation, **filled)
    inner.operation = Unclassified(extra=also.extra)
    inner.is_run = False


def _absorb(outer: Node, inner: Node) -> None:
    operation, around = inner.operation, outer.operation
    filled = _missing(inner, outer)
    if isinstance(operation, AgentInvocation) and not (operation.agent_name or operation.agent_id):
        filled["agent_name"] = run_name(outer)
    inner.operation = replace(operation, **filled)
    inner.start_ns, inner.end_ns = outer.start_ns, outer.end_ns
    outer.operation = Unclassified(extra=around.extra)
    outer.is_run = False


def _missing(node: Node, other: Node) -> dict[str, Any]:
    """Return the fields that one run has no value for, with those of another."""
    return {
        field: value
        for field in _FILLED
        if hasattr(node.operation, field)
        and not getattr(node.operation, field)
        and (value := getattr(other.operation, field, None))
    }
