"""The fidelity report of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from agentool_otel.dialects import match_dialect
from agentool_otel.model.operations import AgentInvocation
from agentool_otel.reading.rebuild.correlation.unknown_messages import has_messages
from agentool_otel.reading.rebuild.failures import Failure, failure_of, notes_on
from agentool_otel.reading.rebuild.inputs_outputs import FieldValue, input_of, output_of
from agentool_otel.reading.rebuild.metrics import (
    leaves,
    rolled_up_tokens,
    tokens_of,
    unknown_tool_calls,
)
from agentool_otel.reading.rebuild.report.content_marks import marks_in, redacted_on, shortened_on
from agentool_otel.reading.rebuild.report.fidelity import Fidelity, Note, Outcome
from agentool_otel.reading.rebuild.report.hidden_members import with_hidden_members
from agentool_otel.reading.rebuild.report.span_notes import (
    compared_in_part,
    cut_or_hidden,
    damaged,
    hashed_ids,
    masked_on_the_way,
    outside_the_calendar,
    reading_of,
    repeated,
    without_ids,
)
from agentool_otel.reading.rebuild.report.unread import (
    unread_events,
    unread_keys,
    unread_spans,
    with_guesses,
    with_unread,
)
from agentool_otel.reading.rebuild.run_spans import RunSpans
from agentool_otel.reading.rebuild.status import Status, status_of
from agentool_otel.reading.rebuild.steps.builder import StepBuilder
from agentool_otel.reading.rebuild.steps.model_calls import leaf_inferences
from agentool_otel.reading.rebuild.steps.order import notes_of
from agentool_otel.reading.rebuild.trace_fields import agent_id_of, has_error
from agentool_otel.reading.rebuild.tree import Node, is_adopted
from agentool_otel.reading.rebuild.values import json_or
from agentool_otel.semconv import agentool

__all__ = ["report_on"]

_UNNAMED = "an answer requests tools, and neither it nor a span names them"
_BY_PLACE = (
    "without messages, the spans around model calls, their times, finish reasons and conversations "
    "decide which of them are one run"
)
_AT_ONCE = f"{_BY_PLACE}; some went on at once, so there may have been several runs"


def report_on(run: RunSpans, document: dict[str, Any]) -> Fidelity:
    """Return the origin of each field of a trace.

    Args:
        run: the spans it was rebuilt from, linked.
        document: the trace as a JSON object.
    """
    root, nodes, everything = run.root, run.nodes, run.all_nodes
    unsure: list[Node] = []
    inferences = leaf_inferences(nodes, unsure)
    builder = StepBuilder(root, nodes, inferences)
    steps = builder.ordered()
    status = status_of(root, nodes, inferences, document["steps"])
    report = Fidelity(
        document["trace_id"],
        sorted({node.dialect for node in everything if node.dialect is not None}),
        len(everything),
        [reading_of(node) for node in everything],
        len(inferences),
        unread=dict(Counter(key for node in everything for key in unread_keys(node))),
        unread_spans=unread_spans(everything),
        unread_events=unread_events(everything),
        ties=[str(tie) for node in everything if (tie := match_dialect(node.span).tie) is not None],
    )
    notes = report.notes
    if root is not None and not inferences and _answered_by_model(root, nodes):
        report.model_calls = 1
        rule = "the run has a model's finish reason and no call inside: there was at least one"
        notes.append(Note("inferred", "model_calls", None, _span_id(root), None, rule))
    notes += _model_call_notes(root, inferences)
    notes += [
        Note("not_captured", "metrics.tool_call_count", None, _span_id(node), None, _UNNAMED)
        for node in unknown_tool_calls(nodes, inferences)
    ]
    notes += _member_notes(run, document, inferences)
    notes += marks_in(document)
    notes += repeated(nodes, inferences, builder.calls)
    notes += compared_in_part(nodes, unsure, builder.calls)
    if run.copies:
        rule = f"{run.copies} more copies in the OTel trace: the most complete one of each counts"
        notes.append(Note("duplicate", "spans", None, None, None, rule))
    notes.append(_status_note(status))
    if has_error(document.get("metadata")):
        notes += _error_notes(root, failure_of(status, root, nodes, inferences))
    notes += _usage_notes(root, nodes, inferences)
    notes += notes_of(steps)
    for node in filter(is_adopted, nodes):
        rule = "its parent is missing: below the only root of its OTel trace"
        notes.append(Note("inferred", "parent", None, _span_id(node), None, rule))
    notes += damaged(everything)
    notes += without_ids(everything)
    notes += hashed_ids(everything)
    notes += outside_the_calendar(everything)
    for node in everything:
        notes += shortened_on(node)
        notes += redacted_on(node)
        notes += cut_or_hidden(node)
        notes += masked_on_the_way(node)
    notes = with_guesses(with_hidden_members(notes, everything), everything)
    report.notes = with_unread(notes, root, everything)
    return report


def _model_call_notes(root: Node | None, inferences: list[Node]) -> Iterator[Note]:
    """Yield a note where the model calls of a run without an agent were grouped without their
    messages.
    """
    unknown = [node for node in inferences if not has_messages(node)]
    if root is not None or len(unknown) < 2:
        return
    pairs = pairwise(unknown)
    overlap = any((one.end_ns or 0) > (other.start_ns or 0) for one, other in pairs)
    rule = _AT_ONCE if overlap else _BY_PLACE
    yield Note("inferred", "model_calls", None, None, None, rule)


def _member_notes(
    run: RunSpans, document: dict[str, Any], inferences: list[Node]
) -> Iterator[Note]:
    """Yield the origins of a trace's members, except its steps and its status."""
    root = run.root
    values = {
        "input": input_of(root, run.nodes, inferences),
        "output": output_of(root, run.nodes, inferences),
    }
    if (agent := agent_id_of(run)).rule is not None:
        values["agent_id"] = agent
    of_run = FieldValue(None, root, None if root is not None else "the calls of the run")
    for field in document:
        if field not in ("steps", "trace_id", "status"):
            value = values.get(field, of_run)
            outcome: Outcome = "kept" if value.rule is None else "inferred"
            yield Note(outcome, field, None, _span_id(value.node), None, value.rule)
    for field, value in values.items():
        if field not in document:
            yield Note("not_captured", field, None, _span_id(root), None, value.rule)


