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
from agentool_otel.reading.rebuild.status import BESIDE_SPANS, deciding_span
from agentool_otel.reading.rebuild.steps.delegation import answer_in, task_in, tool_around
from agentool_otel.reading.rebuild.steps.model_calls import leaf_inferences
from agentool_otel.reading.rebuild.tree import Node, is_late, is_record
from agentool_otel.reading.rebuild.values import json_or, plain
from agentool_otel.semconv import agentool

__all__ = ["FieldValue", "input_of", "output_of"]

_NOT_USERS = frozenset({"system", "developer", "assistant", "tool"})


class FieldValue(NamedTuple):
    """A value, the span it is from, and the rule that chose it where it is not the run's own."""

    value: Any = UNSET
    node: Node | None = None
    rule: str | None = None


_UNKNOWN = FieldValue()
_NONE = FieldValue(rule="the run ended with an error")


def input_of(root: Node | None, nodes: list[Node], inferences: list[Node]) -> FieldValue:
    """Return the run's input: that of its span, else of the first model call, else the task in the
    arguments of the tool around it, else the input of the first run inside."""
    return _field(_INPUT, root, nodes, inferences)


def output_of(root: Node | None, nodes: list[Node], inferences: list[Node]) -> FieldValue:
    """Return the run's output: that of its span, else the last model call's answer, else the result
    of the tool around it, else the output of the run inside that ended last.

    A run that failed has no output but its own, and what had come of an answer when an error ended
    it: what its model answered on the way is none."""
    return _field(_OUTPUT, root, nodes, inferences)


class _Field(NamedTuple):
    """Rules for finding one field of a run."""

    own: Callable[[Node | None, list[Node]], FieldValue | None]
    """Gives it by the span of the run and the model calls in it."""
    inside: Callable[[list[Node]], Node | None]
    """Gives the run inside, among the nodes of a run, whose field stands in for it."""
    rule: str
    known: Callable[[Sequence[Node]], dict[str, FieldValue]]
    """Makes the table of what was found, by the id of the run's span, for one OTel trace."""


def _field(field: _Field, root: Node | None, nodes: list[Node], calls: list[Node]) -> FieldValue:
    """Return a field of a run, searching nested runs: thousands may be nested, and the result is
    stored for all on the way.
    """
    value = field.own(root, calls)
    if value is not None:
        return value
    run = None if calls else field.inside(nodes)
    if run is None:
        return _UNKNOWN
    values = run.lineage.cached(field.known)
    passed: list[str] = []
    while (value := values.get(run.span.span_id)) is None:
        passed.append(run.span.span_id)
        own_nodes = _directly_in(run)
        calls = leaf_inferences(own_nodes)
        value = field.own(run, calls)
        inner = None if calls or value is not None else field.inside(own_nodes)
        if inner is None:
            break
        run = inner
    result = value or _UNKNOWN
    result = result if result.value is UNSET else result._replace(rule=field.rule)
    values.update(dict.fromkeys(passed, result))
    return result


def _directly_in(run: Node) -> list[Node]:
    """Return the nodes of a nested run down to the next runs, in order of start."""
    nodes = list(run.children)
    for node in nodes:  # grows
        if not node.is_run:
            nodes += node.children
    return sorted(nodes, key=lambda node: node.order)


def _input_here(root: Node | None, inferences: list[Node]) -> FieldValue | None:
    return (
        _own_input(root)
        or _beside_spans(root, inferences, agentool.FILE_INPUT)
        or _first_question(inferences)
        or _task(root)
    )


def _output_here(root: Node | None, inferences: list[Node]) -> FieldValue | None:
    if (output := _own_output(root)) is not None:
        return output
    if (output := _beside_spans(root, inferences, agentool.FILE_OUTPUT)) is not None:
        return output
    if _failed(root, inferences):
        return _partial_answer(inferences) or _NONE
    return _recorded_answer(root) or _last_answer(inferences) or _tool_result(root)


def _first_run(nodes: list[Node]) -> Node | None:
    return next((node for node in nodes if node.is_run), None)


