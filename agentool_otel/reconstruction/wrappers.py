"""Runs that only stand around another run.

ADK, the OpenAI Agents SDK, LangGraph and others open a span for the whole before the one of the
agent. Where it does nothing but hold one run, the two are one run: the agent's name, the outer
times, and what either says of input and output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from agentool_otel.model.operations import AgentInvocation, Unclassified, WorkflowInvocation
from agentool_otel.reconstruction.tree import Node
from agentool_otel.semconv import agentool

__all__ = ["run_name", "unwrapped"]

_FILLED = ("input", "output", "conversation_id", "error_type", "error_message", "usage")


def unwrapped(
    roots: list[Node],
    bodies: dict[int, list[Node]],
    held_by: dict[int, Node | None],
    tells: Callable[[Node], bool],
) -> list[Node]:
    """Return the runs without the mere wrappers, which become spans inside what they held.

    Args:
        roots: the runs of an OTel trace.
        bodies: by the id() of a run, what it holds down to the next runs, those included; adapted.
        held_by: by the id() of a node, the run it is in; adapted.
        tells: whether a step can be made of a node.
    """
    left: list[Node] = []
    for outer in reversed(roots):  # what is inside starts later, mostly: one pass does
        inner = _only_run(outer, bodies[id(outer)], tells)
        if inner is None:
            left.append(outer)
            continue
        above = held_by[id(outer)]
        _absorb(outer, inner)
        plumbing = [node for node in bodies.pop(id(outer)) if node is not inner]
        bodies[id(inner)] = sorted(
            [*bodies[id(inner)], *plumbing, outer], key=lambda node: node.order
        )
        for node in (*plumbing, outer):
            held_by[id(node)] = inner
        held_by[id(inner)] = above
        if above is not None:
            held = bodies[id(above)]
            held[held.index(outer)] = inner
    left.reverse()
    return left


def run_name(node: Node) -> str | None:
    """Return the name of the agent or the workflow that a span is a run of."""
    operation = node.operation
    if isinstance(operation, AgentInvocation):
        return operation.agent_name
    return operation.workflow_name if isinstance(operation, WorkflowInvocation) else None


def _only_run(outer: Node, body: list[Node], tells: Callable[[Node], bool]) -> Node | None:
    """Return the run that `outer` is a mere wrapper of.

    An agent of another name is no wrapper, even if all it did was to call one: that is a handoff.
    Nor is what our own spans give a timeline or an id.
    """
    inner: Node | None = None
    for node in body:
        if node.is_run:
            if inner is not None:
                return None
            inner = node
        elif tells(node):
            return None
    if inner is None or agentool.TRACE_ID in outer.span.attributes:
        return None
    if any(event.name == agentool.STEP_EVENT for event in outer.span.events):
        return None
    if isinstance(outer.operation, AgentInvocation) and run_name(outer) is not None:
        return inner if run_name(outer) == run_name(inner) else None
    return inner


def _absorb(outer: Node, inner: Node) -> None:
    said, around = inner.operation, outer.operation
    filled: dict[str, Any] = {
        field: value
        for field in _FILLED
        if hasattr(said, field)
        and not getattr(said, field)
        and (value := getattr(around, field, None))
    }
    if isinstance(said, AgentInvocation) and not (said.agent_name or said.agent_id):
        filled["agent_name"] = run_name(outer)
    inner.operation = replace(said, **filled)
    inner.start_ns, inner.end_ns = outer.start_ns, outer.end_ns
    outer.operation = Unclassified(extra=around.extra)
    outer.is_run = False
