"""Checks 64, 65, 67 and 70: whatever a program does with spans and values, it goes on as it was."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import weakref
from collections.abc import Coroutine, Generator
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.context import get_current
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from agentool_otel.integrations.agent_spec.instrumentor import graphs
from agentool_otel.integrations.agent_spec.instrumentor.conversations import conversing, executed
from agentool_otel.integrations.agent_spec.instrumentor.events import EVENTS
from agentool_otel.integrations.agent_spec.instrumentor.failures import set_tool_exception
from agentool_otel.integrations.agent_spec.instrumentor.listener import listener
from agentool_otel.integrations.agent_spec.instrumentor.patches import AgentSpecInstrumentor
from agentool_otel.integrations.agent_spec.instrumentor.processor import AgentSpecProcessor
from agentool_otel.integrations.agent_spec.instrumentor.steps import current_step
from agentool_otel.tracing.spans.settings import settings as tracing_settings
from tests.seed_systems.agent_spec.recorded import current, everything, named
from tests.seed_systems.agent_spec.specs import (
    agent,
    answered,
    config,
    event,
    flow,
    model_call,
    part,
    requested,
    responded,
    span,
    tool,
)

pytest.importorskip("pyagentspec", reason="pyagentspec is not installed")

CANARY = "canary-content"


class Hostile:
    """A value that answers nothing."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return type(self)
        raise RuntimeError("hostile")

    def __repr__(self) -> str:
        raise RuntimeError("hostile")

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("hostile")

    def __hash__(self) -> int:
        raise RuntimeError("hostile")

    def __bool__(self) -> bool:
        raise RuntimeError("hostile")


class Falsy(Exception):
    """An error of a program with a length of zero."""

    def __len__(self) -> int:
        return 0


def recursive() -> dict[str, Any]:
    contents: dict[str, Any] = {}
    contents["self"] = contents
    return contents


# ------------------------------------------------------------------- however spans begin and end


def test_check_65_a_span_that_is_cancelled_while_it_starts_leaves_nothing(attached: Any) -> None:
    class Waiting(AgentSpecProcessor):
        async def on_start_async(self, span: Any) -> None:
            if type(span).__name__ == "AgentExecutionSpan":
                started.set()
                await asyncio.sleep(60)

    started = asyncio.Event()

    async def run() -> str | None:
        with pytest.raises(asyncio.CancelledError):
            async with span("AgentExecutionSpan", agent=agent()):
                raise AssertionError
        return current()

    async def main() -> str | None:
        async with part("Trace")(name="talk", span_processors=[Waiting(False)]):
            task = asyncio.create_task(run())
            await started.wait()
            task.cancel()
            return await task

    assert asyncio.run(main()) == "invoke_workflow talk"
    assert len(listener._open) == 0
    failed = named(attached, "invoke_agent weather").attributes
    assert failed["error.type"].endswith("CancelledError")


def test_check_65_a_conversation_that_another_context_closes_is_finished(attached: Any) -> None:
    """So a coroutine is closed that was forgotten: by the garbage collector, wherever that runs."""

    async def talk() -> None:
        with conversing({"id": "talk-1"}):
            span("AgentExecutionSpan", agent=agent()).start()
            await asyncio.sleep(60)

    running: Coroutine[Any, Any, None] = talk()
    contextvars.copy_context().run(step, running)
    running.close()
    assert named(attached, "invoke_agent weather").attributes["gen_ai.conversation.id"] == "talk-1"
    assert current() is None


def step(running: Coroutine[Any, Any, None]) -> None:
    async def main() -> None:
        running.send(None)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(main())
    loop.close()


def test_check_65_a_conversation_leaves_the_context_as_it_was(attached: Any) -> None:
    before = get_current()
    with conversing({"id": "talk-1"}):
        span("AgentExecutionSpan", agent=agent()).start()
        span("NodeExecutionSpan", node=flow().nodes[2]).start()
    assert get_current() is before
    assert named(attached, "invoke_agent weather").attributes["agentool.incomplete"] is True


