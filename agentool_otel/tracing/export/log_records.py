"""Log records as they leave: what a library emitted, its values plain and its own.

Made from the API's record. The SDK's are not used: they live in a private module, were renamed
twice since 1.30, and copy every value three times.
Source: opentelemetry-api 1.30 to 1.45, `_logs/_internal/__init__.py`, `LogRecord`.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import time_ns
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from agentool_otel.content.policy import jsonable
from agentool_otel.otlp.log_record import LogRecord
from agentool_otel.tracing.spans.events import Masked
from agentool_otel.tracing.spans.exceptions import exception_attributes

if TYPE_CHECKING:
    from opentelemetry._logs import LogRecord as Emitted
    from opentelemetry.sdk.resources import Resource

__all__ = ["log_record_of"]


def log_record_of(emitted: Emitted, scope: InstrumentationScope, resource: Resource) -> LogRecord:
    """Return what was emitted as a record whose values nobody else can change any more."""
    attributes = _attributes(emitted.attributes)
    error = getattr(emitted, "exception", None)  # since 1.42
    if isinstance(error, BaseException):
        attributes = type(attributes)({**exception_attributes(error), **attributes})
    severity: Any = emitted.severity_number
    about: Any = emitted
    if not hasattr(emitted, "context"):  # before 1.35 a record did not look for its span
        about = trace.get_current_span().get_span_context() if not emitted.trace_id else emitted
    return LogRecord(
        resource=resource,
        scope=scope,
        attributes=attributes,
        body=_plain(emitted.body),
        time_ns=_time(emitted.timestamp),
        observed_ns=_time(emitted.observed_timestamp) or time_ns(),
        trace_id=about.trace_id or 0,
        span_id=about.span_id or 0,
        flags=int(about.trace_flags or 0),
        severity_number=int(getattr(severity, "value", severity) or 0),
        severity_text=emitted.severity_text,
        event_name=getattr(emitted, "event_name", None),  # since 1.35
    )


def _attributes(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    if attributes is None:
        return {}
    if type(attributes) is Masked:
        return attributes
    return {str(key): _plain(value) for key, value in attributes.items()}


def _time(nanoseconds: int | None) -> int | None:
    """Return a time OTLP has room for."""
    return nanoseconds if nanoseconds is not None and 0 < nanoseconds < 1 << 64 else None


def _plain(value: Any) -> Any:
    """Return scalars as they are, other values converted to JSON within the limits of
    `jsonable`.
    """
    if value is None or type(value) in (str, bool, int, float, bytes, Masked):
        return value
    return jsonable(value)
