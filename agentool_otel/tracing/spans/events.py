"""Events of ours: log records in the context of a span.

The conventions put content there on request, and are about to put exceptions there. Everything
goes through the API's logger provider in force, whoever has set it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from opentelemetry import trace

from agentool_otel.ground import environment
from agentool_otel.semconv import core, gen_ai
from agentool_otel.tracing.spans.exceptions import exception_attributes
from agentool_otel.tracing.spans.settings import SCOPE, guarded, settings

if TYPE_CHECKING:
    from opentelemetry.context import Context

__all__ = [
    "LogOnly",
    "Masked",
    "emit",
    "is_collected",
    "log_only_content",
    "record_exception",
    "scope_of",
]

_WARN = 13
"""Severity of the exception of a client operation, by the GenAI conventions."""
_ERROR = 17
"""Of any other that leaves what it happened in, by the core ones."""


class Masked(dict[str, Any]):
    """Attributes, or a body, that were masked at capture: whoever knows this class need not look at
    them."""


def is_collected(scope: str = SCOPE) -> bool:
    """Return whether log records that are emitted now have a destination."""
    from opentelemetry import _logs

    enabled = getattr(settings.logger(scope), "enabled", None)
    if enabled is None:  # before 1.38
        return type(_logs.get_logger_provider()).__name__ != "ProxyLoggerProvider"
    return bool(enabled())


def emit(
    name: str,
    attributes: dict[str, Any],
    context: Context,
    *,
    scope: str = SCOPE,
    time_ns: int,
    severity: int | None = None,
    body: dict[str, Any] | None = None,
) -> None:
    """Emit an event in the context of a span.

    Args:
        name: of the event.
        attributes: valid by construction; `Masked` where they are.
        context: the context of the span it belongs to.
        scope: instrumentation scope of that span.
        time_ns: when it happened.
        severity: number of the severity, where the event has one.
        body: where the event has one; `Masked` where it is.
    """
    from opentelemetry import _logs

    level = None if severity is None else _logs.SeverityNumber(severity)
    record = _logs.LogRecord(
        timestamp=time_ns, severity_number=level, attributes=attributes, body=body
    )
    # These were not parameters before 1.35.
    about = trace.get_current_span(context).get_span_context()
    record.context, record.event_name = context, name
    record.trace_id, record.span_id = about.trace_id, about.span_id
    record.trace_flags = about.trace_flags
    settings.logger(scope).emit(record)


def record_exception(
    span: trace.Span, context: Context, error: BaseException, time_ns: int
) -> None:
    """Record the exception that has ended a span as an event in its context, or also on it.

    Where nobody takes events it is on the span: an option costs nobody an exception. The GenAI
    conventions name the event of a client operation, the core ones that of any other.
    """
    attributes = exception_attributes(error)
    on_span = settings.exceptions.spans
    with guarded("emitting an exception"):
        scope = scope_of(span)
        if not is_collected(scope):
            on_span = True
        elif (
            getattr(span, "kind", None) is trace.SpanKind.CLIENT
            and gen_ai.EVENT_OPERATION_EXCEPTION in settings.dialect.generation.events
        ):
            name = gen_ai.EVENT_OPERATION_EXCEPTION
            emit(name, attributes, context, scope=scope, time_ns=time_ns, severity=_WARN)
        else:
            name = core.EXCEPTION_EVENT
            emit(name, attributes, context, scope=scope, time_ns=time_ns, severity=_ERROR)
    if on_span:
        span.add_event(core.EXCEPTION_EVENT, attributes, time_ns)


class LogOnly(NamedTuple):
    """Content that is in log records and nowhere else."""

    what: str
    instead: str
    """Attribute for the content where log records have no destination."""


def log_only_content() -> LogOnly | None:
    """Return the content that would be lost with the log records of this process."""
    policy = settings.policy
    hint = f"{environment.exporter_variable('logs')}=none"
    if policy.capture and not policy.on_spans:
        instead = f"{environment.CAPTURE}=SPAN_ONLY"
        if settings.tells_messages:
            instead = f"{instead} with {hint}"
        return LogOnly("message, argument and result content", instead)
    return LogOnly("the messages of model calls", hint) if settings.tells_messages else None


def scope_of(span: trace.Span) -> str:
    """Return the name of a span's instrumentation scope."""
    scope = getattr(span, "instrumentation_scope", None)
    return getattr(scope, "name", None) or SCOPE
