"""Requests that agents of pydantic-ai make of models."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import Turn
from tests.integrations.pydantic_ai.scripted import (
    agent_on,
    instrumented,
    outcome,
    pydantic_ai,
    scripted,
    streaming,
)

__all__ = ["instrumented"]

pytest.importorskip("pydantic_ai")


def value(attribute: Any) -> Any:
    return list(attribute) if isinstance(attribute, tuple) else attribute


def requests(spans: Any) -> list[Any]:
    return [item for item in spans.finished() if item.name.startswith("chat ")]


def test_parameters_tools_and_all_kinds_of_tokens_are_recorded(spans: Any) -> None:
    messages, usage = pydantic_ai(".messages"), pydantic_ai(".usage")

    def answer(history: Any, info: Any) -> Any:
        return messages.ModelResponse(
            parts=[messages.ThinkingPart("Hm."), messages.TextPart("4")],
            finish_reason="stop",
            provider_response_id="r-1",
            usage=usage.RequestUsage(
                input_tokens=20,
                output_tokens=9,
                cache_read_tokens=5,
                cache_write_tokens=3,
                details={"reasoning_tokens": 7},
            ),
        )

    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    model = pydantic_ai(".models.function").FunctionModel(
        answer, model_name="m", settings={"seed": 1}
    )
    agent = agent_on(model, add, model_settings={"temperature": 0.5, "max_tokens": 10})
    asyncio.run(agent.run("2 + 2?"))
    [request] = requests(spans)
    attributes = request.attributes
    assert {
        name.removeprefix("gen_ai."): value(attributes[name])
        for name in attributes
        if name.startswith(("gen_ai.usage.", "gen_ai.request.", "gen_ai.response."))
    } == {
        "request.model": "m",
        "request.temperature": 0.5,
        "request.max_tokens": 10,
        "request.seed": 1,
        "response.model": "m",
        "response.id": "r-1",
        "response.finish_reasons": ["stop"],
        "usage.input_tokens": 20,
        "usage.output_tokens": 9,
        "usage.cache_read.input_tokens": 5,
        "usage.cache_write.input_tokens": 3,
        "usage.reasoning.output_tokens": 7,
    }
    assert '"name":"add"' in attributes["gen_ai.tool.definitions"]
    assert '"type":"reasoning"' in attributes["gen_ai.output.messages"]


def test_files_in_a_prompt_are_parts_of_their_own(spans: Any) -> None:
    messages = pydantic_ai(".messages")
    prompt = [
        "Look:",
        messages.ImageUrl("https://example.com/a.png"),
        messages.BinaryContent(b"%PDF", media_type="application/pdf"),
    ]
    asyncio.run(agent_on(scripted("nice")).run(prompt))
    [request] = requests(spans)
    attribute = request.attributes["gen_ai.input.messages"]
    assert '"modality":"image"' in attribute
    assert '"mime_type":"application/pdf"' in attribute


def test_a_request_that_a_capability_answers_itself_has_no_span(spans: Any) -> None:
    messages = pydantic_ai(".messages")

    async def wrap_model_request(self: Any, ctx: Any, *, request_context: Any, handler: Any) -> Any:
        return messages.ModelResponse(parts=[messages.TextPart("from the cache")])

    base = pydantic_ai(".capabilities").AbstractCapability
    cache = type("Cache", (base,), {"wrap_model_request": wrap_model_request})()
    agent = agent_on(scripted("fresh"), capabilities=[cache])
    assert asyncio.run(agent.run("x")).output == "from the cache"
    assert requests(spans) == []


def test_changes_by_a_capability_are_in_the_models_input(spans: Any) -> None:
    messages = pydantic_ai(".messages")

    async def before_model_request(self: Any, ctx: Any, request_context: Any) -> Any:
        request_context.messages = [messages.ModelRequest.user_text_prompt("something else")]
        return request_context

    base = pydantic_ai(".capabilities").AbstractCapability
    changing = type("Changing", (base,), {"before_model_request": before_model_request})()
    asyncio.run(agent_on(scripted("done"), capabilities=[changing]).run("x"))
    [request] = requests(spans)
    assert "something else" in request.attributes["gen_ai.input.messages"]


def test_attempts_with_a_fallback_are_failed_calls(spans: Any) -> None:
    fallback = pydantic_ai(".models.fallback").FallbackModel
    refused = pydantic_ai(".exceptions").ModelHTTPError(500, "one", "broken")
    attempts = hasattr(pydantic_ai(".messages"), "ModelRequestAttempt")
    agent = agent_on(fallback(scripted(refused, name="one"), scripted("fine", name="two")))
    assert asyncio.run(agent.run("x")).output == "fine"
    calls = [
        (request.attributes["gen_ai.request.model"], request.attributes.get("error.type"))
        for request in requests(spans)
    ]
    assert sorted(calls, key=str) == ([("one", "ModelHTTPError")] if attempts else []) + [
        ("two", None)
    ]


def test_no_attempt_is_counted_twice_where_every_model_fails(spans: Any) -> None:
    fallback = pydantic_ai(".models.fallback").FallbackModel
    refused = pydantic_ai(".exceptions").ModelHTTPError
    models = [scripted(refused(500, name, "broken"), name=name) for name in ("one", "two")]
    error = outcome(agent_on(fallback(*models)).run("x"))
    assert type(error).__name__ == "FallbackExceptionGroup"
    attempts = hasattr(pydantic_ai(".messages"), "ModelRequestAttempt")
    assert len(requests(spans)) == (2 if attempts else 1)


@pytest.mark.parametrize(
    ("pieces", "reader_fails", "error", "interrupted"),
    [
        (("one ", "two"), False, None, "closed"),
        (("one ", "two"), True, None, "closed"),
        (("one ", RuntimeError("cut")), None, "RuntimeError", None),
    ],
    ids=["left early", "its reader fails", "the model fails"],
)
def test_a_cut_stream_has_the_cause(
    spans: Any, pieces: Any, reader_fails: bool | None, error: str | None, interrupted: str | None
) -> None:
    async def read() -> None:
        async with agent_on(streaming(*pieces)).run_stream("x") as result:
            async for _ in result.stream_text(delta=True, debounce_by=None):
                if reader_fails:
                    raise KeyError("mine")
                if reader_fails is False:
                    break

    outcome(read())
    [request] = requests(spans)
    assert request.attributes.get("error.type") == error
    assert request.attributes.get("agentool.interrupted") == interrupted


def test_a_request_through_a_client_of_ours_is_one_span(spans: Any, model: LoopbackModel) -> None:
    openai = pytest.importorskip("openai")
    from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor

    async def run() -> None:
        async with openai.AsyncOpenAI(base_url=model.base_url, api_key="none") as client:
            provider = pydantic_ai(".providers.openai").OpenAIProvider(openai_client=client)
            for kind in ("OpenAIChatModel", "OpenAIResponsesModel"):
                request = getattr(pydantic_ai(".models.openai"), kind)("gpt-5", provider=provider)
                await agent_on(request).run("x")
                async with agent_on(request).run_stream("x") as result:
                    await result.get_output()

    model.push(
        *(
            Turn(text="4", input_tokens=12, output_tokens=3, cached_tokens=4, reasoning_tokens=2)
            for _ in range(4)
        )
    )
    OpenAIInstrumentor().instrument()
    try:
        asyncio.run(run())
    finally:
        OpenAIInstrumentor().uninstrument()
    calls = requests(spans)
    assert len(calls) == len(model.requests) == 4
    for call in calls:
        counts = {k: v for k, v in call.attributes.items() if k.startswith("gen_ai.usage.")}
        assert sorted(counts.values()) == [2, 3, 4, 12]
        assert call.attributes["server.address"] == "127.0.0.1"
