"""`score`: what people and programs think of a run, in its trace."""

from __future__ import annotations

import math
from time import time_ns
from typing import Any

from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, TraceFlags

from agentool_otel.content.policy import as_text
from agentool_otel.content.policy import label as short
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.model.operations import EvaluationResult
from agentool_otel.model.span_ids import place_of
from agentool_otel.model.times import from_ns
from agentool_otel.semconv import agentool
from agentool_otel.tracing.capture.runs import AgentRun
from agentool_otel.tracing.spans.evaluation_events import EvaluationTarget, emit_evaluation
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["score"]

_log = logger(__name__)

_TRACEPARENT = re.compile("[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_TRACE_ID = re.compile("(?!0{32})[0-9a-f]{32}(?::[0-9a-f]{16})?|tr_.+", re.DOTALL)
_refused: set[str] = set()


def score(
    run_or_trace_id: AgentRun | Span | SpanContext | str,
    name: str,
    value: float | bool,
    label: str | None = None,
    comment: str | None = None,
) -> None:
    """Record an evaluation of a run: feedback of a user, the verdict of a check.

    It becomes a span in the evaluated trace, below the evaluated span, and the conventions' event
    `gen_ai.evaluation.result` if log records have a destination. It may come at any time, from any
    process, and changes nothing of the trace; `Rebuilt.scores` returns it. If telemetry is off or
    the trace is not sampled, the call does nothing. It never raises.

    Args:
        run_or_trace_id: the target: a run, open or ended; a span or its context; or as text a trace
            id in hex, the id of a rebuilt trace, the `tr_…` id of a replayed one, or a
            `traceparent`. A trace id alone does not identify the evaluated span, so the score has
            no parent.
        name: the name of the score, such as `helpful`: one of few names.
        value: a number; or whether the run is good: True is 1 with the label `pass`, False is 0
            with `fail`.
        label: the value in a word, such as `good`.
        comment: the reason. It is content, captured and masked as other content is.
    """
    with guarded("recording a score"):
        judged = _target_of(run_or_trace_id)
        number = _number(value)
        if judged is None:
            _refuse(
                "what is judged is no run, span or trace id"
                "; hint: give a run, a span, or a trace id as 32 hexadecimal digits"
            )
        elif number is None:
            _refuse("its value is no number; hint: give a number, True or False")
        else:
            if label is None and isinstance(value, bool):
                label = "pass" if value else "fail"
            operation = EvaluationResult(
                name=short(name),
                score=number,
                label=None if label is None else short(label),
                explanation=None if comment is None else as_text(comment),
                extra={agentool.EVAL_EVALUATED_AT: from_ns(time_ns())},
            )
            emit_evaluation(judged, operation)


def _refuse(why: str) -> None:
    """Log why a score is not recorded, each reason once. The program goes on."""
    if why not in _refused:
        _refused.add(why)
        _log.warning("a score is not recorded: %s", why)


def _number(value: Any) -> float | None:
    if not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _target_of(target: Any) -> EvaluationTarget | None:
    if isinstance(target, AgentRun):
        span = target.span
        return EvaluationTarget(span, getattr(span, "end_time", None))
    if isinstance(target, Span):
        return EvaluationTarget(target, getattr(target, "end_time", None))
    if isinstance(target, SpanContext):
        return EvaluationTarget(NonRecordingSpan(target))
    return _target_named(target.strip()) if isinstance(target, str) else None


def _target_named(text: str) -> EvaluationTarget | None:
    lower = text.lower()
    if (parent := _TRACEPARENT.fullmatch(lower)) is not None:
        return _remote(parent[1], parent[2], int(parent[3], 16))
    text = text if text.startswith("tr_") else lower
    if _TRACE_ID.fullmatch(text) is None:
        return None
    place = place_of(text)
    return _remote(place.trace_id, place.span_id or "0", TraceFlags.SAMPLED)


def _remote(trace_id: str, span_id: str, flags: int) -> EvaluationTarget:
    context = SpanContext(int(trace_id, 16), int(span_id, 16), True, TraceFlags(flags))
    return EvaluationTarget(NonRecordingSpan(context))
