"""Converse and InvokeModel."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from io import BytesIO
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn

pytest.importorskip("boto3")

CLAUDE = "anthropic.claude-sonnet-5-v1:0"
HELLO: list[dict[str, Any]] = [{"role": "user", "content": [{"text": "Hello"}]}]
THOUGHTFUL = Turn(
    text="Hello.",
    reasoning="A greeting.",
    input_tokens=100,
    output_tokens=20,
    cached_tokens=60,
    cache_write_tokens=30,
)
BODY: dict[str, Any] = {
    "anthropic_version": "bedrock-2023-05-31",
    "max_tokens": 100,
    "system": "Be kind.",
    "messages": [{"role": "user", "content": "Hello"}],
}


def streaming_body(answer: dict[str, Any]) -> Any:
    data = json.dumps(answer).encode()
    return import_module("botocore.response").StreamingBody(BytesIO(data), len(data))


def test_a_call_is_one_span_with_its_parameters(client: Any, spans: Any) -> None:
    client.converse(
        modelId=f"arn:aws:bedrock:us-east-1::foundation-model/{CLAUDE}",
        messages=HELLO,
        inferenceConfig={
            "temperature": 0.5,
            "topP": 0.9,
            "maxTokens": 100,
            "stopSequences": ["END"],
        },
        additionalModelRequestFields={"top_k": 40},
    )
    attributes = spans.attributes()
    assert spans.only().name == f"chat {CLAUDE}"
    expected = {
        "gen_ai.provider.name": "aws.bedrock",
        "gen_ai.request.model": CLAUDE,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.request.top_k": 40,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.request.stop_sequences": ["END"],
        "gen_ai.response.finish_reasons": ["stop"],
        "server.address": "127.0.0.1",
    }
    assert {name: attributes.get(name) for name in expected} == expected


@pytest.mark.parametrize("stream", [False, True])
def test_usage_and_thoughts_of_converse(
    client: Any, model: LoopbackModel, spans: Any, stream: bool
) -> None:
    model.push(THOUGHTFUL)
    if stream:
        list(client.converse_stream(modelId=CLAUDE, messages=HELLO)["stream"])
    else:
        client.converse(modelId=CLAUDE, messages=HELLO)
    attributes = spans.attributes()
    assert attributes["gen_ai.usage.input_tokens"] == 100
    assert attributes["gen_ai.usage.output_tokens"] == 20
    assert attributes["gen_ai.usage.cache_read.input_tokens"] == 60
    assert attributes["gen_ai.usage.cache_write.input_tokens"] == 30
    [message] = spans.json("gen_ai.output.messages")
    thought, answer = message["parts"]
    assert (thought["type"], thought["content"]) == ("reasoning", "A greeting.")
    assert thought["signature"]
    assert answer["content"] == "Hello."


@pytest.mark.parametrize("stream", [False, True])
def test_calls_of_several_tools_keep_ids_and_arguments(
    client: Any, model: LoopbackModel, spans: Any, stream: bool
) -> None:
    model.push(Turn(tool_calls=(ToolCall("a", {"x": 1}, "t1"), ToolCall("b", {}, "t2"))))
    if stream:
        list(client.converse_stream(modelId=CLAUDE, messages=HELLO)["stream"])
    else:
        client.converse(modelId=CLAUDE, messages=HELLO)
    [message] = spans.json("gen_ai.output.messages")
    assert [(part["id"], part["name"], part["arguments"]) for part in message["parts"]] == [
        ("t1", "a", {"x": 1}),
        ("t2", "b", {}),
    ]
    assert spans.attributes()["gen_ai.response.finish_reasons"] == ["tool_call"]


def test_a_stream_that_is_closed_is_interrupted(client: Any, spans: Any) -> None:
    stream = client.converse_stream(modelId=CLAUDE, messages=HELLO)["stream"]
    next(iter(stream))
    stream.close()
    assert spans.attributes()["agentool.interrupted"] == "closed"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # its socket
def test_a_stream_that_is_never_read_is_one_span(client: Any, spans: Any) -> None:
    client.converse_stream(modelId=CLAUDE, messages=HELLO)
    gc.collect()
    assert spans.attributes()["agentool.interrupted"] == "abandoned"


READS: dict[str, Callable[[Any], bytes]] = {
    "read": lambda body: bytes(body.read()),
    "pieces": lambda body: b"".join(iter(lambda: bytes(body.read(7)), b"")),
    "chunks": lambda body: b"".join(body.iter_chunks(7)),
    "lines": lambda body: b"".join(body.iter_lines()),
    "iterated": b"".join,
}


@pytest.mark.parametrize("how", READS)
def test_a_body_is_recorded_and_stays_readable(
    client: Any, model: LoopbackModel, spans: Any, how: str
) -> None:
    model.push(THOUGHTFUL)
    result = client.invoke_model(modelId=CLAUDE, body=json.dumps(BODY))
    assert isinstance(result["body"], import_module("botocore.response").StreamingBody)
    answer = json.loads(READS[how](result["body"]))
    assert answer["content"][1]["text"] == "Hello."
    attributes = spans.attributes()
    assert attributes["gen_ai.usage.input_tokens"] == 100
    assert spans.json("gen_ai.system_instructions") == [{"type": "text", "content": "Be kind."}]
    [message] = spans.json("gen_ai.output.messages")
    assert message["parts"][-1]["content"] == "Hello."


async def _chunks(body: Any) -> bytes:
    return b"".join([piece async for piece in body.iter_chunks(7)])


async def _lines(body: Any) -> bytes:
    return b"".join([line async for line in body.iter_lines()])


async def _iterated(body: Any) -> bytes:
    return b"".join([piece async for piece in body])


async def _entered(body: Any) -> bytes:
    async with body as response:
        return bytes(await response.read())


ASYNC_READS: dict[str, Callable[[Any], Any]] = {
    "read": lambda body: body.read(),
    "content": lambda body: body.content.read(),
    "chunks": _chunks,
    "lines": _lines,
    "iterated": _iterated,
    "entered": _entered,
}


@pytest.mark.parametrize("how", ASYNC_READS)
def test_a_body_of_aioboto3_is_recorded_and_stays_what_it_is(
    instrumented: None, model: LoopbackModel, spans: Any, how: str
) -> None:
    aioboto3: Any = pytest.importorskip("aioboto3")
    model.push(THOUGHTFUL)

    async def main() -> bytes:
        options = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
        session = aioboto3.Session(region_name="us-east-1", **options)
        async with session.client("bedrock-runtime", endpoint_url=model.root_url) as client:
            result = await client.invoke_model(modelId=CLAUDE, body=json.dumps(BODY))
            assert type(result["body"]).__module__ == "aiobotocore.response"
            return bytes(await ASYNC_READS[how](result["body"]))

    assert json.loads(asyncio.run(main()))["content"][1]["text"] == "Hello."
    assert spans.attributes()["gen_ai.usage.input_tokens"] == 100


def test_a_body_that_is_read_into_a_buffer_is_recorded(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push(THOUGHTFUL)
    body = client.invoke_model(modelId=CLAUDE, body=json.dumps(BODY))["body"]
    assert body.readinto(bytearray(5000)) > 0
    assert spans.attributes()["gen_ai.usage.input_tokens"] == 100


def test_a_body_that_is_never_read_is_one_span(client: Any, spans: Any) -> None:
    client.invoke_model(modelId=CLAUDE, body=json.dumps(BODY))
    gc.collect()
    assert spans.only().name == f"chat {CLAUDE}"


def test_a_stream_of_invoke_model(client: Any, model: LoopbackModel, spans: Any) -> None:
    model.push(THOUGHTFUL)
    result = client.invoke_model_with_response_stream(modelId=CLAUDE, body=json.dumps(BODY))
    assert len(list(result["body"])) > 2
    attributes = spans.attributes()
    assert attributes["gen_ai.usage.input_tokens"] == 100
    assert attributes["gen_ai.response.time_to_first_chunk"] > 0
    [message] = spans.json("gen_ai.output.messages")
    assert message["parts"][-1]["content"] == "Hello."


OTHERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "meta.llama3-8b": (
        {"prompt": "Hello", "max_gen_len": 100},
        {
            "generation": "Hi.",
            "stop_reason": "stop",
            "prompt_token_count": 7,
            "generation_token_count": 3,
        },
    ),
    "mistral.mistral-7b": (
        {"prompt": "Hello", "max_tokens": 100},
        {"outputs": [{"text": "Hi.", "stop_reason": "stop"}]},
    ),
    "amazon.titan-text": (
        {"inputText": "Hello", "textGenerationConfig": {"maxTokenCount": 100}},
        {
            "inputTextTokenCount": 7,
            "results": [{"tokenCount": 3, "outputText": "Hi.", "completionReason": "FINISH"}],
        },
    ),
    "amazon.nova-pro": (
        {"messages": HELLO, "inferenceConfig": {"maxTokens": 100}},
        {
            "output": {"message": {"role": "assistant", "content": [{"text": "Hi."}]}},
            "stopReason": "end_turn",
            "usage": {"inputTokens": 7, "outputTokens": 3},
        },
    ),
    "cohere.command-r": (
        {"message": "Hello", "max_tokens": 100},
        {"text": "Hi.", "finish_reason": "COMPLETE"},
    ),
    "openai.gpt-oss": (
        {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 100},
        {
            "choices": [
                {"message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        },
    ),
}


@pytest.mark.parametrize("model_id", OTHERS)
def test_bodies_of_every_maker(answering: Callable[..., Any], spans: Any, model_id: str) -> None:
    body, answer = OTHERS[model_id]
    headers = {
        "x-amzn-bedrock-input-token-count": "7",
        "x-amzn-bedrock-output-token-count": "3",
    }
    result = {
        "body": streaming_body(answer),
        "contentType": "application/json",
        "ResponseMetadata": {"HTTPHeaders": headers},
    }
    client = answering("bedrock-runtime", "invoke_model", result)
    client.invoke_model(modelId=model_id, body=json.dumps(body))["body"].read()
    attributes = spans.attributes()
    assert attributes["gen_ai.request.max_tokens"] == 100
    assert attributes["gen_ai.usage.input_tokens"] == 7
    assert attributes["gen_ai.usage.output_tokens"] == 3
    [question] = spans.json("gen_ai.input.messages")
    [message] = spans.json("gen_ai.output.messages")
    assert question["parts"][0]["content"] == "Hello"
    assert message["parts"][0]["content"] == "Hi."


@pytest.mark.parametrize(
    ("model_id", "body", "answer"),
    [
        ("amazon.titan-embed-text-v2:0", {"inputText": "x"}, {"embedding": [0.1, 0.2, 0.3]}),
        ("cohere.embed-v4", {"texts": ["x"]}, {"embeddings": {"float": [[0.1, 0.2, 0.3]]}}),
    ],
)
def test_embeddings_are_spans_of_their_own(
    answering: Callable[..., Any],
    spans: Any,
    model_id: str,
    body: dict[str, Any],
    answer: dict[str, Any],
) -> None:
    result = {"body": streaming_body(answer), "contentType": "application/json"}
    client = answering("bedrock-runtime", "invoke_model", result)
    client.invoke_model(modelId=model_id, body=json.dumps(body))["body"].read()
    assert spans.only().name == f"embeddings {model_id}"
    assert spans.attributes()["gen_ai.embeddings.dimension.count"] == 3


def test_a_body_that_is_no_json_costs_nothing_but_its_content(
    answering: Callable[..., Any], spans: Any
) -> None:
    body = import_module("botocore.response").StreamingBody(BytesIO(b"\x89PNG"), 4)
    result = {"body": body, "contentType": "image/png"}
    client = answering("bedrock-runtime", "invoke_model", result)
    assert client.invoke_model(modelId="m", body=b"\x00")["body"].read() == b"\x89PNG"
    assert len(spans.finished()) <= 1


def test_other_services_are_not_recorded(answering: Callable[..., Any], spans: Any) -> None:
    answering("sts", "get_caller_identity", {"Account": "1"}).get_caller_identity()
    assert spans.finished() == []


def test_an_error_of_the_server_is_the_error_of_the_span(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push(Turn(status=429, error="too many"))
    with pytest.raises(import_module("botocore.exceptions").ClientError):
        client.converse(modelId=CLAUDE, messages=HELLO)
    assert spans.attributes()["error.type"].startswith("botocore.")


def test_many_calls_at_once_keep_their_answers(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    model.rule(lambda request: Turn(text=f"Answer to {request.last_user}"))

    def ask(number: int) -> None:
        question = [{"role": "user", "content": [{"text": f"question {number}"}]}]
        client.converse(modelId=CLAUDE, messages=question)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(20)))
    pairs = {
        tuple(
            json.loads(span.attributes[f"gen_ai.{side}.messages"])[0]["parts"][0]["content"]
            for side in ("input", "output")
        )
        for span in spans.finished()
    }
    assert pairs == {(f"question {n}", f"Answer to question {n}") for n in range(20)}
