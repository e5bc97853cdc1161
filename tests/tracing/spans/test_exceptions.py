"""An exception is recorded by the innermost span it passes through, and nothing is kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentool_otel.tracing.capture import agent, run, tool
from agentool_otel.tracing.spans import exceptions
from agentool_otel.tracing.spans.settings import settings


@tool
def fail(why: str) -> None:
    raise ValueError(why)


@pytest.fixture(autouse=True)
def exporter() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings.configure(provider=provider)
    exceptions.recorded.clear()
    yield exporter
    settings.reset()


def recorded(exporter: InMemorySpanExporter) -> list[tuple[str, list[Any]]]:
    return [
        (
            span.name,
            [dict(e.attributes or {})["exception.message"] for e in span.events if is_one(e)],
        )
        for span in exporter.get_finished_spans()
    ]


def is_one(event: Any) -> bool:
    return bool(event.name == "exception")


def test_an_exception_that_propagates_is_recorded_by_the_innermost_span(
    exporter: InMemorySpanExporter,
) -> None:
    @agent
    def clerk() -> None:
        fail("no")

    with pytest.raises(ValueError, match="no"):
        clerk()
    assert recorded(exporter) == [("execute_tool fail", ["no"]), ("invoke_agent clerk", [])]


@pytest.mark.parametrize("depth", [1, 300])
def test_the_exception_event_lies_within_its_span(
    exporter: InMemorySpanExporter, depth: int
) -> None:
    """Printing a deep stack takes milliseconds, after the span has ended."""

    @tool
    def deep(left: int) -> None:
        def down(left: int) -> None:
            if not left:
                raise ValueError("at the bottom")
            down(left - 1)

        down(left)

    with suppress(ValueError), run("a"):
        deep(depth)
    for span in exporter.get_finished_spans():
        for event in span.events:
            assert span.start_time is not None
            assert span.end_time is not None
            assert span.start_time <= event.timestamp <= span.end_time


def test_a_new_exception_at_a_reused_address_is_recorded(
    exporter: InMemorySpanExporter,
) -> None:
    """Most are where the one before was, which nobody holds any more."""

    @agent
    def clerk() -> None:
        with suppress(ValueError):
            fail("theirs")
        raise ValueError("its own")

    for _ in range(20):
        with pytest.raises(ValueError, match="its own"):
            clerk()
    agents = [text for name, text in recorded(exporter) if name == "invoke_agent clerk"]
    assert agents == [["its own"]] * 20


def test_no_exception_is_remembered_after_the_enclosing_spans_end() -> None:
    @agent
    def clerk() -> None:
        with pytest.raises(ValueError):
            fail("no")

    @tool
    def hire() -> None:
        with pytest.raises(ValueError):
            fail("no")

    clerk()
    assert not exceptions.recorded
    hire()
    assert not exceptions.recorded


def test_below_foreign_spans_few_exceptions_are_remembered() -> None:
    assert settings.provider is not None
    tracer = settings.provider.get_tracer("theirs")
    for _ in range(1000):
        with trace.use_span(tracer.start_span("theirs")), pytest.raises(ValueError):
            fail("no")
    assert 0 < len(exceptions.recorded) <= 256
