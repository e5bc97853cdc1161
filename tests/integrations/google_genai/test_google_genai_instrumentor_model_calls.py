"""Model calls and embeddings: request, answer, server."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn
from agentool_otel.tracing.spans.settings import settings
from tests.content.images import image
from tests.integrations.google_genai.conftest import entered

pytest.importorskip("google.genai")

FLASH = "gemini-2.5-flash"
THOUGHTFUL = Turn(
    text="Hello.",
    reasoning="A greeting.",
    input_tokens=100,
    output_tokens=20,
    cached_tokens=60,
    reasoning_tokens=8,
)


def errors() -> Any:
    return import_module("google.genai.errors")


def names(spans: Any) -> list[str]:
    return [span.name for span in spans.finished()]


def text_of(span: Any, name: str) -> str:
    return str(json.loads(span.attributes[name])[0]["parts"][0]["content"])


def test_a_call_is_one_span_with_its_parameters(client: Any, spans: Any) -> None:
    client.models.generate_content(
        model=f"models/{FLASH}",
        contents="Hello",
        config={
            "temperature": 0.5,
            "top_p": 0.9,
            "top_k": 40,
            "max_output_tokens": 100,
            "stop_sequences": ["END"],
            "seed": 7,
            "candidate_count": 1,
            "presence_penalty": 0.25,
            "response_mime_type": "application/json",
            "thinking_config": {"thinking_budget": 512},
        },
    )
    attributes = spans.attributes()
    assert spans.only().name == f"generate_content {FLASH}"
    expected = {
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": FLASH,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.request.top_k": 40,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.request.stop_sequences": ["END"],
        "gen_ai.request.seed": 7,
        "gen_ai.request.presence_penalty": 0.25,
        "gen_ai.output.type": "json",
        "gen_ai.response.model": FLASH,
        "gen_ai.response.finish_reasons": ["stop"],
        "server.address": "127.0.0.1",
    }
    assert {name: attributes.get(name) for name in expected} == expected
    assert "gen_ai.request.choice.count" not in attributes


@pytest.mark.parametrize("stream", [False, True])
def test_thoughts_count_as_output_and_cached_tokens_as_input(
    client: Any, model: LoopbackModel, spans: Any, stream: bool
) -> None:
    model.push(THOUGHTFUL)
    method = client.models.generate_content_stream if stream else client.models.generate_content
    answer = method(model=FLASH, contents="Hello")
    list(answer)
    attributes = spans.attributes()
    assert attributes["gen_ai.usage.input_tokens"] == 100
    assert attributes["gen_ai.usage.output_tokens"] == 20
    assert attributes["gen_ai.usage.cache_read.input_tokens"] == 60
    assert attributes["gen_ai.usage.reasoning.output_tokens"] == 8
    assert ("gen_ai.response.time_to_first_chunk" in attributes) is stream
    [message] = spans.json("gen_ai.output.messages")
    thought, text = message["parts"]
    assert (thought["type"], thought["content"]) == ("reasoning", "A greeting.")
    assert text["content"] == "Hello."


def test_messages_are_those_that_are_sent(client: Any, spans: Any) -> None:
    settings.infer_runs = False
    types: Any = import_module("google.genai.types")
    image = types.Part.from_bytes(data=b"\x89PNG", mime_type="image/png")
    client.models.generate_content(
        model=FLASH,
        contents=["Look.", image],
        config=types.GenerateContentConfig(
            system_instruction="Be kind.",
            tools=[types.Tool(google_search=types.GoogleSearch())],
        ),
    )
    assert spans.json("gen_ai.system_instructions") == [{"type": "text", "content": "Be kind."}]
    [message] = spans.json("gen_ai.input.messages")
    text, blob = message["parts"]
    assert (message["role"], text["content"]) == ("user", "Look.")
    assert (blob["type"], blob["mime_type"]) == ("blob", "image/png")
    [tool] = spans.json("gen_ai.tool.definitions")
    assert tool["name"] == "googleSearch"


def test_an_image_is_recorded_by_its_hash(client: Any, spans: Any) -> None:
    settings.infer_runs = False
    types: Any = import_module("google.genai.types")
    part = types.Part.from_bytes(data=image(), mime_type="image/png")
    client.models.generate_content(model=FLASH, contents=["Look.", part])
    [message] = spans.json("gen_ai.input.messages")
    assert message["parts"][1] == {
        "type": "blob",
        "content": f"media-image-png-{len(image())}-bytes-sha256-{sha256(image()).hexdigest()}",
        "modality": "image",
        "mime_type": "image/png",
    }


def test_a_function_is_offered_with_the_schema_that_the_model_gets(client: Any, spans: Any) -> None:
    settings.infer_runs = False

    def search(query: str, limit: int = 3) -> str:
        """Search the web."""
        return query

    client.models.generate_content(
        model=FLASH,
        contents="Hello",
        config={"tools": [search], "automatic_function_calling": {"disable": True}},
    )
    [tool] = spans.json("gen_ai.tool.definitions")
    assert (tool["name"], tool["description"]) == ("search", "Search the web.")
    assert tool["parameters"]["type"] == "object"
    assert tool["parameters"]["properties"]["limit"]["type"] == "integer"
    assert tool["parameters"]["required"] == ["query"]


def test_a_stream_that_is_left_ends_at_its_last_chunk(client: Any, spans: Any) -> None:
    stream = client.models.generate_content_stream(model=FLASH, contents="Hello")
    next(stream)
    stream.close()
    del stream
    gc.collect()
    attributes = spans.attributes()
    assert attributes["agentool.interrupted"] in ("closed", "abandoned")
    assert attributes.get("error.type") is None


def test_a_refused_prompt_is_no_error(client: Any, model: LoopbackModel, spans: Any) -> None:
    model.push(Turn(text="", stop="content_filter"))
    client.models.generate_content(model=FLASH, contents="Hello")
    assert spans.attributes()["gen_ai.response.finish_reasons"] == ["content_filter"]


@pytest.mark.parametrize("stream", [False, True])
def test_an_error_of_the_server_is_the_error_of_the_span(
    client: Any, model: LoopbackModel, spans: Any, stream: bool
) -> None:
    model.push(Turn(status=429, error="too many"))
    method = client.models.generate_content_stream if stream else client.models.generate_content
    with pytest.raises(errors().ClientError):
        list(method(model=FLASH, contents="Hello"))
    assert spans.attributes()["error.type"] == "google.genai.errors.ClientError"


def test_an_answer_that_is_no_json_is_an_error(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push(Turn(malformed=True))
    with pytest.raises(json.JSONDecodeError):
        client.models.generate_content(model=FLASH, contents="Hello")
    assert spans.attributes()["error.type"] == "json.decoder.JSONDecodeError"


def test_many_calls_at_once_keep_their_answers(
    new_client: Callable[..., Any], model: LoopbackModel, spans: Any
) -> None:
    model.rule(lambda request: Turn(text=f"Answer to {request.last_user}"))

    async def ask(client: Any, number: int) -> None:
        await client.models.generate_content(model=FLASH, contents=f"question {number}")

    async def main() -> None:
        async with entered(new_client().aio) as client:
            await asyncio.gather(*(ask(client, number) for number in range(20)))

    asyncio.run(main())
    pairs = {
        (
            text_of(span, "gen_ai.input.messages"),
            text_of(span, "gen_ai.output.messages"),
        )
        for span in spans.finished()
    }
    assert pairs == {(f"question {n}", f"Answer to question {n}") for n in range(20)}


def test_vertex_ai_is_its_own_provider(new_client: Callable[..., Any], spans: Any) -> None:
    with entered(new_client(vertexai=True)) as client:
        client.models.generate_content(model=FLASH, contents="Hello")
    attributes = spans.attributes()
    assert attributes["gen_ai.provider.name"] == "gcp.vertex_ai"
    assert attributes["gen_ai.request.model"] == FLASH


def test_embeddings_are_a_span_with_their_size(client: Any, spans: Any) -> None:
    client.models.embed_content(
        model="gemini-embedding-001", contents=["one", "two"], config={"output_dimensionality": 8}
    )
    client.models.embed_content(model="gemini-embedding-001", contents="one")
    first, second = spans.finished()
    assert first.name == "embeddings gemini-embedding-001"
    assert first.attributes["gen_ai.embeddings.dimension.count"] == 8
    assert second.attributes["gen_ai.embeddings.dimension.count"] == 16


def test_other_requests_are_not_recorded(client: Any, spans: Any) -> None:
    with pytest.raises(errors().ClientError):
        client.models.count_tokens(model=FLASH, contents="Hello")
    assert names(spans) == []


def test_a_call_of_a_function_keeps_its_id(client: Any, model: LoopbackModel, spans: Any) -> None:
    model.push(Turn(tool_calls=(ToolCall("search", {"query": "x"}, "call-7"),)))

    def search(query: str) -> str:
        """Search the web."""
        return "found"

    client.chats.create(model=FLASH, config={"tools": [search]}).send_message("Hello")
    [tool] = [span for span in spans.finished() if span.name == "execute_tool search"]
    assert tool.attributes["gen_ai.tool.call.id"] == "call-7"
    assert tool.attributes["gen_ai.tool.description"] == "Search the web."