def _last_run(nodes: list[Node]) -> Node | None:
    runs = [node for node in reversed(nodes) if node.is_run and not _began_late(node)]
    return max(runs, key=lambda node: node.end_ns or 0, default=None)


def _began_late(node: Node) -> bool:
    """Return whether a run began after the span that it lies below had ended. Its output is its
    own."""
    return node.parent is not None and is_late(node, node.parent)


def _inputs(_: Sequence[Node]) -> dict[str, FieldValue]:
    return {}


def _outputs(_: Sequence[Node]) -> dict[str, FieldValue]:
    return {}


_INPUT = _Field(_input_here, _first_run, "input of the first run inside", _inputs)
_OUTPUT = _Field(_output_here, _last_run, "output of the run inside that ended last", _outputs)


def _failed(root: Node | None, inferences: list[Node]) -> bool:
    """Return whether the span that decides the end of a run has an error."""
    deciding = deciding_span(root, [], inferences)
    return deciding is not None and deciding.operation.error_type is not None


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


def _beside_spans(root: Node | None, inferences: list[Node], name: str) -> FieldValue | None:
    """Return a member that stands beside the spans of a run in their file."""
    node = root or (inferences[0] if inferences else None)
    if node is None or (value := node.span.attributes.get(name, UNSET)) is UNSET:
        return None
    return FieldValue(json_or(value, value), node, BESIDE_SPANS)


def _first_question(inferences: list[Node]) -> FieldValue | None:
    """Return the question in the first model call that has messages."""
    rule = "input of the first model call"
    for node in inferences:
        if isinstance(node.operation, Inference) and node.operation.input:
            question = _question(node.operation.input)
            return None if question is UNSET else FieldValue(question, node, rule)
    return None


def _recorded_answer(root: Node | None) -> FieldValue | None:
    """Return the last answer among the log records of a run that is made of such."""
    if root is None or not is_record(root):
        return None
    for node in reversed(root.children):
        if isinstance(answer := node.operation.extra.get(agentool.OUTPUT), str):
            return FieldValue(answer, node, "last answer among the log records of the run")
    return None


def _last_answer(inferences: list[Node]) -> FieldValue | None:
    """Return the answer of the last model call that did not fail; unknown if that is a request for
    a tool, or not there although an earlier one is."""
    rule = "output of the last model call"
    answered = (node for node in reversed(inferences) if node.operation.error_type is None)
    for place, node in enumerate(answered):
        if isinstance(node.operation, Inference) and (output := node.operation.output):
            if place or any(part.get("type") == "tool_call" for part in parts_of(output[-1])):
                return _UNKNOWN  # the run ended there, or later
            return FieldValue(_last_text(output), node, rule)
    return None


def _partial_answer(inferences: list[Node]) -> FieldValue | None:
    """Return what had come of the last model call's answer when an error ended it."""
    node = inferences[-1] if inferences else None
    if node is None or not isinstance(operation := node.operation, Inference):
        return None
    if operation.error_type is None or not operation.output:
        return None
    words = _last_text(operation.output)
    if not words or any(part.get("type") == "tool_call" for part in parts_of(operation.output[-1])):
        return None
    return FieldValue(words, node, "the part of the last answer that came before an error ended it")


def _task(root: Node | None) -> FieldValue | None:
    """Return the task in the arguments of the tool around a run."""
    if (parent := _around(root)) is None:
        return None
    tool, operation = parent
    task = task_in(plain(operation.arguments))
    rule = "task in the arguments of the tool around the run"
    return None if task is UNSET else FieldValue(task, tool, rule)


def _tool_result(root: Node | None) -> FieldValue | None:
    """Return the result of the tool around a run, unless the tool failed."""
    if (parent := _around(root)) is None:
        return None
    tool, operation = parent
    if operation.error_type is not None or operation.tool_error is not None:
        return None
    result = answer_in(plain(operation.result))
    if result is UNSET:
        return None
    return FieldValue(result, tool, "result of the tool around the run")


def _around(root: Node | None) -> tuple[Node, ToolExecution] | None:
    return None if root is None else tool_around(root)


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
