"""Log records for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry import _logs
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from agentool_otel.otlp.log_record import LogRecord
from agentool_otel.tracing.export.log_records import log_record_of

RESOURCE = Resource({"service.name": "bot"}, "r.url")
SCOPE = InstrumentationScope("scope", "1.2", "s.url", {"team": "blue"})


def record(**text: Any) -> LogRecord:
    """A record as a library emits it, taken in."""
    return log_record_of(_logs.LogRecord(**text), SCOPE, RESOURCE)


def everything() -> LogRecord:
    """A record with every member of a record."""
    return LogRecord(
        resource=RESOURCE,
        scope=SCOPE,
        attributes={"text": "Grüße\n\x00", "list": ["a", {"b": None}], "n": 2**63 - 1, "f": 0.1},
        body={"content": "hi", "calls": [1, True, b"raw"]},
        time_ns=1_790_000_000_000_000_001,
        observed_ns=1_790_000_000_000_000_002,
        trace_id=2**127 + 5,
        span_id=2**63 + 7,
        flags=1,
        severity_number=13,
        severity_text="WARN",
        event_name="gen_ai.choice",
    )


class Provided:
    """Keeps the records of loggers of a provider of ours."""

    def __init__(self) -> None:
        self.records: list[LogRecord] = []
        self.wanted = True

    @property
    def put(self) -> Callable[[LogRecord], None]:
        return self.records.append
