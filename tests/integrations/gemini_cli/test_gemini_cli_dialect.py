"""Gemini CLI: a public span, and others written from its source."""

from __future__ import annotations

import json
from typing import Any

from agentool_otel.dialects import classify
from agentool_otel.integrations.gemini_cli.dialect import GeminiCLI
from agentool_otel.model.messages import message
from tests.dialects.spelled import coverage, event, span, spelled, text
from tests.dialects.traces import load

PUBLIC = load("coding_agent_native_spans/gemini-B.llm_call.json")
CUT = '[{"role":"user","parts":[{"text":"a long...[TRUNCATED: original length 99999]'
SPANS = [
    span(
        {"gen_ai.operation.name": "user_prompt", "gen_ai.input.messages": "Fix it."},
        scope="gemini-cli",
    ),
    span(
        {
            "gen_ai.operation.name": "tool_call",
            "gen_ai.agent.name": "gemini-cli",
            "gen_ai.tool.name": "run_shell_command",
            "gen_ai.tool.call_id": "c1",
            "gen_ai.input.messages": '{"command": "ls"}',
            "gen_ai.output.messages": '{"llmContent": "a.py"}',
        },
        scope="gemini-cli",
    ),
    span({"gen_ai.operation.name": "schedule_tool_calls"}, scope="gemini-cli"),
]
LOGS = [
    span(
        {
            "session.id": "s1",
            "model": "gemini-3",
            "input_token_count": 100,
            "output_token_count": 20,
            "thoughts_token_count": 7,
            "cached_content_token_count": 60,
            "total_token_count": 127,
        },
        name="gemini_cli.api_response",
    ),
    span(
        {
            "function_name": "read_file",
            "function_args": '{"path": "a"}',
            "duration_ms": 12,
            "success": False,
            "error": "not found",
        },
        name="gemini_cli.tool_call",
    ),
    span({"session.id": "s1"}, name="gemini_cli.loop_detected"),
    span({"session.id": "s1"}, name="gemini_cli.api_request"),
]


def test_a_public_span_is_read() -> None:
    assert spelled(*PUBLIC) == text("""
        gemini_cli: chat provider=gcp.gemini model=gemini-3.1-flash-lite
            session=945bd8d5-0657-4385-a99e-30240bfd2e00 in=767 out=30
            system: ⏎You are a specialized Task Routing AI. Yo…ity_score": 95}⏎
          > user: <session_context>⏎This is the Gemini CLI. …session_context>
          > user: Turn 1: reply with exactly the line PONG-G…nd nothing else.
          < assistant: [thinks] **Analyzing the User's Request and Determi…raneous text.⏎⏎⏎ |
            {"complexity_reasoning": "The user request…exity_score": 5}
    """)
    assert coverage(PUBLIC) == 0.75


def test_operations_of_its_own_are_read() -> None:
    assert spelled(*SPANS) == text("""
        gemini_cli: agent agent=gemini-cli
          > user: Fix it.
        gemini_cli: tool run_shell_command call=c1 agent=gemini-cli arguments={"command":"ls"}
            result={"llmContent":"a.py"}
        gemini_cli: unclassified
    """)
    assert coverage(SPANS) == 0.89


def test_log_records_are_read() -> None:
    assert spelled(*LOGS) == text("""
        gemini_cli: chat provider=gcp.gemini model=gemini-3 session=s1 in=100 out=27 cached=60
            reasoning=7 total=127
        gemini_cli: tool read_file ms=12 error=_OTHER message=not found arguments={"path":"a"}
        gemini_cli: unclassified session=s1 error=loop_detected
        gemini_cli: unclassified session=s1
    """)
    assert coverage(LOGS) == 1.0


def test_truncated_messages_are_not_read_as_text() -> None:
    attributes = {"gen_ai.operation.name": "llm_call", "gen_ai.input.messages": CUT}
    operation: Any = classify(span(attributes, scope="gemini-cli"))[1]
    assert operation.input is None
    assert operation.extra["gen_ai.input.messages"] == CUT


def test_a_detected_loop_is_the_outcome_of_the_run_it_happened_in() -> None:
    record = span(
        {"gen_ai.operation.name": "user_prompt"},
        event("gemini_cli.loop_detected"),
        scope="gemini-cli",
    )
    assert classify(record)[1].error_type == "loop_detected"


def test_an_unknown_record_stays_in_the_tree() -> None:
    known = span({"gen_ai.operation.name": "llm_call"}, name="llm_call", scope="gemini-cli")
    other = span({"session.id": "s1"}, name="gemini_cli.novelty", scope="gemini-cli")
    config = span({"session.id": "s1"}, name="gemini_cli.config", scope="gemini-cli")
    _, unknown = GeminiCLI().entries([known, other, config])
    assert unknown == [other]


def test_an_answer_in_pieces_is_one_message() -> None:
    pieces = [{"role": "model", "parts": [{"text": words}]} for words in ("Par", "is.")]
    attributes = {"gen_ai.operation.name": "llm_call", "gen_ai.output.messages": json.dumps(pieces)}
    operation: Any = classify(span(attributes, scope="gemini-cli"))[1]
    assert operation.output == [message("assistant", [{"type": "text", "content": "Paris."}])]


def test_a_running_sub_agent_is_below_the_call_that_started_it() -> None:
    asked = {"functionCall": {"name": "invoke_agent", "args": {"agent_name": "miner"}, "id": "c1"}}
    response = {"candidates": [{"content": {"role": "model", "parts": [asked]}}]}
    names = {"session.id": "s1", "prompt_id": "s1", "response_text": json.dumps([response])}
    started = {"session.id": "s1", "agent_id": "a1", "agent_name": "miner"}
    records = [
        span(
            {"event.name": f"gemini_cli.{name}", **attributes},
            name=f"gemini_cli.{name}", scope="gemini-cli", start_ns=n, end_ns=n,
        )
        for n, (name, attributes) in enumerate(
            [("api_response", names), ("agent.start", started)], 1
        )
    ]  # fmt: skip
    entries, _ = GeminiCLI().entries(records)
    assert [entry.started_by for entry in entries if entry.kind == "agent"] == ["c1"]


def test_without_content_each_prompt_of_a_session_is_a_turn() -> None:
    records = [
        span(
            {"gen_ai.operation.name": kind, "gen_ai.conversation.id": "s1", **prompt},
            name=kind, scope="gemini-cli", start_ns=n, end_ns=n,
        )
        for n, (kind, prompt) in enumerate(
            [
                ("llm_call", {"gen_ai.prompt.name": "s1########0"}),
                ("tool_call", {"gen_ai.tool.name": "glob"}),
                ("llm_call", {"gen_ai.prompt.name": "s1########1"}),
            ],
            1,
        )
    ]  # fmt: skip
    entries, _ = GeminiCLI().entries(records)
    turns = [entry.turn for entry in entries if entry.kind != "turn"]
    assert turns == ["prompt s1########0", "prompt s1########0", "prompt s1########1"]
