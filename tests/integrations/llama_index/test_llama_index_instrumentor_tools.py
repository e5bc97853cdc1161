"""Tools: of agents, called by a program, and those that wait for a human."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import pytest
from opentelemetry.context import get_current

from agentool_otel.testing.turns import ToolCall, Turn
from tests.integrations.llama_index.conftest import (
    DONE,
    SEARCH,
    Scene,
    search_web,
    wait,
    workflow,
    workflows,
)

ASK = Turn(tool_calls=(ToolCall("ask", {"question": "Sure?"}, id="call-1"),))


def tools() -> Any:
    return import_module("llama_index.core.tools")


def asking() -> Any:
    """Return a tool that asks a human."""
    flows = workflows()

    async def ask(ctx: Any, question: str) -> str:
        """Ask."""
        answer = await ctx.wait_for_event(
            flows.HumanResponseEvent,
            waiter_id="ask",
            waiter_event=flows.InputRequiredEvent(prefix=question),
        )
        return f"said {answer.response}"

    ask.__annotations__ = {"ctx": flows.Context, "question": str, "return": str}
    return ask


def test_a_tool_has_the_id_and_the_words_of_its_call(scene: Scene) -> None:
    scene.push(SEARCH, DONE)
    scene.run(scene.agent(search_web), "What?")
    (tool,) = scene.all("execute_tool")
    assert tool["gen_ai.tool.call.id"] in scene.all("chat")[0]["gen_ai.output.messages"]
    assert "Search the web." in tool["gen_ai.tool.description"]
    assert tool["gen_ai.agent.name"] == "researcher"
    assert "search_web" in scene.all("chat")[0]["gen_ai.tool.definitions"]


def test_an_error_of_a_tool_is_recorded_with_what_the_model_is_told(scene: Scene) -> None:
    def search_web(query: str) -> str:
        """Search the web."""
        raise OSError("no network")

    scene.push(SEARCH, DONE)
    scene.run(scene.agent(search_web), "What?")
    (tool,) = scene.all("execute_tool")
    assert tool["error.type"] == "OSError"
    assert "no network" in tool["gen_ai.tool.call.result"]
    assert scene.all("invoke_agent")[0]["agentool.status"] == "success"


def test_a_tool_whose_exception_has_no_text_has_ended(scene: Scene) -> None:
    class WithoutText(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def search_web(query: str) -> str:
        """Search the web."""
        raise WithoutText

    tool = tools().FunctionTool.from_defaults(search_web)
    with pytest.raises(RuntimeError, match="no text"):
        tool.call(query="OTel")
    assert get_current() == {}
    (span,) = scene.all("execute_tool")
    assert span["agentool.status"] == "incomplete"


def test_a_tool_that_does_not_exist_is_an_error(scene: Scene) -> None:
    scene.push(Turn(tool_calls=(ToolCall("fly", {}),)), DONE)
    scene.run(scene.agent(search_web), "What?")
    (tool,) = scene.all("execute_tool")
    assert (tool["gen_ai.tool.name"], tool["error.type"]) == ("fly", "tool_error")


def test_a_result_of_json_stays_json(scene: Scene) -> None:
    def count(text: str) -> dict[str, int]:
        """Count."""
        return {"words": 2}

    scene.push(Turn(tool_calls=(ToolCall("count", {"text": "a b"}),)), DONE)
    scene.run(scene.agent(count), "What?")
    assert scene.all("execute_tool")[0]["gen_ai.tool.call.result"] == '{"words":2}'


def test_a_tool_that_a_program_calls_is_one_step(scene: Scene) -> None:
    tool = tools().FunctionTool.from_defaults(search_web)
    assert str(tool(query="OTel")) == "found OTel"
    assert str(tool.call("OTel")) == "found OTel"
    assert str(wait(tool.acall(query="OTel"))) == "found OTel"
    assert scene.names() == ["execute_tool search_web"] * 3
    assert "OTel" in scene.all("execute_tool")[0]["gen_ai.tool.call.arguments"]


def test_a_tool_that_a_model_chooses_has_the_id_of_its_request(scene: Scene) -> None:
    scene.push(SEARCH)
    tool = tools().FunctionTool.from_defaults(search_web)
    scene.llm().predict_and_call([tool], user_msg="What?")
    (call,), (step,) = scene.all("chat"), scene.all("execute_tool")
    assert step["gen_ai.tool.call.id"] in call["gen_ai.output.messages"]


def test_a_tool_that_waits_for_a_human_is_one_step(scene: Scene) -> None:
    async def program() -> str:
        handler = scene.agent(asking()).run("Do it.")
        async for event in handler.stream_events():
            if type(event).__name__ == "InputRequiredEvent":
                handler.ctx.send_event(workflows().HumanResponseEvent(response="yes"))
        return str(await handler)

    scene.push(ASK, DONE)
    assert wait(program()) == "Done."
    assert scene.names() == [
        "invoke_agent researcher",
        "  chat gpt-5",
        "  execute_tool ask",
        "  chat gpt-5",
    ]
    assert "said yes" in scene.all("execute_tool")[0]["gen_ai.tool.call.result"]


def test_a_tool_that_still_waits_at_the_end_has_no_result(scene: Scene) -> None:
    async def program() -> Any:
        handler = scene.agent(asking()).run("Do it.")
        async for event in handler.stream_events():
            if type(event).__name__ == "InputRequiredEvent":
                break
        await asyncio.sleep(0.1)
        await handler.cancel_run()
        with pytest.raises(BaseException, match=""):
            await handler

    scene.push(ASK)
    wait(program())
    (tool,) = scene.all("execute_tool")
    assert "gen_ai.tool.call.result" not in tool
    assert "agentool.interrupted" in tool or tool["error.type"].endswith("CancelledError")
    assert scene.all("invoke_agent")[0]["agentool.interrupted"] == "cancelled"


def test_a_run_that_is_resumed_goes_on_with_its_tool(scene: Scene) -> None:
    flows = workflows()
    pytest.importorskip("workflows.runtime.control_loop")  # earlier versions wait inside the tool

    async def program() -> str:
        agent = scene.agent(asking())
        handler = agent.run("Do it.")
        async for event in handler.stream_events():
            if type(event).__name__ == "InputRequiredEvent":
                break
        await asyncio.sleep(0.1)
        kept = handler.ctx.to_dict(serializer=flows.JsonPickleSerializer())
        await handler.cancel_run()
        context = flows.Context.from_dict(agent, kept, serializer=flows.JsonPickleSerializer())
        handler = agent.run(ctx=context)
        handler.ctx.send_event(flows.HumanResponseEvent(response="yes"))
        return str(await handler)

    scene.push(ASK, DONE)
    assert wait(program()) == "Done."
    first, second = scene.all("execute_tool")
    assert first["gen_ai.tool.call.id"] == second["gen_ai.tool.call.id"] == "call-1"
    assert "gen_ai.tool.call.result" not in first
    assert "said yes" in second["gen_ai.tool.call.result"]
    assert [run["agentool.status"] for run in scene.all("invoke_agent")] == [
        "in_progress",
        "success",
    ]


def test_a_workflow_that_waits_for_a_human_is_one_run(scene: Scene) -> None:
    flows = workflows()

    async def ask(self: Any, ev: Any) -> Any:
        return flows.InputRequiredEvent(prefix="Name?")

    async def answer(self: Any, ev: Any) -> Any:
        return flows.StopEvent(result=f"Hello {ev.response}")

    flow = workflow(
        ask=(ask, flows.StartEvent, flows.InputRequiredEvent),
        answer=(answer, flows.HumanResponseEvent, flows.StopEvent),
    )

    async def program() -> str:
        handler = flow().run()
        async for event in handler.stream_events():
            if type(event).__name__ == "InputRequiredEvent":
                handler.ctx.send_event(flows.HumanResponseEvent(response="Ada"))
        return str(await handler)

    assert wait(program()) == "Hello Ada"
    (run,) = scene.all("invoke_workflow")
    assert "Hello Ada" in run["gen_ai.output.messages"]
