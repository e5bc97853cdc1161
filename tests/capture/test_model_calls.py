"""`model_call`: what is reported by hand of a call of a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentool_otel
from agentool_otel.loading import rebuild
from tests.records import records
from tests.strategies import values

ANTHROPIC: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [
        {"type": "thinking", "thinking": "Look it up.", "signature": "s"},
        {"type": "text", "text": "One moment."},
        {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "otel"}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 7},
}
ANTHROPIC_EVENTS: list[dict[str, Any]] = [
    {
        "type": "message_start",
        "message": {**ANTHROPIC, "content": [], "stop_reason": None,
                    "usage": {"input_tokens": 10, "cache_read_input_tokens": 5,
                              "output_tokens": 1}},
    },
    {"type": "content_block_start", "index": 0,
     "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0,
     "delta": {"type": "thinking_delta", "thinking": "Look it up."}},
    {"type": "content_block_delta", "index": 0,
     "delta": {"type": "signature_delta", "signature": "s"}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1,
     "delta": {"type": "text_delta", "text": "One "}},
    {"type": "content_block_delta", "index": 1,
     "delta": {"type": "text_delta", "text": "moment."}},
    {"type": "content_block_start", "index": 2,
     "content_block": {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}}},
    {"type": "content_block_delta", "index": 2,
     "delta": {"type": "input_json_delta", "partial_json": '{"q": '}},
    {"type": "content_block_delta", "index": 2,
     "delta": {"type": "input_json_delta", "partial_json": '"otel"}'}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]  # fmt: skip
GOOGLE: dict[str, Any] = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "Look it up.", "thought": True},
                    {"text": "One moment."},
                    {"functionCall": {"name": "search", "args": {"q": "otel"}}},
                ],
            },
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 15,
        "cachedContentTokenCount": 5,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 3,
    },
    "modelVersion": "gemini-x-001",
    "responseId": "r1",
}
GOOGLE_CHUNKS: list[dict[str, Any]] = [
    {"candidates": [{"content": {"parts": [part]}}], "modelVersion": "gemini-x-001"}
    for part in ({"text": "Look ", "thought": True}, {"text": "it up.", "thought": True},
                 {"text": "One "}, {"text": "moment."})
] + [{**GOOGLE, "candidates": [{
    "content": {"parts": [GOOGLE["candidates"][0]["content"]["parts"][2]]},
    "finishReason": "STOP"}]}]  # fmt: skip


def finish(attributes: dict[str, Any]) -> Any:
    return attributes.get("gen_ai.response.finish_reasons")


def test_text_and_usage_are_on_the_span(spans: Any) -> None:
    with agentool_otel.model_call(
        "llama", messages="Hi", provider="own", url="http://127.0.0.1:8080/v1", temperature=0,
        stop_sequences="END", max_tokens=9, choice_count=1,
    ) as call:  # fmt: skip
        call.output("Hel")
        call.output("lo", finish_reason="max_tokens")
        call.usage(3, 4, cache_read_tokens=1, reasoning_tokens=2, cost_usd=0.5)
    attributes = spans.attributes()
    assert spans.json("gen_ai.input.messages") == [
        {"role": "user", "parts": [{"type": "text", "content": "Hi"}]}
    ]
    assert spans.json("gen_ai.output.messages") == [
        {"role": "assistant", "parts": [{"type": "text", "content": "Hello"}],
         "finish_reason": "length"}
    ]  # fmt: skip
    assert spans.tree() == "chat llama   in=3 out=4 finish=length"
    assert attributes["gen_ai.usage.cache_read.input_tokens"] == 1
    assert attributes["gen_ai.usage.reasoning.output_tokens"] == 2
    assert attributes["agentool.cost.usd"] == 0.5
    assert (attributes["server.address"], attributes["server.port"]) == ("127.0.0.1", 8080)
    assert attributes["gen_ai.request.temperature"] == 0.0
    assert attributes["gen_ai.request.stop_sequences"] == ["END"]
    assert "gen_ai.request.choice.count" not in attributes


def test_a_block_that_reports_nothing_is_a_call_of_which_nothing_is_known(spans: Any) -> None:
    with agentool_otel.model_call("m", provider="own"):
        pass
    unknown = {"gen_ai.output.messages", "gen_ai.response.finish_reasons",
               "gen_ai.usage.input_tokens", "gen_ai.request.stream"}  # fmt: skip
    assert not unknown & spans.attributes().keys()


def test_a_message_has_a_finish_reason_and_the_span_only_one_that_was_said(spans: Any) -> None:
    with agentool_otel.model_call("m", provider="own") as call:
        call.output("Hello")
    assert spans.json("gen_ai.output.messages")[0]["finish_reason"] == "stop"
    assert finish(spans.attributes()) is None


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
def test_a_providers_response_says_what_the_call_was(
    spans: Any, said: list[Any], provider: str
) -> None:
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
    assert finish(attributes) == ["tool_call"]
    assert attributes["gen_ai.provider.name"] == provider
    assert attributes["gen_ai.response.id"] in ("msg_1", "r1")
    assert attributes["gen_ai.response.model"] in ("claude-x", "gemini-x-001")
    counts = ("input_tokens", "output_tokens", "cache_read.input_tokens")
    assert [attributes[f"gen_ai.usage.{name}"] for name in counts] == [15, 7, 5]


def test_only_what_must_be_a_stream_is_called_one(spans: Any) -> None:
    for said in (GOOGLE, ANTHROPIC, ANTHROPIC_EVENTS[0]):
        with agentool_otel.model_call("m", provider="own") as call:
            call.output(said)
    streams = [span.attributes.get("gen_ai.request.stream") for span in spans.finished()]
    assert streams == [None, None, True]


def test_the_first_chunk_is_timed_once(spans: Any) -> None:
    with agentool_otel.model_call("m", provider="own") as call:
        call.first_chunk()
        first = call._chunks.first_s
        call.first_chunk()
        call.output("Hello")
    attributes = spans.attributes()
    assert attributes["gen_ai.request.stream"] is True
    assert attributes["gen_ai.response.time_to_first_chunk"] == first


def test_what_is_said_of_usage_and_finish_wins_over_the_response(spans: Any) -> None:
    with agentool_otel.model_call("m", provider="own") as call:
        call.usage(input_tokens=1)
        call.output(ANTHROPIC, finish_reason="stop")
    assert spans.tree() == "chat m   in=1 out=7 finish=stop"


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
    assert spans.json("gen_ai.input.messages") == MESSAGES["the conventions"]


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
    with agentool_otel.model_call("m", provider="own", tools=TOOLS[shape], system="Be short."):
        pass
    assert spans.json("gen_ai.tool.definitions") == [
        {"type": "function", "name": "search", "description": "Look.",
         "parameters": {"type": "object"}}
    ]  # fmt: skip
    assert spans.json("gen_ai.system_instructions") == [{"type": "text", "content": "Be short."}]


def test_a_tool_of_the_server_is_named_after_its_type(spans: Any) -> None:
    tools = [{"google_search": {}}, {"type": "web_search_20250305", "name": "web_search"}]
    with agentool_otel.model_call("m", provider="own", tools=tools):
        pass
    assert spans.json("gen_ai.tool.definitions") == [
        {"type": "google_search", "name": "google_search"},
        {"type": "web_search_20250305", "name": "web_search"},
    ]


def test_a_tool_that_the_model_asked_for_has_the_id_of_the_call(spans: Any) -> None:
    @agentool_otel.tool
    def search(q: str) -> str:
        return "found"

    with agentool_otel.run("a"):
        with agentool_otel.model_call("m", provider="own") as call:
            call.output(ANTHROPIC)
        search(q="otel")
    [found] = rebuild(records(spans.finished()))
    steps = found.trace.to_dict()["steps"]
    assert [step["type"] for step in steps] == [
        "reasoning",
        "reasoning",
        "tool_call",
        "tool_result",
    ]
    assert steps[3]["tool_result"]["call_id"] == "toolu_1"


def test_an_exception_passes_and_is_the_calls_error(spans: Any) -> None:
    def fails() -> None:
        with agentool_otel.model_call("m", provider="own"):
            raise TimeoutError("too late")

    with pytest.raises(TimeoutError, match="too late"):
        fails()
    assert spans.tree() == "chat m   finish=error error=TimeoutError"


def test_an_exception_after_the_answer_does_not_change_why_the_model_stopped(spans: Any) -> None:
    def fails() -> None:
        with agentool_otel.model_call("m", provider="own") as call:
            call.output(ANTHROPIC)
            raise KeyError("x")

    with pytest.raises(KeyError):
        fails()
    assert spans.tree() == "chat m   in=15 out=7 finish=tool_call error=KeyError"


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
    assert spans.tree() == f"chat m   finish=error error={error}"
    assert "gen_ai.output.messages" not in spans.attributes()


def test_a_call_in_async_code_that_is_cancelled_ends_as_cancelled(spans: Any) -> None:
    async def forever() -> None:
        async with agentool_otel.model_call("m", provider="own"):
            await asyncio.sleep(60)

    async def main() -> None:
        task = asyncio.ensure_future(forever())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert spans.attributes()["error.type"].endswith("CancelledError")


@pytest.mark.parametrize(("whole", "mark"), [(False, "closed"), (True, None)])
def test_a_stream_that_its_consumer_closes_is_no_error(
    spans: Any, whole: bool, mark: str | None
) -> None:
    def stream() -> Iterator[str]:
        with agentool_otel.model_call("m", provider="own") as call:
            call.output("Hel", finish_reason="stop" if whole else None)
            yield "Hel"

    chunks = stream()
    next(chunks)
    del chunks
    attributes = spans.attributes()
    assert "error.type" not in attributes
    assert attributes.get("agentool.interrupted") == mark
    assert spans.json("gen_ai.output.messages")[0].get("finish_reason") == (
        "stop" if whole else "error"
    )


def test_a_block_inside_a_block_is_the_same_call(spans: Any) -> None:
    with agentool_otel.model_call("m", provider="own") as outer:
        with agentool_otel.model_call("m", provider="own") as inner:
            inner.output("lost")
        outer.output("kept")
    assert "kept" in spans.attributes()["gen_ai.output.messages"]


def test_a_call_object_can_be_used_again(spans: Any) -> None:
    call = agentool_otel.model_call("m", provider="own")
    with call:
        call.output("first")
        call.usage(1, 1)
    with call:
        call.output("second")
    first, second = spans.finished()
    assert "first" not in second.attributes["gen_ai.output.messages"]
    assert "gen_ai.usage.input_tokens" not in second.attributes
    assert first.attributes["gen_ai.usage.input_tokens"] == 1


def test_without_content_there_is_none_but_all_the_rest(spans: Any) -> None:
    spans.without_content()
    with agentool_otel.model_call("m", messages="Hi", tools=TOOLS["openai"]) as call:
        call.output(ANTHROPIC)
    assert spans.tree() == "chat m   in=15 out=7 finish=tool_call"
    assert not any("messages" in key or "definitions" in key for key in spans.attributes())


def test_a_list_changed_during_the_call_is_recorded_as_it_was_asked(spans: Any) -> None:
    messages = [{"role": "user", "content": "Hi"}]
    with agentool_otel.model_call("m", provider="own", messages=messages):
        messages.append({"role": "user", "content": "later"})
    assert "later" not in spans.attributes()["gen_ai.input.messages"]


def test_an_iterator_is_not_used_up_and_no_method_is_called(spans: Any) -> None:
    class Asked(SimpleNamespace):
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"asked for {name}")

    messages = iter([{"role": "user", "content": "Hi"}])
    with agentool_otel.model_call("m", provider="own", messages=messages, tools=Asked()) as call:
        call.output(Asked())
        call.output(answer := iter(["Hello"]))
    assert (list(messages), list(answer)) == ([{"role": "user", "content": "Hi"}], ["Hello"])


shapes = st.one_of(
    values,
    st.fixed_dictionaries({"choices": values | st.lists(st.fixed_dictionaries(
        {}, optional={"message": values, "delta": values, "finish_reason": values}))}),
    st.fixed_dictionaries({"candidates": st.lists(st.fixed_dictionaries(
        {"content": st.fixed_dictionaries({"parts": values | st.lists(st.dictionaries(
            st.sampled_from(["text", "functionCall", "inlineData", "fileData", "x"]), values))})},
        optional={"finishReason": values, "index": values}))},
        optional={"usageMetadata": values}),
    st.fixed_dictionaries({"object": st.just("response"), "output": st.lists(values)},
                          optional={"usage": values, "error": values}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["message", "message_start", "content_block_start",
                                  "content_block_delta", "message_delta", "error",
                                  "response.completed", "response.output_text.delta"]),
         "content": st.lists(values), "stop_reason": values},
        optional={"message": values, "delta": values, "content_block": values, "usage": values,
                  "index": values, "response": values}),
    st.fixed_dictionaries({"role": values, "content": values | st.lists(st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "tool_use", "tool_result", "image", "thinking", "x"])},
        optional={"text": values, "content": values, "input": values, "source": values}))}),
    st.fixed_dictionaries({"role": values, "parts": st.lists(st.dictionaries(
        st.sampled_from(["type", "text", "content", "name", "functionResponse"]), values))}),
)  # fmt: skip


@given(said=st.lists(shapes, max_size=3), asked=shapes, other=values)
def test_whatever_is_reported_the_block_runs_and_the_span_ends(
    said: list[Any], asked: Any, other: Any
) -> None:
    """Under `AGENTOOL_OTEL_STRICT` an error of ours would be raised here."""
    from opentelemetry.sdk.trace import TracerProvider

    from agentool_otel.content.policy import Policy
    from agentool_otel.emit.session import session

    session.reset()
    try:
        provider = TracerProvider(shutdown_on_exit=False)
        session.configure(provider=provider, policy=Policy(capture=True))
        with agentool_otel.model_call(
            other, messages=asked, system=other, tools=[asked, other], provider=other, url=other,
            temperature=other, max_tokens=other, stop_sequences=other, conversation_id=other,
        ) as call:  # fmt: skip
            for each in said:
                call.output(each, finish_reason=other)
            call.usage(other, other, cost_usd=other)
        with agentool_otel.retrieval(other, other, other) as found:
            found.documents([asked, other, *said])
        with agentool_otel.embeddings(other, dimensions=other) as embedded:
            embedded.output(asked)
    finally:
        session.reset()


def test_switched_off_nothing_is_recorded_and_nothing_is_read(spans: Any) -> None:
    from agentool_otel.emit.session import session

    session.enabled = False
    with agentool_otel.model_call("m", messages="Hi") as call:
        call.output(object())
        call.usage(1, 2)
        call.first_chunk()
    assert not spans.finished()


def test_a_bug_of_ours_never_reaches_the_block(
    spans: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from agentool_otel.emit.session import session
    from agentool_otel.providers import answers

    def broken(_: Any) -> Any:
        raise ZeroDivisionError("a bug")

    session.strict = False
    monkeypatch.setattr(answers, "shape_of", broken)
    with agentool_otel.model_call("m", provider="own") as call:
        call.output(ANTHROPIC)
        call.usage(1, 2)
    assert spans.tree() == "chat m   in=1 out=2"
    assert "reading the output of a model call" in caplog.text


def test_a_part_of_gemini_that_is_called_text_and_is_none_is_unknown(spans: Any) -> None:
    parts: list[dict[str, Any]] = [{"text": {}}, {"text": {}}]
    with agentool_otel.model_call("m", provider="own", messages={"parts": parts}):
        pass
    (asked,) = spans.json("gen_ai.input.messages")
    assert asked["parts"] == [{"type": "unknown", "content": {}}] * 2


def test_a_call_that_is_not_sampled_reads_nothing(
    spans: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    from agentool_otel.capture import model_calls
    from agentool_otel.emit.session import session
    from agentool_otel.providers import answers

    def read(_: Any) -> Any:
        raise AssertionError("content was read")

    monkeypatch.setattr(model_calls, "jsonable", read)
    monkeypatch.setattr(answers, "jsonable", read)
    session.configure(provider=TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False))
    with agentool_otel.model_call("m", messages=[{"role": "user", "content": "Hi"}]) as call:
        call.output(ANTHROPIC)
        call.usage(1, 2)
    assert not spans.finished()


def test_what_is_known_at_the_start_is_on_an_open_span(spans: Any) -> None:
    """So that a call under way is found with its question after a kill."""
    from opentelemetry import trace

    from agentool_otel.emit.session import session

    session.opened = lambda _: None
    with agentool_otel.model_call("m", provider="own", messages="Hi"):
        span: Any = trace.get_current_span()
        assert "Hi" in span.attributes["gen_ai.input.messages"]
        assert span.attributes["gen_ai.request.model"] == "m"


def test_what_a_tool_or_an_agent_calls_is_no_part_of_the_model_call_around_it(spans: Any) -> None:
    """A server that runs tools while it streams its answer."""

    def ask(model: str) -> None:
        with agentool_otel.model_call(model, provider="own") as call:
            call.output("Hi")

    with agentool_otel.model_call("outer", provider="own"):
        ask("the same call, reported twice")
        agentool_otel.tool(name="look_up")(lambda: ask("in a tool"))()
        agentool_otel.agent(name="helper")(lambda: ask("in an agent"))()
    names = [span.name for span in spans.finished()]
    assert names == [
        "chat in a tool", "execute_tool look_up",
        "chat in an agent", "invoke_agent helper",
        "chat outer",
    ]  # fmt: skip
