"""The Logfire SDK: a recording, and spans written from its source."""

from __future__ import annotations

import json
from typing import Any

from tests.dialects.spelled import coverage, span, spelled, text
from tests.dialects.traces import recorded

RECORDED = recorded("logfire-5.2.0.logfire.jsonl")
LOGFIRE = [
    span(
        {
            "logfire.msg": "Chat Completion with 'gpt-4o'",
            "request_data": json.dumps(
                {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
            ),
            "response_data": json.dumps(
                {
                    "message": {"role": "assistant", "content": "hello"},
                    "usage": {"prompt_tokens": 3, "completion_tokens": 4},
                }
            ),
        },
        scope="logfire.openai",
    ),
    span({"logfire.msg": "GET /", "http.method": "GET"}, scope="logfire"),
]


def test_wrapped_clients_are_model_calls_and_other_logfire_spans_are_not() -> None:
    assert spelled(*LOGFIRE) == text("""
        logfire: chat model=gpt-4o in=3 out=4
          > user: hi
          < assistant: hello
        logfire: unclassified
    """)
    assert coverage(LOGFIRE) == 0.4


def test_a_streamed_call_is_read_once() -> None:
    assert spelled(*RECORDED) == text("""
        logfire: chat provider=openai model=gpt-5 answered_by=gpt-5 response=chatcmpl-000003
            finish=tool_calls cost=0.00026325 in=41 out=23 tools=get_weather
          > user: What is the weather in Paris and Rome?
          < assistant: I will look up both. | [call call_000001] get_weather {"city":"Paris"}
            | [call call_000002] get_weather {"city":"Rome"} (tool_calls)
        logfire: chat provider=openai model=gpt-5 answered_by=gpt-5 response=resp_000005
            cost=5.5e-05 in=12 out=4
          > user: Count to three.
          < assistant: The answer is 42.
        logfire: unclassified
        logfire: chat provider=openai model=gpt-5 answered_by=gpt-5
          > user: Count to three.
          < assistant: The answer is 42. (stop)
        logfire: chat provider=openai model=gpt-5 answered_by=gpt-5 response=chatcmpl-000003
            finish=tool_calls cost=0.00026325 in=41 out=23 tools=get_weather
          > user: What is the weather in Paris and Rome?
          < assistant: I will look up both. | [call call_000001] get_weather {"city":"Paris"}
            | [call call_000002] get_weather {"city":"Rome"} (tool_calls)
        logfire: chat provider=openai model=gpt-5 answered_by=gpt-5 response=resp_000005
            cost=5.5e-05 in=12 out=4
          > user: Count to three.
          < assistant: The answer is 42.
        logfire: unclassified
        logfire: chat provider=openai model=gpt-5 answered_by=gpt-5
          > user: Count to three.
          < assistant: The answer is 42. (stop)
    """)


def test_the_items_of_a_response_are_its_answer_if_there_are_no_choices() -> None:
    reasoning = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    events = [
        {"event.name": "gen_ai.user.message", "role": "user", "content": "hi"},
        {"event.name": "gen_ai.unknown", "content": "reasoning\n\nSee JSON", "data": reasoning},
        {"event.name": "gen_ai.assistant.message", "role": "assistant", "content": "hello"},
    ]
    record = span(
        {
            "logfire.msg": "Responses API with 'gpt-4o'",
            "gen_ai.request.model": "gpt-4o",
            "events": json.dumps(events),
        },
        scope="logfire.openai",
    )
    assert spelled(record) == text("""
        logfire: chat model=gpt-4o
          > user: hi
          < assistant: [thinks] hm | hello
    """)


def test_spans_of_the_agents_sdk_are_recognised_by_their_templates() -> None:
    spans: list[tuple[str, dict[str, Any]]] = [
        ("OpenAI Agents trace: {name}", {"name": "flow", "group_id": "g"}),
        ("Agent run: {name!r}", {"name": "clerk", "tools": '["find"]'}),
        ("Handoff: {from_agent} → {to_agent}", {"from_agent": "clerk", "to_agent": "boss"}),
        (
            "Function: {name}",
            {
                "name": "find",
                "input": '{"n":1}',
                "output": "failed",
                "error": '{"message":"Error running tool","data":{"error":"no such n"}}',
            },
        ),
        (
            "Chat completion with {gen_ai.request.model!r}",
            {
                "gen_ai.request.model": "m",
                "input": '[{"role":"user","content":"hi"}]',
                "output": '[{"role":"assistant","content":"hello"}]',
                "request_data": '{"messages":[],"model":"m"}',
            },
        ),
        ("Turn {turn} for agent clerk", {"turn": 1}),
    ]
    scope = "logfire.openai_agents"
    assert spelled(*(span(output, name=name, scope=scope) for name, output in spans)) == text("""
        logfire: workflow flow session=g
        logfire: agent agent=clerk tools=find
        logfire: tool transfer_to_boss agent=clerk transfer_to=boss
        logfire: tool find tool_error=no such n arguments={"n":1} result="failed"
        logfire: chat model=m
          > user: hi
          < assistant: hello
        logfire: unclassified
    """)
