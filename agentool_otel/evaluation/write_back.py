"""EvalResults as OpenTelemetry: a span for all of a result and one for each of its assertions, in
the trace that was judged, and the conventions' event of each in the context of the judged span.

Jaeger and Tempo accept no log records, and show the spans; the events have the same data.
`Rebuilt.results` reads either. The ids follow from the result, so that a result that is written
twice is there once. The spans take no time and are placed at the end of the run, because otherwise
the view of a trace would reach to the day of the evaluation; an attribute has the real time.

Spec: GenAI conventions, event `gen_ai.evaluation.result`. What could not be evaluated has the label
`not_evaluated`, no score, and is no error: nothing went wrong in the trace. An assertion's result
that has a `label` of its own, an unknown member, is labelled so.
"""

from __future__ import annotations

import time
from hashlib import blake2b
from typing import Any, NamedTuple

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from agentool_otel.ground.version import SCOPE, __version__
from agentool_otel.model.documents import EvalResult, ReasoningTrace
from agentool_otel.model.span_ids import place_of
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.model.times import to_ns
from agentool_otel.otlp.log_record import LogRecord
from agentool_otel.reading.rebuild.evaluation_spans import Anchor
from agentool_otel.reading.rebuild.result_spans import attributes_of
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Written", "anchor_of_document", "spans_and_events"]

_SAMPLED = 1


class Written(NamedTuple):
    """The spans and events of a result."""

    spans: list[SpanRecord]
    events: list[LogRecord]
    """One for each span, with the same data; none where the evaluated span is unknown."""


def anchor_of_document(trace: ReasoningTrace) -> Anchor:
    """Return the span that a document's results belong to, as replaying the document creates it."""
    place = place_of(trace.trace_id)
    return Anchor(place.trace_id, place.span_id, _ns(trace.finished_at))


def spans_and_events(
    result: EvalResult, anchor: Anchor, resource: Resource, content: bool = False
) -> Written:
    """Return a result as spans and events.

    Args:
        result: the result.
        anchor: the span that was judged.
        resource: whoever judges.
        content: whether reasons, notes and members of the result that the spec does not know are
            written, too. With them it comes back exactly.
    """
    judged_ns = _ns(result.evaluated_at) or time.time_ns()
    at_ns = anchor.end_ns or judged_ns
    about = f"{anchor.trace_id}:{anchor.span_id}"
    judgements = attributes_of(result, about, content)
    for assertion, attributes in zip(result.assertion_results, judgements[1:], strict=True):
        if isinstance(label := assertion.extra.get("label"), str) and label:
            attributes[gen_ai.EVALUATION_SCORE_LABEL] = label
    spans = [_span(attributes, anchor, at_ns, resource) for attributes in judgements]
    events = [_event(span, anchor.span_id, judged_ns, resource) for span in spans if anchor.span_id]
    return Written(spans, events)


def _span(attributes: Attributes, anchor: Anchor, at_ns: int, resource: Resource) -> SpanRecord:
    result_id, index = attributes[agentool.EVAL_RESULT_ID], attributes.get(agentool.EVAL_INDEX)
    span_id = result_id
    if index is not None:
        span_id = blake2b(f"{result_id} {index}".encode(), digest_size=8).hexdigest()
    return SpanRecord(
        anchor.trace_id,
        span_id,
        anchor.span_id,
        f"evaluate {attributes[gen_ai.EVALUATION_NAME]}",
        start_ns=at_ns,
        end_ns=at_ns,
        attributes=attributes,
        scope=SCOPE,
        resource=dict(resource.attributes),
    )


def _event(span: SpanRecord, judged: str, at_ns: int, resource: Resource) -> LogRecord:
    return LogRecord(
        resource=resource,
        scope=InstrumentationScope(SCOPE, __version__),
        attributes={**span.attributes, agentool.EVAL_SPAN_ID: span.span_id},
        time_ns=at_ns,
        observed_ns=at_ns,
        trace_id=int(span.trace_id, 16),
        span_id=int(judged, 16),
        flags=_SAMPLED,
        event_name=gen_ai.EVENT_EVALUATION_RESULT,
    )


def _ns(value: Any) -> int | None:
    """Return a time if a span can carry it: after the epoch, in 63 bits of nanoseconds."""
    ns = to_ns(value) if isinstance(value, str) else None
    return ns if ns is not None and 0 < ns < 2**63 else None
