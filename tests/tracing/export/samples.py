"""Spans with every member of a span, and any values an attribute may have."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import (
    Link,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
)

REMOTE = SpanContext(
    2**127 + 5, 2**63 + 7, True, TraceFlags(1), TraceState([("vendor", "a"), ("other", "b")])
)

plain = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text()
values = st.recursive(
    plain | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner),
    max_leaves=8,
)


def finished() -> list[ReadableSpan]:
    """A child with everything a span can have, and its parent with nothing."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "bot", "nums": [1, 2]}, "r.url"))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("scope", "1.2", "s.url", {"team": "blue"})
    with tracer.start_as_current_span("root"):
        span = tracer.start_span(
            "chat gpt-5",
            kind=SpanKind.CLIENT,
            attributes={"text": "Grüße\n\x00", "list": ["a", "b"], "n": 2**63 - 1, "f": 0.1},
            links=[Link(REMOTE, {"why": "retry"})],
            start_time=1_790_000_000_000_000_001,
        )
        span.add_event("step", {"index": 1}, timestamp=1_790_000_000_000_000_500)
        span.set_status(Status(StatusCode.ERROR, "no “luck”"))
        span.end(1_790_000_000_000_000_999)
    return list(memory.get_finished_spans())


def span_with(attributes: dict[str, Any]) -> ReadableSpan:
    return ReadableSpan("span", SpanContext(1, 2, False), attributes=attributes, start_time=1)


def links(message: ExportTraceServiceRequest) -> Any:
    return message.resource_spans[0].scope_spans[0].spans[0].links
