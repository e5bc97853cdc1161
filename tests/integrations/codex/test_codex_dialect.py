"""Codex CLI: a public span, and log records written from its source."""

from __future__ import annotations

from tests.dialects.spelled import coverage, event, span, spelled, text
from tests.dialects.traces import load

PUBLIC = load("coding_agent_native_spans/codex-B.session_task_turn.json")
LOGS = [
    span(
        {"conversation.id": "c1", "prompt": "Fix it.", "prompt_length": 7},
        name="codex.user_prompt",
        scope="codex_otel",
    ),
    span(
        {
            "conversation.id": "c1",
            "event.kind": "response.completed",
            "model": "gpt-5.5",
            "input_token_count": "100",
            "output_token_count": "20",
            "cached_token_count": "60",
            "reasoning_token_count": "5",
            "duration_ms": "900",
        },
        name="codex.sse_event",
        scope="codex_otel",
    ),
    span({"event.kind": "response.created"}, name="codex.sse_event", scope="codex_otel"),
    span(
        {
            "conversation.id": "c1",
            "tool_name": "shell",
            "call_id": "c1",
            "arguments": '{"command": ["ls"]}',
            "output": "no such file",
            "success": "false",
            "duration_ms": "12",
        },
        name="codex.tool_result",
        scope="codex_otel",
    ),
    span({"tool_name": "shell", "decision": "approved"}, name="codex.tool_decision"),
]


def test_a_turn_is_a_run_with_a_roll_up() -> None:
    assert spelled(*PUBLIC) == text("""
        codex: agent model=gpt-5.5 agent=codex session=019e9bfe-7749-7440-8506-39152afbc9ff
            in=13297 out=23 cached=4480 reasoning=10 total=13320
    """)
    assert coverage(PUBLIC) == 0.41


def test_the_prompt_of_a_turn_may_be_joined_to_it() -> None:
    record = span(
        {"turn.id": "t"},
        event("codex.user_prompt", prompt="Fix it."),
        name="session_task.turn",
        scope="codex_cli_rs",
    )
    assert spelled(record) == text("""
        codex: agent agent=codex
          > user: Fix it.
    """)


def test_log_records_are_read() -> None:
    assert spelled(*LOGS) == text("""
        codex: agent agent=codex session=c1
          > user: Fix it.
        codex: chat provider=openai model=gpt-5.5 session=c1 in=100 out=20 cached=60
            reasoning=5
        codex: unclassified
        codex: tool shell call=c1 ms=12.0 session=c1 tool_error=no such file
            arguments={"command":["ls"]} result="no such file"
        codex: unclassified
    """)
    assert coverage(LOGS) == 0.76
