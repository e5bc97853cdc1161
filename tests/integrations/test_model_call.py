"""A model called by one's own HTTP client is the call that the openai client would have been."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest

import agentool_otel
from agentool_otel.loading import rebuild
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn
from tests.records import records

openai = pytest.importorskip("openai")

MODEL = "gpt-5"
TOOL: dict[str, Any] = {
    "name": "get_weather",
    "description": "Current weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
CHAT_TOOLS: list[Any] = [{"type": "function", "function": TOOL}]
RESPONSES_TOOLS: list[Any] = [{"type": "function", **TOOL}]
QUESTION = [
    {"role": "system", "content": "You give short advice."},
    {"role": "user", "content": [{"type": "text", "text": "What should I wear in Paris?"}]},
]
TURNS = (
    Turn(
        reasoning="I need the weather.",
        tool_calls=(ToolCall("get_weather", {"city": "Paris"}, id="call_1"),),
        input_tokens=41,
        output_tokens=17,
        reasoning_tokens=5,
    ),
    Turn(text="A raincoat.", input_tokens=78, output_tokens=4, cached_tokens=32),
)


@agentool_otel.tool
def get_weather(city: str) -> dict[str, Any]:
    return {"city": city, "sky": "rain"}


def post(model: LoopbackModel, path: str, body: dict[str, Any]) -> Any:
    """Call the model server without any client library."""
    request = urllib.request.Request(
        f"{model.base_url}{path}",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def chat_agent(ask: Any) -> None:
    with agentool_otel.run("stylist", input="What should I wear?") as run:
        messages: list[Any] = list(QUESTION)
        while True:
            text = ask(model=MODEL, messages=messages, tools=CHAT_TOOLS, temperature=0.5)
            reply = text["choices"][0]["message"]
            messages.append(reply)
            if not reply.get("tool_calls"):
                run.output = reply["content"]
                return
            for call in reply["tool_calls"]:
                result = get_weather(**json.loads(call["function"]["arguments"]))
                answer = {"tool_call_id": call["id"], "content": json.dumps(result)}
                messages.append({"role": "tool", **answer})


def responses_agent(ask: Any) -> None:
    with agentool_otel.run("stylist", input="What should I wear?") as run:
        values: list[Any] = [{"role": "user", "content": "What should I wear in Paris?"}]
        while True:
            text = ask(model=MODEL, input=values, tools=RESPONSES_TOOLS, max_output_tokens=99)
            calls = [item for item in text["output"] if item["type"] == "function_call"]
            values += text["output"]
            if not calls:
                run.output = text["output"][0]["content"][0]["text"]
                return
            for call in calls:
                result = get_weather(**json.loads(call["arguments"]))
                answer = {"call_id": call["call_id"], "output": json.dumps(result)}
                values.append({"type": "function_call_output", **answer})


def essence(spans: Any) -> list[Any]:
    """Return the rebuilt trace and the spans' attributes, without ids and times."""
    [result] = rebuild(records(spans.finished()))
    texts = [(span.name, span.kind.name, dict(span.attributes)) for span in spans.finished()]
    return [without_times(result.trace.to_dict()), without_times(texts)]


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(value) for key, value in value.items() if key not in CHANGING}
    return [without_times(item) for item in value] if isinstance(value, (list, tuple)) else value


CHANGING = {
    "trace_id",
    "started_at",
    "finished_at",
    "timestamp",
    "duration_ms",
    "total_duration_ms",
    "agentool.span.start_ns",
    "agentool.span.end_ns",
    "agentool.span.parent_id",
    "agentool.metrics.total_duration_ms",
    "agentool.trace.id",
    "gen_ai.response.id",
}


def test_a_chat_reported_by_hand_is_the_chat_of_the_openai_client(
    spans: Any, client: Any, model: LoopbackModel
) -> None:
    model.push(*TURNS)
    chat_agent(lambda **request: client.chat.completions.create(**request).to_dict())
    expected = essence(spans)
    spans.forget()

    def ask(**request: Any) -> Any:
        named = {key: request[key] for key in ("model", "messages", "tools", "temperature")}
        with agentool_otel.model_call(**named, provider="openai", url=model.base_url) as call:
            response = post(model, "/chat/completions", request)
            call.output(response)
        return response

    model.push(*TURNS)
    chat_agent(ask)
    assert essence(spans) == expected


