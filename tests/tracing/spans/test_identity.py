"""Conversation, user and agent of a run are on every span below it, whatever reports the span."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.context import Context
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Sampler, SamplingResult

from agentool_otel.content.policy import Policy
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    FetchResponse,
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    Retrieval,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.tracing.capture import agent, bind_context, run, session, step, tool
from agentool_otel.tracing.capture.threads import carry_into_threads, stop_carrying
from agentool_otel.tracing.spans import metrics
from agentool_otel.tracing.spans.live import begin
from agentool_otel.tracing.spans.settings import settings as tracing_settings

AGENT, CONVERSATION, USER = "gen_ai.agent.name", "gen_ai.conversation.id", "user.id"
OURS = {AGENT: "outer", CONVERSATION: "s1", USER: "u1"}


def identity(span: ReadableSpan) -> dict[str, Any]:
    return {key: attribute for key, attribute in (span.attributes or {}).items() if key in OURS}


@tool
def add(a: int, b: int) -> int:
    return a + b


@tool
async def later(a: int) -> int:
    await asyncio.sleep(0)
    return a


@tool
def count(to: int) -> Iterator[int]:
    yield from range(to)


@agent
def inner(question: str) -> str:
    return str(add(1, 2))


@step("memory_read")
def recall(query: str) -> list[str]:
    return []


@step("memory_write")
def keep(key: str, content: str) -> None:
    return None


@step("handoff")
def hand_over(to_agent: str) -> None:
    return None


def report(operation: Operation) -> Callable[[Any], None]:
    def reported(_: Any) -> None:
        live = begin(operation)
        assert live is not None
        live.end(operation)

    return reported


def in_a_thread(_: Any) -> None:
    carry_into_threads()
    try:
        thread = threading.Thread(target=add, args=(1, 2))
        thread.start()
        thread.join()
    finally:
        stop_carrying()


def in_a_pool(_: Any) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(bind_context(add), 1, 2).result()


async def in_tasks() -> None:
    await asyncio.gather(*(asyncio.create_task(later(n)) for n in range(2)))


WAYS: dict[str, Callable[[Any], Any]] = {
    "decorated tool": lambda _: add(1, 2),
    "decorated coroutine": lambda _: asyncio.run(later(1)),
    "decorated generator": lambda _: list(count(2)),
    "decorated memory read": lambda _: recall("q"),
    "decorated memory write": lambda _: keep("k", "v"),
    "decorated handoff": lambda _: hand_over("other"),
    "reported tool": lambda r: r.tool_result(r.tool_call("t", {"a": 1}), 2),
    "reported call alone": lambda r: r.tool_call("t", {"a": 1}),
    "reported result alone": lambda r: r.tool_result("c", 2),
    "reported handoff": lambda r: r.handoff("other"),
    "reported memory read": lambda r: r.memory_read("q"),
    "reported memory write": lambda r: r.memory_write("v"),
    "thread": in_a_thread,
    "pool": in_a_pool,
    "tasks": lambda _: asyncio.run(in_tasks()),
    "chat": report(Inference(provider="p", request_model="m")),
    "embeddings": report(Embeddings(provider="p")),
    "retrieval": report(Retrieval()),
    "stored response": report(FetchResponse(provider="p", response_id="r")),
    "memory": report(MemoryOperation()),
    "tool": report(ToolExecution(name="t")),
    "workflow": report(WorkflowInvocation(workflow_name="w")),
    "MCP request": report(McpRequest(tool_name="t")),
}
"""By which a span comes to be below a run."""


@pytest.mark.parametrize("way", WAYS)
def test_a_span_below_a_run_carries_its_names(spans: Any, way: str) -> None:
    with run("outer", session_id="s1", user_id="u1") as r:
        WAYS[way](r)
    assert [identity(span) for span in spans.finished()] == [OURS] * len(spans.finished())
    assert len(spans.finished()) > 1


@pytest.mark.parametrize("way", WAYS)
def test_a_span_below_a_decorated_agent_in_a_session_carries_its_names(
    spans: Any, way: str
) -> None:
    @agent(name="outer")
    def decorated() -> None:
        with run("outer") as r:
            WAYS[way](r)

    with session("s1", user_id="u1"):
        decorated()
    assert [identity(span) for span in spans.finished()] == [OURS] * len(spans.finished())


@pytest.mark.parametrize("way", ["decorated tool", "chat", "reported tool"])
def test_names_are_set_without_content_capture(spans: Any, way: str) -> None:
    spans.without_content()
    with run("outer", session_id="s1", user_id="u1") as r:
        WAYS[way](r)
    assert all(identity(span) == OURS for span in spans.finished())


def test_an_inner_agent_inherits_all_but_the_name(spans: Any) -> None:
    with run("outer", session_id="s1", user_id="u1"):
        inner("1+2?")
    below, between, _ = spans.finished()
    assert identity(below) == identity(between) == {**OURS, AGENT: "inner"}


def test_an_unnamed_agent_does_not_inherit_the_outer_name(spans: Any) -> None:
    nameless = AgentInvocation()
    with run("outer", session_id="s1"):
        live = begin(nameless)
        assert live is not None
        report_below = begin(Inference(provider="p"), parent=live.context)
        assert report_below is not None
        report_below.end(Inference(provider="p"))
        live.end(nameless)
    chat, agent_span, _ = spans.finished()
    assert identity(chat) == identity(agent_span) == {CONVERSATION: "s1"}


def test_spans_after_a_run_do_not_carry_its_names(spans: Any) -> None:
    with run("outer", session_id="s1", user_id="u1"):
        pass
    add(1, 2)
    assert identity(spans.finished()[-1]) == {}


def test_an_operation_that_names_its_own_conversation_keeps_it(spans: Any) -> None:
    with run("outer", session_id="s1"):
        report(Inference(provider="p", conversation_id="conv_1"))(None)
    assert identity(spans.finished()[0])[CONVERSATION] == "conv_1"


name = st.sampled_from([None, "", "a", "b"])
blocks = st.lists(st.tuples(st.sampled_from([run, session]), name, name), max_size=5)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(around=blocks)
def test_the_innermost_block_that_names_one_wins(
    spans: Any, around: list[tuple[Any, str | None, str | None]]
) -> None:
    def within(left: list[tuple[Any, str | None, str | None]]) -> None:
        if not left:
            add(1, 2)
            return
        (block, session_id, user_id), *remainder = left
        named_after = ("r",) if block is run else ()
        opened = block(*named_after, session_id=session_id, user_id=user_id)
        with opened:
            within(remainder)

    spans.forget()
    within(around)
    expected: dict[str, str] = {}
    for block, session_id, user_id in around:
        expected |= {AGENT: "r"} if block is run else {}
        expected |= {
            key: item for key, item in ((CONVERSATION, session_id), (USER, user_id)) if item
        }
    assert identity(spans.finished()[0]) == expected


def test_names_are_masked(spans: Any) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    with run("outer", session_id=secret, user_id=secret, tags=[secret], case_id=secret):
        add(1, 2)
    assert secret not in "".join(str(dict(span.attributes)) for span in spans.finished())


def test_steps_and_metrics_carry_no_ids(spans: Any) -> None:
    reader = InMemoryMetricReader()
    metrics.configure(MeterProvider([reader], shutdown_on_exit=False))
    try:
        with run("outer", session_id="s1", user_id="u1") as r:
            for way in WAYS.values():
                way(r)
        collected = reader.get_metrics_data()
    finally:
        metrics.configure()
    assert collected is not None
    assert '"s1"' not in collected.to_json()
    assert '"u1"' not in collected.to_json()
    events = [event for span in spans.finished() for event in span.events]
    assert not any(OURS.keys() & (event.attributes or {}).keys() for event in events)


class _Asked(Sampler):
    """Accepts everything and remembers its arguments."""

    def __init__(self) -> None:
        self.shown: list[dict[str, Any]] = []

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: Any = None,
        attributes: Any = None,
        links: Any = None,
        trace_state: Any = None,
    ) -> SamplingResult:
        self.shown.append({key: attribute for key, attribute in attributes.items() if key in OURS})
        return ALWAYS_ON.should_sample(parent_context, trace_id, name, kind, attributes)

    def get_description(self) -> str:
        return "Asked"


@pytest.mark.parametrize("way", ["decorated tool", "reported tool", "chat"])
def test_a_sampler_sees_the_names(spans: Any, way: str) -> None:
    sampler = _Asked()
    tracing_settings.configure(provider=TracerProvider(sampler=sampler, shutdown_on_exit=False))
    with run("outer", session_id="s1", user_id="u1") as r:
        WAYS[way](r)
    assert sampler.shown == [OURS, OURS]


@pytest.mark.parametrize("way", ["decorated tool", "reported call alone"])
def test_a_span_found_open_after_a_kill_has_the_names(spans: Any, way: str) -> None:
    from opentelemetry.sdk.trace import SpanProcessor

    begun: dict[int, Any] = {}
    results: list[dict[str, Any]] = []

    class Begun(SpanProcessor):
        def on_start(self, span: Any, parent_context: Any = None) -> None:
            begun[span.get_span_context().span_id] = span

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Begun())
    tracing_settings.configure(provider=provider, policy=Policy(capture=True))
    tracing_settings.on_described = lambda span_id: results.append(identity(begun[span_id]))
    with run("outer", session_id="s1", user_id="u1") as r:
        WAYS[way](r)
    assert results == [OURS, OURS]
