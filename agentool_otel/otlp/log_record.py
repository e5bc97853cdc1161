"""A log record on its way out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

__all__ = ["LogRecord"]


class LogRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One log record, with its scope and resource. Its values are plain and not shared."""

    resource: Resource
    scope: InstrumentationScope
    attributes: Mapping[str, Any]
    body: Any = None
    time_ns: int | None = None
    """When it happened, if the emitter set that."""
    observed_ns: int
    trace_id: int = 0
    span_id: int = 0
    flags: int = 0
    severity_number: int = 0
    severity_text: str | None = None
    event_name: str | None = None
