"""The Responses API of the openai client, as spans."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.model.operations import Inference
from agentool_otel.providers import openai_responses as responses
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn

pytest.importorskip("openai.resources.responses", reason="older than the Responses API")

SEARCH = {
    "type": "function",
    "name": "search",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
}


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_is_one_client_span(
    calls: Any, spans: Any, model: LoopbackModel, stream: bool
) -> None:
    model.push(Turn(text="Hi.", input_tokens=41, output_tokens=12))
    calls.responses(stream=stream)
    assert spans.tree() == "chat gpt-5   in=41 out=12 finish=stop"
    assert spans.attributes()["gen_ai.response.id"].startswith("resp_")


def test_parameters_of_the_request_are_attributes(calls: Any, spans: Any) -> None:
    calls.responses(
        temperature=0.5,
        top_p=0.9,
        max_output_tokens=50,
        reasoning={"effort": "high"},
        previous_response_id="resp_0",
        text={"format": {"type": "json_object"}},
    )
    attributes = spans.attributes()
    expected = {
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.request.max_tokens": 50,
        "gen_ai.request.reasoning.level": "high",
        "gen_ai.request.previous_response.id": "resp_0",
        "gen_ai.output.type": "json",
        "openai.api.type": "responses",
    }
    assert {name: attributes.get(name) for name in expected} == expected


def test_a_conversation_at_the_server_is_the_conversation() -> None:
    assert responses.request({"conversation": "conv_1"})["conversation_id"] == "conv_1"
    assert responses.request({"conversation": {"id": "conv_1"}})["conversation_id"] == "conv_1"


def test_instructions_are_apart_from_the_messages(calls: Any, spans: Any) -> None:
    calls.responses(instructions="Be brief.", input="Hello")
    assert spans.json("gen_ai.system_instructions") == [{"type": "text", "content": "Be brief."}]
    assert spans.json("gen_ai.input.messages") == [
        {"role": "user", "parts": [{"type": "text", "content": "Hello"}]}
    ]


@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_text_and_tool_calls_are_parts_of_one_message(
    calls: Any, spans: Any, model: LoopbackModel, stream: bool
) -> None:
    tool_calls = tuple(ToolCall("search", {"n": n}, f"call_{n}") for n in range(2))
    model.push(Turn(reasoning="Think.", text="Searching.", tool_calls=tool_calls))
    calls.responses(tools=[SEARCH], stream=stream)
    assert spans.json("gen_ai.output.messages") == [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "Think."},
                {"type": "text", "content": "Searching."},
                {"type": "tool_call", "name": "search", "arguments": {"n": 0}, "id": "call_0"},
                {"type": "tool_call", "name": "search", "arguments": {"n": 1}, "id": "call_1"},
            ],
            "finish_reason": "tool_call",
        }
    ]
    assert spans.json("gen_ai.tool.definitions") == [SEARCH]


@pytest.mark.parametrize("stream", [False, True])
def test_token_counts_are_those_the_server_reports(
    calls: Any, spans: Any, model: LoopbackModel, stream: bool
) -> None:
    model.push(Turn(input_tokens=100, output_tokens=30, cached_tokens=64, reasoning_tokens=16))
    calls.responses(stream=stream)
    usage = {k: v for k, v in spans.attributes().items() if k.startswith("gen_ai.usage.")}
    assert usage == {
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 30,
        "gen_ai.usage.cache_read.input_tokens": 64,
        "gen_ai.usage.reasoning.output_tokens": 16,
    }


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("stop", "reason"), [("length", "length"), ("refusal", "content_filter")])
def test_the_finish_reason_is_recorded(
    calls: Any, spans: Any, model: LoopbackModel, stream: bool, stop: Any, reason: str
) -> None:
    model.push(Turn(text="I", stop=stop))
    calls.responses(stream=stream)
    (message,) = spans.json("gen_ai.output.messages")
    assert message["parts"] == [{"type": "text", "content": "I"}]
    assert message["finish_reason"] == reason
    assert spans.attributes()["gen_ai.response.finish_reasons"] == [reason]


def test_items_of_a_history_become_messages(calls: Any, spans: Any) -> None:
    calls.responses(
        input=[
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "input_text", "text": "Find it."}]},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "id": "rs"},
            {"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "Found."},
        ]
    )
    messages = spans.json("gen_ai.input.messages")
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool"]
    assert messages[2]["parts"] == [
        {"type": "reasoning", "content": "Hm."},
        {"type": "tool_call", "name": "search", "arguments": {}, "id": "c1"},
    ]
    assert messages[3]["parts"] == [
        {"type": "tool_call_response", "response": "Found.", "id": "c1"}
    ]


def test_tools_that_run_at_the_server_are_calls_with_their_results() -> None:
    item = {"type": "mcp_call", "id": "mcp_1", "name": "roll", "arguments": "{}", "output": "4"}
    assert responses.parts_of_item(item, "mcp_call") == [
        {
            "type": "server_tool_call",
            "name": "roll",
            "server_tool_call": {"type": "mcp", "id": "mcp_1", "name": "roll", "arguments": "{}"},
            "id": "mcp_1",
        },
        {
            "type": "server_tool_call_response",
            "server_tool_call_response": {"type": "mcp", "output": "4"},
            "id": "mcp_1",
        },
    ]


def test_parse_is_recorded_like_create(calls: Any, spans: Any, model: LoopbackModel) -> None:
    from pydantic import BaseModel

    class Weather(BaseModel):
        city: str

    model.push('{"city": "Bern"}')

    def parse(client: Any) -> Any:
        return client.responses.parse(model="gpt-5", input="x", text_format=Weather)

    response = calls.run(parse)
    assert response.output_parsed == Weather(city="Bern")
    assert spans.attributes()["gen_ai.output.type"] == "json"
    assert len(spans.finished()) == 1


def test_a_response_that_failed_is_an_error_of_the_span() -> None:
    reading = responses.ResponsesReading(Inference())
    error = {"code": "server_error", "message": "The model gave up."}
    response: Any = {"id": "r", "status": "failed", "error": error, "output": []}
    reading.add({"type": "response.failed", "response": response})
    operation = reading.operation()
    assert (operation.error_type, operation.error_message) == ("server_error", "The model gave up.")
    assert operation.finish_reasons == ["error"]


def test_a_response_that_runs_in_the_background_has_not_finished() -> None:
    reading = responses.ResponsesReading(Inference())
    reading.whole({"id": "r", "status": "queued", "output": []})
    assert reading.operation().finish_reasons is None


def test_items_of_a_stream_count_where_its_end_repeats_nothing() -> None:
    reading = responses.ResponsesReading(Inference())
    item = {"type": "message", "content": [{"type": "output_text", "text": "Hi."}]}
    reading.add({"type": "response.output_item.done", "output_index": 0, "item": item})
    reading.add({"type": "response.completed", "response": {"status": "completed", "output": []}})
    (message,) = reading.operation().output or []
    assert message["parts"] == [{"type": "text", "content": "Hi."}]
    assert message["finish_reason"] == "stop"


def test_content_off_leaves_no_content_anywhere(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    spans.without_content()
    model.push(Turn(text="secret", reasoning="secret"))
    calls.responses(input="secret", instructions="secret", stream=True)
    assert "secret" not in spans.only().to_json()
