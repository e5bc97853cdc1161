"""Tools of agents of pydantic-ai: retries, calls that are put off, delegation."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.instrumentation.pydantic_ai.scripted import (
    agent_on,
    asks,
    instrumented,
    pydantic_ai,
    scripted,
    steps,
)

__all__ = ["instrumented"]

pytest.importorskip("pydantic_ai")


def tools(spans: Any) -> list[Any]:
    return [it for it in spans.finished() if it.name.startswith("execute_tool ")]


def test_a_retry_is_an_error_of_the_tool_that_the_model_is_told(spans: Any) -> None:
    tried: list[int] = []

    def look(q: int) -> str:
        tried.append(q)
        if len(tried) == 1:
            raise pydantic_ai().ModelRetry("another number")
        return "found"

    agent = agent_on(scripted(asks("look", q=1), asks("look", "c2", q=2), "done"), look)
    assert asyncio.run(agent.run("x")).output == "done"
    first, second = tools(spans)
    assert first.attributes["error.type"] == "pydantic_ai.exceptions.ModelRetry"
    assert "another number" in first.attributes["gen_ai.tool.call.result"]
    assert "error.type" not in second.attributes
    [run] = [it for it in spans.finished() if it.name == "invoke_agent clerk"]
    assert "error.type" not in run.attributes


def test_arguments_that_do_not_fit_are_an_error_of_the_tool(spans: Any) -> None:
    def look(q: int) -> str:
        return f"found {q}"

    agent = agent_on(scripted(asks("look", q="x"), asks("look", "c2", q="2"), "done"), look)
    asyncio.run(agent.run("x"))
    first, second = tools(spans)
    assert first.attributes["gen_ai.tool.call.arguments"] == '{"q":"x"}'
    assert first.attributes["error.type"].endswith("ValidationError")
    assert second.attributes["gen_ai.tool.call.arguments"] == '{"q":2}', "as validated"


def test_a_tool_that_needs_approval_is_put_off_and_answered_by_a_later_run(spans: Any) -> None:
    package = pydantic_ai()
    done: list[str] = []

    def delete(path: str) -> str:
        done.append(path)
        return "gone"

    tool = package.Tool(delete, requires_approval=True)
    agent = agent_on(
        scripted(asks("delete", path="/x"), "deleted"),
        tool,
        output_type=[str, package.DeferredToolRequests],
    )
    first = asyncio.run(agent.run("x"))
    assert not done
    assert steps(spans) == [
        "trajectory of clerk: in_progress",
        '  tool_call {"tool_call": {"arguments": {"path": "/x"}, "name": "delete"}}',
    ]
    assert all("error.type" not in it.attributes for it in spans.finished())
    spans.forget()
    approved = package.DeferredToolResults(approvals={"c1": True})
    history = first.all_messages()
    asyncio.run(agent.run(message_history=history, deferred_tool_results=approved))
    assert steps(spans) == [
        "trajectory of clerk: success",
        '  tool_call {"tool_call": {"arguments": {"path": "/x"}, "name": "delete"}}',
        '  tool_result {"tool_result": {"output": "gone"}}',
    ]


@pytest.mark.parametrize("signal", ["CallDeferred", "ApprovalRequired"])
def test_a_tool_that_puts_itself_off_has_not_failed(spans: Any, signal: str) -> None:
    package = pydantic_ai()

    def later(q: int) -> str:
        raise getattr(package, signal)

    agent = agent_on(
        scripted(asks("later", q=1)), later, output_type=[str, package.DeferredToolRequests]
    )
    asyncio.run(agent.run("x"))
    [tool] = tools(spans)
    assert tool.attributes["agentool.interrupted"] == signal
    assert "error.type" not in tool.attributes


def test_an_exception_of_the_users_with_the_name_of_a_signal_is_an_error(spans: Any) -> None:
    class CallDeferred(Exception):
        pass

    def look(q: int) -> str:
        raise CallDeferred("really")

    with pytest.raises(CallDeferred):
        asyncio.run(agent_on(scripted(asks("look", q=1)), look).run("x"))
    [tool] = tools(spans)
    assert tool.attributes["error.type"].endswith("CallDeferred")


def test_a_tool_that_returns_more_than_its_result_has_what_the_model_is_shown(spans: Any) -> None:
    returned = pydantic_ai(".messages").ToolReturn

    def look(q: int) -> Any:
        return returned(return_value={"n": q}, metadata={"secret": "kept from the model"})

    asyncio.run(agent_on(scripted(asks("look", q=1), "done"), look).run("x"))
    [tool] = tools(spans)
    assert tool.attributes["gen_ai.tool.call.result"] == '{"n":1}'


def test_tools_of_a_toolset_are_tools(spans: Any) -> None:
    def look(q: int) -> str:
        return f"found {q}"

    toolset = pydantic_ai(".toolsets").FunctionToolset([look])
    agent = agent_on(scripted(asks("a_look", q=1), "done"), toolsets=[toolset.prefixed("a")])
    asyncio.run(agent.run("x"))
    assert [it.name for it in tools(spans)] == ["execute_tool a_look"]
