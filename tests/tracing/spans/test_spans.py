"""The short way into the SDK gives the same span as the public one, or is not taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBased, TraceIdRatioBased
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span

from agentool_otel.content.policy import Policy
from agentool_otel.tracing.capture import agent, tool
from agentool_otel.tracing.spans import sdk_spans as seam
from agentool_otel.tracing.spans.settings import settings

TIMES = {"agentool.span.start_ns", "agentool.span.end_ns", "agentool.span.parent_id"}


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@agent
def clerk(question: str) -> str:
    return str(add(1, 2))


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    yield
    settings.reset()


def record(**options: Any) -> list[ReadableSpan]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False, **options)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings.configure(provider=provider, policy=Policy(capture=True))
    clerk("1+2?")
    return list(exporter.get_finished_spans())


def said(span: ReadableSpan) -> Any:
    attributes = {k: v for k, v in (span.attributes or {}).items() if k not in TIMES}
    attributes.pop("agentool.metrics.total_duration_ms", None)
    attributes = {k: list(v) if isinstance(v, tuple) else v for k, v in attributes.items()}
    return [span.name, span.kind, attributes, span.status.status_code, len(span.events)]


def test_the_fast_path_and_the_public_api_give_the_same_span(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = record()
    monkeypatch.setattr(seam, "_short_way", lambda tracer: None)
    monkeypatch.setattr(seam, "_short_ways", {})
    assert [said(span) for span in record()] == [said(span) for span in short]


def test_the_fast_path_is_used_when_the_sampler_accepts_every_child() -> None:
    for sampler in (None, ALWAYS_ON, ParentBased(TraceIdRatioBased(1.0))):
        seam._short_ways.clear()
        record(**({} if sampler is None else {"sampler": sampler}))
        assert any(way is not None for way in seam._short_ways.values())


@pytest.mark.parametrize(
    "options",
    [
        {"sampler": TraceIdRatioBased(1.0)},
        {"span_limits": SpanLimits(max_span_attributes=8)},
        {"span_limits": SpanLimits(max_span_attribute_length=20)},
    ],
)
def test_the_fast_path_is_not_used_where_it_could_be_noticed(options: dict[str, Any]) -> None:
    seam._short_ways.clear()
    assert len(record(**options)) == 2
    assert all(way is None for way in seam._short_ways.values())


def test_the_limits_of_the_provider_are_respected() -> None:
    [inner, _] = record(span_limits=SpanLimits(max_span_attributes=8))
    assert len(inner.attributes or {}) == 8


def test_ids_parent_and_sampling_come_from_the_trace_context() -> None:
    inner, outer = record()
    assert inner.parent is not None
    assert inner.context is not None
    assert outer.context is not None
    assert inner.parent.span_id == outer.context.span_id
    assert inner.context.trace_id == outer.context.trace_id
    assert inner.context.trace_flags == outer.context.trace_flags
    assert inner.instrumentation_scope == outer.instrumentation_scope
    assert inner.resource is outer.resource


def test_processors_see_the_sampling_attributes_at_span_start() -> None:
    from opentelemetry.sdk.trace import SpanProcessor

    started: list[dict[str, Any]] = []

    class Watch(SpanProcessor):
        def on_start(self, span: Any, parent_context: Any = None) -> None:
            started.append(dict(span.attributes or {}))

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Watch())
    settings.configure(provider=provider)
    clerk("?")
    assert started[1]["gen_ai.tool.name"] == "add"
    assert started[1]["gen_ai.operation.name"] == "execute_tool"


@pytest.mark.parametrize(("sampled", "is_below"), [(True, True), (False, False)])
def test_a_span_that_records_nothing_stands_in_for_ours_unless_a_sampler_has_dropped_it(
    sampled: bool, is_below: bool
) -> None:
    @agent
    def worker() -> None:
        other = TracerProvider(shutdown_on_exit=False).get_tracer("other")
        with other.start_as_current_span("theirs") as span:
            around = span.get_span_context()
            flags = TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)
            stand_in = NonRecordingSpan(
                SpanContext(around.trace_id, around.span_id, is_remote=False, trace_flags=flags)
            )
            with use_span(stand_in):
                add(1, 2)

    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False, sampler=ParentBased(ALWAYS_ON))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings.configure(provider=provider, policy=Policy(capture=True))
    worker()
    spans = {span.name: span for span in exporter.get_finished_spans()}
    tools = [span for name, span in spans.items() if name.startswith("execute_tool")]
    below = [span.parent for span in tools if span.parent is not None]
    ours = spans["invoke_agent worker"].context
    assert ours is not None
    assert [parent.span_id == ours.span_id for parent in below] == ([True] if is_below else [])
