"""`emit_results`: EvalResults as telemetry of this process, in the traces that they name."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from opentelemetry import _logs, trace
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, TraceFlags

from agentool_otel.content.policy import Policy
from agentool_otel.ground import tracer_provider as own_provider
from agentool_otel.ground.version import SCOPE, __version__
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import EvalResult, ReasoningTrace
from agentool_otel.model.span_ids import place_of
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.evaluation_spans import Anchor
from agentool_otel.reading.rebuild.trace import Rebuilt

if TYPE_CHECKING:
    from agentool_otel.otlp.log_record import LogRecord

__all__ = ["emit_results"]

_POLICY = Policy(capture=True)
"""Masks credentials; what is content has been decided by then."""


def emit_results(
    results: EvalResult | Mapping[str, Any] | Iterable[EvalResult | Mapping[str, Any]],
    traces: Iterable[ReasoningTrace | Rebuilt] = (),
    *,
    tracer_provider: trace.TracerProvider | None = None,
    logger_provider: _logs.LoggerProvider | None = None,
    content: bool = False,
) -> None:
    """Write EvalResults into the traces that they name: a span for each result and for each of its
    assertions, and the event `gen_ai.evaluation.result` of each in the context of the judged span.

    `Rebuilt.results` has them again. The ids follow from the result: what is written twice is there
    once. Without an SDK nothing happens.

    Args:
        results: the results. One that names no trace is not written.
        traces: the judged traces, where they are at hand. Then it is known which span is judged;
            else that is known of replayed traces and of ids that contain a span's.
        tracer_provider: where the spans go; the one `instrument()` uses by default.
        logger_provider: where the events go; the one in force by default.
        content: whether reasons, notes and members that the spec does not have are written, as
            `eval --write-back-content` does. Credentials in them are masked.

    Raises:
        DecodeError: something is not an EvalResult.
    """
    provider = tracer_provider or own_provider.current() or trace.get_tracer_provider()
    tracer: Any = provider.get_tracer(SCOPE, __version__)
    if not hasattr(tracer, "id_generator"):  # not the SDK's: there is no way into a given trace
        return
    from opentelemetry.sdk.resources import Resource

    from agentool_otel.evaluation.write_back import spans_and_events

    logs = logger_provider or _logs.get_logger_provider()
    logger = logs.get_logger(SCOPE, __version__)
    anchors = dict(map(_anchor_of, traces))
    several = [results] if isinstance(results, (EvalResult, Mapping)) else results
    for item in several:
        result = decode(EvalResult, item)
        if not isinstance(result.trace_id, str):
            continue
        place = place_of(result.trace_id)
        anchor = anchors.get(result.trace_id) or Anchor(place.trace_id, place.span_id, None)
        judged = spans_and_events(result, anchor, Resource.get_empty(), content)
        for span in judged.spans:
            _emit_span(tracer, span)
        for event in judged.events:
            _emit_event(logger, event)


def _anchor_of(source: ReasoningTrace | Rebuilt) -> tuple[str, Anchor | None]:
    from agentool_otel.evaluation.write_back import anchor_of_document

    if isinstance(source, Rebuilt):
        return source.trace.trace_id, source.anchor
    return source.trace_id, anchor_of_document(source)


class _Ids:
    """The ids of one span."""

    def __init__(self, span: SpanRecord):
        self._span = span

    def generate_trace_id(self) -> int:
        return int(self._span.trace_id, 16)

    def generate_span_id(self) -> int:
        return int(self._span.span_id, 16)

    def is_trace_id_random(self) -> bool:
        return False


def _emit_span(tracer: Any, span: SpanRecord) -> None:
    attributes = dict(span.attributes)
    _POLICY.clean(attributes)
    one = copy.copy(tracer)
    one.id_generator = _Ids(span)
    context = Context() if span.parent_id is None else _context(span.trace_id, span.parent_id)
    started = one.start_span(
        span.name, context, SpanKind.INTERNAL, attributes, start_time=span.start_ns
    )
    started.end(span.end_ns)


def _emit_event(logger: _logs.Logger, event: LogRecord) -> None:
    attributes = dict(event.attributes)
    _POLICY.clean(attributes)
    record = _logs.LogRecord(timestamp=event.time_ns, attributes=attributes)
    # These were not parameters before 1.35.
    record.context = _context(f"{event.trace_id:032x}", f"{event.span_id:016x}")
    record.event_name = event.event_name
    record.trace_id, record.span_id = event.trace_id, event.span_id
    record.trace_flags = TraceFlags(event.flags)
    logger.emit(record)


def _context(trace_id: str, span_id: str) -> Context:
    flags = TraceFlags(TraceFlags.SAMPLED)
    judged = SpanContext(int(trace_id, 16), int(span_id, 16), True, flags)
    return trace.set_span_in_context(NonRecordingSpan(judged), Context())
