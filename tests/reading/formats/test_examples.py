"""One small run in every format, as its readers see it."""

from __future__ import annotations

import json
from typing import Any

from tests.reading.formats.written import call, convert, file_of, result, thought, trace

RUN = trace(
    thought("look it up"),
    call("c1", "search", {"q": "otel"}),
    call("c2", "search", {"q": "atif"}),
    result("c2", ["b"]),
    result("c1", "a"),
    thought("enough"),
    input="what is new?",
    output="nothing",
)


def messages(*steps: dict[str, Any], **members: Any) -> list[dict[str, Any]]:
    message: list[dict[str, Any]] = convert("openai-messages", trace(*steps, **members)).value[
        "messages"
    ]
    return message


def test_a_trace_as_openai_messages() -> None:
    user, asks, first, second, answer = convert("openai-messages", RUN).value["messages"]
    assert user == {"role": "user", "content": "what is new?"}
    assert asks["reasoning_content"] == "look it up"
    assert [each["function"]["arguments"] for each in asks["tool_calls"]] == [
        '{"q":"otel"}',
        '{"q":"atif"}',
    ]
    assert first == {"role": "tool", "tool_call_id": "c1", "content": "a"}
    assert second == {"role": "tool", "tool_call_id": "c2", "content": '["b"]'}
    assert answer == {"role": "assistant", "reasoning_content": "enough", "content": "nothing"}


def test_a_trace_as_an_atif_trajectory() -> None:
    value = convert("atif", RUN).value
    assert [step["source"] for step in value["steps"]] == ["user", "agent", "agent"]
    _, asks, answer = value["steps"]
    assert asks["observation"]["results"] == [
        {"source_call_id": "c1", "content": "a"},
        {"source_call_id": "c2", "content": '["b"]'},
    ]
    assert (answer["reasoning_content"], answer["message"]) == ("enough", "nothing")


def test_a_trace_as_an_adk_evalset() -> None:
    (case,) = json.loads(file_of("adk-evalset", RUN))["eval_cases"]
    (invocation,) = case["conversation"]
    assert invocation["intermediate_data"] == {
        "tool_uses": [
            {"id": "c1", "name": "search", "args": {"q": "otel"}},
            {"id": "c2", "name": "search", "args": {"q": "atif"}},
        ],
        "tool_responses": [
            {"id": "c2", "name": "search", "response": {"result": ["b"]}},
            {"id": "c1", "name": "search", "response": {"result": "a"}},
        ],
        "intermediate_responses": [
            ["agent", [{"text": "look it up", "thought": True}]],
            ["agent", [{"text": "enough", "thought": True}]],
        ],
    }


def test_a_trace_as_an_inspect_log() -> None:
    (sample,) = json.loads(file_of("inspect", RUN))["samples"]
    assert [m["role"] for m in sample["messages"]] == [
        "user", "assistant", "tool", "tool", "assistant",
    ]  # fmt: skip
    assert sample["output"]["completion"] == "nothing"


def test_an_inspect_event_without_a_time_has_that_of_the_step_before_it() -> None:
    late = {"type": "memory_read", "query": "q"}
    names = {**late, "timestamp": "2026-03-01T10:00:01Z"}
    value, losses = convert("inspect", trace(late, names, late))
    assert [event["timestamp"] for event in value["events"]] == ["2026-03-01T10:00:01Z"] * 2
    assert [(loss.outcome, loss.member) for loss in losses] == [
        ("lost", "memory_read"),
        ("normalised", "timestamp"),
    ]


def test_an_atif_handoff_names_the_trajectory_it_leads_to_where_known() -> None:
    handoff = {"type": "handoff", "to_agent": "writer"}
    value = convert("atif", trace(handoff, metadata={"sub_traces": ["t2"]})).value
    (step,) = value["steps"]
    assert step["message"] == "Handoff to writer"
    assert step["observation"] == {
        "results": [{"subagent_trajectory_ref": [{"trajectory_id": "t2"}]}]
    }


def test_a_call_after_a_result_is_another_answer_of_the_model() -> None:
    roles = [m["role"] for m in messages(call("1"), result("1"), call("2"), result("2"))]
    assert roles == ["assistant", "tool"] * 2


def test_calls_without_an_id_get_one_that_no_other_has() -> None:
    (asks,) = messages(call(None), call("call_2"), call(None))
    assert [each["id"] for each in asks["tool_calls"]] == ["call_1", "call_2", "call_3"]


def test_a_result_without_its_call_is_lost_and_listed() -> None:
    value, losses = convert("openai-messages", trace(result("gone")))
    assert value["messages"] == []
    assert [loss.reason for loss in losses if loss.member == "tool_result"] == [
        "the call it answers is not in the trace"
    ]