def test_check_65_spans_ended_by_the_collector_take_no_lock(attached: Any) -> None:
    """It collects at any point, also where this thread holds a lock that the end of a span needs:
    that of another thread comes through once this one has let go."""

    def forgotten() -> Generator[None]:
        with span("AgentExecutionSpan", agent=agent()):
            yield

    class Locked(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            with value:
                ended.set()

    value, ended, running = threading.Lock(), threading.Event(), forgotten()
    next(running)
    provider: Any = tracing_settings.provider
    provider.add_span_processor(Locked())
    inside_the_sdk = {"__name__": "opentelemetry.sdk.trace", "running": running}
    with value:
        eval("running.close()", inside_the_sdk)
    assert ended.wait(10)


def test_check_65_a_conversation_whose_id_cannot_be_read_runs(
    attached: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing_settings, "strict", False)
    assert executed(lambda item: item + 1, Hostile(), (1,), {}) == 2


def test_check_65_ended_steps_are_released(attached: Any) -> None:
    request = event("AgentExecutionStart", agent=agent(), inputs={"q": "?"})
    ref = weakref.ref(request)
    with span("AgentExecutionSpan", agent=agent()) as item:
        item.add_event(request)
        result = get_current()
    ended = weakref.ref(item)
    del item, request
    gc.collect()
    assert (ref(), ended()) == (None, None)
    assert current_step(result) is not None


def test_check_65_a_tool_without_a_request_leaves_its_agent(attached: Any) -> None:
    with span("AgentExecutionSpan", agent=agent()) as item:
        for _ in range(3):
            with span("ToolExecutionSpan", tool=tool()):
                pass
        value = listener._open.get(item.id)
        assert value is not None
        assert value.open == set()
    assert [item.name for item in attached.finished()][:3] == ["execute_tool get_weather"] * 3


def test_check_65_threads_at_once_have_a_trace_each(attached: Any) -> None:
    def run(n: int) -> None:
        with part("Trace")(name=f"talk {n}"), span("AgentExecutionSpan", agent=agent()):
            model_call()

    threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len({item.context.trace_id for item in attached.finished()}) == 8
    assert len(attached.finished()) == 24
    assert len(listener._open) == 0


KINDS: dict[str, Any] = {
    "AgentExecutionSpan": lambda: {"agent": agent()},
    "FlowExecutionSpan": lambda: {"flow": flow()},
    "NodeExecutionSpan": lambda: {"node": flow().nodes[2]},
    "ToolExecutionSpan": lambda: {"tool": tool()},
    "LlmGenerationSpan": lambda: {"llm_config": config()},
    "RootSpan": dict,
}
ACTS = st.one_of(
    st.sampled_from(sorted(KINDS)),
    st.integers(0, 5),
    st.tuples(st.integers(0, 5), st.sampled_from(sorted(EVENTS))),
)
"""A span of this kind begins, one ends, or one gets an event."""


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ACTS, max_size=12))
def test_check_65_each_span_is_recorded_once_in_any_order(attached: Any, acts: list[Any]) -> None:
    attached.forget()
    contextvars.copy_context().run(act_all, attached, acts)


def act_all(attached: Any, acts: list[Any]) -> None:
    before, spans = get_current(), list[Any]()
    with part("Trace")(), conversing({"id": "talk-1"}):
        for act in acts:
            do(act, spans)
    assert get_current() is before
    assert [item.name for item in spans if listener._open.get(item.id) is not None] == []
    assert len(attached.finished()) == len(spans) + 1


def do(act: Any, spans: list[Any]) -> None:
    """Spans end in any order, once each; their events have no fields."""
    if isinstance(act, str):
        spans.append(span(act, **KINDS[act]()))
        spans[-1].start()
        return
    at, name = act if isinstance(act, tuple) else (act, None)
    if at >= len(spans):
        return
    if name is not None:
        spans[at].add_event(type(name, (part("Event"),), {})())
    elif spans[at].end_time is None:
        spans[at].end()


