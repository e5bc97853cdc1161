"""Tools and handoffs: failures, approval, arguments."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.ground.json_codec import loads
from agentool_otel.testing.turns import ToolCall, Turn
from tests.integrations.openai_agents.conftest import DONE, SEARCH, Scene


def test_a_tool_that_raises_through_the_run_has_failed_with_its_own_error(scene: Scene) -> None:
    scene.push(SEARCH)
    tool = scene.tool(KeyError("lost"), failure_error_function=None)
    with pytest.raises(scene.sdk.UserError):
        scene.run(scene.agent(tools=[tool]))
    (call,) = scene.all("execute_tool")
    assert call["error.type"] == "KeyError"
    assert scene.all("invoke_agent")[0]["error.type"] == "agents.exceptions.UserError"


@pytest.mark.parametrize("disabled", [False, True])
def test_a_failure_reported_to_the_model_is_the_tools_only(scene: Scene, disabled: bool) -> None:
    scene.push(SEARCH, DONE)
    config = scene.sdk.RunConfig(tracing_disabled=disabled)
    scene.run(scene.agent(tools=[scene.tool(KeyError("lost"))]), run_config=config)
    (call,) = scene.all("execute_tool")
    assert call["error.type"] == "KeyError"
    assert "lost" in call["agentool.tool.error"]
    assert "rror occurred" in call["gen_ai.tool.call.result"]
    assert scene.all("invoke_agent")[0]["agentool.status"] == "success"


@pytest.mark.parametrize("streamed", [False, True])
def test_call_awaiting_approval_has_a_span_when_resumed(scene: Scene, streamed: bool) -> None:
    agent = scene.agent(tools=[scene.tool(needs_approval=True)])
    scene.push(SEARCH, DONE)
    waiting = (scene.stream if streamed else scene.run)(agent)
    state = waiting.to_state()
    state.approve(waiting.interruptions[0])
    assert scene.run(agent, state).final_output == "Done."
    first, second = scene.all("invoke_agent")
    assert (first["agentool.status"], first["agentool.interrupted"]) == ("in_progress", "approval")
    assert second["agentool.status"] == "success"
    request, result = scene.all("execute_tool")
    assert request["gen_ai.tool.call.id"] == result["gen_ai.tool.call.id"]
    assert request["agentool.interrupted"] == "approval"
    assert "gen_ai.tool.call.result" not in request
    assert "error.type" not in request
    assert "found OTel" in result["gen_ai.tool.call.result"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("approved", [False, True])
def test_pending_approvals_are_output_and_decisions_the_next_input(
    scene: Scene, streamed: bool, approved: bool
) -> None:
    agent = scene.agent(tools=[scene.tool(needs_approval=True)])
    scene.push(SEARCH, DONE)
    run = scene.stream if streamed else scene.run
    waiting = run(agent)
    state = waiting.to_state()
    (state.approve if approved else state.reject)(waiting.interruptions[0])
    run(agent, state)
    first, second = scene.all("invoke_agent")
    request, answered = loads(first["agentool.output"]), loads(second["agentool.input"])
    assert (request["name"], request["arguments"]) == ("search_web", {"query": "OTel"})
    assert answered == {"id": request["id"], "name": "search_web", "approved": approved}


def test_a_call_that_is_rejected_does_not_fail_the_run(scene: Scene) -> None:
    agent = scene.agent(tools=[scene.tool(needs_approval=True)])
    scene.push(SEARCH, DONE)
    waiting = scene.run(agent)
    state = waiting.to_state()
    state.reject(waiting.interruptions[0])
    scene.run(agent, state)
    assert [item["agentool.status"] for item in scene.all("invoke_agent")] == [
        "in_progress",
        "success",
    ]
    (_, *results) = scene.all("execute_tool")
    assert all(item["error.type"] == "rejected" for item in results)


def _reasons() -> Any:
    from pydantic import BaseModel

    return type("Reason", (BaseModel,), {"__annotations__": {"why": str}})


def test_a_handoff_has_its_arguments(scene: Scene) -> None:
    writer = scene.agent(name="writer", tools=[])
    lead = scene.sdk.handoff(writer, input_type=_reasons(), on_handoff=lambda context, why: None)
    scene.push(Turn(tool_calls=(ToolCall("transfer_to_writer", {"why": "style"}),)), DONE)
    scene.run(scene.agent(tools=[], handoffs=[lead]))
    (call,) = scene.all("execute_tool")
    assert call["gen_ai.tool.call.arguments"] == '{"why":"style"}'
    assert call["agentool.transfer.target"] == "writer"
    assert call["gen_ai.tool.call.id"] in str(scene.all("chat")[0])


def test_a_handoff_that_cannot_be_made_is_a_call_that_failed(scene: Scene) -> None:
    writer = scene.agent(name="writer", tools=[])
    lead = scene.sdk.handoff(writer, input_type=_reasons(), on_handoff=lambda context, why: None)
    scene.push(Turn(tool_calls=(ToolCall("transfer_to_writer", {"wrong": 1}),)))
    with pytest.raises(scene.sdk.ModelBehaviorError):
        scene.run(scene.agent(tools=[], handoffs=[lead]))
    (call,) = scene.all("execute_tool")
    assert call["gen_ai.tool.name"] == "transfer_to_writer"
    assert call["error.type"] == "agents.exceptions.ModelBehaviorError"
    assert "agentool.transfer.target" not in call
