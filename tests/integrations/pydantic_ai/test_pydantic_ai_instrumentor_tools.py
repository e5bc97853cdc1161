"""Tools of agents of pydantic-ai: retries, calls that are put off, delegation."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.model.documents import ReasoningTrace
from tests.integrations.pydantic_ai.scripted import (
    agent_on,
    asks,
    instrumented,
    pydantic_ai,
    scripted,
    steps,
)
from tests.records import records

__all__ = ["instrumented"]

pytest.importorskip("pydantic_ai")


def tools(spans: Any) -> list[Any]:
    return [item for item in spans.finished() if item.name.startswith("execute_tool ")]


def test_a_retry_is_a_tool_error_with_the_models_message(spans: Any) -> None:
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
    [run] = [item for item in spans.finished() if item.name == "invoke_agent clerk"]
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


def test_a_tool_that_does_not_exist_is_an_error(spans: Any) -> None:
    def look(q: int) -> str:
        return "found"

    agent = agent_on(scripted(asks("nothing", q=1), "done"), look)
    asyncio.run(agent.run("x"))
    [result] = rebuild(records(spans.finished()))
    _, answer = result.trace.to_dict()["steps"]
    assert "Unknown tool name" in answer["tool_result"]["error"]


def test_a_tool_that_needs_approval_is_deferred(spans: Any) -> None:
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
    assert all("error.type" not in item.attributes for item in spans.finished())
    spans.forget()
    approved = package.DeferredToolResults(approvals={"c1": True})
    history = first.all_messages()
    asyncio.run(agent.run(message_history=history, deferred_tool_results=approved))
    assert steps(spans) == [
        "trajectory of clerk: success",
        '  tool_call {"tool_call": {"arguments": {"path": "/x"}, "name": "delete"}}',
        '  tool_result {"tool_result": {"output": "gone"}}',
    ]


def _runs(spans: Any) -> list[ReasoningTrace]:
    return [item.trace for item in rebuild(records(spans.finished()))]


def test_deferred_calls_are_output_then_input(
    spans: Any,
) -> None:
    package = pydantic_ai()
    agent = agent_on(
        scripted(asks("delete", path="/x"), *["deleted"] * 3),
        package.Tool(lambda path: "gone", name="delete", requires_approval=True),
        output_type=[str, package.DeferredToolRequests],
    )
    history = asyncio.run(agent.run("x")).all_messages()
    decisions: list[tuple[Any, dict[str, Any]]] = [
        (True, {"approved": True}),
        (package.ToolDenied("No."), {"approved": False, "message": "No."}),
        (
            package.ToolApproved(override_args={"path": "/y"}),
            {"approved": True, "arguments": {"path": "/y"}},
        ),
    ]
    for decision, text in decisions:
        results = package.DeferredToolResults(approvals={"c1": decision})
        asyncio.run(agent.run(message_history=history, deferred_tool_results=results))
        request, answered = _runs(spans)[0], _runs(spans)[-1]
        assert request.output == {"id": "c1", "name": "delete", "arguments": {"path": "/x"}}
        assert request.metadata == {"interrupted": "DeferredToolRequests"}
        assert answered.input == {"id": "c1", **text}


def test_without_content_deferred_calls_are_not_recorded(spans: Any) -> None:
    spans.without_content()
    package = pydantic_ai()
    agent = agent_on(
        scripted(asks("delete", path="/x"), "deleted"),
        package.Tool(lambda path: "gone", name="delete", requires_approval=True),
        output_type=[str, package.DeferredToolRequests],
    )
    history = asyncio.run(agent.run("x")).all_messages()
    results = package.DeferredToolResults(approvals={"c1": package.ToolDenied("No.")})
    asyncio.run(agent.run(message_history=history, deferred_tool_results=results))
    assert _runs(spans)[0].to_dict()["metadata"]["interrupted"] == "DeferredToolRequests"
    written = "".join(span.to_json() for span in spans.finished())
    assert "/x" not in written
    assert "No." not in written


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


def test_the_model_facing_part_of_a_tool_return_is_recorded(spans: Any) -> None:
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
    assert [tool.name for tool in tools(spans)] == ["execute_tool a_look"]
