"""What went into a run and what came out of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from agentool_otel.model.messages import Message, parts_of, role_of, text_of
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.reconstruction.steps.delegation import answer_in, below, task_in, tool_around
from agentool_otel.reconstruction.steps.model_calls import leaf_inferences
from agentool_otel.reconstruction.tree import Node
from agentool_otel.reconstruction.values import json_or, plain
from agentool_otel.semconv import agentool

__all__ = ["Found", "input_of", "output_of"]

_NOT_ASKING = frozenset({"system", "developer", "assistant", "tool"})


class Found(NamedTuple):
    """A value, the span it is from, and by which rule where that is not the run's own."""

    value: Any = UNSET
    node: Node | None = None
    rule: str | None = None


_NOTHING = Found()


def input_of(root: Node | None, nodes: list[Node], inferences: list[Node]) -> Found:
    """Return the run's input: its span's, else what the first model call was asked, else the task
    given to the tool around it, else that of the first run inside."""
    if root is not None:
        if agentool.INPUT in root.span.attributes:
            value = root.span.attributes[agentool.INPUT]
            return Found(json_or(value, value), root)
        operation = root.operation
        if isinstance(operation, (AgentInvocation, WorkflowInvocation)) and operation.input:
            asked = _asked(operation.input)
            if asked is not UNSET:
                return Found(asked, root)
    for node in inferences:
        if isinstance(node.operation, Inference) and node.operation.input:
            asked = _asked(node.operation.input)
            if asked is not UNSET:
                return Found(asked, node, "input of the first model call")
            break
    if (around := _around(root)) is not None:
        tool, operation = around
        if (task := task_in(plain(operation.arguments))) is not UNSET:
            return Found(task, tool, "what the tool around the run was given")
    if inferences or (first := next((node for node in nodes if node.is_run), None)) is None:
        return _NOTHING
    return _inside(input_of, first, "input of the first run inside")


def output_of(root: Node | None, nodes: list[Node], inferences: list[Node]) -> Found:
    """Return the run's output: its span's, else the last model call's answer, else the result of
    the tool around it, else that of the run inside that ended last."""
    if root is not None:
        if agentool.OUTPUT in root.span.attributes:
            value = root.span.attributes[agentool.OUTPUT]
            return Found(json_or(value, value), root)
        operation = root.operation
        if isinstance(operation, (AgentInvocation, WorkflowInvocation)) and operation.output:
            return Found(_last_text(operation.output), root)
    for node in reversed(inferences):
        if isinstance(node.operation, Inference) and node.operation.output:
            last = node.operation.output[-1]
            if any(part.get("type") == "tool_call" for part in parts_of(last)):
                return _NOTHING  # it ended while asking for a tool: there is no answer
            answer = _last_text(node.operation.output)
            return Found(answer, node, "output of the last model call")
    if (around := _around(root)) is not None:
        tool, operation = around
        failed = operation.error_type is not None or operation.tool_error is not None
        answer = answer_in(plain(operation.result))
        if answer is not UNSET and not failed:
            return Found(answer, tool, "result of the tool around the run")
    if inferences or not (runs := [node for node in nodes if node.is_run]):
        return _NOTHING
    latest = max(reversed(runs), key=lambda node: node.end_ns or 0)
    return _inside(output_of, latest, "output of the run inside that ended last")


def _around(root: Node | None) -> tuple[Node, ToolExecution] | None:
    return None if root is None else tool_around(root)


def _inside(find: Any, run: Node, rule: str) -> Found:
    """Find the value in a run inside the one that is asked about, as if it were asked about."""
    nodes = sorted(below(run), key=lambda node: node.order)
    own = [node for node in nodes if next((u for u in node.ancestors() if u.is_run), None) is run]
    found: Found = find(run, own, leaf_inferences(own))
    return found if found.value is UNSET else found._replace(rule=rule)


def _asked(messages: Sequence[Message]) -> Any:
    """The last thing a user said, or whoever asks under a role that is none of the agent's own."""
    fallback: Any = UNSET
    for message in reversed(messages):
        said = text_of(message)
        if said is None:
            continue
        role = role_of(message)
        if role == "user":
            return said
        if fallback is UNSET and role not in _NOT_ASKING:
            fallback = said
    return fallback


def _last_text(messages: Sequence[Message]) -> Any:
    return next((said for m in reversed(messages) if (said := text_of(m)) is not None), UNSET)
