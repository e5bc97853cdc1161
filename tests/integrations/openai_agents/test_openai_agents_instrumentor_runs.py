"""Runs: an agent, a workflow, a session, and their ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentool_otel.testing.turns import ToolCall, Turn
from tests.integrations.openai_agents.conftest import DONE, SEARCH, Scene

HANDOVER = Turn(tool_calls=(ToolCall("transfer_to_writer", {}),))
PLAIN = [
    "invoke_agent researcher",
    "  chat gpt-5",
    "  execute_tool search_web",
    "  chat gpt-5",
]


@pytest.mark.parametrize("streamed", [False, True])
def test_the_responses_api_looks_like_chat_completions(scene: Scene, streamed: bool) -> None:
    scene.push(SEARCH, DONE)
    (scene.stream if streamed else scene.run)(scene.agent(responses=True))
    assert scene.names() == PLAIN
    first, last = scene.all("chat")
    assert (first["gen_ai.usage.input_tokens"], last["gen_ai.usage.output_tokens"]) == (40, 9)
    assert scene.all("execute_tool")[0]["gen_ai.tool.call.id"] in str(first)


def test_an_agent_that_is_a_tool_runs_inside_it(scene: Scene) -> None:
    inner = scene.agent(name="inner", tools=[])
    call = Turn(tool_calls=(ToolCall("ask_inner", {"input": "Sub-question"}),))
    scene.push(call, "Inner answer.", DONE)
    scene.run(scene.agent(tools=[inner.as_tool("ask_inner", "Ask it.")]))
    assert scene.names() == [
        "invoke_agent researcher",
        "  chat gpt-5",
        "  execute_tool ask_inner",
        "    invoke_agent inner",
        "      chat gpt-5",
        "  chat gpt-5",
    ]
    assert "Sub-question" in scene.all("invoke_agent")[1]["gen_ai.input.messages"]


def test_agents_that_hand_over_are_a_workflow_also_in_a_stream(scene: Scene) -> None:
    scene.push(HANDOVER, DONE)
    writer = scene.agent(name="writer", tools=[])
    scene.stream(scene.agent(tools=[], handoffs=[writer]))
    assert scene.names() == [
        "invoke_workflow Agent workflow",
        "  invoke_agent researcher",
        "    chat gpt-5",
        "    execute_tool transfer_to_writer",
        "  invoke_agent writer",
        "    chat gpt-5",
    ]
    (workflow,) = scene.all("invoke_workflow")
    assert "Done." in workflow["gen_ai.output.messages"]


def test_a_workflow_that_has_a_name_is_a_span(scene: Scene) -> None:
    scene.push(DONE)
    config = scene.sdk.RunConfig(workflow_name="Support", group_id="thread-1")
    scene.run(scene.agent(tools=[]), run_config=config)
    assert scene.names() == [
        "invoke_workflow Support",
        "  invoke_agent researcher",
        "    chat gpt-5",
    ]
    assert scene.all("chat")[0]["gen_ai.conversation.id"] == "thread-1"


def test_a_trace_of_the_user_holds_its_runs(scene: Scene) -> None:
    async def program() -> None:
        with scene.sdk.trace("Jokes", group_id="thread-1"):
            await scene.sdk.Runner.run(scene.agent(tools=[]), "One")
            await scene.sdk.Runner.run(scene.agent(tools=[]), "Two")

    scene.push(DONE, DONE)
    scene.wait(program())
    run = ["  invoke_agent researcher", "    chat gpt-5"]
    assert scene.names() == ["invoke_workflow Jokes", *run, *run]
    assert scene.all("chat")[0]["gen_ai.conversation.id"] == "thread-1"


@pytest.mark.parametrize("streamed", [False, True])
def test_a_session_is_the_conversation_and_its_memory(scene: Scene, streamed: bool) -> None:
    session = scene.sdk.SQLiteSession("thread-1")
    try:
        scene.push(DONE, DONE)
        for question in ("One", "Two"):
            (scene.stream if streamed else scene.run)(
                scene.agent(tools=[]), question, session=session
            )
    finally:
        session.close()
    agents = scene.all("invoke_agent")
    assert [agent["gen_ai.conversation.id"] for agent in agents] == ["thread-1"] * 2
    reads = scene.all("search_memory")
    assert [read["gen_ai.memory.record.count"] for read in reads] == [0, 2]
    assert [read["gen_ai.memory.store.id"] for read in reads] == ["thread-1"] * 2
    assert "One" in reads[1]["gen_ai.memory.records"]
    assert len(scene.all("create_memory")) == 4


def test_a_session_that_the_program_reads_itself_is_no_memory(scene: Scene) -> None:
    session = scene.sdk.SQLiteSession("thread-1")
    try:
        scene.wait(session.get_items())
    finally:
        session.close()
    assert scene.names() == []


@pytest.mark.parametrize("streamed", [False, True])
def test_the_limit_of_turns_ends_the_run(scene: Scene, streamed: bool) -> None:
    scene.push(SEARCH, SEARCH)
    with pytest.raises(scene.sdk.MaxTurnsExceeded):
        (scene.stream if streamed else scene.run)(scene.agent(), max_turns=1)
    (agent,) = scene.all("invoke_agent")
    assert agent["error.type"] == "agents.exceptions.MaxTurnsExceeded"
    assert agent["agentool.status"] == "error"
    assert "error.type" not in scene.all("chat")[0]


def test_a_limit_that_the_program_handles_is_no_error(scene: Scene) -> None:
    scene.push(SEARCH, SEARCH)
    handlers = {"max_turns": lambda data: "Handled."}
    scene.run(scene.agent(), max_turns=1, error_handlers=handlers)
    (agent,) = scene.all("invoke_agent")
    assert agent["agentool.status"] == "success"
    assert "Handled." in agent["gen_ai.output.messages"]


def test_a_stream_that_its_reader_cancels_has_not_failed(scene: Scene) -> None:
    async def program() -> None:
        result = scene.sdk.Runner.run_streamed(scene.agent(), "Question")
        async for event in result.stream_events():
            if event.type == "raw_response_event" and event.data.type.endswith("text.delta"):
                result.cancel()

    scene.push(SEARCH, Turn(text="A long answer. " * 50))
    scene.wait(program())
    (agent,) = scene.all("invoke_agent")
    assert agent["agentool.interrupted"] == "closed"
    assert "error.type" not in agent


def test_a_stream_whose_task_is_cancelled_has(scene: Scene) -> None:
    async def program() -> None:
        result = scene.sdk.Runner.run_streamed(scene.agent(), "Question")
        if not hasattr(result, "run_loop_task"):
            pytest.skip("this version of the SDK keeps the task of a stream to itself")
        await asyncio.sleep(0.2)
        result.run_loop_task.cancel()
        await asyncio.wait([result.run_loop_task])

    scene.push(Turn(delay_s=60.0))
    scene.wait(program())
    (agent,) = scene.all("invoke_agent")
    assert agent["error.type"] == "asyncio.exceptions.CancelledError"


def test_an_error_of_the_model_ends_a_stream(scene: Scene) -> None:
    scene.push(Turn(status=400, error="no"))
    with pytest.raises(Exception, match="no"):
        scene.stream(scene.agent())
    (agent,) = scene.all("invoke_agent")
    assert agent["error.type"] == "openai.BadRequestError"


@pytest.mark.parametrize("tripped", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_guardrail_judges_its_agent(scene: Scene, streamed: bool, tripped: bool) -> None:
    @scene.sdk.input_guardrail  # type: ignore[untyped-decorator]
    async def polite(context: Any, agent: Any, prompt: Any) -> Any:
        return scene.sdk.GuardrailFunctionOutput(output_info=None, tripwire_triggered=tripped)

    scene.push(DONE)
    error: BaseException | None = None
    try:
        agent = scene.agent(tools=[], input_guardrails=[polite])
        (scene.stream if streamed else scene.run)(agent)
    except scene.sdk.InputGuardrailTripwireTriggered as raised:
        error = raised
    assert (error is not None) is tripped
    spans = scene.stage.recorded.spans()
    (judged,) = (span for span in spans if span.name == "evaluate polite")
    (run,) = (span for span in spans if span.name == "invoke_agent researcher")
    assert judged.parent_id == run.span_id
    assert judged.attributes["gen_ai.evaluation.score.value"] == (0.0 if tripped else 1.0)
    assert judged.attributes["gen_ai.evaluation.score.label"] == (
        "tripped" if tripped else "passed"
    )
    failure = "agents.exceptions.InputGuardrailTripwireTriggered" if tripped else None
    assert run.attributes.get("error.type") == failure
