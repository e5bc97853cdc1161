"""Streams and raw responses: the caller notices nothing, and the span ends once, always."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from collections.abc import AsyncIterator, Iterable
from time import time_ns
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.trace import get_current_span

from agentool_otel.model.operations import Inference
from agentool_otel.providers.openai_chat import ChatReading
from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from agentool_otel.tracing.spans import finalizers

openai = pytest.importorskip("openai")

ASK: dict[str, Any] = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hello"}]}
STREAM: dict[str, Any] = {**ASK, "stream": True}


def helpers_of(client: Any, name: str) -> Any:
    """Return the resource that has a helper: it was in beta first."""
    for resource in (client.chat, getattr(client.beta, "chat", None)):
        if resource is not None and hasattr(resource.completions, name):
            return resource.completions
    pytest.skip(f"this version of the library has no {name}()")


def texts_of(span: Any) -> str:
    messages = json.loads(span.attributes["gen_ai.output.messages"])
    return "".join(part["content"] for message in messages for part in message["parts"])


# ------------------------------------------------------------------------- looks like the original


def test_a_stream_is_still_the_type_it_was(client: Any, spans: Any) -> None:
    with client.chat.completions.create(**STREAM) as stream:
        assert isinstance(stream, openai.Stream)
        assert stream.response.status_code == 200
        assert not hasattr(stream, "aclose")
        assert iter(stream) is not None


def test_an_async_stream_is_still_the_type_it_was(calls: Any, spans: Any) -> None:
    async def look(client: Any) -> None:
        async with await client.chat.completions.create(**STREAM) as stream:
            assert isinstance(stream, openai.AsyncStream)
            assert isinstance(stream, AsyncIterator)
            assert not isinstance(stream, Iterable)

    if calls.asynchronous:
        calls.run(look)


def test_nothing_is_current_between_chunks(client: Any, spans: Any) -> None:
    outside = get_current_span()
    for _ in client.chat.completions.create(**STREAM):
        assert get_current_span() is outside


def test_the_span_is_current_while_the_request_is_sent(client: Any, spans: Any) -> None:
    log: list[Any] = []

    def look(request: Any) -> None:
        log.append(get_current_span())

    client._client.event_hooks = {"request": [look]}
    client.chat.completions.create(**ASK)
    assert log[0].get_span_context().span_id == spans.only().context.span_id


def test_the_time_to_the_first_chunk_is_measured(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(delay_s=0.05))
    calls.chat(stream=True)
    attributes = spans.attributes()
    assert attributes["gen_ai.request.stream"] is True
    assert attributes["gen_ai.response.time_to_first_chunk"] >= 0.05


# --------------------------------------------------------------------------------- ways to an end


def test_a_stream_that_is_closed_early_keeps_what_came(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(text="Hello there", chunk_size=5))
    stream = client.chat.completions.create(**STREAM)
    assert next(stream)
    assert next(stream)
    stream.close()
    assert texts_of(spans.only()) == "Hello"
    assert spans.attributes()["agentool.interrupted"] == "closed"
    assert "gen_ai.response.finish_reasons" not in spans.attributes()
    assert spans.only().status.is_unset


def test_an_async_stream_that_is_closed_early_is_one_span(calls: Any, spans: Any) -> None:
    async def use(client: Any) -> None:
        stream = await client.chat.completions.create(**STREAM)
        await stream.__anext__()
        await stream.close()
        await stream.close()

    if calls.asynchronous:
        calls.run(use)
        assert spans.attributes()["agentool.interrupted"] == "closed"


def test_leaving_the_with_block_ends_the_span(client: Any, spans: Any) -> None:
    with client.chat.completions.create(**STREAM) as stream:
        next(stream)
        assert not spans.finished()
    assert len(spans.finished()) == 1


def test_an_exception_of_the_consumer_is_that_of_the_call(client: Any, spans: Any) -> None:
    with pytest.raises(ZeroDivisionError), client.chat.completions.create(**STREAM) as stream:
        assert 1 / next(stream).choices[0].index
    assert spans.attributes()["error.type"] == "ZeroDivisionError"
    assert "gen_ai.response.finish_reasons" not in spans.attributes()


def test_an_exception_after_the_last_chunk_is_none_of_the_call(client: Any, spans: Any) -> None:
    def read() -> None:
        with client.chat.completions.create(**STREAM) as stream:
            for chunk in stream:
                if chunk.choices and chunk.choices[0].finish_reason:
                    raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        read()
    assert spans.only().status.is_unset
    assert spans.attributes()["gen_ai.response.finish_reasons"] == ["stop"]


@pytest.mark.parametrize("events", range(4))
def test_a_stream_that_ends_without_its_last_chunk_is_an_error(
    calls: Any, spans: Any, model: LoopbackModel, events: int
) -> None:
    model.push(Turn(text="Hello there", chunk_size=5, end_after=events))
    calls.chat(stream=True)
    attributes = spans.attributes()
    assert attributes["error.type"] == "incomplete_stream"
    assert "gen_ai.response.finish_reasons" not in attributes
    for message in json.loads(attributes.get("gen_ai.output.messages", "[]")):
        assert "finish_reason" not in message


def test_a_broken_loop_ends_the_span_on_collection(client: Any, spans: Any) -> None:
    for _ in client.chat.completions.create(**STREAM):
        break
    gc.collect()
    assert spans.attributes()["agentool.interrupted"] == "abandoned"


def test_a_loop_that_breaks_may_go_on_later(client: Any, spans: Any, model: LoopbackModel) -> None:
    model.push("Hello there")
    stream = client.chat.completions.create(**STREAM)
    for _ in stream:
        break
    for _ in stream:
        pass
    assert texts_of(spans.only()) == "Hello there"
    assert "agentool.interrupted" not in spans.attributes()


def test_a_broken_async_loop_ends_the_span_on_collection(calls: Any, spans: Any) -> None:
    async def use(client: Any) -> None:
        async for _ in await client.chat.completions.create(**STREAM):
            break
        gc.collect()
        assert spans.attributes()["agentool.interrupted"] == "abandoned"

    if calls.asynchronous:
        calls.run(use)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_unread_stream_is_one_span(calls: Any, spans: Any) -> None:
    def forget(client: Any) -> None:
        client.chat.completions.create(**STREAM)

    async def forget_async(client: Any) -> None:
        await client.chat.completions.create(**STREAM)

    calls.run(forget_async if calls.asynchronous else forget)
    gc.collect()
    assert spans.tree() == "chat gpt-5"
    assert spans.attributes()["agentool.interrupted"] == "abandoned"


def test_a_forgotten_stream_ends_when_its_last_chunk_came(client: Any, spans: Any) -> None:
    stream = client.chat.completions.create(**STREAM)
    next(stream)
    ns = time_ns()
    del stream
    gc.collect()
    assert spans.only().end_time <= ns


def test_garbage_collected_inside_the_sdk_is_ended_by_another_thread(
    client: Any, spans: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = client.chat.completions.create(**STREAM)
    monkeypatch.setattr(finalizers, "inside_telemetry", lambda: True)
    del stream
    gc.collect()
    for _ in range(100):
        if spans.finished():
            break
        threading.Event().wait(0.01)
    assert spans.only().name == "chat gpt-5"


def test_cancelling_the_reader_is_recorded_as_that(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    async def use(client: Any) -> None:
        stream = await client.chat.completions.create(**STREAM)
        await asyncio.wait_for(stream.__anext__(), 5)
        with pytest.raises(asyncio.TimeoutError):
            async with stream:
                await asyncio.wait_for(drain(stream), 0.05)

    async def drain(stream: Any) -> None:
        async for _ in stream:
            pass

    if calls.asynchronous:
        model.push(Turn(chunk_delay_s=0.5))
        calls.run(use)
        assert spans.attributes()["error.type"].endswith("CancelledError")


@pytest.mark.parametrize("read", [True, False])
def test_the_stream_helper_is_one_span_however_it_ends(client: Any, spans: Any, read: bool) -> None:
    with helpers_of(client, "stream").stream(**ASK) as stream:
        for _ in stream:
            if not read:
                break
    assert len(spans.finished()) == 1
    assert ("agentool.interrupted" in spans.attributes()) is not read


# ------------------------------------------------------------------------------------ raw responses


def test_a_raw_response_is_recorded_before_it_is_parsed(calls: Any, spans: Any) -> None:
    def ask(client: Any) -> Any:
        return client.chat.completions.with_raw_response.create(**ASK)

    raw = calls.run(ask)
    assert len(spans.finished()) == 1
    assert raw.headers["x-request-id"]
    assert spans.attributes()["gen_ai.response.id"] == raw.parse().id


def test_a_raw_stream_is_recorded_as_it_is_read(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push("Hello there")

    def use(client: Any) -> None:
        raw = client.chat.completions.with_raw_response.create(**STREAM)
        assert raw.parse() is raw.parse()
        assert isinstance(raw.parse(), openai.Stream)
        assert len(list(raw.parse())) > 2

    async def use_async(client: Any) -> None:
        raw = await client.chat.completions.with_raw_response.create(**STREAM)
        assert len([chunk async for chunk in raw.parse()]) > 2

    calls.run(use_async if calls.asynchronous else use)
    assert texts_of(spans.only()) == "Hello there"


def test_the_stream_of_a_forgotten_raw_response_lives_on(client: Any, spans: Any) -> None:
    stream = client.chat.completions.with_raw_response.create(**STREAM).parse()
    gc.collect()
    assert not spans.finished()
    assert list(stream)
    assert len(spans.finished()) == 1


PIECES = ("iter_bytes", "iter_text", "iter_lines")


@pytest.mark.parametrize("how", ["parse", "read", "json", "text", *PIECES, "nothing"])
def test_a_streamed_response_is_one_span_however_it_is_read(
    calls: Any, spans: Any, how: str
) -> None:
    def use(client: Any) -> None:
        with client.chat.completions.with_streaming_response.create(**ASK) as raw:
            if how in PIECES:
                assert list(getattr(raw, how)())
            elif how != "nothing":
                assert getattr(raw, how)()

    async def use_async(client: Any) -> None:
        async with client.chat.completions.with_streaming_response.create(**ASK) as raw:
            if how in PIECES:
                assert [piece async for piece in getattr(raw, how)()]
            elif how != "nothing":
                assert await getattr(raw, how)()

    calls.run(use_async if calls.asynchronous else use)
    entries = "gen_ai.response.id" in spans.attributes()
    assert entries is (how != "nothing")


@pytest.mark.parametrize("how", PIECES)
def test_the_events_of_a_stream_are_read_from_its_pieces(
    calls: Any, spans: Any, model: LoopbackModel, how: str
) -> None:
    model.push("Hello there, dear wörld")
    sizes = {} if how == "iter_lines" else {"chunk_size": 7}

    def use(client: Any) -> None:
        with client.chat.completions.with_streaming_response.create(**STREAM) as raw:
            assert list(getattr(raw, how)(**sizes))

    async def use_async(client: Any) -> None:
        async with client.chat.completions.with_streaming_response.create(**STREAM) as raw:
            assert [piece async for piece in getattr(raw, how)(**sizes)]

    calls.run(use_async if calls.asynchronous else use)
    assert texts_of(spans.only()) == "Hello there, dear wörld"
    assert spans.attributes()["gen_ai.response.finish_reasons"] == ["stop"]


def test_a_streamed_response_of_which_a_part_is_read_is_closed(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push("Hello there")
    with client.chat.completions.with_streaming_response.create(**STREAM) as raw:
        next(iter(raw.iter_lines()))
    assert "error.type" not in spans.attributes()


def test_a_stream_parsed_from_a_streamed_response_is_one_span(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push("Hello there")

    def use(client: Any) -> None:
        with client.chat.completions.with_streaming_response.create(**STREAM) as raw:
            assert len(list(raw.parse())) > 2

    async def use_async(client: Any) -> None:
        async with client.chat.completions.with_streaming_response.create(**STREAM) as raw:
            assert len([chunk async for chunk in await raw.parse()]) > 2

    calls.run(use_async if calls.asynchronous else use)
    assert texts_of(spans.only()) == "Hello there"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_raw_stream_that_is_never_parsed_is_one_span(client: Any, spans: Any) -> None:
    raw = client.chat.completions.with_raw_response.create(**STREAM)
    assert not spans.finished()
    del raw
    gc.collect()
    assert spans.tree() == "chat gpt-5"
    assert spans.attributes()["agentool.interrupted"] == "abandoned"


# --------------------------------------------------------------------------------- odd fragments


def chunk(*fragments: Any, **delta: Any) -> Any:
    simple_namespace = SimpleNamespace(tool_calls=list(fragments) or None, **delta)
    return SimpleNamespace(
        choices=[SimpleNamespace(index=0, delta=simple_namespace, finish_reason=None)]
    )


def fragment(
    index: Any = None, call_id: Any = None, name: Any = None, arguments: Any = None
) -> Any:
    return SimpleNamespace(
        index=index, id=call_id, function=SimpleNamespace(name=name, arguments=arguments)
    )


def parts_of(*chunks: Any) -> list[Any]:
    reading = ChatReading(Inference())
    for item in chunks:
        reading.add(item)
    (message,) = reading.operation().output or []
    parts: list[Any] = message["parts"]
    return parts


def test_fragments_of_a_call_may_lack_arguments() -> None:
    assert parts_of(
        chunk(fragment(0, "c1", "search", None)),
        chunk(fragment(0, None, None, '{"a"')),
        chunk(fragment(0, None, None, None)),
        chunk(fragment(0, None, None, ":1}")),
    ) == [{"type": "tool_call", "name": "search", "arguments": {"a": 1}, "id": "c1"}]


def test_calls_are_put_in_the_order_of_their_index() -> None:
    parts = parts_of(chunk(fragment(1, "c2", "b")), chunk(fragment(0, "c1", "a")))
    assert [part["id"] for part in parts] == ["c1", "c2"]


def test_fragments_without_an_index_belong_to_the_last_call() -> None:
    parts = parts_of(
        chunk(fragment(None, "c1", "a", "{")),
        chunk(fragment(None, None, None, "}")),
        chunk(fragment(None, "c2", "b", "{}")),
    )
    assert [(part["id"], part["arguments"]) for part in parts] == [("c1", {}), ("c2", {})]


def test_calls_with_one_index_are_separated_by_id() -> None:
    parts = parts_of(chunk(fragment(0, "c1", "a", "{}")), chunk(fragment(0, "c2", "b", "{}")))
    assert [part["id"] for part in parts] == ["c1", "c2"]


def test_choices_are_kept_apart() -> None:
    reading = ChatReading(Inference())
    for index, text, why in ((1, "b", None), (0, "a", "stop"), (1, "B", "length")):
        delta = SimpleNamespace(content=text)
        choice = SimpleNamespace(index=index, delta=delta, finish_reason=why)
        reading.add(SimpleNamespace(choices=[choice]))
    operation = reading.operation()
    assert [m["parts"][0]["content"] for m in operation.output or []] == ["a", "bB"]
    assert operation.finish_reasons == ["stop", "length"]


maybe = st.one_of(st.none(), st.text(max_size=3), st.integers(-1, 3))
fragments = st.builds(fragment, maybe, maybe, maybe, maybe)
deltas = st.one_of(
    st.none(),
    st.builds(SimpleNamespace, content=maybe, refusal=maybe, tool_calls=st.lists(fragments)),
)
choices = st.builds(SimpleNamespace, index=maybe, delta=deltas, finish_reason=maybe)
chunks = st.builds(SimpleNamespace, id=maybe, choices=st.one_of(maybe, st.lists(choices)))


@given(st.lists(chunks), st.booleans())
def test_no_stream_of_fragments_is_too_odd(given_chunks: list[Any], failed: bool) -> None:
    reading = ChatReading(Inference())
    for given_chunk in given_chunks:
        reading.add(given_chunk)
    operation = reading.operation()
    assert {message["role"] for message in operation.output or ()} <= {"assistant"}
    assert all(operation.finish_reasons or ["none is said"])


@given(st.lists(st.text(st.sampled_from('{"a":1} ')), min_size=1, max_size=4), st.data())
def test_interleaved_calls_are_put_together_whatever_the_order(
    given_arguments: list[str], data: st.DataObject
) -> None:
    """Fragments of one call stay in order; which call a fragment is of, changes at will."""
    waiting = {
        index: [
            fragment(index, f"c{index}", "tool", None),
            *(fragment(index, None, None, c) for c in t),
        ]
        for index, t in enumerate(given_arguments)
    }
    sent: list[Any] = []
    while waiting:
        index = data.draw(st.sampled_from(sorted(waiting)))
        sent.append(chunk(waiting[index].pop(0)))
        if not waiting[index]:
            del waiting[index]
    chunks = [chunk(fragment(i, f"c{i}", "tool", text)) for i, text in enumerate(given_arguments)]
    assert parts_of(*sent) == parts_of(*chunks)


def test_every_chunk_after_the_first_is_measured(spans: Any, model: Any, calls: Any) -> None:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    from agentool_otel.tracing.spans import metrics

    reader = InMemoryMetricReader()
    metrics.configure(MeterProvider([reader], shutdown_on_exit=False))
    try:
        model.push(Turn(text="one two three"))
        chunks = calls.chat(stream=True)
        [scope] = reader.get_metrics_data().resource_metrics[0].scope_metrics  # type: ignore[union-attr]
    finally:
        metrics.configure()
    metric = next(
        metric for metric in scope.metrics if metric.name.endswith("time_per_output_chunk")
    )
    point: Any = metric.data.data_points[0]
    assert point.count == len(chunks) - 1
    assert point.attributes["gen_ai.response.model"] == spans.attributes()["gen_ai.response.model"]
