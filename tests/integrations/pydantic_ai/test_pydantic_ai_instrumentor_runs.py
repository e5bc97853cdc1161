"""Runs of agents of pydantic-ai: where they begin, how they end, and whose they are."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.integrations.pydantic_ai.scripted import (
    agent_on,
    an_event_loop,
    asks,
    instrumented,
    outcome,
    pydantic_ai,
    scripted,
    streaming,
)

__all__ = ["instrumented"]

pytest.importorskip("pydantic_ai")


def run_of(spans: Any, name: str = "clerk") -> Any:
    [result] = [item for item in spans.finished() if item.name == f"invoke_agent {name}"]
    return result.attributes


def look(q: int) -> str:
    return f"found {q}"


def test_earlier_agents_are_covered_and_keep_capabilities(spans: Any, instrumented: Any) -> None:
    instrumented.uninstrument()
    agent = agent_on(scripted("one", "two"))
    before = list(agent.root_capability.capabilities)
    assert asyncio.run(agent.run("x")).output == "one"
    assert spans.finished() == []
    instrumented.instrument()
    asyncio.run(agent.run("x"))
    assert [item.name for item in spans.finished()] == ["chat scripted", "invoke_agent clerk"]
    after = list(agent.root_capability.capabilities)
    assert [type(item) for item in after] == [type(item) for item in before]


def test_the_users_capabilities_keep_their_order(spans: Any) -> None:
    order: list[str] = []

    def noting(name: str) -> Any:
        async def wrap_run(self: Any, ctx: Any, *, handler: Any) -> Any:
            order.append(name)
            return await handler()

        base = pydantic_ai(".capabilities").AbstractCapability
        return type(name, (base,), {"wrap_run": wrap_run})()

    agent = agent_on(scripted("done"), capabilities=[noting("One"), noting("Two")])
    asyncio.run(agent.run("x", capabilities=[noting("Three")]))
    assert order == ["One", "Two", "Three"]


def test_a_nameless_agent_is_named_after_its_variable(spans: Any) -> None:
    async def run() -> None:
        somebody = pydantic_ai().Agent(scripted("done", "done"))
        await somebody.run("x")
        assert somebody.name == "somebody"

    asyncio.run(run())
    assert run_of(spans, "somebody")["gen_ai.agent.name"] == "somebody"
    agent = pydantic_ai().Agent(scripted("done"))
    with an_event_loop():
        agent.run_sync("x")
    assert agent.name == "agent"


def test_instructions_prompt_and_structured_output_are_the_runs(spans: Any) -> None:
    agent = agent_on(
        scripted(asks("final_result", response=4)), output_type=int, instructions="Count."
    )
    assert asyncio.run(agent.run("How many?")).output == 4
    attributes = run_of(spans)
    assert "Count." in attributes["gen_ai.system_instructions"]
    assert "How many?" in attributes["gen_ai.input.messages"]
    assert '"content":"4"' in attributes["gen_ai.output.messages"]
    assert "execute_tool final_result" not in spans.tree()


def test_an_output_function_is_a_tool_that_the_run_ends_with(spans: Any) -> None:
    def book(city: str) -> str:
        """Book a journey."""
        return f"booked {city}"

    agent = agent_on(scripted(asks("final_result", city="Rome")), output_type=book)
    assert asyncio.run(agent.run("x")).output == "booked Rome"
    [tool] = [item for item in spans.finished() if item.name == "execute_tool final_result"]
    assert tool.attributes["gen_ai.tool.call.id"] == "c1"
    assert "booked Rome" in tool.attributes["gen_ai.tool.call.result"]


def test_the_conversation_comes_from_caller_parent_or_framework(spans: Any) -> None:
    import agentool_otel

    agent = agent_on(scripted("1", "2", "3", "4"))

    async def talk() -> None:
        first = await agent.run("x")
        await agent.run("y", message_history=first.all_messages())
        with agentool_otel.session("around"):
            await agent.run("x")
            await agent.run("x", conversation_id="mine")

    asyncio.run(talk())
    attributes = [
        item.attributes["gen_ai.conversation.id"]
        for item in spans.finished()
        if item.name == "invoke_agent clerk"
    ]
    assert attributes[0] == attributes[1]
    assert attributes[2:] == ["around", "mine"]


def test_a_run_that_is_left_early_has_not_failed(spans: Any) -> None:
    agent = agent_on(scripted(asks("look", q=1), "done"), look)

    async def leave() -> None:
        async with agent.iter("x") as run:
            async for node in run:
                if pydantic_ai().Agent.is_call_tools_node(node):
                    break

    asyncio.run(leave())
    attributes = run_of(spans)
    assert attributes["agentool.interrupted"] == "closed"
    assert "error.type" not in attributes


def test_a_usage_limit_is_the_error_of_the_run(spans: Any) -> None:
    agent = agent_on(scripted(asks("look", q=1), "done"), look)
    limits = pydantic_ai().UsageLimits(request_limit=1)
    error = outcome(agent.run("x", usage_limits=limits))
    assert type(error).__name__ == "UsageLimitExceeded"
    assert run_of(spans)["error.type"] == "pydantic_ai.exceptions.UsageLimitExceeded"
    assert spans.tree().count("chat ") == 1


def test_a_timeout_around_a_run_is_an_error_of_the_run_and_of_its_request(spans: Any) -> None:
    async def waits(history: Any, info: Any) -> Any:
        await asyncio.sleep(60)

    agent = agent_on(pydantic_ai(".models.function").FunctionModel(waits, model_name="slow"))
    error = outcome(asyncio.wait_for(agent.run("x"), 0.05))
    assert isinstance(error, TimeoutError | asyncio.TimeoutError)
    cancelled = "asyncio.exceptions.CancelledError"
    assert {item.attributes["error.type"] for item in spans.finished()} == {cancelled}
    assert len(spans.finished()) == 2


def test_a_run_that_a_capability_rescues_has_not_failed(spans: Any) -> None:
    async def wrap_run(self: Any, ctx: Any, *, handler: Any) -> Any:
        try:
            return await handler()
        except RuntimeError:
            return pydantic_ai(".run").AgentRunResult("rescued")

    base = pydantic_ai(".capabilities").AbstractCapability
    rescuing = type("Rescuing", (base,), {"wrap_run": wrap_run})()
    agent = agent_on(scripted(RuntimeError("no")), capabilities=[rescuing])
    assert asyncio.run(agent.run("x")).output == "rescued"
    assert run_of(spans)["agentool.status"] == "success"
    assert "rescued" in run_of(spans)["gen_ai.output.messages"]


@pytest.mark.parametrize("way", ["run_stream", "iter", "run_stream_events"])
def test_every_way_to_stream_is_one_run_and_leaves_nothing_current(spans: Any, way: str) -> None:
    agent = agent_on(streaming("one ", "two"))

    async def consume() -> None:
        if way == "run_stream":
            async with agent.run_stream("x") as result:
                assert [item async for item in result.stream_text(delta=True)]
        elif way == "iter":
            async with agent.iter("x") as run:
                async for node in run:
                    if pydantic_ai().Agent.is_model_request_node(node):
                        async with node.stream(run.ctx) as events:
                            assert [event async for event in events]
        else:
            events = agent.run_stream_events("x")
            if hasattr(events, "__aenter__"):  # from 2.0 on
                async with events as entered:
                    assert [item async for item in entered]
            else:
                assert [event async for event in events]
        from opentelemetry.trace import get_current_span

        assert not get_current_span().get_span_context().is_valid

    asyncio.run(consume())
    assert [item.name.split()[0] for item in spans.finished()] == ["chat", "invoke_agent"]
    assert "one two" in run_of(spans)["gen_ai.output.messages"]
