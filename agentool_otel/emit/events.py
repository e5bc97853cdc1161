"""Events of ours: log records in the context of a span.

The conventions put content there when asked to, and are about to put exceptions there. Everything
goes through the API's logger provider in force, whoever has set it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentool_otel.emit.session import SCOPE, session

if TYPE_CHECKING:
    from opentelemetry.context import Context

__all__ = ["Masked", "emit", "taken"]

WARN = 13
"""Severity of an exception that a client operation ended with, by the conventions."""


class Masked(dict[str, Any]):
    """Attributes that were masked at capture: whoever knows this class need not look at them."""


def taken(scope: str = SCOPE) -> bool:
    """Whether anybody takes what `emit` gives."""
    logger = session.logger(scope)
    enabled = getattr(logger, "enabled", None)  # since 1.38
    return enabled is None or bool(enabled())


def emit(
    name: str,
    attributes: dict[str, Any],
    context: Context,
    *,
    scope: str = SCOPE,
    time_ns: int,
    severity: int | None = None,
) -> None:
    """Emit an event in the context of a span.

    Args:
        name: of the event.
        attributes: valid by construction; `Masked` where they are.
        context: the context of the span it belongs to.
        scope: instrumentation scope of that span.
        time_ns: when it happened.
        severity: number of the severity, where the event has one.
    """
    from opentelemetry import _logs, trace

    level = None if severity is None else _logs.SeverityNumber(severity)
    record = _logs.LogRecord(timestamp=time_ns, severity_number=level, attributes=attributes)
    # These were not parameters before 1.35.
    about = trace.get_current_span(context).get_span_context()
    record.context, record.event_name = context, name
    record.trace_id, record.span_id = about.trace_id, about.span_id
    record.trace_flags = about.trace_flags
    session.logger(scope).emit(record)
