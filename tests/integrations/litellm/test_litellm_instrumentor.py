"""Functions of LiteLLM, its router and its proxy."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentool_otel.loading import rebuild
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from tests.backends.servers import free_ports, wait_for
from tests.records import records

if find_spec("litellm") is None:
    pytest.skip("litellm is not installed", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")  # LiteLLM's own types and tasks cause many

HELLO: list[dict[str, Any]] = [{"role": "user", "content": "Hello"}]
CACHED = Turn(
    text="Hello.",
    reasoning="A greeting.",
    input_tokens=100,
    output_tokens=20,
    cached_tokens=60,
    cache_write_tokens=30,
)


def answers(url: str) -> bool:
    try:
        return httpx.get(url).is_success
    except httpx.HTTPError:
        return False


def test_a_call_is_one_span_with_its_parameters(litellm: Any, openai: Any, spans: Any) -> None:
    litellm.completion(
        messages=HELLO,
        temperature=0.5,
        top_p=0.9,
        max_tokens=100,
        stop=["END"],
        seed=7,
        metadata={"session_id": "s1"},
        **openai,
    )
    attributes = spans.attributes()
    assert spans.only().name == "chat gpt-4o"
    expected = {
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.request.stop_sequences": ["END"],
        "gen_ai.request.seed": 7,
        "gen_ai.conversation.id": "s1",
        "gen_ai.response.finish_reasons": ["stop"],
        "server.address": "127.0.0.1",
    }
    assert {name: attributes.get(name) for name in expected} == expected
    assert attributes["agentool.cost.usd"] > 0


@pytest.mark.parametrize("stream", [False, True])
def test_the_usage_of_a_stream_is_the_servers_too(
    litellm: Any, anthropic: Any, model: LoopbackModel, spans: Any, stream: bool
) -> None:
    model.push(CACHED)
    list(litellm.completion(messages=HELLO, stream=stream, **anthropic))
    attributes = spans.attributes()
    assert attributes["gen_ai.provider.name"] == "anthropic"
    assert attributes["gen_ai.usage.input_tokens"] == 100
    assert attributes["gen_ai.usage.output_tokens"] == 20
    assert attributes["gen_ai.usage.cache_read.input_tokens"] == 60
    [message] = spans.json("gen_ai.output.messages")
    assert message["parts"][-1]["content"] == "Hello."
    assert ("gen_ai.response.time_to_first_chunk" in attributes) is stream


def test_an_estimate_of_the_usage_is_not_recorded(litellm: Any, openai: Any, spans: Any) -> None:
    list(litellm.completion(messages=HELLO, stream=True, **openai))
    assert "gen_ai.usage.input_tokens" not in spans.attributes()


def test_a_model_without_a_prefix_has_the_provider_that_answered(
    litellm: Any, openai: Any, spans: Any
) -> None:
    parameters = openai | {"model": "some-model", "custom_llm_provider": "openai"}
    litellm.completion(messages=HELLO, **parameters)
    litellm.completion(messages=HELLO, **openai | {"model": "openai/org/model"})
    first, second = spans.finished()
    assert first.attributes["gen_ai.provider.name"] == "openai"
    assert first.attributes["gen_ai.request.model"] == "some-model"
    assert second.attributes["gen_ai.request.model"] == "org/model"


def test_every_function_is_one_call(litellm: Any, openai: Any, anthropic: Any, spans: Any) -> None:
    litellm.responses(input="Hello", **openai)
    litellm.responses(input="Hello", **anthropic)  # which becomes a completion
    list(litellm.responses(input="Hello", stream=True, **openai))
    litellm.text_completion(prompt="Hello", **openai)
    litellm.embedding(input=["Hello"], **openai | {"model": "openai/text-embedding-3-small"})
    assert [(span.name, span.parent) for span in spans.finished()] == [
        ("chat gpt-4o", None),
        ("chat claude-sonnet-5", None),
        ("chat gpt-4o", None),
        ("text_completion gpt-4o", None),
        ("embeddings text-embedding-3-small", None),
    ]
    for span in spans.finished()[:3]:
        [question] = json.loads(span.attributes["gen_ai.input.messages"])
        assert question["parts"][0]["content"] == "Hello"


def test_a_router_records_each_attempt(
    litellm: Any, openai: Any, anthropic: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push(Turn(status=500, error="down"), "Hello.")
    router = litellm.Router(
        model_list=[
            {"model_name": "first", "litellm_params": openai | {"max_retries": 0}},
            {"model_name": "second", "litellm_params": anthropic},
        ],
        fallbacks=[{"first": ["second"]}],
        num_retries=0,
    )
    answer = router.completion(model="first", messages=HELLO)
    assert answer.choices[0].message.content == "Hello."
    failed, made = spans.finished()
    assert failed.attributes["error.type"] == "litellm.exceptions.InternalServerError"
    assert made.attributes["gen_ai.response.finish_reasons"] == ["stop"]


def test_an_async_stream_that_is_left_is_interrupted(
    litellm: Any, anthropic: Any, spans: Any
) -> None:
    async def main() -> None:
        stream = await litellm.acompletion(messages=HELLO, stream=True, **anthropic)
        async for _ in stream:
            break
        del stream

    asyncio.run(main())
    assert spans.attributes()["agentool.interrupted"] == "abandoned"


def test_many_calls_at_once_keep_their_answers(
    litellm: Any, anthropic: Any, model: LoopbackModel, spans: Any
) -> None:
    model.rule(lambda request: Turn(text=f"Answer to {request.last_user}"))

    async def ask(number: int) -> None:
        question = [{"role": "user", "content": f"question {number}"}]
        await litellm.acompletion(messages=question, **anthropic)

    async def main() -> None:
        await asyncio.gather(*(ask(number) for number in range(20)))

    asyncio.run(main())
    pairs = {
        tuple(
            json.loads(span.attributes[f"gen_ai.{side}.messages"])[0]["parts"][0]["content"]
            for side in ("input", "output")
        )
        for span in spans.finished()
    }
    assert pairs == {(f"question {n}", f"Answer to question {n}") for n in range(20)}


def test_messages_of_anthropic_are_read_from_the_bytes_of_a_stream(
    litellm: Any, anthropic: Any, model: LoopbackModel, spans: Any
) -> None:
    if not hasattr(litellm, "anthropic_messages"):
        pytest.skip("this version has no anthropic_messages")
    pytest.importorskip("soundfile")  # LiteLLM imports its proxy there
    model.push(CACHED)

    async def main() -> None:
        stream = await litellm.anthropic_messages(
            messages=HELLO, max_tokens=100, stream=True, **anthropic
        )
        async for _ in stream:
            pass

    asyncio.run(main())
    attributes = spans.attributes()
    assert attributes["gen_ai.usage.input_tokens"] == 100
    [message] = spans.json("gen_ai.output.messages")
    assert message["parts"][-1]["content"] == "Hello."


def test_a_proxy_records_the_calls_that_it_makes(model: LoopbackModel, tmp_path: Path) -> None:
    if find_spec("soundfile") is None:
        pytest.skip("litellm[proxy] is not installed")
    config = tmp_path / "config.yaml"
    parameters = {"model": "anthropic/claude-sonnet-5", "api_key": "none"}
    parameters["api_base"] = model.root_url
    served = [{"model_name": "claude", "litellm_params": parameters}]
    config.write_text(json.dumps({"model_list": served}))
    [port] = free_ports(1)
    command = [sys.executable, "-m", "agentool_otel", "run", "--", "litellm", "--config"]
    key = "sk-0123456789abcdef0123456789abcdef"
    environ = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": key}
    environ["AGENTOOL_DIR"] = str(tmp_path / "recorded")
    proxy = subprocess.Popen([*command, str(config), "--port", str(port)], env=environ)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(lambda: answers(f"{url}/health/liveliness"), 60)
        body = {"model": "claude", "messages": HELLO, "max_tokens": 100}
        with httpx.Client(headers={"authorization": f"Bearer {key}"}, timeout=30) as client:
            for path in ("/v1/chat/completions", "/v1/messages"):
                for stream in (False, True):
                    client.post(url + path, json=body | {"stream": stream}).raise_for_status()
    finally:
        proxy.send_signal(signal.SIGINT)
        proxy.wait(60)
    recorded = open_source(tmp_path / "recorded").spans()
    spans = [span for span in recorded if span.scope.startswith("agentool_otel")]
    assert [span.name for span in spans] == ["chat claude-sonnet-5"] * 4
    assert all(span.attributes["gen_ai.usage.output_tokens"] > 0 for span in spans)


def test_what_litellm_sends_again_by_itself_is_one_call(
    litellm: Any, openai: Any, anthropic: Any, model: LoopbackModel, spans: Any
) -> None:
    failed = Turn(status=500, error="down")
    model.push(failed, "Hello.", failed, "Hello.")
    litellm.completion(messages=HELLO, num_retries=2, max_retries=0, **openai)
    litellm.completion(messages=HELLO, fallbacks=[anthropic], max_retries=0, **openai)
    assert len(model.requests) == 4
    assert [span.name for span in spans.finished()] == ["chat gpt-4o", "chat gpt-4o"]
    assert all(
        span.attributes["gen_ai.response.finish_reasons"] == ["stop"] for span in spans.finished()
    )


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_the_attempts_of_a_router_are_one_run(
    litellm: Any, openai: Any, spans: Any, model: LoopbackModel, is_async: bool
) -> None:
    model.push(Turn(status=500), Turn(status=500), "Fine.")
    deployments = [{"model_name": name, "litellm_params": openai} for name in ("first", "spare")]
    router = litellm.Router(deployments, fallbacks=[{"first": ["spare"]}], num_retries=1)
    if is_async:
        asyncio.run(router.acompletion(model="first", messages=HELLO))
    else:
        router.completion(model="first", messages=HELLO)
    assert len(spans.finished()) == 3
    [run] = rebuild(records(spans.finished()))
    assert (run.trace.status, run.trace.output) == ("success", "Fine.")
