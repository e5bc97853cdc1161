"""One message is the same message in the shape of every API, watched live or found in a file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentool_otel.dialects.kit.provider_messages import messages_from
from agentool_otel.model.messages import message, parts_of, reasoning, text, tool_call
from agentool_otel.providers.shapes import messages_of

PLACES = {"q": "otel"}
CALLED = message("assistant", [text("One moment."), tool_call("search", PLACES, "c1")])
FUNCTION = {"id": "c1", "function": {"name": "search", "arguments": json.dumps(PLACES)}}
CALLS: dict[str, Any] = {
    "chat completions": {"role": "assistant", "content": "One moment.", "tool_calls": [FUNCTION]},
    "anthropic": {"role": "assistant", "content": [
        {"type": "text", "text": "One moment."},
        {"type": "tool_use", "id": "c1", "name": "search", "input": PLACES}]},
    "bedrock": {"role": "assistant", "content": [
        {"text": "One moment."},
        {"toolUse": {"toolUseId": "c1", "name": "search", "input": PLACES}}]},
    "google": {"role": "model", "parts": [
        {"text": "One moment."},
        {"functionCall": {"id": "c1", "name": "search", "args": PLACES}}]},
    "langchain": {"type": "ai", "content": "One moment.", "tool_calls": [
        {"id": "c1", "name": "search", "args": PLACES}]},
    "vercel": {"role": "assistant", "content": [
        {"type": "text", "text": "One moment."},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "search", "input": PLACES}]},
    "the conventions": CALLED,
}  # fmt: skip
RESPONSE = {"type": "tool_call_response", "response": "found", "id": "c1"}
RESULTS: dict[str, Any] = {
    "chat completions": {"role": "tool", "tool_call_id": "c1", "content": "found"},
    "responses": {"type": "function_call_output", "call_id": "c1", "output": "found"},
    "anthropic": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "c1", "content": "found"}]},
    "bedrock": {"role": "user", "content": [
        {"toolResult": {"toolUseId": "c1", "content": [{"text": "found"}]}}]},
    "google": {"role": "user", "parts": [{"functionResponse": {"id": "c1", "response": "found"}}]},
    "langchain": {"type": "tool", "tool_call_id": "c1", "content": "found"},
    "vercel": {"role": "tool", "content": [
        {"type": "tool-result", "toolCallId": "c1", "toolName": "search",
         "output": {"type": "text", "value": "found"}}]},
}  # fmt: skip
LIVE_AND_RECORDED = pytest.mark.parametrize("read", [messages_of, messages_from])


@LIVE_AND_RECORDED
@pytest.mark.parametrize("shape", CALLS)
def test_an_answer_that_calls_a_tool(read: Any, shape: str) -> None:
    assert read([CALLS[shape]], "user") == [CALLED]


@LIVE_AND_RECORDED
@pytest.mark.parametrize("shape", RESULTS)
def test_the_result_of_a_tool(read: Any, shape: str) -> None:
    (answered,) = read([RESULTS[shape]], "user")
    assert parts_of(answered) == [RESPONSE]
    assert answered["role"] == RESULTS[shape].get("role", "tool")  # Spec: the provider's


@pytest.mark.parametrize("shape", CALLS)
def test_recordings_may_be_json_text(shape: str) -> None:
    assert messages_from(json.dumps([CALLS[shape]]), "user") == [CALLED]


@LIVE_AND_RECORDED
@pytest.mark.parametrize("block", [
    {"type": "thinking", "thinking": "Hm.", "signature": "s"},
    {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
    {"type": "reasoning_content", "reasoning_content": {"text": "Hm.", "signature": "s"}},
    {"type": "reasoning", "reasoning": "Hm.", "signature": "s"},
])  # fmt: skip
def test_a_thought_keeps_its_signature(read: Any, block: Any) -> None:
    (thought,) = read([{"role": "assistant", "content": [block]}], "user")
    assert parts_of(thought) == [{**reasoning("Hm."), "signature": "s"}]


@LIVE_AND_RECORDED
@pytest.mark.parametrize("block", [
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "low"}},
    {"type": "image", "source": {"type": "base64", "data": "aGk=", "media_type": "image/png"},
     "detail": "low"},
    {"type": "image", "base64": "aGk=", "mime_type": "image/png", "detail": "low"},
    {"type": "image", "image": "aGk=", "mediaType": "image/png", "detail": "low"},
    {"type": "file", "data": "aGk=", "mediaType": "image/png", "detail": "low"},
])  # fmt: skip
def test_a_medium_keeps_what_else_is_known_of_it(read: Any, block: Any) -> None:
    (request,) = read([{"role": "user", "content": [block]}], "user")
    blob = {"type": "blob", "content": "aGk=", "modality": "image", "mime_type": "image/png"}
    assert parts_of(request) == [{**blob, "detail": "low"}]


@LIVE_AND_RECORDED
def test_a_duplicate_call_keeps_the_separate_arguments(read: Any) -> None:
    """A stream of LangChain's repeats calls in the content, as far as it had got."""
    block = {"type": "tool_use", "id": "c1", "name": "search", "input": {}}
    (called,) = read([{"role": "assistant", "content": [block], "tool_calls": [FUNCTION]}], "user")
    assert parts_of(called) == [tool_call("search", PLACES, "c1")]


@LIVE_AND_RECORDED
@pytest.mark.parametrize("block", [{"type": "novel", "x": 1}, {"type": "text", "content": "x"}])
def test_blocks_without_a_reader_and_parts_of_the_conventions_pass(read: Any, block: Any) -> None:
    assert parts_of(read([{"role": "user", "content": [block]}], "user")[0]) == [block]


@LIVE_AND_RECORDED
@pytest.mark.parametrize(
    ("given", "known"),
    [("[1]", [1]), ('"{\\"a\\": 1}"', {"a": 1}), ("", {}), (None, None), ("7", "7"), ("a", "a")],
)
def test_arguments_are_what_their_text_is_json_of(read: Any, given: Any, known: Any) -> None:
    call = {"id": "c1", "function": {"name": "search", "arguments": given}}
    (called,) = read([{"role": "assistant", "tool_calls": [call]}], "user")
    assert parts_of(called) == [tool_call("search", known, "c1")]
