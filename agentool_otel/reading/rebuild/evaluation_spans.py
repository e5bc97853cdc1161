"""Evaluations of a run in its OTel trace, which are not part of the run's work.

A judgement is the span of an evaluation, in any dialect, or the conventions' event
`gen_ai.evaluation.result`. The spans below it, such as the calls of a judge, are the evaluator's
own work. All of that is removed before a trace is rebuilt, so that the trace is the same whether it
was judged or not; `results` reads the judgements.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from agentool_otel.model.operations import EvaluationResult, Inference
from agentool_otel.model.spans import SpanEvent, SpanRecord, is_fragment
from agentool_otel.reading.rebuild.lineage import Nearest
from agentool_otel.reading.rebuild.tree import Node, grow, is_uncaught, link
from agentool_otel.semconv import gen_ai

__all__ = ["Anchor", "Judgement", "SeparatedTrace", "anchor_of", "separate_evaluations"]


class Judgement(NamedTuple):
    """The span or the event of an evaluation."""

    record: SpanRecord
    """The span; or for an event, the span that has it with nothing but its ids and this event."""
    about: str | None
    """Id of the span that is judged; None if unknown."""


class Anchor(NamedTuple):
    """The span that a judgement of a run is about."""

    trace_id: str
    span_id: str | None
    """None if it is not known."""
    end_ns: int | None
    """When it ended, or began where that is not known."""


class SeparatedTrace(NamedTuple):
    """An OTel trace without its judgements."""

    nodes: list[Node]
    """Linked, in order of start."""
    judgements: list[Judgement]


def separate_evaluations(spans: list[SpanRecord]) -> SeparatedTrace:
    """Separate an OTel trace from its judgements."""
    judgements: list[Judgement] = []
    nodes = grow(_without_events(spans, judgements))
    judging = [node for node in nodes if _is_evaluation(node)]
    if judging:
        nodes = _without_evaluations(nodes, judging, judgements)
    return SeparatedTrace(nodes, judgements)


def anchor_of(root: Node | None, nodes: list[Node]) -> Anchor | None:
    """Return the span that stands for a run: that of its agent or workflow, else of its last model
    call, never one around them such as an HTTP request's."""
    if root is None:
        calls = [node for node in nodes if isinstance(node.operation, Inference)]
        steps = [node for node in nodes if not is_uncaught(node)]
        root = max(calls or steps, key=lambda node: node.order, default=None)
    if root is None:
        return None
    return Anchor(root.span.trace_id, root.span.span_id, root.end_ns or root.start_ns)


def _without_events(spans: list[SpanRecord], judgements: list[Judgement]) -> list[SpanRecord]:
    """Return the spans without the events that judge them; the same list where there are none."""
    if not any(span.events and _is_judged(span) for span in spans):
        return spans
    others: list[SpanRecord] = []
    for span in spans:
        if _is_judged(span):
            judgements += _of_events(span)
            events = [event for event in span.events if not _judges(event)]
            fragment = is_fragment(span)
            span = msgspec.structs.replace(span, events=events)
            if fragment and not events:
                continue
        others.append(span)
    return others


def _of_events(span: SpanRecord) -> Iterable[Judgement]:
    for event in filter(_judges, span.events):
        record = SpanRecord(span.trace_id, span.span_id, events=[event])
        yield Judgement(record, span.span_id)


def _is_judged(span: SpanRecord) -> bool:
    return any(map(_judges, span.events))


def _judges(event: SpanEvent) -> bool:
    return event.name == gen_ai.EVENT_EVALUATION_RESULT


def _without_evaluations(
    nodes: list[Node], judging: list[Node], judgements: list[Judgement]
) -> list[Node]:
    """Return the other nodes, linked again: without the evaluations a root may be the only one, and
    then spans without their parent go below it."""
    evaluations = set(judging)
    above_all = Nearest(lambda item: item not in evaluations)
    for node in judging:
        above = above_all.at(node.parent)
        about = above.span.span_id if above is not None else node.span.parent_id
        judgements.append(Judgement(node.span, about))
    others = [node for node in nodes if node not in evaluations and not _is_inside(node)]
    for node in nodes:
        node.unlink()
    return link(others)


def _is_inside(node: Node) -> bool:
    """Return whether a span is part of an evaluation. An agent's run is not, unless it is nested in
    another run: the parent evaluation may be an experiment, which runs the agent.
    """
    evaluation = node.nearest(_is_evaluation)
    if evaluation is None:
        return False
    if evaluation.nearest(_is_run) is not None:
        return True
    return not node.is_run and node.nearest(_is_run) is None


def _is_evaluation(node: Node) -> bool:
    return node.operation.__class__ is EvaluationResult


def _is_run(node: Node) -> bool:
    return node.is_run