def _status_note(status: Status) -> Note:
    outcome: Outcome = "kept" if status.signal is None else "inferred"
    node, attribute = status.node, status.attribute
    return Note(outcome, "status", None, _span_id(node), attribute, status.signal)


def _error_notes(root: Node | None, failure: Failure | None) -> Iterable[Note]:
    """Return the origin of the error in a trace's metadata."""
    metadata = root.span.attributes.get(agentool.METADATA) if root is not None else None
    if has_error(json_or(metadata, None)):
        return [Note("kept", "metadata.error", None, _span_id(root), agentool.METADATA)]
    return notes_on(failure) if failure is not None else []


def _answered_by_model(root: Node, nodes: list[Node]) -> bool:
    """Return whether the span of a run has a model's finish reason that no nested run explains."""
    operation = root.operation
    answered = isinstance(operation, AgentInvocation) and bool(operation.finish_reasons)
    return answered and not any(node.is_run for node in nodes)


def _span_id(node: Node | None) -> str | None:
    return node.span.span_id if node is not None else None


def _usage_notes(root: Node | None, nodes: list[Node], inferences: list[Node]) -> list[Note]:
    """Compare the total of the leaves, which counts, with the roll-up of the run."""
    total, rolled_up = tokens_of(leaves(nodes, inferences)), rolled_up_tokens(root)
    if rolled_up is None or total == rolled_up:
        return []
    rule = f"the model calls add up to {total}, the run's own total is {rolled_up}"
    if total is None:
        rule = "roll-up of the run: no model call has its tokens"
    return [Note("inferred", "metrics.total_tokens", None, _span_id(root), None, rule)]
