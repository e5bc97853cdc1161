"""A span of our own kind is the SDK's span to everybody else: to the user's code inside of it, to
processors, and to whoever is handed the ended span."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentool_otel.content.policy import Policy
from agentool_otel.semconv import gen_ai
from agentool_otel.tracing.capture import agent, tool
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.spans.own_span import OwnSpan
from agentool_otel.tracing.spans.settings import settings


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    yield
    settings.reset()


def span_around(body: Callable[[Any], object], **options: Any) -> ReadableSpan:
    """Run something inside a decorated tool and return the tool's ended span."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False, **options)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings.configure(provider=provider, policy=Policy(capture=True))

    @tool(name="work")
    def work(city: str) -> str:
        span = trace.get_current_span()
        assert isinstance(span, OwnSpan)
        body(span)
        return city

    agent(name="bench")(lambda: work(city="Zurich"))()
    (ended,) = [span for span in exporter.get_finished_spans() if span.name.endswith("work")]
    return ended


def test_attributes_set_by_user_code_are_kept() -> None:
    def body(span: Any) -> None:
        span.set_attribute("a", 1)
        span.set_attributes({"b": [1, 2]})
        span.add_event("seen", {"c": 1})
        span.add_link(trace.SpanContext(1, 2, False), {"d": 1})
        span.set_status(trace.StatusCode.ERROR, "bad")
        span.update_name("their work")

    ended = span_around(body)
    attributes = ended.attributes or {}
    assert (attributes["a"], attributes["b"], attributes[gen_ai.TOOL_NAME]) == (1, (1, 2), "work")
    assert [(event.name, event.attributes) for event in ended.events] == [("seen", {"c": 1})]
    assert [link.context.span_id for link in ended.links] == [2]
    assert (ended.status.description, ended.name) == ("bad", "their work")


def test_the_state_of_an_open_span_can_be_read() -> None:
    log: list[Any] = []

    def body(span: Any) -> None:
        log.extend([span.attributes[gen_ai.TOOL_NAME], span.events, span.links])
        log.append(span.dropped_attributes)

    span_around(body)
    assert log == ["work", (), (), 0]


def test_an_ended_span_has_an_end_time_and_is_immutable() -> None:
    ended = span_around(lambda span: None)
    assert type(ended) is ReadableSpan
    assert ended.start_time is not None
    assert ended.end_time is not None
    assert ended.end_time >= ended.start_time
    with pytest.raises(TypeError):
        ended._attributes["more"] = 1  # type: ignore[index] # as a careless processor would


def test_nothing_is_added_after_the_end(caplog: pytest.LogCaptureFixture) -> None:
    results: list[Any] = []
    ended = span_around(results.append)
    with caplog.at_level(logging.ERROR):
        results[0].set_attribute("late", 1)
        results[0].add_event("late")
    assert "late" not in (ended.attributes or {})
    assert ended.events == ()


def test_a_span_ended_by_user_code_is_exported_once() -> None:
    ended = span_around(lambda span: span.end())
    assert (ended.attributes or {})[gen_ai.TOOL_NAME] == "work"
    assert gen_ai.TOOL_CALL_RESULT not in (ended.attributes or {})


def test_a_span_ended_by_user_code_is_scanned_for_secrets() -> None:
    def body(span: Any) -> None:
        span.set_attribute("password", "hunter2-hunter2")
        span.end()

    ended = span_around(body)
    assert "hunter2" not in str(Masking()(ended).attributes)


def test_the_attribute_limit_keeps_what_identifies_the_span() -> None:
    def body(span: Any) -> None:
        for number in range(56):
            span.set_attribute(f"x{number}", number)

    ended = span_around(body, span_limits=SpanLimits(max_span_attributes=64))
    assert len(ended.attributes or {}) == 64
    assert (ended.attributes or {})[gen_ai.TOOL_NAME] == "work"


def test_the_steps_of_an_agent_inside_a_tool_are_on_its_span() -> None:
    inner: Callable[[], int] = agent(name="inner")(tool(name="deep")(lambda: 1))
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings.configure(provider=provider)
    agent(name="outer")(tool(name="work")(inner))()
    steps = {span.name: len(span.events) for span in exporter.get_finished_spans()}
    assert steps["invoke_agent inner"] == 2


def test_processors_get_sdk_spans_at_start_and_end() -> None:
    messages: list[tuple[str, bool]] = []

    class Watch(SpanProcessor):
        def on_start(self, span: Span, parent_context: Any = None) -> None:
            messages.append(("start", isinstance(span, Span)))

        def on_end(self, span: ReadableSpan) -> None:
            messages.append(("end", isinstance(span, ReadableSpan)))

    def body(span: Any) -> None:
        messages.append(("body", span.is_recording()))

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Watch())
    settings.configure(provider=provider)
    agent(name="a")(tool(name="t")(lambda: body(trace.get_current_span())))()
    assert messages == [("start", True)] * 2 + [("body", True)] + [("end", True)] * 2
