"""Qwen Code: spans and log records."""

from __future__ import annotations

from typing import Any

from agentool_otel.integrations.qwen_code.dialect import QwenCode
from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span(
        {"gen_ai.operation.name": "invoke_agent",
         "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]'},
        name="qwen-code.interaction", scope="qwen-code",
    ),
    span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "run_shell_command",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"command": "ls"}',
            "gen_ai.tool.call.result": '{"output": "a.py\\nExit Code: 0"}',
            "success": True,
        },
        name="qwen-code.tool", scope="qwen-code",
    ),
    span(
        {"gen_ai.tool.name": "edit", "tool.call_id": "c2", "success": False,
         "error": "Tool execution failed", "error_type": "edit_failed"},
        name="qwen-code.tool.execution", scope="qwen-code",
    ),
    span({"hook_event": "PreToolUse"}, name="qwen-code.hook", scope="qwen-code"),
]  # fmt: skip


def record(name: str, attributes: dict[str, Any]) -> Any:
    named = {"event.name": f"qwen-code.{name}", "session.id": "s1", **attributes}
    return span(named, name=f"qwen-code.{name}", scope="qwen-code")


COUNTS = {"input_token_count": 100, "output_token_count": 20, "thoughts_token_count": 7}
LOGS = [
    record("user_prompt", {"prompt": "Hi"}),
    record("api_response", {"model": "qwen3", "response_id": "r1", "response_text": "Hello.",
                            **COUNTS, "total_token_count": 120}),
    record("api_response", {"model": "qwen3", **COUNTS, "total_token_count": 127}),
    record("api_error", {"model": "qwen3", "status_code": 400, "error_message": "no"}),
    record("tool_call", {"function_name": "run_shell_command", "call_id": "c1", "success": False,
                         "error": "not allowed", "error_type": "execution_denied"}),
]  # fmt: skip


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        qwen_code: agent agent=qwen-code
          > user: Hi
        qwen_code: tool run_shell_command call=c1 arguments={"command":"ls"}
            result="a.py\\nExit Code: 0"
        qwen_code: tool edit call=c2 error=edit_failed message=Tool execution failed
        qwen_code: unclassified
    """)
    assert coverage(SPANS) == 0.93


def test_log_records_are_read() -> None:
    assert spelled(*LOGS) == text("""
        qwen_code: agent agent=qwen-code session=s1
          > user: Hi
        qwen_code: chat model=qwen3 response=r1 session=s1 in=100 out=20 reasoning=7
          < assistant: Hello.
        qwen_code: chat model=qwen3 session=s1 in=100 out=27 reasoning=7
        qwen_code: chat model=qwen3 session=s1 error=400 message=no
        qwen_code: tool run_shell_command call=c1 session=s1 error=permission_denied
            message=not allowed
    """)
    assert coverage(LOGS) == 1.0


def test_thoughts_of_a_span_are_a_part_of_its_answer() -> None:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 100,
                  "gen_ai.usage.output_tokens": 20, "thoughts_token_count": 7}  # fmt: skip
    request = span(attributes, name="qwen-code.llm_request", scope="qwen-code")
    assert spelled(request) == "qwen_code: chat in=100 out=20 reasoning=7"


def test_an_unknown_span_stays_in_the_tree() -> None:
    known = span({"session.id": "s1"}, name="qwen-code.interaction", scope="qwen-code")
    other = span({"session.id": "s1"}, name="qwen-code.novelty", scope="qwen-code")
    hook = span({"session.id": "s1"}, name="qwen-code.hook", scope="qwen-code")
    _, unknown = QwenCode().entries([known, other, hook])
    assert unknown == [other]
