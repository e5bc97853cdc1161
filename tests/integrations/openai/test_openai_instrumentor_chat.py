"""Chat completions and embeddings of the openai client, as spans."""

from __future__ import annotations

from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import pytest

from agentool_otel.providers import openai_chat as chat
from agentool_otel.providers.servers import provider_of
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn, call
from agentool_otel.tracing.capture import run
from tests.content.images import data_url, image

SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Search the web.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
    },
}


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_is_one_client_span(
    calls: Any, spans: Any, model: LoopbackModel, stream: bool
) -> None:
    model.push(Turn(text="Hi.", input_tokens=41, output_tokens=12))
    calls.chat(stream=stream, stream_options={"include_usage": True} if stream else None)
    assert spans.tree() == "chat gpt-5   in=41 out=12 finish=stop"
    assert spans.only().kind.name == "CLIENT"
    assert spans.only().instrumentation_scope.name == "agentool_otel.instrumentation.openai"


def test_parameters_of_the_request_are_attributes(calls: Any, spans: Any) -> None:
    calls.chat(
        temperature=0,
        top_p=0.9,
        max_tokens=50,
        frequency_penalty=1,
        presence_penalty=0.5,
        seed=7,
        n=2,
        stop="END",
        response_format={"type": "json_object"},
    )
    attributes = spans.attributes()
    expected = {
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.request.max_tokens": 50,
        "gen_ai.request.frequency_penalty": 1.0,
        "gen_ai.request.presence_penalty": 0.5,
        "gen_ai.request.seed": 7,
        "gen_ai.request.choice.count": 2,
        "gen_ai.request.stop_sequences": ["END"],
        "gen_ai.output.type": "json",
        "openai.api.type": "chat_completions",
    }
    assert {name: attributes.get(name) for name in expected} == expected
    assert "gen_ai.request.stream" not in attributes


@pytest.mark.parametrize(
    ("asked", "field", "value"),
    [
        ({"max_completion_tokens": 5}, "max_tokens", 5),
        ({"reasoning_effort": "low"}, "reasoning_level", "low"),
        ({"stop": ["A", "B"]}, "stop_sequences", ["A", "B"]),
        ({"modalities": ["text", "audio"]}, "output_type", "speech"),
        ({"response_format": {"type": "text"}}, "output_type", "text"),
        ({"n": 1}, "choice_count", None),
        ({"temperature": "hot"}, "temperature", None),
        ({"seed": True}, "seed", None),
    ],
)
def test_a_parameter_is_read(asked: Any, field: str, value: Any) -> None:
    assert chat.request(asked).get(field) == value


def test_a_service_tier_is_recorded_unless_automatic() -> None:
    tier = "openai.request.service_tier"
    assert chat.request({"service_tier": "flex"})["extra"][tier] == "flex"
    assert tier not in chat.request({"service_tier": "auto"})["extra"]


def test_unset_parameters_are_not_recorded(calls: Any, spans: Any) -> None:
    calls.chat()
    attributes = {name for name in spans.attributes() if ".request." in name}
    assert attributes == {"gen_ai.request.model"}


def test_messages_in_and_out_are_captured(calls: Any, spans: Any, model: LoopbackModel) -> None:
    model.push("Hi.")
    calls.chat(
        messages=[
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
        ]
    )
    assert spans.json("gen_ai.input.messages") == [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Hello"}]},
    ]
    assert spans.json("gen_ai.output.messages") == [
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": "Hi."}],
            "finish_reason": "stop",
        }
    ]


def test_a_tool_round_is_captured_with_its_ids(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    requests = {"name": "search", "arguments": '{"query": "otel"}'}
    calls.chat(
        tool_choice={"type": "function", "function": {"name": "search"}},  # no loop
        tools=[SEARCH],
        messages=[
            {"role": "user", "content": "Find it."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "function", "function": requests}],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "Found."},
        ],
    )
    _, request, answer = spans.json("gen_ai.input.messages")
    assert request["parts"] == [
        {"type": "tool_call", "name": "search", "arguments": {"query": "otel"}, "id": "call_1"}
    ]
    assert answer == {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "response": "Found.", "id": "call_1"}],
    }
    assert spans.json("gen_ai.tool.definitions") == [{"type": "function", **SEARCH["function"]}]  # type: ignore[dict-item]


@pytest.mark.parametrize("stream", [False, True])
def test_every_parallel_tool_call_is_captured(
    calls: Any, spans: Any, model: LoopbackModel, stream: bool
) -> None:
    model.push(Turn(tool_calls=tuple(ToolCall("search", {"n": n}, f"call_{n}") for n in range(3))))
    calls.chat(tools=[SEARCH], stream=stream)
    (message,) = spans.json("gen_ai.output.messages")
    assert [(part["id"], part["arguments"]) for part in message["parts"]] == [
        ("call_0", {"n": 0}),
        ("call_1", {"n": 1}),
        ("call_2", {"n": 2}),
    ]
    assert message["finish_reason"] == "tool_call"


