"""Runs: agents, workflows, conversations, and their ends."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.turns import ToolCall, Turn
from tests.integrations.llama_index.conftest import (
    DONE,
    SEARCH,
    Scene,
    agents,
    search_web,
    wait,
    workflow,
    workflows,
)

PLAIN = [
    "invoke_agent researcher",
    "  chat gpt-5",
    "  execute_tool search_web",
    "  chat gpt-5",
]


def handover(to: str) -> Turn:
    return Turn(tool_calls=(ToolCall("handoff", {"to_agent": to, "reason": "It writes."}),))


def team(scene: Scene, **options: Any) -> Any:
    writer = scene.agent(name="writer", description="Writes.")
    first = scene.agent(search_web, **options)
    return agents().AgentWorkflow(agents=[first, writer], root_agent="researcher")


@pytest.mark.parametrize("streaming", [False, True])
def test_an_agent_has_a_name_an_input_and_an_output(scene: Scene, streaming: bool) -> None:
    scene.push(SEARCH, DONE)
    scene.run(scene.agent(search_web, streaming=streaming), "What is OTel?")
    assert scene.names() == PLAIN
    (run,) = scene.all("invoke_agent")
    assert run["gen_ai.agent.description"] == "Searches."
    assert "What is OTel?" in run["gen_ai.input.messages"]
    assert "Done." in run["gen_ai.output.messages"]
    assert run["agentool.status"] == "success"


def test_a_react_agent_is_recorded_with_the_words_of_its_model(scene: Scene) -> None:
    call = 'Thought: I look.\nAction: search_web\nAction Input: {"query": "OTel"}'
    scene.push(call, "Thought: I know.\nAnswer: Done.")
    scene.run(scene.agent(search_web, kind="ReActAgent"), "What is OTel?")
    assert scene.names() == PLAIN
    (run,) = scene.all("invoke_agent")
    assert "Thought" not in run["gen_ai.output.messages"]
    assert "found OTel" in scene.all("execute_tool")[0]["gen_ai.tool.call.result"]


def test_a_workflow_of_one_agent_is_that_agent(scene: Scene) -> None:
    scene.push(SEARCH, DONE)
    scene.run(agents().AgentWorkflow(agents=[scene.agent(search_web)]), "What is OTel?")
    assert scene.names() == PLAIN


def test_agents_that_hand_over_are_a_workflow(scene: Scene) -> None:
    scene.push(SEARCH, handover("writer"), DONE)
    scene.run(team(scene, can_handoff_to=["writer"]), "What is OTel?")
    assert scene.names() == [
        "invoke_workflow AgentWorkflow",
        "  invoke_agent researcher",
        "    chat gpt-5",
        "    execute_tool search_web",
        "    chat gpt-5",
        "    execute_tool handoff",
        "  invoke_agent writer",
        "    chat gpt-5",
    ]
    whole, first, second = (*scene.all("invoke_workflow"), *scene.all("invoke_agent"))
    assert "Done." in whole["gen_ai.output.messages"]
    assert "What is OTel?" in first["gen_ai.input.messages"]
    assert "Done." in second["gen_ai.output.messages"]
    handoff = scene.all("execute_tool")[1]
    assert handoff["agentool.transfer.target"] == "writer"


def test_a_handoff_that_is_refused_is_a_tool_call(scene: Scene) -> None:
    scene.push(handover("nobody"), DONE)
    scene.run(team(scene), "What is OTel?")
    (call,) = scene.all("execute_tool")
    assert "agentool.transfer.target" not in call
    assert "nobody" in call["gen_ai.tool.call.result"]
    assert len(scene.all("invoke_agent")) == 1


def test_an_agent_that_a_tool_runs_is_inside_it(scene: Scene) -> None:
    inner = scene.agent(name="inner")

    async def ask(question: str) -> str:
        """Ask."""
        return str(await inner.run(question))

    scene.push(Turn(tool_calls=(ToolCall("ask", {"question": "Why?"}),)), "Inner.", DONE)
    scene.run(scene.agent(ask), "What?")
    assert scene.names() == [
        "invoke_agent researcher",
        "  chat gpt-5",
        "  execute_tool ask",
        "    invoke_agent inner",
        "      chat gpt-5",
        "  chat gpt-5",
    ]


def test_any_other_workflow_has_its_input_and_output(scene: Scene) -> None:
    flows = workflows()

    async def answer(self: Any, ev: Any) -> Any:
        return flows.StopEvent(result={"topic": ev.topic})

    flow = workflow(answer=(answer, flows.StartEvent, flows.StopEvent))
    scene.run(flow(), topic="OTel")
    (run,) = scene.all("invoke_workflow")
    assert run["gen_ai.workflow.name"] == "Flow"
    assert "topic" in run["gen_ai.input.messages"]
    assert "OTel" in run["gen_ai.output.messages"]


@pytest.mark.parametrize("kind", ["Memory", "ChatMemoryBuffer"])
def test_the_conversation_is_that_of_the_memory(scene: Scene, kind: str) -> None:
    memory = import_module("llama_index.core.memory")
    key = "session_id" if kind == "Memory" else "chat_store_key"
    scene.push(DONE)
    chosen = getattr(memory, kind).from_defaults(**{key: "thread-1", "token_limit": 3000})
    scene.run(scene.agent(), "One", memory=chosen)
    assert {row["gen_ai.conversation.id"] for row in scene.rows()} == {"thread-1"}


def test_a_memory_without_a_key_of_its_own_is_no_conversation(scene: Scene) -> None:
    memory = import_module("llama_index.core.memory").ChatMemoryBuffer
    scene.push(DONE)
    scene.run(scene.agent(), "One", memory=memory.from_defaults(token_limit=3000))
    assert all("gen_ai.conversation.id" not in row for row in scene.rows())


def test_a_context_goes_on_with_the_conversation_of_its_memory(scene: Scene) -> None:
    memory = import_module("llama_index.core.memory").Memory

    async def program() -> None:
        agent = scene.agent()
        context = workflows().Context(agent)
        await agent.run("One", ctx=context, memory=memory.from_defaults(session_id="thread-1"))
        await agent.run("Two", ctx=context)

    scene.push(DONE, DONE)
    wait(program())
    runs = scene.all("invoke_agent")
    assert [run["gen_ai.conversation.id"] for run in runs] == ["thread-1"] * 2


def test_the_limit_of_iterations_is_an_error(scene: Scene) -> None:
    scene.push(SEARCH)
    with pytest.raises(Exception, match="Max iterations"):
        scene.run(scene.agent(search_web), "What?", max_iterations=1)
    (run,) = scene.all("invoke_agent")
    assert run["agentool.status"] == "error"
    assert run["error.type"].endswith("WorkflowRuntimeError")


def test_an_answer_at_the_limit_belongs_to_its_agent(scene: Scene) -> None:
    agent = scene.agent(search_web)
    if "early_stopping_method" not in type(agent).model_fields:
        pytest.skip("this version has no other end than an error")
    agent = scene.agent(search_web, early_stopping_method="generate")
    scene.push(SEARCH, DONE)
    scene.run(agent, "What?", max_iterations=1)
    assert scene.names() == ["invoke_agent researcher", "  chat gpt-5", "  chat gpt-5"]


def _slow(started: asyncio.Event) -> Any:
    async def search_web(query: str) -> str:
        """Search the web."""
        started.set()
        await asyncio.sleep(60)
        return query

    return search_web


def test_a_run_that_the_program_cancels_is_interrupted(scene: Scene) -> None:
    async def program() -> None:
        started = asyncio.Event()
        handler = scene.agent(_slow(started)).run("What?")
        await started.wait()
        await handler.cancel_run()
        with pytest.raises(BaseException, match=r"") as raised:
            await handler
        assert type(raised.value).__name__ == "WorkflowCancelledByUser"

    scene.push(SEARCH)
    wait(program())
    (run,), (tool,) = scene.all("invoke_agent"), scene.all("execute_tool")
    assert run["agentool.interrupted"] == "cancelled"
    assert tool["error.type"].endswith("CancelledError")


def test_a_run_that_takes_too_long_is_an_error(scene: Scene) -> None:
    scene.push(SEARCH)
    with pytest.raises(Exception, match="timed out"):
        scene.run(scene.agent(_slow(asyncio.Event()), timeout=0.5), "What?")
    (run,) = scene.all("invoke_agent")
    assert run["error.type"].endswith("WorkflowTimeoutError")


def test_a_run_is_whole_though_its_events_are_left_early(scene: Scene) -> None:
    async def program() -> Any:
        handler = scene.agent(search_web, streaming=True).run("What?")
        async for _ in handler.stream_events():
            break
        return await handler

    scene.push(SEARCH, DONE)
    assert str(wait(program())) == "Done."
    assert scene.names() == PLAIN
    assert "Done." in scene.all("invoke_agent")[0]["gen_ai.output.messages"]


def test_concurrent_runs_have_their_own_steps(scene: Scene) -> None:
    async def program() -> None:
        agent = scene.agent(search_web)
        await asyncio.gather(*(agent.run(f"Question {number}") for number in range(40)))

    def answer(request: Any) -> Turn:
        last = request.body["messages"][-1]
        if last["role"] == "tool":
            return Turn(text=last["content"])
        number = last["content"].rpartition(" ")[2]
        return Turn(tool_calls=(ToolCall("search_web", {"query": number}),))

    scene.rules.append(answer)
    wait(program())
    assert scene.names() == PLAIN * 40
    for trace in scene.stage.recorded.traces():
        text = str(trace.to_dict())
        (number,) = {int(word) for word in _after(text, "Question ")}
        assert f"found {number}" in text
        assert str(trace.output) == f"found {number}"


def _after(text: str, words: str) -> list[str]:
    """Return the numbers that follow some words."""
    pieces = text.split(words)[1:]
    return ["".join(item for item in piece[:3] if item.isdigit()) for piece in pieces]


def test_nothing_is_current_after_a_run_was_started(scene: Scene) -> None:
    from opentelemetry.trace import get_current_span

    async def program() -> None:
        agent = scene.agent()
        before = get_current_span()
        first, second = agent.run("One"), agent.run("Two")
        assert get_current_span() is before
        await first
        await second

    scene.push(DONE, DONE)
    wait(program())
    assert scene.names() == ["invoke_agent researcher", "  chat gpt-5"] * 2


def test_without_content_there_are_no_messages(scene: Scene) -> None:
    scene.stage.set(content=False)
    scene.push(SEARCH, handover("writer"), DONE)
    scene.run(team(scene), "What is OTel?")
    text = str(scene.rows())
    for words in ("What is OTel?", "found OTel", "It writes.", "Done."):
        assert words not in text
    assert len(scene.all("invoke_agent")) == 2


def test_switched_off_it_records_nothing(scene: Scene) -> None:
    from agentool_otel.integrations.llama_index.instrumentor.patches import (
        LlamaIndexInstrumentor,
    )

    instrumentor = LlamaIndexInstrumentor()
    instrumentor.uninstrument()
    try:
        scene.push(DONE)
        scene.run(scene.agent(), "One")
    finally:
        instrumentor.instrument()
    assert scene.names() == ["chat gpt-5"]


def test_handlers_that_were_removed_are_added_again(scene: Scene) -> None:
    from agentool_otel.integrations.llama_index.instrumentor.patches import (
        LlamaIndexInstrumentor,
    )

    root = import_module("llama_index_instrumentation").root_dispatcher
    root.span_handlers = [item for item in root.span_handlers if "Agentool" not in repr(type(item))]
    LlamaIndexInstrumentor().instrument()
    scene.push(DONE)
    scene.run(scene.agent(), "One")
    assert scene.names() == ["invoke_agent researcher", "  chat gpt-5"]
