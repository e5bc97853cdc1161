"""Runs: prompts, sessions, limits, and their ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentool_otel.testing.turns import ToolCall, Turn
from tests.integrations.claude_agent_sdk.conftest import DONE, SEARCH, TOOL, Scene, prompts

PLAIN = ["invoke_agent", "  chat claude-sonnet-4-5"]


def test_the_conversation_is_the_session_also_when_resumed(scene: Scene) -> None:
    scene.push("One.", "Two.")
    session_id = scene.query()[-1].session_id
    scene.query("And?", scene.options(resume=session_id))
    conversations = [item["gen_ai.conversation.id"] for item in scene.all("invoke_agent")]
    assert conversations == [session_id, session_id]
    assert {item["gen_ai.conversation.id"] for item in scene.all("chat")} == {session_id}


def test_each_prompt_of_a_client_is_a_run_of_one_conversation(scene: Scene) -> None:
    scene.push("One.", "Two.")
    scene.ask("First?", "Second?")
    assert scene.names() == [*PLAIN, *PLAIN]
    first, second = scene.all("invoke_agent")
    assert "First?" in first["gen_ai.input.messages"]
    assert "One." in first["gen_ai.output.messages"]
    assert "First?" not in second["gen_ai.input.messages"]
    history = scene.all("chat")[1]["gen_ai.input.messages"]
    assert all(words in history for words in ("First?", "One.", "Second?"))


@pytest.mark.parametrize("client", [False, True])
def test_prompts_of_an_iterator_are_runs(scene: Scene, client: bool) -> None:
    scene.push("One.", "Two.")
    if client:
        scene.ask(prompts("First?"), prompts("Second?"))
    else:

        async def one_by_one() -> Any:
            async for item in prompts("First?"):
                yield item
            while len(scene.all("invoke_agent")) < 1:
                await asyncio.sleep(0.01)
            async for item in prompts("Second?"):
                yield item

        scene.query(one_by_one())
    first, second = scene.all("invoke_agent")
    assert "First?" in first["gen_ai.input.messages"]
    assert "Second?" in second["gen_ai.input.messages"]
    assert "Two." in second["gen_ai.output.messages"]


def test_a_client_connects_with_a_prompt(scene: Scene) -> None:
    async def run() -> None:
        client = scene.sdk.ClaudeSDKClient(scene.options())
        await client.connect("First?")
        assert [item async for item in client.receive_response()]
        await client.disconnect()

    scene.push("One.")
    asyncio.run(run())
    assert scene.names() == PLAIN
    assert "First?" in scene.all("invoke_agent")[0]["gen_ai.input.messages"]


def test_the_limit_of_turns_ends_the_run_with_its_error(scene: Scene) -> None:
    scene.push(SEARCH, DONE)
    with pytest.raises(Exception, match=r"maximum number of turns|error_max_turns"):
        scene.query(options=scene.options(max_turns=1))
    (run,) = scene.all("invoke_agent")
    assert run["agentool.status"] == "error"
    assert run["error.type"] == "error_max_turns"
    (tool,) = scene.tools()
    assert "error.type" not in tool


def test_a_cli_that_is_missing_is_the_error_of_the_run(scene: Scene) -> None:
    with pytest.raises(scene.sdk.CLINotFoundError):
        scene.query(options=scene.options(cli_path="/no/such/cli"))
    (run,) = scene.all("invoke_agent")
    assert run["error.type"].endswith("CLINotFoundError")


def test_an_interrupted_run_is_in_progress_and_the_next_is_its_own(scene: Scene) -> None:
    async def run() -> None:
        async with scene.sdk.ClaudeSDKClient(scene.options()) as client:
            await client.query("First?")
            while not scene.model.requests:
                await asyncio.sleep(0.01)
            await client.interrupt()
            assert [item async for item in client.receive_response()]
            await client.query("Second?")
            assert [item async for item in client.receive_response()]

    scene.push(Turn(delay_s=60.0), "Two.")
    asyncio.run(run())
    first, second = scene.all("invoke_agent")
    assert (first["agentool.status"], first["agentool.interrupted"]) == (
        "in_progress",
        "interrupted",
    )
    assert second["agentool.status"] == "success"
    assert [item.get("agentool.interrupted") for item in scene.all("chat")] == ["interrupted", None]


@pytest.mark.parametrize("client", [False, True])
def test_a_stream_that_is_left_early_is_closed(scene: Scene, client: bool) -> None:
    async def run() -> None:
        if not client:
            messages = scene.sdk.query(prompt="Question", options=scene.options())
            async for item in messages:
                if type(item).__name__ == "SystemMessage":
                    break
            await messages.aclose()
            return
        async with scene.sdk.ClaudeSDKClient(scene.options()) as connected:
            await connected.query("Question")
            async for _ in connected.receive_messages():
                break

    scene.push(Turn(delay_s=60.0))
    asyncio.run(run())
    (item,) = scene.all("invoke_agent")
    assert item["agentool.interrupted"] == "closed"
    assert item["agentool.status"] == "in_progress"


def test_an_exception_of_the_program_is_that_of_the_run(scene: Scene) -> None:
    async def run() -> None:
        async with scene.sdk.ClaudeSDKClient(scene.options()) as client:
            await client.query("Question")
            raise KeyError("mine")

    scene.push(Turn(delay_s=60.0))
    with pytest.raises(KeyError):
        asyncio.run(run())
    (item,) = scene.all("invoke_agent")
    assert item["error.type"] == "KeyError"


def test_a_stream_that_broke_off_comes_before_the_answer_to_its_repetition(scene: Scene) -> None:
    scene.push(Turn(text="One of two halves.", end_after=4, chunk_delay_s=0.01), "Whole.")
    scene.query()
    broken, whole = scene.all("chat")
    assert broken["error.type"] == "incomplete_stream"
    assert "error.type" not in whole
    assert list(whole["gen_ai.response.finish_reasons"]) == ["stop"]
    (run,) = scene.all("invoke_agent")
    assert run["agentool.status"] == "success"


def test_a_refusal_is_the_finish_reason_also_where_the_cli_reports_an_error(scene: Scene) -> None:
    scene.model.rule(lambda _: Turn(text="I had rather not.", stop="refusal"))
    with pytest.raises(scene.sdk.ClaudeSDKError):
        scene.query()
    last = scene.all("chat")[-1]
    assert list(last["gen_ai.response.finish_reasons"]) == ["content_filter"]
    assert "error.type" not in last


def test_the_text_of_an_error_is_not_the_output(scene: Scene) -> None:
    scene.push(Turn(status=400, error="on holiday"))
    messages = scene.ask("Question?")[0]
    assert "on holiday" in messages[-1].result
    (run,) = scene.all("invoke_agent")
    assert "gen_ai.output.messages" not in run
    assert run["error.type"] == "400"
    (span,) = [item for item in scene.stage.recorded.spans() if item.name == "invoke_agent"]
    assert "on holiday" in (span.status_message or "")


def test_structured_output_is_the_output(scene: Scene) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    scene.push(Turn(tool_calls=(ToolCall("StructuredOutput", {"n": 4}),)), "Done.")
    options = scene.options(output_format={"type": "json_schema", "schema": schema})
    result = scene.query(options=options)[-1]
    assert result.structured_output == {"n": 4}
    assert '{\\"n\\":4}' in scene.all("invoke_agent")[0]["gen_ai.output.messages"]


def test_instructions_tools_thinking_and_cached_tokens_are_the_calls(scene: Scene) -> None:
    scene.push(
        Turn(
            reasoning="Hm.",
            text="Done.",
            input_tokens=40,
            output_tokens=12,
            cached_tokens=5,
            reasoning_tokens=3,
        )
    )
    scene.query(options=scene.options(env={"MAX_THINKING_TOKENS": "2000"}))
    (chat,) = scene.all("chat")
    assert "Search." in chat["gen_ai.system_instructions"]
    assert TOOL in chat["gen_ai.tool.definitions"]
    assert "Search the web." in chat["gen_ai.tool.definitions"]
    assert '"type":"reasoning"' in chat["gen_ai.output.messages"]
    assert chat["gen_ai.usage.input_tokens"] == 40
    assert chat["gen_ai.usage.cache_read.input_tokens"] == 5
    assert chat["gen_ai.usage.reasoning.output_tokens"] == 3
    assert chat["gen_ai.response.finish_reasons"] == ["stop"]
    assert chat["gen_ai.response.id"].startswith("msg_")


def test_the_agent_that_the_cli_is_told_to_be_names_the_run(scene: Scene) -> None:
    writer = scene.sdk.AgentDefinition(description="Writes.", prompt="Write.")
    scene.push("Done.")
    scene.query(options=scene.options(agents={"writer": writer}, extra_args={"agent": "writer"}))
    assert scene.names()[0] == "invoke_agent writer"


def test_runs_at_the_same_time_have_their_own_steps(scene: Scene) -> None:
    async def run(number: int) -> str:
        options = scene.options()
        messages = scene.sdk.query(prompt=f"Question {number}", options=options)
        return str([item async for item in messages][-1].result)

    async def run_all() -> list[str]:
        return await asyncio.gather(*(run(number) for number in range(4)))

    @scene.model.rule
    def _answer(request: Any) -> Turn:
        asked = str(request.messages[0])
        (number,) = [item for item in range(4) if f"Question {item}" in asked]
        if "tool_result" in str(request.messages[-1]):
            return Turn(text=f"Answer {number}")
        return Turn(tool_calls=(ToolCall(TOOL, {"query": f"q{number}"}),))

    assert asyncio.run(run_all()) == [f"Answer {number}" for number in range(4)]
    spans = scene.stage.recorded.spans()
    for root in (span for span in spans if span.parent_id is None):
        number = str(root.attributes["gen_ai.input.messages"]).partition("Question ")[2][0]
        steps = [span.attributes for span in spans if span.parent_id == root.span_id]
        assert len(steps) == 3
        assert sum(f"q{number}" in str(step.get("gen_ai.tool.call.arguments")) for step in steps)
        assert all(f"Question {number}" in str(step) for step in steps if "chat" in str(step))
