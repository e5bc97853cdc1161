"""What judges a run stands in its trace, and is no part of what the run did.

A judgement is a span of an evaluation, in whatever vocabulary, or the conventions' event
`gen_ai.evaluation.result`. What lies below such a span, the calls of a judge, is the evaluator's
own work. All of it is taken out before anything is made of a trace, so that a trace is the same
whether it was judged or not; `results` says what it was judged to be.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from agentool_otel.model.operations import EvaluationResult, Inference
from agentool_otel.model.spans import SpanEvent, SpanRecord
from agentool_otel.reconstruction.tree import Node, grow, link
from agentool_otel.semconv import gen_ai
from agentool_otel.sources.containers.log_record import is_fragment

__all__ = ["Anchor", "Judgement", "Work", "anchor_of", "work_of"]


class Judgement(NamedTuple):
    """A span or an event that judges."""

    record: SpanRecord
    """The span; or for an event, the span that has it with nothing but its ids and this event."""
    about: str | None
    """Id of the span that is judged; None where that is not said."""


class Anchor(NamedTuple):
    """The span that a judgement of a run is about."""

    trace_id: str
    span_id: str | None
    """None where it is not known."""
    end_ns: int | None
    """When it ended, or began where that is not known."""


class Work(NamedTuple):
    """An OTel trace, apart from what judges it."""

    nodes: list[Node]
    """Linked, in order of start."""
    judgements: list[Judgement]


def work_of(spans: list[SpanRecord]) -> Work:
    """Return the spans of an OTel trace that do something, and what judges them."""
    judgements: list[Judgement] = []
    nodes = grow(_without_events(spans, judgements))
    judging = [node for node in nodes if node.operation.__class__ is EvaluationResult]
    if judging:
        nodes = _without_evaluations(nodes, judging, judgements)
    return Work(nodes, judgements)


def anchor_of(root: Node | None, nodes: list[Node]) -> Anchor | None:
    """Return the span that stands for a run: that of its agent or workflow, else of its last model
    call, never one around them such as an HTTP request's."""
    if root is None:
        calls = [node for node in nodes if isinstance(node.operation, Inference)]
        root = max(calls or nodes, key=lambda node: node.order, default=None)
    if root is None:
        return None
    return Anchor(root.span.trace_id, root.span.span_id, root.end_ns or root.start_ns)


def _without_events(spans: list[SpanRecord], judgements: list[Judgement]) -> list[SpanRecord]:
    """Return the spans without the events that judge them; the same list where there are none."""
    if not any(span.events and _is_judged(span) for span in spans):
        return spans
    left: list[SpanRecord] = []
    for span in spans:
        if _is_judged(span):
            judgements += _of_events(span)
            others = [event for event in span.events if not _judges(event)]
            fragment = is_fragment(span)
            span = msgspec.structs.replace(span, events=others)
            if fragment and not others:
                continue
        left.append(span)
    return left


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
    """Return the nodes that are left, linked anew: without the evaluations, a root may be the only
    one, and take in what has lost its parent."""
    ids = {id(node) for node in judging}
    for node in judging:
        above = next((up for up in node.ancestors() if id(up) not in ids), None)
        about = above.span.span_id if above is not None else node.span.parent_id
        judgements.append(Judgement(node.span, about))
    left = [node for node in nodes if id(node) not in ids and not _is_inside(node, ids)]
    for node in nodes:
        node.unlink()
    return link(left)


def _is_inside(node: Node, judging: set[int]) -> bool:
    """Whether a span is part of an evaluation. An agent's run is not, unless it lies in another
    run: what holds it may be an experiment, which evaluates by running."""
    run, inside = node if node.is_run else None, False
    for up in node.ancestors():
        if id(up) in judging:
            inside = True
        elif up.is_run:
            if inside:
                return True
            run = run or up
    return inside and run is None
