"""`model_call` reads requests and responses of all providers' shapes."""

from __future__ import annotations

from typing import Any

import pytest

import agentool_otel
from agentool_otel.tracing.spans.settings import settings
from tests.tracing.capture.provider_answers import (
    ANTHROPIC,
    ANTHROPIC_EVENTS,
    GOOGLE,
    GOOGLE_CHUNKS,
)

EXPECTED = [
    {"type": "reasoning", "content": "Look it up."},
    {"type": "text", "content": "One moment."},
    {"type": "tool_call", "name": "search", "arguments": {"q": "otel"}},
]


@pytest.mark.parametrize(
    ("said", "provider"),
    [
        ([ANTHROPIC], "anthropic"),
        (ANTHROPIC_EVENTS, "anthropic"),
        ([GOOGLE], "gcp.gemini"),
        (GOOGLE_CHUNKS, "gcp.gemini"),
        ([GOOGLE_CHUNKS], "gcp.gemini"),
    ],
    ids=["anthropic", "anthropic's events", "google", "google's chunks", "a list of chunks"],
)
def test_a_providers_response_fills_in_the_call(spans: Any, said: list[Any], provider: str) -> None:
    with agentool_otel.model_call("m", messages="Hi") as call:
        for each in said:
            call.output(each)
    attributes = spans.attributes()
    (message,) = spans.json("gen_ai.output.messages")
    parts = [
        {key: value for key, value in part.items() if key not in ("id", "signature")}
        for part in message["parts"]
    ]
    assert parts == EXPECTED
    assert message["finish_reason"] == "tool_call"
    assert attributes["gen_ai.response.finish_reasons"] == ["tool_call"]
    assert attributes["gen_ai.provider.name"] == provider
    assert attributes["gen_ai.response.id"] in ("msg_1", "r1")
    assert attributes["gen_ai.response.model"] in ("claude-x", "gemini-x-001")
    counts = ("input_tokens", "output_tokens", "cache_read.input_tokens")
    assert [attributes[f"gen_ai.usage.{name}"] for name in counts] == [15, 7, 5]


def test_only_events_of_a_stream_mark_a_call_as_streamed(spans: Any) -> None:
    for text in (GOOGLE, ANTHROPIC, ANTHROPIC_EVENTS[0]):
        with agentool_otel.model_call("m", provider="own") as call:
            call.output(text)
    streams = [span.attributes.get("gen_ai.request.stream") for span in spans.finished()]
    assert streams == [None, None, True]


MESSAGES: dict[str, Any] = {
    "chat completions": [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function",
             "function": {"name": "search", "arguments": '{"q": "otel"}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
    ],
    "responses": [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "function_call", "call_id": "c1", "name": "search", "arguments": '{"q": "otel"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
    ],
    "anthropic": [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "otel"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1",
             "content": [{"type": "text", "text": "found"}]}]},
    ],
    "google": [
        {"role": "system", "parts": [{"text": "Be short."}]},
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [
            {"functionCall": {"id": "c1", "name": "search", "args": {"q": "otel"}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": "c1", "name": "search", "response": "found"}}]},
    ],
    "the conventions": [
        {"role": "system", "parts": [{"type": "text", "content": "Be short."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Hi"}]},
        {"role": "assistant", "parts": [
            {"type": "tool_call", "name": "search", "arguments": {"q": "otel"}, "id": "c1"}]},
        {"role": "tool", "parts": [
            {"type": "tool_call_response", "response": "found", "id": "c1"}]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("shape", MESSAGES)
def test_messages_of_every_shape_are_the_same_messages(spans: Any, shape: str) -> None:
    with agentool_otel.model_call("m", provider="own", messages=MESSAGES[shape]):
        pass
    messages = spans.json("gen_ai.input.messages")
    results = messages.pop()
    assert messages == MESSAGES["the conventions"][:-1]
    assert results["parts"] == MESSAGES["the conventions"][-1]["parts"]
    # Spec: the role of a message with a result is the provider's
    assert results["role"] == ("user" if shape in ("anthropic", "google") else "tool")


TOOLS: dict[str, Any] = {
    "openai": [{"type": "function", "function": {
        "name": "search", "description": "Look.", "parameters": {"type": "object"}}}],
    "responses": [{"type": "function", "name": "search", "description": "Look.",
                   "parameters": {"type": "object"}}],
    "anthropic": [{"name": "search", "description": "Look.", "input_schema": {"type": "object"}}],
    "google": [{"functionDeclarations": [
        {"name": "search", "description": "Look.", "parameters": {"type": "object"}}]}],
}  # fmt: skip


@pytest.mark.parametrize("shape", TOOLS)
def test_tools_of_every_shape_are_the_same_definitions(spans: Any, shape: str) -> None:
    settings.infer_runs = False
    with agentool_otel.model_call("m", provider="own", tools=TOOLS[shape], system="Be short."):
        pass
    assert spans.json("gen_ai.tool.definitions") == [
        {"type": "function", "name": "search", "description": "Look.",
         "parameters": {"type": "object"}}
    ]  # fmt: skip
    assert spans.json("gen_ai.system_instructions") == [{"type": "text", "content": "Be short."}]


def test_a_tool_of_the_server_is_named_after_its_type(spans: Any) -> None:
    tools = [{"google_search": {}}, {"type": "web_search_20250305", "name": "web_search"}]
    settings.infer_runs = False
    with agentool_otel.model_call("m", provider="own", tools=tools):
        pass
    assert spans.json("gen_ai.tool.definitions") == [
        {"type": "google_search", "name": "google_search"},
        {"type": "web_search_20250305", "name": "web_search"},
    ]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"error": {"message": "slow down", "type": "x", "code": "rate_limit"}}, "rate_limit"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "x"}},
         "overloaded_error"),
        ({"error": {"code": 404, "message": "no model", "status": "NOT_FOUND"}}, "NOT_FOUND"),
    ],
)  # fmt: skip
def test_an_error_body_is_the_calls_error(spans: Any, body: Any, error: str) -> None:
    with agentool_otel.model_call("m", provider="own") as call:
        call.output(body)
    assert spans.tree() == f"chat m   error={error}"
    assert "gen_ai.output.messages" not in spans.attributes()


def test_a_gemini_text_part_that_is_not_text_is_unknown(spans: Any) -> None:
    parts: list[dict[str, Any]] = [{"text": {}}, {"text": {}}]
    with agentool_otel.model_call("m", provider="own", messages={"parts": parts}):
        pass
    (request,) = spans.json("gen_ai.input.messages")
    assert request["parts"] == [{"type": "unknown", "content": {}}] * 2
