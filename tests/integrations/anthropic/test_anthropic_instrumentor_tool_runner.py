"""The tool runner: its run, the calls of the model and the tools in it."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import Any

import pytest

import agentool_otel
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn
from tests.integrations.anthropic.conftest import HELLO

anthropic: Any = pytest.importorskip("anthropic")

FOUND = '{"result":"found a"}'
TWO = Turn(tool_calls=(ToolCall("search_web", {"query": "a"}, "t1"),
                       ToolCall("search_web", {"query": "bad"}, "t2")))  # fmt: skip


@pytest.fixture(autouse=True)
def silent() -> Any:
    """Silence the runner's log of a tool's exception."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


def found(query: str) -> str:
    """Search the web."""
    if query == "bad":
        raise LookupError("no network")
    return f"found {query}"


async def found_later(query: str) -> str:
    """Search the web."""
    await asyncio.sleep(0)
    return f"found {query}"


search_web = anthropic.beta_tool(found, name="search_web")
search_later = anthropic.beta_async_tool(found_later, name="search_later")


def named(spans: Any, name: str) -> list[dict[str, Any]]:
    return [dict(item.attributes) for item in spans.finished() if item.name == name]


@pytest.mark.parametrize("stream", [False, True])
def test_a_run_is_an_agent_with_its_model_calls_and_tools(
    client: Any, model: LoopbackModel, spans: Any, stream: bool
) -> None:
    model.push(TWO, "Done.")
    options = {"stream": True} if stream else {}
    runner = client.beta.messages.tool_runner(tools=[search_web], **HELLO, **options)
    for item in runner:
        if stream:
            item.until_done()
    assert [line.split("   ")[0] for line in spans.tree().splitlines()] == [
        "invoke_agent",
        "  chat claude-sonnet-5",
        "  execute_tool search_web",
        "  execute_tool search_web",
        "  chat claude-sonnet-5",
    ]
    first, second = named(spans, "execute_tool search_web")
    assert first["gen_ai.tool.call.id"] == "t1"
    assert first["gen_ai.tool.call.arguments"] == '{"query":"a"}'
    assert first["gen_ai.tool.call.result"] == FOUND
    assert first["gen_ai.tool.description"] == "Search the web."
    assert second["gen_ai.tool.call.id"] == "t2"
    assert second["error.type"] == "LookupError"
    assert "gen_ai.tool.call.result" not in second
    [run] = named(spans, "invoke_agent")
    assert "Hello" in run["gen_ai.input.messages"]
    assert "Done." in run["gen_ai.output.messages"]
    assert "error.type" not in run


def test_an_async_run_is_the_same(model: LoopbackModel, instrumented: None, spans: Any) -> None:
    model.push(Turn(tool_calls=(ToolCall("search_later", {"query": "a"}, "t1"),)), "Done.")

    async def main() -> Any:
        async with anthropic.AsyncAnthropic(base_url=model.root_url, api_key="none") as client:
            runner = client.beta.messages.tool_runner(tools=[search_later], **HELLO)
            return await runner.until_done()

    assert asyncio.run(main()).content[0].text == "Done."
    [tool] = named(spans, "execute_tool search_later")
    assert (tool["gen_ai.tool.call.id"], tool["gen_ai.tool.call.result"]) == ("t1", FOUND)
    [run] = named(spans, "invoke_agent")
    assert "Done." in run["gen_ai.output.messages"]
    assert len({item.context.trace_id for item in spans.finished()}) == 1


def test_a_failed_run_has_the_reason(client: Any, model: LoopbackModel, spans: Any) -> None:
    model.push(Turn(status=400))
    with pytest.raises(anthropic.BadRequestError):
        client.beta.messages.tool_runner(tools=[search_web], **HELLO).until_done()
    assert [item["error.type"] for item in named(spans, "invoke_agent")] == [
        "anthropic.BadRequestError"
    ]


def test_a_run_that_is_left_is_no_failure(client: Any, model: LoopbackModel, spans: Any) -> None:
    model.push(TWO)
    runner = client.beta.messages.tool_runner(tools=[search_web], **HELLO)
    next(runner)
    del runner
    gc.collect()
    [run] = named(spans, "invoke_agent")
    assert run["agentool.interrupted"] == "closed"
    assert "error.type" not in run


def test_inside_an_agent_it_is_the_loop_of_that_agent(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push(TWO, "Done.")
    with agentool_otel.run("clerk"):
        client.beta.messages.tool_runner(tools=[search_web], **HELLO).until_done()
    assert [line.split("   ")[0] for line in spans.tree().splitlines()] == [
        "invoke_agent clerk",
        "  chat claude-sonnet-5",
        "  execute_tool search_web",
        "  execute_tool search_web",
        "  chat claude-sonnet-5",
    ]


def test_a_tool_that_is_called_by_hand_is_a_span(instrumented: None, spans: Any) -> None:
    assert search_web.call({"query": "a"}) == "found a"
    attributes = spans.attributes()
    assert attributes["gen_ai.tool.call.result"] == FOUND
    assert "gen_ai.tool.call.id" not in attributes


def test_a_tool_of_another_class_is_a_span(client: Any, model: LoopbackModel, spans: Any) -> None:
    functions: Any = pytest.importorskip("anthropic.lib.tools._beta_functions")
    runner: Any = pytest.importorskip("anthropic.lib.tools._beta_runner")
    if not hasattr(runner.BaseSyncToolRunner, "_run_tool"):
        pytest.skip("this version asks the tool itself, whatever it is")

    class Memory(functions.BetaBuiltinFunctionTool):  # type: ignore[misc]
        def to_dict(self) -> Any:
            return {"type": "memory_20250818", "name": "memory"}

        def call(self, input: object) -> Any:
            raise LookupError("empty")

    model.push(Turn(tool_calls=(ToolCall("memory", {"command": "view"}, "t1"),)), "Done.")
    client.beta.messages.tool_runner(tools=[Memory()], **HELLO).until_done()
    [tool] = named(spans, "execute_tool memory")
    assert tool["gen_ai.tool.call.id"] == "t1"
    assert tool["error.type"] == "tool_error"


def test_tools_that_run_while_the_answer_is_streamed_are_in_the_run(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push(TWO, "Done.")
    try:
        runner = client.beta.messages.tool_runner(
            tools=[search_web], stream=True, run_tools_eagerly=True, **HELLO
        )
    except TypeError:
        pytest.skip("this version runs tools after the answer only")
    for stream in runner:
        stream.until_done()
    [run] = [item for item in spans.finished() if item.name == "invoke_agent"]
    tools = [item for item in spans.finished() if item.name == "execute_tool search_web"]
    assert [tool.parent.span_id for tool in tools] == [run.context.span_id] * 2