# ------------------------------------------------------------------------------- values of any kind

VALUES = {
    "hostile": Hostile(),
    "recursive": recursive(),
    "huge": "x" * 3_000_000,
    "deep": eval("[" * 80 + "]" * 80),
    "bytes": b"\xff\x00",
    "surrogate": "\ud800",
    "nan": float("nan"),
    "set": {1, 2},
    "key": {(1, 2): 3},
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("captured", [True, False])
def test_check_65_values_of_any_kind_pass_as_they_are(
    value: str, captured: bool, attached: Any
) -> None:
    if not captured:
        attached.without_content()
    content, component = {"value": VALUES[value]}, tool()
    events = [
        requested(component).model_copy(update={"inputs": content}),
        responded(component, content),
    ]
    with span("AgentExecutionSpan", agent=agent()) as run:
        run.add_event(event("AgentExecutionStart", agent=agent(), inputs=content))
        with span("ToolExecutionSpan", tool=component) as item:
            for each in events:
                item.add_event(each)
        snapshot = event("StateSnapshotEmitted", conversation_id="7", state_snapshot={})
        run.add_event(snapshot.model_copy(update={"state_snapshot": content}))
        run.add_event(event("AgentExecutionEnd", agent=agent(), outputs=content))
    assert [item.inputs is content for item in events[:1]] == [True]
    assert {item.name for item in attached.finished()} == {
        "execute_tool get_weather",
        "invoke_agent weather",
    }


@pytest.mark.parametrize("field", ["inputs", "outputs", "prompt", "tool", "request_id", "content"])
def test_check_65_fields_of_other_types_cost_no_span(field: str, attached: Any) -> None:
    """As versions to come may have them: every event of an agent's run, one field of it changed."""
    component, model = tool(), config()
    changed = {field: Hostile()}
    with span("AgentExecutionSpan", agent=agent()) as run:
        for each in (event("AgentExecutionStart", agent=agent(), inputs={}),):
            run.add_event(each.model_copy(update=changed))
        with span("LlmGenerationSpan", llm_config=model) as item:
            item.add_event(answered(model).model_copy(update=changed))
        with span("ToolExecutionSpan", tool=component) as item:
            item.add_event(requested(component).model_copy(update=changed))
            item.add_event(responded(component, {}).model_copy(update=changed))
    assert [item.name for item in attached.finished()] == [
        "chat gpt-5",
        "execute_tool get_weather",
        "invoke_agent weather",
    ]


def test_check_65_an_interrupted_tool_has_not_failed(attached: Any) -> None:
    class GraphInterrupt(Exception):
        """Like LangGraph's interrupt, with which a tool waits for a human: it is called again
        later.
        """

    class NodeInterrupt(GraphInterrupt):
        pass

    with span("ToolExecutionSpan", tool=tool()) as item:
        item.add_event(requested(tool()))
        with set_tool_exception(NodeInterrupt("Really?")):
            item.add_event(responded(tool(), {"result": None}))
    attributes = named(attached, "execute_tool get_weather").attributes
    assert attributes["agentool.interrupted"] == "GraphInterrupt"
    assert attributes["agentool.tool.incomplete"] == "call_only"
    assert "error.type" not in attributes
    assert "Really?" not in everything(attached)


def test_check_65_an_error_without_length_is_an_error(attached: Any) -> None:
    with span("ToolExecutionSpan", tool=tool()) as item:
        item.add_event(requested(tool()))
        try:
            raise Falsy("no network")
        except Falsy:
            item.add_event(responded(tool(), {"result": None}))
    assert named(attached, "execute_tool get_weather").attributes["error.type"].endswith("Falsy")


def test_check_65_a_stream_that_another_context_closes_is_left(attached: Any) -> None:
    """pyagentspec raises an `IndexError` there: its own stack of spans is empty."""

    def stream() -> Generator[int]:
        item = span("AgentExecutionSpan", agent=agent())
        item.start()
        try:
            yield 1
        finally:
            item.end()

    iterator = stream()
    contextvars.copy_context().run(next, iterator)
    with pytest.raises(IndexError):
        contextvars.Context().run(iterator.close)
    (item,) = [item for item in attached.finished() if item.name.startswith("invoke_agent")]
    assert item.attributes["agentool.interrupted"] == "closed"
    assert "error.type" not in item.attributes


@pytest.mark.parametrize("timestamp", [0, -1, 2**63, 10**40])
def test_check_65_a_time_that_is_none_is_now(timestamp: int, attached: Any) -> None:
    with span("AgentExecutionSpan", agent=agent()) as run:
        text = event("HumanInTheLoopRequest", request_id="h", content={})
        run.add_event(text.model_copy(update={"timestamp": timestamp}))
    run = named(attached, "invoke_agent weather")
    assert run.start_time <= run.events[0].timestamp <= run.end_time


def test_check_65_a_confirmation_that_is_no_truth_value_is_left_out(attached: Any) -> None:
    with span("AgentExecutionSpan", agent=agent()) as run:
        text = event(
            "ToolConfirmationResponse", tool=tool(), request_id="k", execution_confirmed=True
        )
        run.add_event(text.model_copy(update={"execution_confirmed": {"by": "Ann"}}))
    [response] = named(attached, "invoke_agent weather").events
    assert "agentspec.confirmed" not in response.attributes


def test_check_64_an_event_derived_from_a_known_one_is_that(attached: Any) -> None:
    entries = type(answered(config()))
    derived = type("MyResponse", (entries,), {})
    with span("LlmGenerationSpan", llm_config=config()) as item:
        item.add_event(derived(**{**dict(answered(config())), "input_tokens": 21}))
    assert named(attached, "chat gpt-5").attributes["gen_ai.usage.input_tokens"] == 21


# ------------------------------------------------------------------------------------- permission


@pytest.mark.parametrize("masked", [True, False])
def test_check_67_the_text_of_a_raised_exception_is_content(masked: bool, attached: Any) -> None:
    if not masked:
        attached.without_content()
    processors = [AgentSpecProcessor(mask_sensitive_information=masked)]
    with pytest.raises(ValueError, match=CANARY), part("Trace")(span_processors=processors):
        failing_run()
    assert CANARY not in everything(attached)
    failed = [item.attributes["error.type"] for item in attached.finished()]
    assert failed == ["ValueError"] * 3


def failing_run() -> None:
    with span("FlowExecutionSpan", flow=flow()), span("ToolExecutionSpan", tool=tool()) as item:
        item.add_event(requested(tool()))
        raise ValueError(CANARY)


def test_check_67_where_content_is_captured_the_exception_is_recorded(attached: Any) -> None:
    with pytest.raises(ValueError, match=CANARY):
        failing_run()
    [recorded] = named(attached, "execute_tool get_weather").events
    assert CANARY in recorded.attributes["exception.message"]


# --------------------------------------------------------------------------------------- detaching


def test_check_70_a_detached_graph_streams_unchanged(attached: Any) -> None:
    component = SimpleNamespace(stream=lambda request, config=None: iter([current(), config]))
    graphs.patch_graph(component, lambda: AgentSpecInstrumentor().enabled)
    AgentSpecInstrumentor().uninstrument()
    iterator = component.stream("?", {"configurable": {"thread_id": "1"}})
    assert type(iterator) is type(iter([]))
    assert list(iterator) == [None, {"configurable": {"thread_id": "1"}}]


def test_check_70_a_graph_that_is_loaded_again_is_wrapped_once(attached: Any) -> None:
    component = SimpleNamespace(stream=lambda request, config=None: iter([]))
    graphs.patch_graph(component, lambda: True)
    once = component.stream
    graphs.patch_graph(component, lambda: True)
    assert component.stream is once
    assert deepcopy(component).stream is once