@pytest.mark.parametrize("stream", [False, True])
def test_arguments_that_are_not_json_are_kept_as_text(
    calls: Any, spans: Any, model: LoopbackModel, stream: bool
) -> None:
    model.push(Turn(tool_calls=(ToolCall("search", '{"query": "ot'),)))
    calls.chat(tools=[SEARCH], stream=stream)
    (message,) = spans.json("gen_ai.output.messages")
    assert message["parts"][0]["arguments"] == '{"query": "ot'


@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_is_a_part_before_the_text(
    calls: Any, spans: Any, model: LoopbackModel, stream: bool
) -> None:
    model.push(Turn(reasoning="Think twice.", text="Hi."))
    calls.chat(stream=stream)
    (message,) = spans.json("gen_ai.output.messages")
    assert message["parts"] == [
        {"type": "reasoning", "content": "Think twice."},
        {"type": "text", "content": "Hi."},
    ]


@pytest.mark.parametrize("stream", [False, True])
def test_token_counts_are_those_the_server_reports(
    calls: Any, spans: Any, model: LoopbackModel, stream: bool
) -> None:
    model.push(
        Turn(input_tokens=100, output_tokens=30, cached_tokens=64, cache_write_tokens=8,
             reasoning_tokens=16)
    )  # fmt: skip
    calls.chat(stream=stream, stream_options={"include_usage": True} if stream else None)
    usage = {k: v for k, v in spans.attributes().items() if k.startswith("gen_ai.usage.")}
    assert usage == {
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 30,
        "gen_ai.usage.cache_read.input_tokens": 64,
        "gen_ai.usage.cache_write.input_tokens": 8,
        "gen_ai.usage.reasoning.output_tokens": 16,
    }


def test_a_subset_of_zero_tokens_is_left_out(calls: Any, spans: Any, model: LoopbackModel) -> None:
    model.push(Turn(input_tokens=0, output_tokens=3))
    calls.chat()
    usage = {k: v for k, v in spans.attributes().items() if k.startswith("gen_ai.usage.")}
    assert usage == {"gen_ai.usage.input_tokens": 0, "gen_ai.usage.output_tokens": 3}


def test_token_counts_without_details_are_no_trouble(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(input_tokens=5, output_tokens=3, details=False))
    calls.chat()
    assert spans.tree() == "chat gpt-5   in=5 out=3 finish=stop"


