"""A judgement of a span, live: a span of its own in the judged trace, and the conventions' event.

Jaeger and Tempo accept no log records and show the span; the event has the same data. Both are one
evaluation to our reader. The span takes no time, and is placed at the end of its target where that
is known: otherwise a view of the trace would reach to the day of the evaluation.
Spec: GenAI conventions, event `gen_ai.evaluation.result`.
"""

from __future__ import annotations

import copy
from time import time_ns
from typing import Any, NamedTuple

from opentelemetry import trace
from opentelemetry.context import Context, get_current
from opentelemetry.trace import SpanKind, set_span_in_context

from agentool_otel.model.operations import EvaluationResult
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.semconv.table import CONTENT
from agentool_otel.tracing.spans import events
from agentool_otel.tracing.spans.live import parent_for
from agentool_otel.tracing.spans.sdk_spans import end_span, start_span
from agentool_otel.tracing.spans.settings import SCOPE, guarded, settings

__all__ = ["EvaluationTarget", "emit_evaluation"]


class EvaluationTarget(NamedTuple):
    """Target of an evaluation."""

    span: trace.Span
    """Perhaps of another process; with the id 0 where only its trace is known."""
    end_ns: int | None = None
    """When it ended, if that is known."""


def emit_evaluation(judged: EvaluationTarget, operation: EvaluationResult) -> None:
    """Record a judgement; nothing where telemetry is switched off or the trace is not sampled."""
    about = judged.span.get_span_context()
    if not about.trace_id or not about.trace_flags.sampled:
        return
    parent = parent_for(set_span_in_context(judged.span, get_current()))
    if parent is None:
        return
    now_ns = time_ns()
    at_ns = judged.end_ns or now_ns
    name, _, attributes = settings.dialect.draft(operation)
    settings.policy.clean(attributes)
    settings.policy.fit(attributes)
    on_span = dict(attributes)
    settings.policy.keep_off(on_span)
    on_span = settings.dialect.named(on_span)
    if about.span_id:
        tracer = settings.tracer()
        span = start_span(tracer, name, parent, SpanKind.INTERNAL, on_span, at_ns)
    else:
        span = _root(name, about.trace_id, on_span, at_ns)
    if not span.is_recording():
        span.end()
        return
    end_span(span, on_span, len(on_span), at_ns)
    if about.span_id:
        _emit_event(attributes, span, parent, now_ns)


def _root(name: str, trace_id: int, attributes: dict[str, Any], at_ns: int) -> trace.Span:
    """Start a span in a trace of which no span is known. It has no parent, and the sampler decides
    as it did about the root, where it goes by the trace id."""
    tracer: Any = settings.tracer()
    if not hasattr(tracer, "id_generator"):  # not the SDK's: there is no way into a given trace
        return trace.INVALID_SPAN
    tracer = copy.copy(tracer)
    tracer.id_generator = _InTrace(trace_id, tracer.id_generator)
    span: trace.Span = tracer.start_span(
        name, Context(), SpanKind.INTERNAL, attributes, None, at_ns, False, False
    )
    return span


class _InTrace:
    """Ids of spans in a given trace."""

    def __init__(self, trace_id: int, ids: Any):
        self._trace_id = trace_id
        self.generate_span_id = ids.generate_span_id

    def generate_trace_id(self) -> int:
        return self._trace_id

    def is_trace_id_random(self) -> bool:
        return False


def _emit_event(
    attributes: dict[str, Any], span: trace.Span, context: Context, now_ns: int
) -> None:
    name = gen_ai.EVENT_EVALUATION_RESULT
    if name not in settings.dialect.generation.events or not events.is_collected():
        return
    with guarded("emitting the event of an evaluation"):
        if not settings.policy.in_events:
            attributes = {key: value for key, value in attributes.items() if key not in CONTENT}
        event = settings.dialect.named(attributes)
        event[agentool.EVAL_SPAN_ID] = f"{span.get_span_context().span_id:016x}"
        events.emit(name, events.Masked(event), context, scope=SCOPE, time_ns=now_ns)
