"""Qwen Code: spans and log records."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.integrations.qwen_code.dialect import QwenCode
from agentool_otel.loading import load
from agentool_otel.model.messages import message
from agentool_otel.model.messages import text as words_of
from agentool_otel.model.operations import AgentInvocation, ToolExecution
from tests.coding_agents.recordings import FOLDER
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


RECORDINGS = FOLDER / "qwen-code"


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


def test_a_call_that_the_user_stops_is_cancelled_in_each_channel() -> None:
    names = {"tool_name": "edit", "success": False}
    around = span({**names, "tool.failure_kind": "cancelled"}, name="qwen-code.tool",
                  scope="qwen-code")  # fmt: skip
    inside = span({**names, "execution_status": "cancelled"}, name="qwen-code.tool.execution",
                  scope="qwen-code")  # fmt: skip
    log = record("tool_call", {"function_name": "edit", "success": False, "status": "cancelled"})
    assert [spelled(item).count("error=cancelled") for item in (around, inside, log)] == [1, 1, 1]


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


def test_a_result_beside_a_prompt_is_of_the_turn_before(tmp_path: Path) -> None:
    lines = (RECORDINGS / "second_turn" / "logs.jsonl").read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    groups = [
        group
        for document in documents
        for resource in document["resourceLogs"]
        for group in resource["scopeLogs"]
    ]
    again = [copy.deepcopy(group) for group in groups]
    added: list[Any] = []
    for group in again:
        for log in group["logRecords"]:
            values = {item["key"]: item["value"] for item in log["attributes"]}
            name = values.get("event.name", {}).get("stringValue", "").rpartition(".")[2]
            prompt = values.get("prompt_id", {}).get("stringValue", "")
            text = values.get("request_text", {}).get("stringValue")
            is_first = text is None or "functionResponse" not in text
            if not prompt.endswith("########2") or name not in _TURN or not is_first:
                continue
            values["prompt_id"]["stringValue"] = prompt[:-1] + "3"
            if "response_id" in values:
                values["response_id"]["stringValue"] = f"response {name}"
            if text is not None:
                history = json.loads(text)
                history[-1]["parts"].insert(0, _RESULT)
                values["request_text"]["stringValue"] = json.dumps(history)
            log["timeUnixNano"] = str(int(log["timeUnixNano"]) + 60_000_000_000)
            log.pop("spanId", None)
            log.pop("traceId", None)
            added.append(log)
    groups[-1]["logRecords"] += added
    path = tmp_path / "logs.jsonl"
    path.write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    found = sorted(load(path), key=lambda trace: trace.started_at or "")
    assert [[call.id for call in trace.tool_calls()] for trace in found] == [
        [],
        ["call_000001"],
        [],
    ]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("params must have required property 'command'", "invalid_tool_params"),
        ('Tool "edit" not found in registry. Tools must use', "tool_not_registered"),
        ("params are fine", None),
    ],
)
def test_a_call_that_never_started_has_its_error(words: str, error: str | None) -> None:
    """It has no span, only a result in the next request."""
    call = {"type": "tool_call", "id": "c1", "name": "edit", "arguments": {"x": 1}}
    result = {"type": "tool_call_response", "id": "c1", "response": words}
    messages = [{"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [result]}]
    request = span(
        {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(messages)},
        name="qwen-code.llm_request", scope="qwen-code",
    )  # fmt: skip
    ended = {"gen_ai.tool.name": "edit", "tool.call_id": "c1", "success": True}
    tool = span(ended, name="qwen-code.tool", scope="qwen-code")
    assert _errors(request) == ([] if error is None else [("edit", error)])
    assert _errors(request, tool) == [("edit", None)]


def _errors(*records: Any) -> list[tuple[str | None, str | None]]:
    entries, _ = QwenCode().entries(records)
    calls = [item.operation for item in entries if isinstance(item.operation, ToolExecution)]
    return [(call.name, call.error_type) for call in calls]


def test_a_blank_prompt_is_the_input_of_its_turn() -> None:
    turn = span({"new_context": "[USER PROMPT]\n   "}, name="qwen-code.interaction",
                scope="qwen-code")  # fmt: skip
    operation = QwenCode().read(Reader(turn))
    assert isinstance(operation, AgentInvocation)
    assert operation.input == [message("user", [words_of("   ")])]


def _resumed(*before: Any) -> Any:
    """Return the entry of a result that the second prompt of a session is sent with."""
    parts = [{"functionResponse": {"id": "c1", "name": "edit", "response": {"error": "lost"}}},
             {"text": "Go on."}]  # fmt: skip
    history = json.dumps([{"role": "user", "parts": parts}])
    request = record("api_request", {"prompt_id": "s1########2", "request_text": history})
    entries, _ = QwenCode().entries([*before, request])
    return [(entry.keys, entry.turn) for entry in entries if entry.kind == "tool"]


def test_the_result_of_a_lost_call_is_of_the_turn_before() -> None:
    prompt = record("user_prompt", {"prompt": "Hi", "prompt_id": "s1########0"})
    assert _resumed(prompt) == [(("c1",), "prompt s1########0")]


def test_the_result_of_a_turn_without_records_is_left_out() -> None:
    of_another = record("user_prompt", {"prompt": "Hi", "prompt_id": "s2########0"})
    assert _resumed(of_another) == []


def test_a_result_beside_a_message_to_a_running_turn_is_of_that_turn() -> None:
    earlier = record("user_prompt", {"prompt": "Hi", "prompt_id": "s1########0"})
    request = record("api_request", {"prompt_id": "s1########2", "request_text": "[]"})
    assert _resumed(earlier, request) == [(("c1",), "prompt s1########2")]


_TURN = ("user_prompt", "api_request", "api_response")
_RESULT = {
    "functionResponse": {"id": "call_000001", "name": "read_file", "response": {"output": "x"}}
}
