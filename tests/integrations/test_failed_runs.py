"""From a real failure to the trace with its error: providers, streams, agents."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from agentool_otel.tracing.capture import agent, run, tool
from tests.records import records

openai = pytest.importorskip("openai")

BROKEN = Turn(status=500, error="the disk is full")


def rebuilt(spans: Any) -> dict[str, Any]:
    [result] = rebuild(records(spans.finished()))
    return result.trace.to_dict()


def error_of(spans: Any) -> Any:
    """Return the error that ended the run, the span by its name."""
    names = {f"{span.context.span_id:016x}": span.name for span in spans.finished()}
    error = rebuilt(spans).get("metadata", {}).get("error")
    return error if error is None else {**error, "span_id": names[error["span_id"]]}


def test_an_exception_of_an_agent_is_in_its_trace(spans: Any) -> None:
    @agent
    def bad(question: str) -> None:
        raise ValueError("because of X")

    with pytest.raises(ValueError, match="because of X"):
        bad("?")
    assert rebuilt(spans)["status"] == "error"
    assert error_of(spans) == {
        "type": "ValueError",
        "message": "because of X",
        "span_id": "invoke_agent bad",
    }


def test_so_is_one_that_leaves_the_block_of_a_run(spans: Any) -> None:
    @tool
    def look(place: str) -> None:
        raise LookupError(f"no station in {place}")

    def ask() -> None:
        with run("weather"):
            with suppress(LookupError):
                look("Rome")
            look("Oslo")

    with pytest.raises(LookupError, match="Oslo"):
        ask()
    assert error_of(spans) == {
        "type": "LookupError",
        "message": "no station in Oslo",
        "span_id": "execute_tool look",
    }


def test_it_is_there_without_content_too_and_masked(spans: Any) -> None:
    spans.without_content()
    with pytest.raises(ValueError, match="password"), run("weather"):
        raise ValueError("password=hunter2hunter2")
    message = error_of(spans)["message"]
    assert "password" in message
    assert "hunter2" not in message


def test_a_cancelled_agent_is_marked(spans: Any) -> None:
    @agent
    async def sleeper(question: str) -> None:
        await asyncio.sleep(60)

    async def cancel() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(sleeper("?"), 0.01)

    asyncio.run(cancel())
    assert error_of(spans) == {
        "type": "asyncio.exceptions.CancelledError",
        "span_id": "invoke_agent sleeper",
    }


def test_a_broken_provider_ends_a_bare_call(calls: Any, spans: Any, model: LoopbackModel) -> None:
    model.push(BROKEN)
    with pytest.raises(openai.InternalServerError):
        calls.chat()
    error = error_of(spans)
    assert error["type"] == "openai.InternalServerError"
    assert "the disk is full" in error["message"]


def test_a_broken_provider_ends_the_agent_around_it(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    @agent
    def clerk(question: str) -> None:
        client.chat.completions.create(
            model="gpt-5", messages=[{"role": "user", "content": question}]
        )

    model.push(BROKEN)
    with pytest.raises(openai.InternalServerError):
        clerk("?")
    error = error_of(spans)
    assert (error["type"], error["span_id"]) == ("openai.InternalServerError", "chat gpt-5")
    assert "the disk is full" in error["message"]


def test_a_cancelled_stream_ends_a_bare_call(calls: Any, spans: Any, model: LoopbackModel) -> None:
    async def use(client: Any) -> None:
        requests = [{"role": "user", "content": "Hello"}]
        stream = await client.chat.completions.create(model="gpt-5", messages=requests, stream=True)
        with pytest.raises(asyncio.TimeoutError):
            async with stream:
                await asyncio.wait_for(drain(stream), 0.1)

    async def drain(stream: Any) -> None:
        async for _ in stream:
            pass

    if calls.asynchronous:
        model.push(Turn(chunk_delay_s=0.5))
        calls.run(use)
        assert error_of(spans)["type"].endswith("CancelledError")


def test_a_stream_that_breaks_ends_a_bare_call(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(error_after=1, error="overloaded"))
    with pytest.raises(openai.APIError, match="overloaded"):
        calls.chat(stream=True)
    error = error_of(spans)
    assert (error["type"], error["message"]) == ("openai.APIError", "overloaded")


def test_a_stream_that_its_reader_closes_has_not_ended_and_is_no_error(
    client: Any, spans: Any
) -> None:
    stream = client.chat.completions.create(
        model="gpt-5", messages=[{"role": "user", "content": "Hello"}], stream=True
    )
    next(stream)
    stream.close()
    assert rebuilt(spans)["status"] == "in_progress"
    assert error_of(spans) is None
