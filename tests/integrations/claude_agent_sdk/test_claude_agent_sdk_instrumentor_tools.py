"""Tools: permissions, hooks, servers, and sub-agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentool_otel.testing.turns import ToolCall, Turn
from tests.integrations.claude_agent_sdk.conftest import DONE, SEARCH, TOOL, Scene, prompts

AGENT = {"description": "Write it", "prompt": "Write about it.", "subagent_type": "writer"}


def test_a_call_that_the_program_denies_has_that_error(scene: Scene) -> None:
    asked: list[Any] = []

    async def deny(name: str, arguments: dict[str, Any], context: Any) -> Any:
        asked.append((name, arguments))
        return scene.sdk.PermissionResultDeny(message="not today")

    scene.push(SEARCH, DONE)
    scene.query(prompts("Q"), scene.options(allowed_tools=[], can_use_tool=deny))
    assert asked == [(TOOL, {"query": "OTel"})]
    (tool,) = scene.tools()
    assert tool["error.type"] == "permission_denied"
    assert "not today" in scene.all("chat")[1]["gen_ai.input.messages"]
    (run,) = scene.all("invoke_agent")
    assert run["agentool.status"] == "success"


def test_a_call_that_the_rules_deny_has_that_error(scene: Scene) -> None:
    scene.push(SEARCH, DONE)
    scene.query(options=scene.options(allowed_tools=[], permission_mode="dontAsk"))
    assert [tool["error.type"] for tool in scene.tools()] == ["permission_denied"]


def test_hooks_of_the_program_are_called_and_may_refuse(scene: Scene) -> None:
    events: list[str] = []

    async def refuse(event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        events.append(event["hook_event_name"])
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "a rule",
            }
        }

    scene.push(SEARCH, DONE)
    matcher = scene.sdk.HookMatcher(hooks=[refuse])
    scene.query(options=scene.options(hooks={"PreToolUse": [matcher]}))
    assert events == ["PreToolUse"]
    assert [tool["error.type"] for tool in scene.tools()] in (["permission_denied"], ["tool_error"])


def test_what_a_tool_does_is_below_its_call(scene: Scene) -> None:
    from opentelemetry import trace

    def work(query: str) -> str:
        with trace.get_tracer("mine").start_as_current_span("inner"):
            return query

    scene.push(SEARCH, DONE)
    scene.query(options=scene.options(mcp_servers={"web": scene.server(work)}))
    spans = {span.name: span for span in scene.stage.recorded.spans()}
    call = spans[f"execute_tool {TOOL}"]
    request = spans.get("tools/call search_web", call)  # until 0.2.82 without a server
    assert spans["inner"].parent_id == request.span_id
    assert request is call or request.parent_id == call.span_id
    (tool,) = scene.tools()
    assert tool["gen_ai.tool.description"] == "Search the web."
    assert tool["gen_ai.tool.type"] == "extension"


def test_a_tool_of_the_cli_has_its_arguments_and_error(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a note")
    calls = (
        ToolCall("Read", {"file_path": str(tmp_path / "notes.txt")}),
        ToolCall("Read", {"file_path": str(tmp_path / "none.txt")}),
    )
    scene.push(Turn(tool_calls=calls), DONE)
    scene.query(options=scene.options(tools=["Read"], allowed_tools=["Read"]))
    found, missing = scene.tools()
    assert "a note" in found["gen_ai.tool.call.result"]
    assert "error.type" not in found
    assert "none.txt" in missing["gen_ai.tool.call.arguments"]
    assert missing["error.type"] == "tool_error"


def writing(scene: Scene, **arguments: Any) -> None:
    """Let the main agent call the writer, who searches before it writes."""

    @scene.model.rule
    def _answer(request: Any) -> Turn:
        last = str(request.messages[-1])
        if "Write well." in str(request.body.get("system")):
            if "tool_result" in last:
                return Turn(text="A text.", input_tokens=12, output_tokens=6)
            return Turn(text="Hm.", tool_calls=SEARCH.tool_calls, input_tokens=11, output_tokens=7)
        if "Question" in last:
            call = ToolCall("Agent", {**AGENT, **arguments})
            return Turn(tool_calls=(call,), input_tokens=28, output_tokens=5)
        return DONE


def with_writer(scene: Scene, **options: Any) -> Any:
    writer = scene.sdk.AgentDefinition(description="Writes.", prompt="Write well.")
    return scene.options(tools=["Agent"], agents={"writer": writer}, **options)


SUB_AGENT = [
    "    invoke_agent writer",
    "      chat claude-sonnet-4-5",
    f"      execute_tool {TOOL}",
    "      chat claude-sonnet-4-5",
]


def test_a_sub_agent_has_its_own_steps_below_its_tool(scene: Scene) -> None:
    writing(scene, run_in_background=False)
    scene.query(options=with_writer(scene))
    assert [name for name in scene.names() if name in SUB_AGENT] == SUB_AGENT
    _, writer = scene.all("invoke_agent")
    assert writer["gen_ai.agent.description"] == "Writes."
    assert "Write about it." in writer["gen_ai.input.messages"]
    assert "A text." in writer["gen_ai.output.messages"]
    last = [item for item in scene.all("chat") if "Write well." in str(item)][-1]
    assert (last["gen_ai.usage.input_tokens"], last["gen_ai.usage.output_tokens"]) == (12, 6)
    tool = next(item for item in scene.tools() if item["gen_ai.tool.name"] == "Agent")
    assert "A text." in tool["gen_ai.tool.call.result"]


def test_what_a_sub_agent_writes_before_its_end_has_no_number_of_tokens(scene: Scene) -> None:
    writing(scene, run_in_background=False)
    scene.query(options=with_writer(scene))
    first = next(item for item in scene.all("chat") if "Write well." in str(item))
    assert first["gen_ai.usage.input_tokens"] == 11
    assert "gen_ai.usage.output_tokens" not in first
    assert first["gen_ai.response.finish_reasons"] == ["tool_call"]


def test_a_sub_agent_in_the_background_ends_with_its_task(scene: Scene) -> None:
    if not hasattr(scene.options(), "forward_subagent_text"):
        pytest.skip("this version has no frames of an agent in the background")
    writing(scene, run_in_background=True)
    scene.query(options=with_writer(scene))
    assert [name for name in scene.names() if name in SUB_AGENT] == SUB_AGENT
    run, writer = scene.all("invoke_agent")
    assert (run["agentool.status"], writer["agentool.status"]) == ("success", "success")
    assert "A text." in writer["gen_ai.output.messages"]
    assert not any("agentool.interrupted" in item for item in scene.all("chat"))


def test_without_content_no_words_are_recorded(scene: Scene) -> None:
    scene.stage.set(content=False)
    writing(scene, run_in_background=False)
    scene.query(options=with_writer(scene))
    recorded = str([(span.attributes, span.events) for span in scene.stage.recorded.spans()])
    for words in ("Question", "Write well.", "A text.", "found OTel", "Done."):
        assert words not in recorded
    assert len(scene.all("chat")) == 4
