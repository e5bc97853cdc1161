"""Attributes that are known before the user's code runs are set then, if somebody needs them.

It changes nothing about the span that ends, is encoded once, and others may still add to the span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from agentool_otel.content.fitting.fitter import Sizes
from agentool_otel.content.policy import Policy
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import Inference, Operation, ToolExecution
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.capture import agent, run, step, tool
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.spans.live import LiveSpan, begin
from agentool_otel.tracing.spans.settings import settings

CHANGING = {
    *(agentool.SPAN_START_NS, agentool.SPAN_END_NS, agentool.SPAN_PARENT_ID),
    *(agentool.METRICS_TOTAL_DURATION_MS, gen_ai.TOOL_CALL_ID),
}
MESSAGES = [message("user", [text("hello")])]


@tool
def add(numbers: list[int], function: Callable[[], object] = lambda: None) -> str:
    function()
    return "three"


@tool
def fail(why: str) -> None:
    raise ValueError(why)


@agent
def clerk(question: str) -> str:
    with pytest.raises(ValueError):
        fail("never")
    return add([1, 2])


@step("memory_write")
def keep(key: str, content: dict[str, int]) -> None:
    return None


@step("handoff")
def hand_over(to_agent: str, message: str) -> None:
    return None


def block(request: Any = "1+2?") -> None:
    with run("clerk", input=request) as result:
        result.output = result.tool_call("add", "no object", id="a")
        result.tool_result("a", ["no", "object"])
        result.tool_call("add", {"left": "open"}, id="b")
        result.memory_write({"a": 1}, "k")


def model_call() -> None:
    operation = Inference(operation="chat", request_model="m", input=MESSAGES)
    with_tools(operation, operation)


def with_tools(operation: Operation, entries: Operation) -> LiveSpan:
    live = begin(operation, content_follows=True)
    assert live is not None
    live.opened(operation)
    live.end(entries)
    return live


CALLS: dict[str, Callable[[], object]] = {
    "tool": lambda: add([1, 2]),
    "agent": lambda: clerk("1+2?"),
    "memory": lambda: keep("k", {"a": 1}),
    "handoff": lambda: hand_over("b", "do it"),
    "run block": block,
    "run block, JSON": lambda: block({"a": [1]}),
    "model call": model_call,
}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    settings.reset()
    yield
    settings.reset()


def record(
    call: Callable[[], object], event: bool, policy: Policy | None = None, **options: Any
) -> list[ReadableSpan]:
    """Make a call, with or without an observer of open spans."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False, **options)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings.configure(provider=provider, policy=policy or Policy(capture=True))
    settings.on_described = (lambda _: None) if event else None
    call()
    return list(exporter.get_finished_spans())


def said(spans: list[ReadableSpan]) -> list[Any]:
    return [
        (
            span.name,
            {k: v for k, v in (span.attributes or {}).items() if k not in CHANGING},
            [(e.name, set(e.attributes or {}) - CHANGING) for e in span.events],
            span.status.status_code,
        )
        for span in spans
    ]


@pytest.mark.parametrize("capture", [True, False])
@pytest.mark.parametrize("call", CALLS)
def test_a_span_described_at_its_start_ends_the_same(call: str, capture: bool) -> None:
    policy = Policy(capture=capture)
    result = record(CALLS[call], True, policy)
    assert said(result) == said(record(CALLS[call], False, policy))


@pytest.mark.parametrize("call", CALLS)
def test_an_oversized_span_described_at_its_start_ends_the_same(call: str) -> None:
    policy = Policy(capture=True, sizes=Sizes(attribute=16, span=64))
    result = record(CALLS[call], True, policy)
    assert said(result) == said(record(CALLS[call], False, policy))


def test_a_low_attribute_limit_keeps_what_identifies_a_span() -> None:
    limits = SpanLimits(max_span_attributes=5)
    (span,) = record(CALLS["tool"], True, span_limits=limits)
    assert span.attributes is not None
    assert len(span.attributes) == 5
    assert span.attributes[gen_ai.TOOL_NAME] == "add"


@pytest.mark.parametrize("call", CALLS)
def test_every_content_is_redacted_once(call: str) -> None:
    def seen(event: bool) -> list[tuple[str, str]]:
        calls: list[tuple[str, str]] = []

        def redact(attribute: str, content: str) -> str:
            calls.append((attribute, content))
            return f"<{content}>"

        record(CALLS[call], event, Policy(capture=True, redact=redact))
        return sorted(calls)

    assert seen(True) == seen(False)


def test_the_callback_runs_before_the_body() -> None:
    order: list[Any] = []

    def body() -> None:
        order.append("body")

    def call() -> None:
        settings.on_described = order.append
        add([1], body)

    (span,) = record(call, True)
    assert span.context is not None
    assert order == [span.context.span_id, "body"]


def test_the_callback_does_not_run_for_an_unsampled_span() -> None:
    counts: list[int] = []

    def call() -> None:
        settings.on_described = counts.append
        for each in CALLS.values():
            each()

    record(call, True, sampler=ALWAYS_OFF)
    assert counts == []


def test_content_changed_by_the_end_replaces_the_content_at_the_start() -> None:
    tool_execution = ToolExecution(name="add", arguments={"a": 1})
    execution = ToolExecution(name="add", arguments={"a": 2}, result=3)
    (span,) = record(lambda: with_tools(tool_execution, execution), True)
    assert (span.attributes or {})[gen_ai.TOOL_CALL_ARGUMENTS] == '{"a":2}'


def test_attributes_others_add_are_still_masked() -> None:
    def body() -> None:
        trace.get_current_span().set_attribute("password", "hunter2-hunter2")

    (span,) = record(lambda: add([1], body), True)
    masked = Masking()(span)
    assert "hunter2" not in str(dict(masked.attributes or {}))


def test_attributes_others_add_are_masked_while_the_span_is_open() -> None:
    shown: list[Any] = []

    def body() -> None:
        span: Any = trace.get_current_span()
        span.set_attribute("password", "hunter2-hunter2")
        shown.append(dict(Masking()(span).attributes or {}))

    record(lambda: add([1], body), True)
    assert gen_ai.TOOL_CALL_ARGUMENTS in shown[0]
    assert "hunter2" not in str(shown)
