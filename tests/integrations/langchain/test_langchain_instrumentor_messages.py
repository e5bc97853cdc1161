"""LangChain's messages, in every form users and providers have for them."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain_core")

from agentool_otel.integrations.langchain.instrumentor import messages, models
from agentool_otel.providers import langchain


def parts(content: Any, **fields: Any) -> list[dict[str, Any]]:
    from langchain_core.messages import AIMessage

    part: list[dict[str, Any]] = langchain.from_message(AIMessage(content=content, **fields))[
        "parts"
    ]
    return part


@pytest.mark.parametrize(
    "given",
    ["Hello", ("user", "Hello"), ("human", "Hello"), {"role": "user", "content": "Hello"}],
)
def test_every_form_of_a_user_message_is_read(given: Any) -> None:
    texts = {"role": "user", "parts": [{"type": "text", "content": "Hello"}]}
    assert langchain.from_message(given) == texts


def test_thoughts_of_anthropic_keep_their_signature() -> None:
    text = parts([{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, "Yes."])
    assert text == [
        {"type": "reasoning", "content": "Hm.", "signature": "c2ln"},
        {"type": "text", "content": "Yes."},
    ]


def test_thoughts_beside_the_content_come_first() -> None:
    text = parts("Yes.", additional_kwargs={"reasoning_content": "Hm."})
    assert [part["type"] for part in text] == ["reasoning", "text"]


def test_a_call_in_content_and_tool_calls_is_one() -> None:
    text = parts(
        [{"type": "tool_use", "id": "c1", "name": "search", "input": {"q": 1}}],
        tool_calls=[{"name": "search", "args": {"q": 1}, "id": "c1"}],
    )
    assert text == [{"type": "tool_call", "name": "search", "arguments": {"q": 1}, "id": "c1"}]


def test_provider_tools_are_distinguished() -> None:
    text = parts(
        [
            {"type": "server_tool_call", "name": "web_search", "args": {"q": 1}, "id": "s1"},
            {"type": "server_tool_result", "tool_call_id": "s1", "output": [1]},
        ]
    )
    assert [part["type"] for part in text] == ["server_tool_call", "server_tool_call_response"]
    assert text[0]["server_tool_call"] == {"type": "web_search", "arguments": {"q": 1}}


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            {"type": "image", "url": "https://a/b.png"},
            {"type": "uri", "uri": "https://a/b.png", "modality": "image"},
        ),
        (
            {"type": "image", "base64": "aGk=", "mime_type": "image/png"},
            {"type": "blob", "content": "aGk=", "modality": "image", "mime_type": "image/png"},
        ),
        (
            {"type": "image", "source": {"data": "aGk=", "media_type": "image/png"}},
            {"type": "blob", "content": "aGk=", "modality": "image", "mime_type": "image/png"},
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://a/b.png"}},
            {"type": "uri", "uri": "https://a/b.png", "modality": "image"},
        ),
        (
            {"type": "file", "file_id": "f1"},
            {"type": "file", "file_id": "f1", "modality": "document"},
        ),
        ({"type": "novel", "x": 1}, {"type": "novel", "x": 1}),
    ],
)
def test_media_have_their_parts(block: Any, part: Any) -> None:
    assert langchain.from_message({"role": "user", "content": [block]})["parts"] == [part]


@pytest.mark.parametrize(
    ("said", "reason"),
    [("tool_calls", "tool_call"), ("end_turn", "stop"), ("MAX_TOKENS", "length"), ("odd", "odd")],
)
def test_finish_reasons_are_the_conventions_where_they_have_one(said: str, reason: str) -> None:
    assert langchain.finish_reason({"stop_reason": said}) == reason


def test_a_graphs_input_is_the_last_user_message() -> None:
    state = {"messages": [("user", "a"), ("ai", "b"), ("user", "c"), ("user", "d")]}
    new_input = messages.new_input(state)
    assert new_input is not None
    assert [each["parts"][0]["content"] for each in new_input] == ["c", "d"]
    assert messages.new_input({"count": 1}) is None


@pytest.mark.parametrize("tools", ["tools", "functions"])
def test_tool_definitions_of_every_provider(tools: str) -> None:
    schema = {"type": "object"}
    values = {
        tools: [
            {"type": "function", "function": {"name": "a", "parameters": schema}},
            {"name": "b", "description": "B.", "input_schema": schema},
            {"function_declarations": [{"name": "c", "parameters": schema}]},
        ]
    }
    assert models.offered_tools(values) == [
        {"type": "function", "name": "a", "parameters": schema},
        {"type": "function", "name": "b", "description": "B.", "parameters": schema},
        {"type": "function", "name": "c", "parameters": schema},
    ]