def test_a_response_reported_by_hand_is_the_response_of_the_openai_client(
    spans: Any, client: Any, model: LoopbackModel
) -> None:
    if not hasattr(client, "responses"):
        pytest.skip("older than the Responses API")
    model.push(*TURNS)
    responses_agent(lambda **request: client.responses.create(**request).to_dict())
    expected = essence(spans)
    spans.forget()

    def by_hand(**request: Any) -> Any:
        with agentool_otel.model_call(
            request["model"],
            messages=request["input"],
            tools=request["tools"],
            max_tokens=request["max_output_tokens"],
            provider="openai",
            url=model.base_url,
        ) as call:
            response = post(model, "/responses", request)
            call.output(response)
        return response

    model.push(*TURNS)
    responses_agent(by_hand)
    assert essence(spans) == expected


def test_reported_chunks_equal_the_openai_clients_stream(
    spans: Any, client: Any, model: LoopbackModel
) -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}}
    requests: dict[str, Any] = {"model": MODEL, "messages": QUESTION, **options}
    model.push(TURNS[1], TURNS[1])
    chunks = [chunk.to_dict() for chunk in client.chat.completions.create(**requests)]
    expected = streamed(spans.attributes())
    spans.forget()
    with agentool_otel.model_call(
        MODEL, messages=QUESTION, provider="openai", url=model.base_url
    ) as call:
        for chunk in chunks:
            call.output(chunk)
    assert streamed(spans.attributes()) == expected


def streamed(attributes: dict[str, Any]) -> dict[str, Any]:
    first = attributes.pop("gen_ai.response.time_to_first_chunk")
    assert first > 0
    attributes.pop("agentool.session.id", None)  # random
    return without_times(attributes)  # type: ignore[no-any-return]


def test_an_instrumented_call_inside_is_the_same_call(
    spans: Any, client: Any, model: LoopbackModel
) -> None:
    with agentool_otel.model_call(MODEL, messages=QUESTION, provider="openai") as call:
        call.output(client.chat.completions.create(model=MODEL, messages=QUESTION))
    assert spans.tree().startswith(f"chat {MODEL}")
    assert spans.json("gen_ai.output.messages")[0]["finish_reason"] == "stop"


def test_a_call_after_the_block_is_one_of_its_own(spans: Any, client: Any) -> None:
    with agentool_otel.model_call(MODEL, provider="openai") as call:
        call.output("Hello")
    client.chat.completions.create(model=MODEL, messages=QUESTION)
    assert len(spans.finished()) == 2


def test_a_langchain_model_inside_is_the_same_call(spans: Any, model: LoopbackModel) -> None:
    langchain_openai = pytest.importorskip("langchain_openai")
    from agentool_otel.integrations.langchain.instrumentor.patches import LangChainInstrumentor

    instrumentor = LangChainInstrumentor()
    instrumentor.instrument()
    try:
        chat = langchain_openai.ChatOpenAI(model=MODEL, base_url=model.base_url, api_key="none")
        with agentool_otel.model_call(MODEL, provider="openai") as call:
            call.output(chat.invoke("Hello").content)
        spans.only()
        chat.invoke("Hello")
    finally:
        instrumentor.uninstrument()
    assert len(spans.finished()) == 2


def test_a_block_inside_a_call_that_langchain_makes_is_the_same_call(spans: Any) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.language_models import SimpleChatModel

    from agentool_otel.integrations.langchain.instrumentor.patches import LangChainInstrumentor

    class OwnModel(SimpleChatModel):
        """A chat model of one's own, by one's own HTTP client."""

        def _call(self, *_: Any, **__: Any) -> str:
            with agentool_otel.model_call(MODEL, provider="openai") as call:
                call.output("Hello")
            return "Hello"

        @property
        def _llm_type(self) -> str:
            return "own"

    instrumentor = LangChainInstrumentor()
    instrumentor.instrument()
    try:
        OwnModel().invoke("Hello")
    finally:
        instrumentor.uninstrument()
    spans.only()
