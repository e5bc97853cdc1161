"""Mark a span as failed: its status, `error.type` and, on the innermost span, the exception."""

from __future__ import annotations

from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Status, StatusCode

from agentool_otel.content.policy import mask_text
from agentool_otel.semconv import core
from agentool_otel.tracing.spans import exceptions
from agentool_otel.tracing.spans.exceptions import error_type_of, exception_attributes, str_of
from agentool_otel.tracing.spans.settings import policy_in, settings

__all__ = ["cut_off", "fail"]


def fail(
    span: trace.Span,
    context: Context,
    parent_id: int,
    error_type: str | None,
    message: str | None,
    error: BaseException | None,
    attributes: dict[str, Any],
    end_ns: int,
) -> None:
    """Set status and `error.type` of a span that ends; on the innermost one the exception, too.

    Args:
        span: the span.
        context: the context it is current in.
        parent_id: id of its parent, 0 for none.
        error_type: what its operation reports as its failure, if it does.
        message: the message that comes with it.
        error: the exception that ended it.
        attributes: where `error.type` is put.
        end_ns: when the span ends, and so when the exception was recorded: an event happens
            during its span, and printing a stack takes milliseconds.
    """
    if error is not None:
        error_type = error_type or error_type_of(error)
        message = str_of(error) if message is None else message
        if exceptions.is_new(span, parent_id, error):
            _record(span, context, error, end_ns)
    else:
        exceptions.forget(span)
        policy = policy_in(context)
        if not (policy.capture and policy.on_spans):
            message = None  # the words of a tool or model are content
        if error_type is not None and message:
            _record_reported(span, error_type, message, end_ns)
    if error_type is None:
        return
    attributes[core.ERROR_TYPE] = error_type
    span.set_status(Status(StatusCode.ERROR, mask_text(message) if message else None))


def cut_off(span: trace.Span, error: BaseException) -> None:
    """End a span where an exception for the program has interrupted its beginning or its end.

    Does nothing if the span has ended.
    """
    if span.is_recording():
        span.set_attribute(core.ERROR_TYPE, error_type_of(error))
        span.set_status(Status(StatusCode.ERROR))
        span.end()


def _record_reported(span: trace.Span, error_type: str, message: str, at_ns: int) -> None:
    """Record a failure that was reported, not raised: to some backends a span without an exception
    event has not failed. Source: MLflow 3.17, LangSmith's OTLP ingestion (2026-11)."""
    if settings.exceptions.spans:
        event = {core.EXCEPTION_TYPE: error_type, core.EXCEPTION_MESSAGE: mask_text(message)}
        span.add_event(core.EXCEPTION_EVENT, event, at_ns)


def _record(span: trace.Span, context: Context, error: BaseException, at_ns: int) -> None:
    if settings.exceptions.logs:
        from agentool_otel.tracing.spans.events import record_exception

        record_exception(span, context, error, at_ns)
    else:
        span.add_event(core.EXCEPTION_EVENT, exception_attributes(error), at_ns)
