"""Streams, raw ones and those of the `stream` helper: one span, however they end."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn
from tests.integrations.anthropic.conftest import HELLO

anthropic: Any = pytest.importorskip("anthropic")

WORDS = "One, two, three, four."
TURN = Turn(text=WORDS, input_tokens=7, output_tokens=3)


def enter(client: Any, of_beta: bool = False) -> Any:
    """Return the manager of the `stream` helper."""
    return (client.beta if of_beta else client).messages.stream(**HELLO)


def text_stream(client: Any) -> None:
    with enter(client) as stream:
        assert "".join(stream.text_stream) == WORDS


def final_message(client: Any) -> None:
    with enter(client) as stream:
        assert stream.get_final_message().content[0].text == WORDS


def iterated(client: Any) -> None:
    with enter(client) as stream:
        assert [item.type for item in stream][-1] == "message_stop"


def created(client: Any) -> None:
    with client.messages.create(**HELLO, stream=True) as stream:
        assert [item.type for item in stream][-1] == "message_stop"


WHOLE = [text_stream, final_message, iterated, created]


@pytest.mark.parametrize("read", WHOLE, ids=lambda item: item.__name__)
def test_a_stream_that_is_read_is_one_whole_call(
    client: Any, model: LoopbackModel, spans: Any, read: Any
) -> None:
    model.push(TURN)
    read(client)
    attributes = spans.attributes()
    assert attributes["gen_ai.request.stream"] is True
    assert attributes["gen_ai.response.time_to_first_chunk"] > 0
    assert attributes["gen_ai.usage.output_tokens"] == 3
    assert attributes["gen_ai.response.finish_reasons"] == ["stop"]
    assert spans.json("gen_ai.output.messages")[0]["parts"][0]["content"] == WORDS
    assert "agentool.interrupted" not in attributes


@pytest.mark.parametrize("of_beta", [False, True])
def test_an_async_stream_is_one_whole_call(
    model: LoopbackModel, instrumented: None, spans: Any, of_beta: bool
) -> None:
    model.push(TURN)

    async def main() -> str:
        async_anthropic = anthropic.AsyncAnthropic(base_url=model.root_url, api_key="none")
        async with async_anthropic as client, enter(client, of_beta) as stream:
            return "".join([text async for text in stream.text_stream])

    assert asyncio.run(main()) == WORDS
    assert spans.attributes()["gen_ai.usage.output_tokens"] == 3


def test_a_stream_is_still_the_type_it_was(client: Any, spans: Any) -> None:
    if type(anthropic.Stream) is not type:
        pytest.skip("0.x: nothing but a Stream itself passes for one")
    kind: Any = anthropic.Stream
    with client.messages.create(**HELLO, stream=True) as stream:
        assert isinstance(stream, kind)
        assert stream.response.status_code == 200


def test_what_is_entered_is_what_it_was(client: Any, spans: Any) -> None:
    manager = enter(client)
    assert isinstance(manager, anthropic.MessageStreamManager)
    with manager as stream:
        assert type(stream) is anthropic.MessageStream
        assert stream.response.status_code == 200
        assert stream.request_id


def test_nothing_is_asked_or_recorded_before_the_block(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    manager = enter(client)
    assert (model.requests, spans.finished()) == ([], [])
    with manager:
        pass
    assert spans.attributes()["agentool.interrupted"] == "closed"


def left(client: Any) -> None:
    with enter(client) as stream:
        for event in stream:
            if event.type == "text":
                break


def closed(client: Any) -> None:
    stream = client.messages.create(**HELLO, stream=True)
    for event in stream:
        if event.type == "content_block_delta":
            break
    stream.close()


def forgotten(client: Any) -> None:
    for event in client.messages.create(**HELLO, stream=True):
        if event.type == "content_block_delta":
            break


def never_left(client: Any) -> None:
    stream = enter(client).__enter__()
    for event in stream:
        if event.type == "text":
            break
    del stream


@pytest.mark.parametrize(
    ("read", "why"),
    [(left, "closed"), (closed, "closed"), (forgotten, "abandoned"), (never_left, "abandoned")],
)
def test_a_stream_that_is_left_has_what_was_read(
    client: Any, model: LoopbackModel, spans: Any, read: Any, why: str
) -> None:
    model.push(TURN)
    read(client)
    gc.collect()
    attributes = spans.attributes()
    assert attributes["agentool.interrupted"] == why
    assert attributes["gen_ai.usage.input_tokens"] == 7
    assert "gen_ai.usage.output_tokens" not in attributes, "the first event has no count of it"
    text = spans.json("gen_ai.output.messages")[0]["parts"][0]["content"]
    assert WORDS.startswith(text)
    assert text != WORDS


@pytest.mark.parametrize("events", range(2, 6))
def test_a_stream_that_ends_without_its_last_event_is_an_error(
    client: Any, model: LoopbackModel, spans: Any, events: int
) -> None:
    model.push(Turn(text=WORDS, end_after=events))
    for _ in client.messages.create(**HELLO, stream=True):
        pass
    attributes = spans.attributes()
    assert attributes["error.type"] == "incomplete_stream"
    assert "gen_ai.response.finish_reasons" not in attributes


@pytest.mark.parametrize("helper", [False, True])
@pytest.mark.parametrize(
    "turn", [Turn(text=WORDS, error_after=5), Turn(text=WORDS, cut_after=5)], ids=["error", "cut"]
)
def test_an_error_in_the_stream_is_the_spans(
    client: Any, model: LoopbackModel, spans: Any, turn: Turn, helper: bool
) -> None:
    model.push(turn)
    with pytest.raises(Exception) as raised:
        (iterated if helper else created)(client)
    attributes = spans.attributes()
    assert attributes["error.type"].endswith(type(raised.value).__name__)
    assert "gen_ai.response.finish_reasons" not in attributes


def test_a_refused_stream_is_one_failed_span(client: Any, model: LoopbackModel, spans: Any) -> None:
    model.push(Turn(status=400))
    with pytest.raises(anthropic.BadRequestError), enter(client):
        pass
    assert spans.attributes()["error.type"] == "anthropic.BadRequestError"


def test_arguments_that_were_cut_stay_text(client: Any, model: LoopbackModel, spans: Any) -> None:
    call = ToolCall("search_web", '{"query": "Open')
    model.push(Turn(tool_calls=(call,)))
    for _ in client.messages.create(**HELLO, stream=True):
        pass
    [part] = spans.json("gen_ai.output.messages")[0]["parts"]
    assert (part["name"], part["arguments"]) == ("search_web", '{"query": "Open')