def test_token_counts_of_a_stream_that_reports_none_are_not_invented(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    calls.chat(stream=True)
    assert spans.tree() == "chat gpt-5   finish=stop"
    assert "stream_options" not in model.requests[0].body


@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_is_text_and_a_finish_reason(
    calls: Any, spans: Any, model: LoopbackModel, stream: bool
) -> None:
    model.push(Turn(text="I cannot.", stop="refusal", input_tokens=1, output_tokens=1))
    calls.chat(stream=stream)
    (message,) = spans.json("gen_ai.output.messages")
    assert message == {
        "role": "assistant",
        "parts": [{"type": "text", "content": "I cannot."}],
        "finish_reason": "content_filter",
    }


def test_a_truncated_answer_has_the_reason_length(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(text="And so", stop="length"))
    calls.chat()
    assert spans.attributes()["gen_ai.response.finish_reasons"] == ["length"]


def test_a_changed_list_of_messages_is_recorded_as_it_was_sent(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    messages = [{"role": "user", "content": "Hello"}]

    @model.rule
    def _(request: Any) -> None:
        messages.append({"role": "user", "content": "added meanwhile"})

    client.chat.completions.create(model="gpt-5", messages=messages)
    assert len(spans.json("gen_ai.input.messages")) == 1


def test_objects_of_the_library_in_the_history_are_read(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(call("search", query="otel"), "Done.")
    ask = client.chat.completions.create
    first = ask(model="gpt-5", messages=[], tools=[SEARCH]).choices[0].message
    ask(model="gpt-5", messages=[first], tools=[SEARCH])
    request, answer, _ = (dict(span.attributes) for span in spans.finished())
    from agentool_otel.ground.json_codec import loads

    load = loads(request["gen_ai.output.messages"])[0]
    repeated = loads(answer["gen_ai.input.messages"])[0]
    assert repeated["parts"] == load["parts"]


def test_parse_is_recorded_like_create(calls: Any, spans: Any, model: LoopbackModel) -> None:
    from pydantic import BaseModel

    class Weather(BaseModel):
        city: str

    model.push('{"city": "Bern"}')

    def parse(client: Any) -> Any:
        # Before 1.92 it was in beta, before 1.40 nowhere.
        place = hasattr(client.chat.completions, "parse")
        chat = client.chat if place else getattr(client.beta, "chat", None)
        if chat is None:
            pytest.skip("this version of the library has no parse()")
        return chat.completions.parse(model="gpt-5", messages=[], response_format=Weather)

    completion = calls.run(parse)
    assert completion.choices[0].message.parsed == Weather(city="Bern")
    assert spans.attributes()["gen_ai.output.type"] == "json"
    assert len(spans.finished()) == 1


def test_the_calls_of_a_run_are_its_children(client: Any, spans: Any, model: LoopbackModel) -> None:
    model.push(Turn(text="Hi.", input_tokens=1, output_tokens=2))
    with run("researcher"):
        client.chat.completions.create(model="gpt-5", messages=[])
    assert spans.tree() == (
        "invoke_agent researcher   finish=stop\n"
        "  chat gpt-5              in=1 out=2 finish=stop"
    )  # fmt: skip


def test_content_off_leaves_no_content_anywhere(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    spans.without_content()
    model.push(Turn(tool_calls=(ToolCall("search", {"query": "secret"}),), reasoning="secret"))
    calls.chat(messages=[{"role": "user", "content": "secret"}], tools=[SEARCH])
    assert "secret" not in spans.only().to_json()


def test_embeddings_are_a_span_with_dimensions(calls: Any, spans: Any) -> None:
    result = calls.embeddings(dimensions=8)
    assert len(result.data[0].embedding) == 8
    attributes = spans.attributes()
    assert spans.tree() == "embeddings embed   in=2"
    assert attributes["gen_ai.embeddings.dimension.count"] == 8
    assert attributes["gen_ai.response.model"] == "embed"


def test_embeddings_record_unrequested_dimensions(calls: Any, spans: Any) -> None:
    calls.embeddings(encoding_format="float")
    assert spans.attributes()["gen_ai.embeddings.dimension.count"] == 16
    assert spans.attributes()["gen_ai.request.encoding_formats"] == ["float"]


@pytest.mark.parametrize(
    ("host", "provider"),
    [
        ("api.openai.com", "openai"),
        ("me.openai.azure.com", "azure.ai.openai"),
        ("api.deepseek.com", "deepseek"),
        ("api.groq.com", "groq"),
        ("api.x.ai", "x_ai"),
        ("api.perplexity.ai", "perplexity"),
        ("api.mistral.ai", "mistral_ai"),
        ("api.moonshot.cn", "moonshot_ai"),
        ("us-central1-aiplatform.googleapis.com", "gcp.vertex_ai"),
        ("notx.ai", "openai"),
        ("localhost", "openai"),
        (None, "openai"),
    ],
)
def test_the_provider_follows_from_the_host(host: str | None, provider: str) -> None:
    assert provider_of(host) == provider


def test_the_server_is_that_of_the_client(calls: Any, spans: Any, model: LoopbackModel) -> None:
    calls.chat()
    attributes = spans.attributes()
    assert attributes["server.address"] == "127.0.0.1"
    assert f":{attributes['server.port']}/" in model.base_url


@pytest.mark.parametrize("wanted", [True, False])
def test_an_image_is_recorded_by_its_hash_where_content_is(
    calls: Any, spans: Any, model: LoopbackModel, wanted: bool
) -> None:
    if not wanted:
        spans.without_content()
    url = data_url(image())
    part = {"type": "image_url", "image_url": {"url": url}}
    calls.chat(messages=[{"role": "user", "content": [part]}])
    assert url in str(model.requests[-1].messages)
    attributes = str(spans.attributes())
    assert (sha256(image()).hexdigest() in attributes) is wanted
    assert url[100:200] not in attributes


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
            {"type": "uri", "uri": "https://x.test/a.png", "modality": "image"},
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "blob", "content": "AAAA", "modality": "image", "mime_type": "image/png"},
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
            {"type": "blob", "content": "AAAA", "modality": "audio", "mime_type": "audio/mp3"},
        ),
        (
            {"type": "file", "file": {"file_id": "file-1"}},
            {"type": "file", "file_id": "file-1", "modality": "document"},
        ),
        ({"type": "refusal", "refusal": "No."}, {"type": "text", "content": "No."}),
        ({"type": "hologram", "data": 1}, {"type": "hologram", "data": 1}),
    ],
)
def test_media_become_parts(part: Any, expected: Any) -> None:
    requests = {"messages": [{"role": "user", "content": [part]}]}
    assert chat.content(requests)["input"][0]["parts"] == [expected]


def test_an_iterator_of_messages_is_left_for_the_client() -> None:
    messages = iter([{"role": "user", "content": "Hello"}])
    assert chat.content({"messages": messages})["input"] is None
    assert len(list(messages)) == 1


def test_odd_requests_are_read_without_trouble() -> None:
    requests = {
        "messages": [None, 7, {"role": None, "content": [None, {"text": 3}]}, SimpleNamespace()],
        "tools": [None, {"type": "custom", "custom": {"name": "grep"}}],
    }
    assert len(chat.content(requests)["input"]) == 4
