"""The input and the output of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

__all__ = ["FieldValue", "input_of", "output_of"]

_NOT_USERS = frozenset({"system", "developer", "assistant", "tool"})


class FieldValue(NamedTuple):
    """A value, the span it is from, and the rule that chose it where it is not the run's own."""

    value: Any = UNSET
    node: Node | None = None
    rule: str | None = None


_UNKNOWN = FieldValue()


def input_of(root: Node | None, nodes: list[Node], inferences: list[Node]) -> FieldValue:
    """Return the run's input: that of its span, else of the first model call, else the task in the
    arguments of the tool around it, else the input of the first run inside."""
    value = _own_input(root) or _first_question(inferences) or _task(root)
    if value is not None:
        return value
    if inferences or (first := next((node for node in nodes if node.is_run), None)) is None:
        return _UNKNOWN
    return _inside(input_of, first, "input of the first run inside")


def output_of(root: Node | None, nodes: list[Node], inferences: list[Node]) -> FieldValue:
    """Return the run's output: that of its span, else the last model call's answer, else the result
    of the tool around it, else the output of the run inside that ended last."""
    value = _own_output(root) or _last_answer(inferences) or _tool_result(root)
    if value is not None:
        return value
    if inferences or not (runs := [node for node in nodes if node.is_run]):
        return _UNKNOWN
    latest = max(reversed(runs), key=lambda node: node.end_ns or 0)
    return _inside(output_of, latest, "output of the run inside that ended last")


def _own_input(root: Node | None) -> FieldValue | None:
    """Return the input that the span of a run has itself."""
    if root is None:
        return None
    if (value := root.span.attributes.get(agentool.INPUT, UNSET)) is not UNSET:
        return FieldValue(json_or(value, value), root)
    operation = root.operation
    if isinstance(operation, (AgentInvocation, WorkflowInvocation)) and operation.input:
        question = _question(operation.input)
        return None if question is UNSET else FieldValue(question, root)
    return None


def _own_output(root: Node | None) -> FieldValue | None:
    """Return the output that the span of a run has itself."""
    if root is None:
        return None
    if (value := root.span.attributes.get(agentool.OUTPUT, UNSET)) is not UNSET:
        return FieldValue(json_or(value, value), root)
    operation = root.operation
    if isinstance(operation, (AgentInvocation, WorkflowInvocation)) and operation.output:
        return FieldValue(_last_text(operation.output), root)
    return None


def _first_question(inferences: list[Node]) -> FieldValue | None:
    """Return the question in the first model call that has messages."""
    for node in inferences:
        if isinstance(node.operation, Inference) and node.operation.input:
            question = _question(node.operation.input)
            rule = "input of the first model call"
            return None if question is UNSET else FieldValue(question, node, rule)
    return None


def _last_answer(inferences: list[Node]) -> FieldValue | None:
    """Return the last model call's answer; unknown if that is a request for a tool."""
    for node in reversed(inferences):
        if isinstance(node.operation, Inference) and (output := node.operation.output):
            if any(part.get("type") == "tool_call" for part in parts_of(output[-1])):
                return _UNKNOWN  # the run ended there
            return FieldValue(_last_text(output), node, "output of the last model call")
    return None


def _task(root: Node | None) -> FieldValue | None:
    """Return the task in the arguments of the tool around a run."""
    if (around := _around(root)) is None:
        return None
    tool, operation = around
    task = task_in(plain(operation.arguments))
    rule = "task in the arguments of the tool around the run"
    return None if task is UNSET else FieldValue(task, tool, rule)


def _tool_result(root: Node | None) -> FieldValue | None:
    """Return the result of the tool around a run, unless the tool failed."""
    if (around := _around(root)) is None:
        return None
    tool, operation = around
    if operation.error_type is not None or operation.tool_error is not None:
        return None
    result = answer_in(plain(operation.result))
    if result is UNSET:
        return None
    return FieldValue(result, tool, "result of the tool around the run")


def _around(root: Node | None) -> tuple[Node, ToolExecution] | None:
    return None if root is None else tool_around(root)


def _inside(field_of: Callable[..., FieldValue], run: Node, rule: str) -> FieldValue:
    """Return the field of a nested run, worked out as for a run of its own."""
    nodes = sorted(below(run), key=lambda node: node.order)
    own = [node for node in nodes if next((u for u in node.ancestors() if u.is_run), None) is run]
    field = field_of(run, own, leaf_inferences(own))
    return field if field.value is UNSET else field._replace(rule=rule)


def _question(messages: Sequence[Message]) -> Any:
    """Return the last message of a user, else that of a role which is none of the agent's own."""
    fallback: Any = UNSET
    for message in reversed(messages):
        content = text_of(message)
        if content is None:
            continue
        role = role_of(message)
        if role == "user":
            return content
        if fallback is UNSET and role not in _NOT_USERS:
            fallback = content
    return fallback


def _last_text(messages: Sequence[Message]) -> Any:
    texts = (text_of(message) for message in reversed(messages))
    return next((text for text in texts if text is not None), UNSET)
