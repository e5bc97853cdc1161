"""Claude Code, written from its monitoring documentation and a reader's source: no recording."""

from __future__ import annotations

import json

from msgspec.structs import replace

from agentool_otel.dialects import classify
from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from tests.dialects.spelled import coverage, event, span, spelled, text

TRACES = "com.anthropic.claude_code.tracing"
EVENTS = "com.anthropic.claude_code.events"
SPANS = [
    span(
        {"span.type": "interaction", "user_prompt": "Fix the test.", "session.id": "s1"},
        name="claude_code.interaction",
        scope=TRACES,
    ),
    span(
        {
            "span.type": "claude_code.llm_request",
            "model": "claude-opus",
            "input_tokens": 10,
            "output_tokens": 5,
            "cache_read_tokens": 100,
            "cache_creation_tokens": 20,
            "new_context": "Fix the test.",
            "response.model_output": "I look at it.",
            "response.has_tool_call": True,
            "stop_reason": "tool_use",
        },
        event("claude_code.api_request", cost_usd=0.02),
        name="claude_code.llm_request",
        scope=TRACES,
    ),
    span(
        {"span.type": "tool", "tool_name": "Bash", "full_command": "pytest"},
        event("tool.output", output="1 failed"),
        name="claude_code.tool",
        scope=TRACES,
    ),
    span(
        {"span.type": "tool", "tool_name": "Read", "tool_input": "<REDACTED>"},
        name="claude_code.tool",
        scope=TRACES,
    ),
    span(
        {"span.type": "tool.execution", "success": False, "error": "killed", "duration_ms": 9},
        name="claude_code.tool.execution",
        scope=TRACES,
    ),
    span({"span.type": "tool.blocked_on_user"}, name="claude_code.tool.blocked_on_user"),
    span({"span.type": "hook", "hook_event": "Stop"}, name="claude_code.hook", scope=TRACES),
]
LOGS = [
    span(
        {"event.name": "user_prompt", "prompt": "Fix it.", "session.id": "s1", "prompt_length": 7},
        name="claude_code.user_prompt",
        scope=EVENTS,
    ),
    span(
        {
            "model": "claude-opus",
            "cost_usd": "0.05",
            "input_tokens": "3",
            "output_tokens": "4",
            "cache_read_tokens": "10",
            "duration_ms": "900",
        },
        name="claude_code.api_request",
        scope=EVENTS,
    ),
    span(
        {"model": "claude-opus", "error": "overloaded", "status_code": "529"},
        name="claude_code.api_error",
        scope=EVENTS,
    ),
    span(
        {
            "tool_name": "Bash",
            "success": "false",
            "duration_ms": "12",
            "tool_parameters": '{"command": "ls"}',
            "error": "denied",
        },
        name="claude_code.tool_result",
        scope=EVENTS,
    ),
    span({"tool_name": "Bash", "decision": "reject"}, name="claude_code.tool_decision"),
]


def test_spans_are_read_with_cached_tokens_counted_in() -> None:
    assert spelled(*SPANS) == text("""
        claude_code: agent agent=claude-code session=s1
          > user: Fix the test.
        claude_code: chat provider=anthropic model=claude-opus finish=tool_call cost=0.02
            in=130 out=5 cached=100 cache_written=20
          > user: Fix the test.
          < assistant: I look at it.
        claude_code: tool Bash arguments={"command":"pytest"} result="1 failed"
        claude_code: tool Read
        claude_code: tool  ms=9 error=_OTHER message=killed
        claude_code: unclassified
        claude_code: unclassified
    """)
    assert coverage(SPANS) == 0.92


def test_log_records_are_read() -> None:
    assert spelled(*LOGS) == text("""
        claude_code: agent agent=claude-code session=s1
          > user: Fix it.
        claude_code: chat provider=anthropic model=claude-opus cost=0.05 in=13 out=4 cached=10
        claude_code: chat provider=anthropic model=claude-opus error=529 message=overloaded
        claude_code: tool Bash ms=12.0 error=_OTHER message=denied arguments={"command":"ls"}
        claude_code: unclassified
    """)
    assert coverage(LOGS) == 0.8


def test_the_words_of_a_failed_execution_are_kept_beside_its_error_type() -> None:
    attributes = {"span.type": "tool.execution", "success": False, "error": "Exit code 1\n1 failed"}
    for kind in ({}, {"error.type": "ShellError"}):
        record = replace(span({**attributes, **kind}, scope=TRACES), status="ERROR")
        assert classify(record)[1].error_message == "Exit code 1\n1 failed"


def test_bodies_joined_to_a_model_call_are_its_messages() -> None:
    sent = {"system": "Be brief.", "messages": [{"role": "user", "content": "hi"}]}
    received = {"role": "assistant", "content": [{"type": "text", "text": "hello"}]}
    record = span(
        {"span.type": "llm_request"},
        event("claude_code.api_request_body", body=json.dumps(sent)),
        event("claude_code.api_response_body", body=json.dumps(received)),
        scope=TRACES,
    )
    assert spelled(record) == text("""
        claude_code: chat provider=anthropic
            system: Be brief.
          > user: hi
          < assistant: hello
    """)


def test_a_sub_agent_is_a_run_with_its_own_calls() -> None:
    spans = [
        SpanRecord(
            "1" * 32,
            f"{n:016x}",
            f"{n - 1:016x}" if n > 1 else None,
            f"claude_code.{kind}",
            start_ns=10**18 + n,
            end_ns=10**18 + 100 - n,
            attributes={"span.type": kind, "session.id": "s1", **attributes},
            scope=TRACES,
        )
        for n, (kind, attributes) in enumerate(
            (
                ("interaction", {"user_prompt": "q"}),
                ("tool", {"tool_name": "Task", "subagent_type": "Explore", "tool_use_id": "t1"}),
                ("subagent.spawn", {"agent_id": "sub1", "agent_type": "Explore"}),
                ("tool", {"tool_name": "Grep", "agent_id": "sub1", "tool_use_id": "t2"}),
            ),
            1,
        )
    ]
    calls = {
        item.trace.agent_id: [step.tool_call.name for step in item.trace.steps if step.tool_call]
        for item in rebuild(spans)
    }
    assert calls == {"claude-code": ["Task"], "Explore": ["Grep"]}
