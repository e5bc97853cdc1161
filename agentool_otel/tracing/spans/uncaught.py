"""The exception that ended the program, recorded below the last call outside any run.

The span of an agent's run has the exception that ends the run. Calls outside any run have no such
span. They get a child instead, when the program ends.

Python keeps an uncaught exception in `sys.last_value`, so that no hook has to be replaced:
whatever `sys.excepthook` is, it works as it does without us.
Source: CPython 3.10 to 3.13, Python/pythonrun.c, `_PyErr_PrintEx`.
"""

from __future__ import annotations

import sys
from time import time_ns
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context

from agentool_otel.semconv import agentool
from agentool_otel.tracing.spans.failure import fail
from agentool_otel.tracing.spans.sdk_spans import context_with, end_span, parent_of, start_span
from agentool_otel.tracing.spans.settings import guarded, settings

__all__ = ["record_uncaught", "uncaught"]

_NAME = "uncaught exception"
"""Of the span."""


def record_uncaught() -> None:
    """Record the exception that ended the program, if one did and no run has it.

    To be called once, when the program ends and spans are still taken.
    """
    call, settings.last_call = settings.last_call, None
    if call is None or not settings.enabled:
        return
    with guarded("recording the exception that ended the program"):
        error = uncaught()
        if error is not None:
            _record(error, call)


def uncaught() -> BaseException | None:
    """Return the exception that ended the program; None while it goes on, or if none did.

    Prompts and test runners keep exceptions in the same place, and go on. Only an exception that
    ends the program has passed through its outermost frame.
    """
    error = getattr(sys, "last_value", None)
    if not isinstance(error, BaseException) or isinstance(error, SystemExit):
        return None
    if hasattr(sys, "ps1"):  # somebody types, and goes on
        return None
    traceback = getattr(sys, "last_traceback", None)
    if traceback is None or traceback.tb_frame.f_back is not None:
        return None
    return error


def _record(error: BaseException, call: trace.SpanContext) -> None:
    context = context_with(Context(), trace.NonRecordingSpan(call))
    now = time_ns()
    attributes: dict[str, Any] = {agentool.UNCAUGHT: True}
    if settings.repeat_times:
        attributes[agentool.SPAN_START_NS] = attributes[agentool.SPAN_END_NS] = now
        attributes[agentool.SPAN_PARENT_ID] = trace.format_span_id(call.span_id)
    tracer = settings.tracer()
    span = start_span(tracer, _NAME, context, trace.SpanKind.INTERNAL, {}, now)
    inner = context_with(context, span)
    fail(span, inner, parent_of(context), None, None, error, attributes, now)
    end_span(span, attributes, -1, now)
