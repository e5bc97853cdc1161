"""Tools: their calls, results and errors, those that wait, and memory."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.turns import ToolCall, Turn
from tests.integrations.adk.conftest import (
    DONE,
    SEARCH,
    Scene,
    content,
    run_config,
    search_web,
    types,
    wait,
)

ASK = Turn(tool_calls=(ToolCall("ask", {"question": "Sure?"}, id="call-1"),))


def tools() -> Any:
    return import_module("google.adk.tools")


def answer(events: list[Any], name: str, **response: Any) -> Any:
    """Return the message that answers a waiting call of a name."""
    calls = [call for event in events for call in event.get_function_calls() if call.name == name]
    result = types().FunctionResponse(id=calls[0].id, name=name, response=response)
    return types().Content(role="user", parts=[types().Part(function_response=result)])


def converse(scene: Scene, agent: Any, name: str, **response: Any) -> list[Any]:
    """Run an agent that waits, and let it go on."""

    async def program() -> list[Any]:
        runner = scene.runner(agent)
        events = await scene.converse(runner, "Do it.")
        message = answer(events, name, **response)
        options = {"user_id": "alice", "session_id": "thread-1", "new_message": message}
        return [event async for event in runner.run_async(**options)]

    return list(wait(program()))


def test_a_tool_has_the_id_and_the_words_of_its_call(scene: Scene) -> None:
    scene.push(SEARCH, DONE)
    scene.run(scene.agent(search_web))
    (tool,) = scene.all("execute_tool")
    assert tool["gen_ai.tool.call.id"] == "call-1"
    assert tool["gen_ai.tool.type"] == "function"
    assert tool["gen_ai.tool.description"] == "Search the web."
    assert tool["gen_ai.agent.name"] == "researcher"
    assert tool["gen_ai.tool.call.arguments"] == '{"query":"OTel"}'
    assert "found OTel" in tool["gen_ai.tool.call.result"]


def test_a_result_of_json_stays_json(scene: Scene) -> None:
    def search_web(query: str) -> dict[str, Any]:
        """Search the web."""
        return {"words": 2, "error": None}

    scene.push(SEARCH, DONE)
    scene.run(scene.agent(search_web))
    assert json.loads(scene.all("execute_tool")[0]["gen_ai.tool.call.result"])["words"] == 2


def test_an_exception_of_a_tool_is_that_of_the_run(scene: Scene) -> None:
    def search_web(query: str) -> str:
        """Search the web."""
        raise OSError("no network")

    scene.push(SEARCH)
    with pytest.raises(OSError, match="no network"):
        scene.run(scene.agent(search_web))
    (tool,), (run,) = scene.all("execute_tool"), scene.all("invoke_agent")
    assert (tool["error.type"], run["error.type"]) == ("OSError", "OSError")
    assert tool["agentool.tool.error"] == "no network"


@pytest.mark.parametrize("by_plugin", [True, False])
def test_an_exception_is_recorded_with_the_answer_in_its_place(
    scene: Scene, by_plugin: bool
) -> None:
    def search_web(query: str) -> str:
        """Search the web."""
        raise OSError("no network")

    async def recover(**_: Any) -> dict[str, str]:
        return {"answer": "later"}

    scene.push(SEARCH, DONE)
    if by_plugin:
        plugin = import_module("google.adk.plugins.base_plugin").BasePlugin(name="recovery")
        plugin.on_tool_error_callback = recover
        runner = scene.runner(scene.agent(search_web), plugins=[plugin])
        wait(scene.converse(runner, "What?"))
    else:
        scene.run(scene.agent(search_web, on_tool_error_callback=recover))
    (tool,), (run,) = scene.all("execute_tool"), scene.all("invoke_agent")
    assert tool["error.type"] == "OSError"
    assert "later" in tool["gen_ai.tool.call.result"]
    assert run["agentool.status"] == "success"


def test_an_error_that_a_tool_returns_is_an_error(scene: Scene) -> None:
    scene.push(Turn(tool_calls=(ToolCall("search_web", {}),)), DONE)
    scene.run(scene.agent(search_web))
    (tool,) = scene.all("execute_tool")
    assert tool["error.type"] == "tool_error"
    assert "query" in tool["agentool.tool.error"]


def test_a_tool_that_does_not_exist_is_an_error(scene: Scene) -> None:
    scene.push(Turn(tool_calls=(ToolCall("fly", {}),)), DONE)
    try:
        scene.run(scene.agent(search_web))
    except ValueError:  # of ADK 1
        assert scene.all("invoke_agent")[0]["error.type"] == "ValueError"
    (tool,) = scene.all("execute_tool")
    assert (tool["gen_ai.tool.name"], tool["error.type"]) == ("fly", "ValueError")


def test_a_callback_that_answers_for_a_tool_gives_its_result(scene: Scene) -> None:
    def refuse(**_: Any) -> dict[str, str]:
        return {"status": "not allowed"}

    scene.push(SEARCH, DONE)
    scene.run(scene.agent(search_web, before_tool_callback=refuse))
    (tool,) = scene.all("execute_tool")
    assert "not allowed" in tool["gen_ai.tool.call.result"]


def test_a_plugin_that_answers_first_hides_nothing(scene: Scene) -> None:
    async def answered(**_: Any) -> dict[str, str]:
        return {"status": "from the cache"}

    plugin = import_module("google.adk.plugins.base_plugin").BasePlugin(name="cache")
    plugin.before_tool_callback = answered
    scene.push(SEARCH, DONE)
    wait(scene.converse(scene.runner(scene.agent(search_web), plugins=[plugin]), "What?"))
    (tool,) = scene.all("execute_tool")
    assert "from the cache" in tool["gen_ai.tool.call.result"]


def test_spans_of_a_tool_are_inside_it(scene: Scene) -> None:
    tracer = scene.stage._provider.get_tracer("program")

    def search_web(query: str) -> str:
        """Search the web."""
        with tracer.start_as_current_span(f"look up {query}"):
            return "found"

    calls = tuple(ToolCall("search_web", {"query": name}) for name in ("one", "two"))
    scene.push(Turn(tool_calls=calls), DONE)
    scene.run(scene.agent(search_web))
    below = [name for name in scene.names() if "look up" in name]
    assert below == ["    look up one", "    look up two"]
    assert scene.names()[-1] == "  generate_content gemini-2.5-flash"


def test_a_tool_in_a_thread_of_adks_is_inside_its_agent(scene: Scene) -> None:
    tracer = scene.stage._provider.get_tracer("program")
    module = import_module("google.adk.agents.run_config")
    if not hasattr(module, "ToolThreadPoolConfig"):
        pytest.skip("tools have no threads before ADK 1.28")

    def search_web(query: str) -> str:
        """Search the web."""
        with tracer.start_as_current_span("look up"):
            return "found"

    scene.push(SEARCH, DONE)
    scene.run(
        scene.agent(search_web),
        run_config=run_config(tool_thread_pool_config=module.ToolThreadPoolConfig()),
    )
    assert "    look up" in scene.names()


# ----------------------------------------------------------------------------- tools that wait


def test_a_long_running_tool_without_a_result_waits(scene: Scene) -> None:
    def ask(question: str) -> None:
        """Ask."""

    agent = scene.agent(tools().LongRunningFunctionTool(ask))
    # ADK 1 asks the model again, ADK 2 does not, unless the call is answered.
    scene.push(ASK, DONE, DONE)
    converse(scene, agent, "ask", answer="yes")
    first, second = scene.all("invoke_agent")
    assert first["agentool.interrupted"] == "long_running_tool"
    assert first["agentool.status"] == "in_progress"
    assert json.loads(first["agentool.output"]) == {
        "id": "call-1",
        "name": "ask",
        "arguments": {"question": "Sure?"},
    }
    (tool,) = scene.all("execute_tool")
    assert tool["agentool.tool.incomplete"] == "call_only"
    assert "gen_ai.tool.call.result" not in tool
    assert json.loads(second["agentool.input"])["response"] == {"answer": "yes"}
    assert second["agentool.status"] == "success"


def test_a_long_running_tool_with_a_first_result_does_not_wait(scene: Scene) -> None:
    def ask(question: str) -> dict[str, str]:
        """Ask."""
        return {"status": "pending"}

    scene.push(ASK, DONE)
    scene.run(scene.agent(tools().LongRunningFunctionTool(ask)))
    (run,), (tool,) = scene.all("invoke_agent"), scene.all("execute_tool")
    assert run["agentool.status"] == "success"
    assert "pending" in tool["gen_ai.tool.call.result"]


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_tool_that_a_human_confirms_is_executed_then(scene: Scene, confirmed: bool) -> None:
    agent = scene.agent(tools().FunctionTool(search_web, require_confirmation=True))
    scene.push(SEARCH, DONE, DONE)
    converse(scene, agent, "adk_request_confirmation", confirmed=confirmed)
    first, second = scene.all("invoke_agent")
    assert first["agentool.interrupted"] == "approval"
    assert json.loads(first["agentool.output"])["name"] == "search_web"
    assert json.loads(second["agentool.input"])["response"] == {"confirmed": confirmed}
    asked, executed = scene.all("execute_tool")
    assert asked["agentool.tool.incomplete"] == "call_only"
    assert executed["gen_ai.tool.call.id"] == "call-1"
    if confirmed:
        assert "found OTel" in executed["gen_ai.tool.call.result"]
    else:
        assert executed["agentool.tool.error"] == "This tool call is rejected."


# -------------------------------------------------------------------------------------- memory


def test_a_memory_is_written_and_searched(scene: Scene) -> None:
    runner = scene.runner(scene.agent(tools().load_memory))

    async def program() -> None:
        await scene.converse(runner, "My colour is blue.")
        session = await runner.session_service.get_session(
            app_name="search", user_id="alice", session_id="thread-1"
        )
        await runner.memory_service.add_session_to_memory(session)
        await scene.converse(runner, "Which colour?", session_id="thread-2")

    call = Turn(tool_calls=(ToolCall("load_memory", {"query": "blue"}),))
    scene.push("I see.", call, DONE)
    wait(program())
    (written,), (search,) = scene.all("upsert_memory"), scene.all("search_memory")
    assert written["gen_ai.memory.record.id"] == "thread-1"
    assert written["gen_ai.memory.record.count"] == 2
    assert written["gen_ai.conversation.id"] == "thread-1"
    assert search["gen_ai.memory.query.text"] == "blue"
    (record,) = json.loads(search["gen_ai.memory.records"])
    assert record["content"] == "My colour is blue."
    assert record["metadata"]["author"] == "user"
    assert "    search_memory" in scene.names()


def test_a_memory_of_the_programs_is_searched_by_an_agents_context(scene: Scene) -> None:
    pytest.importorskip("google.adk.agents.context")
    base = import_module("google.adk.memory.base_memory_service")
    entry = import_module("google.adk.memory.memory_entry").MemoryEntry

    class Notes(base.BaseMemoryService):  # type: ignore[misc, name-defined]
        async def add_session_to_memory(self, session: Any) -> None: ...

        async def search_memory(self, *, app_name: str, user_id: str, query: str) -> Any:
            return base.SearchMemoryResponse(memories=[entry(content=content("Blue."))])

    runner = scene.runner(scene.agent(tools().load_memory))
    runner.memory_service = Notes()
    scene.push(Turn(tool_calls=(ToolCall("load_memory", {"query": "colour"}),)), DONE)
    wait(scene.converse(runner, "Which colour?"))
    (search,) = scene.all("search_memory")
    assert json.loads(search["gen_ai.memory.records"]) == [{"content": "Blue."}]
