"""Calls of `messages`: input, answer and server."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.integrations.anthropic.instrumentor.clients import provider_of
from agentool_otel.integrations.anthropic.instrumentor.patches import AnthropicInstrumentor
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn
from agentool_otel.tracing.instrumentation.wrapper_chain import layers
from tests.integrations.anthropic.conftest import HELLO

anthropic: Any = pytest.importorskip("anthropic")

SEARCH = {
    "name": "search_web",
    "description": "Search the web.",
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
}
CACHED = Turn(
    text="Hello.",
    reasoning="A greeting.",
    input_tokens=100,
    output_tokens=20,
    cached_tokens=60,
    cache_write_tokens=30,
    reasoning_tokens=8,
)


def test_a_call_is_one_span_with_its_parameters(calls: Any, spans: Any) -> None:
    calls.create(
        extra_body={"temperature": 0.5, "top_p": 0.9, "top_k": 40},
        stop_sequences=["END"],
        service_tier="auto",
        thinking={"type": "enabled", "budget_tokens": 1024},
        output_config={"effort": "high"},
    )
    attributes = spans.attributes()
    assert spans.only().name == "chat claude-sonnet-5"
    expected = {
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-5",
        "gen_ai.request.max_tokens": 100,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.request.top_k": 40,
        "gen_ai.request.stop_sequences": ["END"],
        "gen_ai.request.reasoning.level": "high",
        "gen_ai.response.finish_reasons": ["stop"],
        "anthropic.request.service_tier": "auto",
        "anthropic.response.service_tier": "standard",
        "anthropic.thinking.type": "enabled",
        "anthropic.thinking.budget_tokens": 1024,
        "server.address": "127.0.0.1",
    }
    assert {name: attributes.get(name) for name in expected} == expected


@pytest.mark.parametrize("stream", [False, True])
def test_input_tokens_are_all_that_were_read_cached_or_not(
    client: Any, model: LoopbackModel, spans: Any, stream: bool
) -> None:
    model.push(CACHED)
    answer = client.messages.create(**HELLO, stream=stream)
    list(answer)
    attributes = spans.attributes()
    assert attributes["gen_ai.usage.input_tokens"] == 100
    assert attributes["gen_ai.usage.output_tokens"] == 20
    assert attributes["gen_ai.usage.cache_read.input_tokens"] == 60
    assert attributes["gen_ai.usage.cache_write.input_tokens"] == 30
    assert attributes["gen_ai.usage.reasoning.output_tokens"] == 8
    [message] = spans.json("gen_ai.output.messages")
    thought, answer = message["parts"]
    assert (thought["type"], thought["content"]) == ("reasoning", "A greeting.")
    assert thought["signature"]
    assert answer["content"] == "Hello."


def test_instructions_tools_and_messages_are_recorded(client: Any, spans: Any) -> None:
    server_tool = {"type": "web_search_20250305", "name": "web_search", "max_uses": 2}
    client.messages.create(
        **HELLO | {"tools": [server_tool, SEARCH], "system": [{"type": "text", "text": "Be kind."}]}
    )
    assert spans.json("gen_ai.system_instructions") == [{"type": "text", "content": "Be kind."}]
    tools = spans.json("gen_ai.tool.definitions")
    assert [(tool["type"], tool["name"]) for tool in tools] == [
        ("web_search_20250305", "web_search"),
        ("function", "search_web"),
    ]
    assert tools[1]["parameters"] == SEARCH["input_schema"]


def test_blocks_of_the_sdk_that_are_sent_back_lose_nothing(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    """The answer that the program has got, as objects, and the same as JSON."""
    model.push(Turn(reasoning="Look.", tool_calls=(ToolCall("search_web", {"query": "x"}, "t1"),)))
    answer = client.messages.create(**HELLO)
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}
    histories = [
        [*HELLO["messages"], {"role": "assistant", "content": content}, {"role": "user",
         "content": [result]}]
        for content in (answer.content, [item.to_dict() for item in answer.content])
    ]  # fmt: skip
    spans.forget()
    inputs = []
    for messages in histories:
        client.messages.create(**{**HELLO, "messages": messages})
        inputs.append(spans.json("gen_ai.input.messages"))
        spans.forget()
    assert inputs[0] == inputs[1]
    _, assistant, tool = inputs[0]
    assert assistant["parts"][0]["signature"]
    assert assistant["parts"][1]["arguments"] == {"query": "x"}
    assert tool["parts"][0] | {"id": "t1", "response": "no", "is_error": True} == tool["parts"][0]


def test_a_refusal_is_no_error(client: Any, model: LoopbackModel, spans: Any) -> None:
    model.push(Turn(text="I will not.", stop="refusal"))
    client.messages.create(**HELLO)
    attributes = spans.attributes()
    assert attributes["gen_ai.response.finish_reasons"] == ["content_filter"]
    assert "error.type" not in attributes


def test_a_call_that_is_tried_again_is_one_span(
    calls: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push(Turn(status=429, headers={"retry-after": "0"}), "Hello.")
    calls.run(lambda client: client.messages.create(**HELLO), max_retries=2)
    assert len(model.requests) == 2
    assert "error.type" not in spans.attributes()


def test_an_error_is_the_programs_and_the_spans(
    calls: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push(Turn(status=529, error="busy"))
    with pytest.raises(anthropic.APIStatusError, match="busy"):
        calls.create()
    assert spans.attributes()["error.type"].startswith("anthropic.")
    assert "gen_ai.response.finish_reasons" not in spans.attributes()


def raw(client: Any) -> Any:
    return client.messages.with_raw_response.create(**HELLO).parse()


def raw_stream(client: Any) -> Any:
    return list(client.messages.with_raw_response.create(**HELLO, stream=True).parse())


def streaming(client: Any) -> None:
    with client.messages.with_streaming_response.create(**HELLO) as response:
        response.parse()


def streaming_text(client: Any) -> None:
    with client.messages.with_streaming_response.create(**HELLO) as response:
        response.read()


def parsed(client: Any) -> Any:
    return client.messages.parse(**HELLO)


def beta(client: Any) -> Any:
    return client.beta.messages.create(**HELLO)


def beta_parsed(client: Any) -> Any:
    return client.beta.messages.parse(**HELLO)


def beta_streamed(client: Any) -> None:
    with client.beta.messages.stream(**HELLO) as stream:
        stream.until_done()


WAYS = [raw, raw_stream, streaming, streaming_text, parsed, beta, beta_parsed, beta_streamed]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_way_to_call_is_one_whole_span(
    client: Any, model: LoopbackModel, spans: Any, way: Callable[[Any], Any]
) -> None:
    model.push(Turn(text="Hello.", input_tokens=7, output_tokens=3))
    way(client)
    attributes = spans.attributes()
    assert attributes["gen_ai.usage.input_tokens"] == 7
    assert attributes["gen_ai.usage.output_tokens"] == 3
    [message] = json.loads(attributes["gen_ai.output.messages"])
    assert message["parts"] == [{"type": "text", "content": "Hello."}]


def test_counting_tokens_is_no_call_of_a_model(client: Any, spans: Any) -> None:
    client.messages.count_tokens(model="claude", messages=HELLO["messages"])
    assert spans.finished() == []


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("AnthropicBedrock", "aws.bedrock"),
        ("AsyncAnthropicVertex", "gcp.vertex_ai"),
        ("AnthropicFoundry", "azure.ai.inference"),
        ("Anthropic", "anthropic"),
    ],
)
def test_a_platform_is_known_by_its_client(name: str, provider: str) -> None:
    value: Any = getattr(anthropic, name)
    heir = type("Mine", (value,), {})
    assert provider_of(object.__new__(value), None) == provider
    assert provider_of(object.__new__(heir), None) == provider


def test_a_compatible_server_is_identified_by_its_host() -> None:
    new = object.__new__(anthropic.Anthropic)
    assert provider_of(new, "api.deepseek.com") == "deepseek"
    assert provider_of(new, "localhost") == "anthropic"


def test_the_copies_of_bedrock_and_vertex_are_wrapped_once(instrumented: None) -> None:
    places = ("resources.beta.messages.messages", "lib.bedrock._beta_messages")
    modules: list[Any] = [import_module(f"anthropic.{place}") for place in places]
    results = [
        vars(module.Messages) for module in (*modules, import_module("anthropic.lib.vertex._beta"))
    ]
    wrapped = [len(list(layers(item["create"]))) for item in results]
    AnthropicInstrumentor().uninstrument()
    assert [1 + len(list(layers(item["create"]))) for item in results] == wrapped
    assert results[0]["create"] is results[1]["create"] is results[2]["create"]
