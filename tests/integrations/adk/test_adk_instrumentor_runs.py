"""Runs: agents, handoffs, workflow agents, sessions, and the ways in which they end."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.turns import ToolCall, Turn
from tests.integrations.adk.conftest import (
    DONE,
    SEARCH,
    Scene,
    agents,
    content,
    run_config,
    search_web,
    types,
    wait,
)

PLAIN = [
    "invoke_agent researcher",
    "  generate_content gemini-2.5-flash",
    "  execute_tool search_web",
    "  generate_content gemini-2.5-flash",
]


def handover(to: str) -> Turn:
    return Turn(tool_calls=(ToolCall("transfer_to_agent", {"agent_name": to}),))


async def streamed(scene: Scene, agent: Any) -> Any:
    """Return the events of a run that a test reads by itself."""
    runner = scene.runner(agent)
    await runner.session_service.create_session(
        app_name="search", user_id="alice", session_id="thread-1"
    )
    return runner.run_async(user_id="alice", session_id="thread-1", new_message=content("What?"))


def test_a_run_has_its_agent_input_output_session_and_user(scene: Scene) -> None:
    scene.push(SEARCH, DONE)
    scene.run(scene.agent(search_web), "What is OTel?")
    assert scene.names() == PLAIN
    (run,) = scene.all("invoke_agent")
    assert run["gen_ai.agent.name"] == "researcher"
    assert run["gen_ai.agent.description"] == "Searches."
    assert run["gen_ai.request.model"] == "gemini-2.5-flash"
    assert "What is OTel?" in run["gen_ai.input.messages"]
    assert "Done." in run["gen_ai.output.messages"]
    assert run["agentool.status"] == "success"
    for row in scene.rows():
        assert (row["gen_ai.conversation.id"], row["user.id"]) == ("thread-1", "alice")


def test_a_synchronous_run_is_part_of_the_trace_around_it(scene: Scene) -> None:
    scene.push(SEARCH, DONE)
    runner = scene.runner(scene.agent(search_web))
    create = runner.session_service.create_session
    wait(create(app_name="search", user_id="alice", session_id="t"))
    tracer = scene.stage._provider.get_tracer("program")
    with tracer.start_as_current_span("program"):
        list(runner.run(user_id="alice", session_id="t", new_message=content("What?")))
    assert scene.names() == ["program", *(f"  {name}" for name in PLAIN)]


def test_an_agent_that_hands_over_and_the_one_that_goes_on_are_side_by_side(scene: Scene) -> None:
    scene.push(handover("writer"), handover("researcher"), DONE)
    scene.run(scene.agent(sub_agents=[scene.agent(name="writer")]))
    assert scene.names() == [
        "invoke_workflow researcher",
        "  invoke_agent researcher",
        "    generate_content gemini-2.5-flash",
        "    execute_tool transfer_to_agent",
        "  invoke_agent writer",
        "    generate_content gemini-2.5-flash",
        "    execute_tool transfer_to_agent",
        "  invoke_agent researcher",
        "    generate_content gemini-2.5-flash",
    ]
    first, second, third = scene.all("invoke_agent")
    assert "What?" in first["gen_ai.input.messages"]
    assert "gen_ai.input.messages" not in second
    assert "Done." in third["gen_ai.output.messages"]
    assert {row["agentool.status"] for row in (first, second, third)} == {"success"}
    targets = [row["agentool.transfer.target"] for row in scene.all("execute_tool")]
    assert targets == ["writer", "researcher"]


def test_a_conversation_goes_on_with_the_agent_that_has_it(scene: Scene) -> None:
    scene.push(handover("writer"), DONE, "Again.")
    runner = scene.runner(scene.agent(sub_agents=[scene.agent(name="writer")]))
    wait(scene.converse(runner, "What?", "And?"))
    last = scene.all("invoke_agent")[-1]
    assert last["gen_ai.agent.name"] == "writer"
    assert "And?" in last["gen_ai.input.messages"]
    assert "Again." in scene.all("invoke_workflow")[-1]["gen_ai.output.messages"]


def test_a_tool_of_the_programs_may_hand_over(scene: Scene) -> None:
    def escalate(tool_context: Any) -> str:
        """Hand over."""
        tool_context.actions.transfer_to_agent = "writer"
        return "gone"

    module = import_module("google.adk.tools.tool_context")
    escalate.__annotations__["tool_context"] = module.ToolContext
    scene.push(Turn(tool_calls=(ToolCall("escalate", {}),)), DONE)
    scene.run(scene.agent(escalate, sub_agents=[scene.agent(name="writer")]))
    (tool,) = scene.all("execute_tool")
    assert tool["agentool.transfer.target"] == "writer"
    assert [row["gen_ai.agent.name"] for row in scene.all("invoke_agent")] == [
        "researcher",
        "writer",
    ]


def test_an_agent_as_a_tool_is_inside_it_and_in_the_same_session(scene: Scene) -> None:
    tool = import_module("google.adk.tools.agent_tool").AgentTool(scene.agent(name="inner"))
    scene.push(Turn(tool_calls=(ToolCall("inner", {"request": "Why?"}),)), "Inner.", DONE)
    scene.run(scene.agent(tool))
    assert scene.names() == [
        "invoke_agent researcher",
        "  generate_content gemini-2.5-flash",
        "  execute_tool inner",
        "    invoke_agent inner",
        "      generate_content gemini-2.5-flash",
        "  generate_content gemini-2.5-flash",
    ]
    inner = scene.all("invoke_agent")[1]
    assert "Why?" in inner["gen_ai.input.messages"]
    assert "Inner." in inner["gen_ai.output.messages"]
    assert inner["gen_ai.conversation.id"] == "thread-1"


@pytest.mark.parametrize("mode", ["single_turn", "task"])
def test_a_sub_agent_that_is_called_answers_the_agent_that_calls_it(
    scene: Scene, mode: str
) -> None:
    if "mode" not in agents().LlmAgent.model_fields:
        pytest.skip("sub-agents have no mode in ADK 1")
    call = Turn(tool_calls=(ToolCall("inner", {"request": "Why?"}),))
    finish = Turn(tool_calls=(ToolCall("finish_task", {"result": "Inner."}),))
    scene.push(call, finish if mode == "task" else "Inner.", DONE)
    scene.run(scene.agent(sub_agents=[scene.agent(name="inner", mode=mode)]))
    inner = next(row for row in scene.all("invoke_agent") if row["gen_ai.agent.name"] == "inner")
    assert "Why?" in inner["gen_ai.input.messages"]
    assert {row["agentool.status"] for row in scene.all("invoke_agent")} == {"success"}
    assert ("    execute_tool inner" in scene.names()) is (mode == "single_turn")


def test_workflow_agents_are_workflows(scene: Scene) -> None:
    kit = agents()
    both = kit.ParallelAgent(
        name="both", sub_agents=[scene.agent(name="one"), scene.agent(name="other")]
    )
    again = kit.LoopAgent(name="again", max_iterations=2, sub_agents=[scene.agent(name="last")])
    scene.push("First.", "First.", "Second.", "Third.")
    scene.run(kit.SequentialAgent(name="whole", sub_agents=[both, again]))
    agent = "  generate_content gemini-2.5-flash"
    assert scene.names() == [
        "invoke_workflow whole",
        "  invoke_workflow both",
        *("    invoke_agent one", f"    {agent}", "    invoke_agent other", f"    {agent}"),
        "  invoke_workflow again",
        *("    invoke_agent last", f"    {agent}", "    invoke_agent last", f"    {agent}"),
    ]
    whole, both_row, again_row = scene.all("invoke_workflow")
    assert "What?" in whole["gen_ai.input.messages"]
    assert "Third." in whole["gen_ai.output.messages"]
    assert "First." in both_row["gen_ai.output.messages"]
    assert "Third." in again_row["gen_ai.output.messages"]
    asked = [row["gen_ai.agent.name"] for row in scene.all("invoke_agent") if _has_input(row)]
    assert asked == ["one", "other"]


def _has_input(row: dict[str, Any]) -> bool:
    return "gen_ai.input.messages" in row


def test_a_graph_is_a_workflow_with_the_output_of_its_last_node(scene: Scene) -> None:
    graphs = pytest.importorskip("google.adk.workflow")

    def shout(node_input: str) -> str:
        return node_input.upper()

    agent = scene.agent(name="one")
    graph = graphs.Workflow(name="graph", edges=[("START", agent), (agent, shout)])
    scene.push("First.")
    runner = import_module("google.adk.runners").InMemoryRunner(node=graph, app_name="search")
    wait(scene.converse(runner, "What?"))
    (run,) = scene.all("invoke_workflow")
    assert "FIRST." in run["gen_ai.output.messages"]
    assert len(scene.all("invoke_agent")) == 1


def test_an_agent_without_a_runner_is_a_run(scene: Scene) -> None:
    async def program() -> None:
        runner = scene.runner(scene.agent())
        session = await runner.session_service.create_session(
            app_name="search", user_id="alice", session_id="thread-1"
        )
        invocation = runner._new_invocation_context(
            session, new_message=content("What?"), run_config=run_config()
        )
        async for _ in runner.agent.run_async(invocation):
            pass

    scene.push(DONE)
    wait(program())
    (run,) = scene.all("invoke_agent")
    assert run["gen_ai.conversation.id"] == "thread-1"
    assert "What?" in run["gen_ai.input.messages"]


# -------------------------------------------------------------------------------- guards and limits


def test_a_limit_of_model_calls_is_an_error(scene: Scene) -> None:
    scene.push(SEARCH, SEARCH)
    with pytest.raises(Exception, match="limit of"):
        scene.run(scene.agent(search_web), run_config=run_config(max_llm_calls=2))
    (run,) = scene.all("invoke_agent")
    assert run["error.type"].endswith("LlmCallsLimitExceededError")
    assert run["agentool.status"] == "error"
    assert len(scene.all("generate_content")) == 2


@pytest.mark.parametrize("hook", ["before_model_callback", "before_agent_callback"])
def test_a_callback_that_answers_is_an_answer_without_a_model_call(scene: Scene, hook: str) -> None:
    refusal = types().Content(role="model", parts=[types().Part(text="No.")])
    response = import_module("google.adk.models.llm_response").LlmResponse(content=refusal)

    def refuse(**_: Any) -> Any:
        return refusal if hook == "before_agent_callback" else response

    hooks: dict[str, Any] = {hook: refuse}
    scene.run(scene.agent(**hooks))
    assert scene.names() == ["invoke_agent researcher"]
    (run,) = scene.all("invoke_agent")
    assert "No." in run["gen_ai.output.messages"]
    assert run["agentool.status"] == "success"


def test_an_answer_that_the_server_blocks_is_an_error_of_the_run(scene: Scene) -> None:
    scene.push(Turn(text="", stop="content_filter"))
    scene.run(scene.agent())
    (run,) = scene.all("invoke_agent")
    assert run["error.type"] == "SAFETY"
    assert run["agentool.status"] == "error"


def test_a_session_that_does_not_exist_is_an_error_of_the_run(scene: Scene) -> None:
    async def program() -> None:
        runner = scene.runner(scene.agent())
        events = runner.run_async(user_id="bob", session_id="no", new_message=content("What?"))
        async for _ in events:
            pass

    with pytest.raises(ValueError, match="Session not found"):
        wait(program())
    (run,) = scene.all("invoke_agent")
    assert run["agentool.status"] == "error"
    assert "What?" in run["gen_ai.input.messages"]


# ------------------------------------------------------------------------------------ early endings


@pytest.mark.parametrize("closes", [True, False])
def test_events_that_are_left_early_end_the_run(scene: Scene, closes: bool) -> None:
    async def program() -> None:
        events = await streamed(scene, scene.agent(search_web))
        async for _ in events:
            break
        if closes:
            await events.aclose()

    scene.push(SEARCH, DONE)
    wait(program())
    (run,) = scene.all("invoke_agent")
    assert run["agentool.interrupted"] == "closed"
    assert run["agentool.status"] == "in_progress"


@pytest.mark.parametrize("closes", [True, False])
def test_a_run_that_is_left_after_its_answer_is_a_success(scene: Scene, closes: bool) -> None:
    async def program() -> None:
        events = await streamed(scene, scene.agent(search_web))
        async for event in events:
            if event.is_final_response():
                break
        if closes:
            await events.aclose()

    scene.push(SEARCH, DONE)
    wait(program())
    (run,) = scene.all("invoke_agent")
    assert "agentool.interrupted" not in run
    assert run["agentool.status"] == "success"
    assert "Done." in run["gen_ai.output.messages"]


def test_agents_of_a_run_that_is_left_early_end_with_it(scene: Scene) -> None:
    async def program() -> None:
        agent = scene.agent(search_web, sub_agents=[scene.agent(name="writer")])
        async with aclosing(await streamed(scene, agent)) as events:
            async for _ in events:
                break

    scene.push(SEARCH, DONE)
    wait(program())
    rows = (*scene.all("invoke_workflow"), *scene.all("invoke_agent"))
    assert [row["agentool.interrupted"] for row in rows] == ["closed", "closed"]


def test_events_that_nobody_reads_are_no_run(scene: Scene) -> None:
    async def program() -> None:
        await streamed(scene, scene.agent())

    wait(program())
    assert scene.rows() == []


def test_a_cancelled_run_ends_with_its_tool(scene: Scene) -> None:
    started = asyncio.Event()

    async def search_web(query: str) -> str:
        """Search the web."""
        started.set()
        await asyncio.sleep(60)
        return ""

    async def program() -> None:
        work = scene.converse(scene.runner(scene.agent(search_web)), "What?")
        task = asyncio.ensure_future(work)
        await started.wait()
        task.cancel()
        await task

    scene.push(SEARCH, DONE)
    with pytest.raises(asyncio.CancelledError):
        wait(program())
    rows = (*scene.all("invoke_agent"), *scene.all("execute_tool"))
    assert [row["error.type"] for row in rows] == ["asyncio.exceptions.CancelledError"] * 2


def test_a_run_that_the_program_aborts_is_not_over(scene: Scene) -> None:
    signal = asyncio.Event()

    def search_web(query: str) -> str:
        """Search the web."""
        signal.set()
        return "found"

    runner = scene.runner(scene.agent(search_web))
    if "abort_signal" not in str(import_module("inspect").signature(runner.run_async)):
        pytest.skip("runs cannot be aborted before ADK 2")
    scene.push(SEARCH, DONE)
    wait(scene.converse(runner, "What?", abort_signal=signal))
    (run,) = scene.all("invoke_agent")
    assert run["agentool.interrupted"] == "aborted"


# ------------------------------------------------------------------------------------- many at once


def test_runs_at_the_same_time_have_only_their_own_steps(scene: Scene) -> None:
    def turn(request: Any) -> Turn:
        said = str(request.body["contents"])
        name = said.partition("run-")[2][:2]
        if "functionResponse" in said:
            return Turn(text=f"done run-{name}")
        return Turn(tool_calls=(ToolCall("search_web", {"query": f"run-{name}"}),))

    scene.rules.append(turn)

    async def program() -> None:
        runner = scene.runner(scene.agent(search_web))
        await asyncio.gather(
            *(scene.converse(runner, f"run-{n:02}", session_id=f"thread-{n:02}") for n in range(40))
        )

    wait(program())
    traces: dict[str, list[Any]] = {}
    for span in scene.stage.recorded.spans():
        traces.setdefault(span.trace_id, []).append(span)
    assert len(traces) == 40
    for spans in traces.values():
        (session,) = {span.attributes["gen_ai.conversation.id"] for span in spans}
        assert len(spans) == 4
        for span in spans:
            told = "".join(str(value) for value in span.attributes.values())
            assert f"run-{session[-2:]}" in told
            assert told.count("run-") == told.count(f"run-{session[-2:]}")


# ------------------------------------------------------------------------------- switched off again


def test_without_content_there_is_none(scene: Scene) -> None:
    scene.stage.set(content=False)
    scene.push(SEARCH, handover("writer"), DONE)
    scene.run(scene.agent(search_web, sub_agents=[scene.agent(name="writer")]))
    told = repr(scene.rows())
    for words in ("What?", "Done.", "found OTel"):
        assert words not in told


def test_a_run_is_not_recorded_when_switched_off(scene: Scene) -> None:
    scene.stage.set(attached=False)
    scene.push(SEARCH, DONE)
    events = scene.run(scene.agent(search_web))
    assert events[-1].content.parts[0].text == "Done."
    assert not any(name.startswith("invoke_agent researcher ") for name in scene.names())
    ours = [item for item in scene.stage.recorded.spans() if "agentool" in item.scope]
    assert ours == []


def test_nothing_stays_current_after_a_run_that_fails(scene: Scene) -> None:
    from opentelemetry.context import get_current

    def search_web(query: str) -> str:
        """Search the web."""
        raise OSError("no network")

    async def program() -> None:
        before = get_current()
        with pytest.raises(OSError, match="no network"):
            await scene.converse(scene.runner(scene.agent(search_web)), "What?")
        assert get_current() == before

    scene.push(SEARCH)
    wait(program())
