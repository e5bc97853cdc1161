"""Calls that are no part of a plain loop: nothing around them changes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import SpanKind

import agentool_otel
from agentool_otel.testing.loopback_model import LoopbackModel, Turn, call
from agentool_otel.tracing.loops.ends import forget_loops
from agentool_otel.tracing.loops.open_loops import open_loops as loops
from agentool_otel.tracing.spans.settings import settings
from tests.tracing.loops.plain_programs import (
    ROUND,
    TOOLS,
    TREE,
    Chat,
    Program,
    interleaved,
    roots,
    trees,
    wanted,
)


def test_an_agent_of_the_program_has_its_calls(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(*ROUND, "Done.")
    agentool_otel.agent(name="mine")(Program(client).ask)("Q")
    assert trees(spans) == ["invoke_agent mine[chat, chat, chat]"]


@pytest.mark.parametrize("kind", [SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.PRODUCER])
def test_a_span_of_another_kind_has_its_calls(
    client: Any, spans: Any, model: LoopbackModel, kind: SpanKind
) -> None:
    assert settings.provider is not None
    model.push(*ROUND, "Done.")
    with settings.provider.get_tracer("other").start_as_current_span("work", kind=kind):
        Program(client).ask("Q")
    assert trees(spans) == ["work[chat, chat, chat]"]


def test_a_tool_that_calls_a_model_has_the_call(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    @agentool_otel.tool
    def search(q: str) -> str:
        return Program(client).ask(q)

    model.push(call("search", q="a"), "Found.", "Done.")
    Program(client, {"search": search}).ask("Q")
    assert trees(spans) == ["invoke_agent[chat, search[chat], chat]"]


def test_a_forced_function_is_no_loop(client: Any, spans: Any, model: LoopbackModel) -> None:
    model.push(call("search", q="a"))
    program = Program(client)
    program.messages.append({"role": "user", "content": "Q"})
    program.step(tool_choice={"type": "function", "function": {"name": "search"}})
    assert trees(spans) == ["chat"]
    assert not len(loops)


def test_helpers_around_a_loop_are_calls_of_their_own(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    def helper(text: str) -> None:
        model.push(text)
        Program(client).ask(f"Is this harmless: {text}?", tools=None)

    helper("before")
    program = Program(client)
    program.messages.append({"role": "user", "content": "Q"})
    for turn in ROUND:
        model.push(turn)
        program.send(program.step())
        helper("within")
    model.push("Done.")
    program.step()
    helper("after")
    assert sorted(trees(spans)) == ["chat"] * 4 + [TREE]


def test_embeddings_are_no_loop(client: Any, spans: Any) -> None:
    client.embeddings.create(model="m", input="text")
    assert trees(spans) == ["embeddings"]


def test_nothing_is_inferred_where_it_is_off(client: Any, spans: Any, model: LoopbackModel) -> None:
    settings.infer_runs = False
    model.push(*ROUND, "Done.")
    Program(client).ask("Q")
    assert trees(spans) == ["chat"] * 3
    assert all("agentool.session.id" not in span.attributes for span in spans.finished())


def test_suppressed_calls_are_not_recorded(client: Any, spans: Any, model: LoopbackModel) -> None:
    instrumentation = pytest.importorskip("opentelemetry.instrumentation.utils")
    with instrumentation.suppress_instrumentation():
        model.push(*ROUND, "Done.")
        Program(client).ask("Q")
    assert not spans.finished()
    assert not len(loops)


def test_a_tool_that_no_loop_requests_stays_alone(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    @agentool_otel.tool
    def weather(q: str) -> str:
        return "sun"

    model.push(call("search", q="a"), "Done.")
    program = Program(client)
    program.messages.append({"role": "user", "content": "Q"})
    calls = program.step()
    weather("a")
    program.send(calls)
    program.step()
    assert trees(spans) == ["invoke_agent[chat, search, chat]", "weather"]


def test_a_tool_is_in_the_loop_that_requests_these_arguments(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    @agentool_otel.tool
    def search(q: str) -> str:
        return q

    programs = [Program(client, {"search": search}) for _ in range(2)]
    calls = []
    for number, program in enumerate(programs):
        program.messages.append({"role": "user", "content": f"Q{number}"})
        model.push(Turn(tool_calls=(wanted("search", f"item {number}"),)))
        calls.append(program.step())
    for program, each in zip(programs, calls, strict=True):
        program.send(each)
    for program in programs:
        model.push("Done.")
        program.step()
    assert trees(spans) == ["invoke_agent[chat, search, chat]"] * 2
    for span in spans.finished():
        if span.name.startswith("execute_tool"):
            assert "agentool.inferred" not in span.attributes


def test_a_fork_in_the_middle_of_a_loop_stays_in_the_session(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    program = Program(client)
    program.messages.append({"role": "user", "content": "Q"})
    model.push(call("search", q="a"))
    program.send(program.step())
    other = Program(client)
    other.messages = [*program.messages]
    model.push("One.", "Two.")
    program.step()
    other.step()
    assert trees(spans) == ["invoke_agent[chat, search, chat]", "invoke_agent[chat]"]
    assert len({root["agentool.session.id"] for root in roots(spans)}) == 1


@pytest.fixture
def half_sampled(spans: Any) -> None:
    """Take half of the traces."""
    sampled = TracerProvider(sampler=ParentBased(TraceIdRatioBased(0.5)), shutdown_on_exit=False)
    sampled.add_span_processor(SimpleSpanProcessor(spans._exporter))
    settings.configure(provider=sampled)


@pytest.mark.usefixtures("half_sampled")
def test_a_sampler_takes_whole_loops_that_are_reported_by_hand(spans: Any) -> None:
    chats = [Chat(number, [[1, 2]], decorated=number % 2 == 0) for number in range(40)]
    interleaved(chats, 1)
    assert 5 < len(trees(spans)) < 35
    assert set(trees(spans)) == {"invoke_agent[chat, search, chat, search, search, chat]"}
    assert not len(loops)


@pytest.mark.usefixtures("half_sampled")
def test_a_sampler_takes_whole_loops_or_none(client: Any, spans: Any, model: LoopbackModel) -> None:
    for number in range(40):
        model.push(*ROUND, "Done.")
        Program(client).ask(f"Q{number}")
    assert 5 < len(trees(spans)) < 35
    assert set(trees(spans)) == {TREE}
    assert not len(loops)


def test_a_child_process_forgets_the_loops_of_its_parent(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(call("search", q="a"))
    program = Program(client)
    program.messages.append({"role": "user", "content": "Q"})
    program.send(program.step())
    forget_loops()  # as after a fork
    model.push("Done.")
    program.step()
    assert trees(spans) == ["chat", "invoke_agent[chat]"]


@pytest.mark.parametrize("value", [None, 5, [], "text", [None], [5], [{"role": "user"}]])
def test_messages_of_any_shape_reach_the_client(
    client: Any, spans: Any, model: LoopbackModel, value: Any
) -> None:
    openai = pytest.importorskip("openai")
    with suppress(openai.OpenAIError, TypeError):  # of the client
        client.chat.completions.create(model="m", messages=value, tools=TOOLS)
    assert [name for name in trees(spans) if not name.startswith(("chat", "invoke_agent"))] == []


def test_a_loop_in_threads_of_the_event_loop(spans: Any, model: LoopbackModel, client: Any) -> None:
    async def play() -> None:
        program = Program(client)
        program.messages.append({"role": "user", "content": "Q"})
        while calls := await asyncio.to_thread(program.step):
            await asyncio.to_thread(program.send, calls)

    model.push(*ROUND, "Done.")
    asyncio.run(play())
    assert trees(spans) == [TREE]
