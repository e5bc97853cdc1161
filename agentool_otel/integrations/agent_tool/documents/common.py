"""Common parts of the objects."""

from __future__ import annotations

from typing import ClassVar

from agentool_otel.model.documents import UNSET, Document, Maybe, Number

__all__ = [
    "OpenObject",
    "TelemetryRef",
    "Versioned",
]


class OpenObject(Document, frozen=True, kw_only=True):
    """An object whose members the specification leaves open; all are in `extra`."""


class TelemetryRef(Document, frozen=True, kw_only=True):
    """Reference to the telemetry of an invocation."""

    trace_id: Maybe[str] = UNSET
    """Of OpenTelemetry, 32 lower-case hex digits."""
    span_id: Maybe[str] = UNSET
    """Of OpenTelemetry, 16 lower-case hex digits."""
    tool_name: Maybe[str] = UNSET
    """Name of the tool."""
    tool_call_id: Maybe[str] = UNSET
    """Id of the call as the model's provider gave it, else of the invocation."""
    request_id: Maybe[str] = UNSET
    """Id of the native request."""
    duration_ms: Maybe[Number] = UNSET
    """From start to end of the execution, in milliseconds."""
    result_size_bytes: Maybe[Number] = UNSET
    """Size of the result's payload as JSON text."""


class Versioned(Document, frozen=True, kw_only=True):
    """Common members of all exported objects."""

    REQUIRES: ClassVar[tuple[str, ...]] = ()
    """Members that the specification requires, beyond those without which it cannot be read."""

    schema_version: Maybe[str] = UNSET
    """Version of the specification it was written by."""
