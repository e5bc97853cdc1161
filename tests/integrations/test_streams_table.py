"""Every way a stream can go, for every kind of stream: one span, ended, with the right status."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel, Turn

openai = pytest.importorskip("openai")

WORDS = "Hello there, how are you today?"


class Reader(NamedTuple):
    """A consumer of a stream, sync and async."""

    read: Callable[[Any], Any]
    read_async: Callable[[Any], Any]


class Bug(Exception):
    """The consumer's own."""


def read_all(stream: Any) -> None:
    for _ in stream:
        pass


async def read_all_async(stream: Any) -> None:
    async for _ in stream:
        pass


def break_off(stream: Any) -> None:
    for _ in stream:
        break


async def break_off_async(stream: Any) -> None:
    async for _ in stream:
        break


def fail(stream: Any) -> None:
    for _ in stream:
        raise Bug


async def fail_async(stream: Any) -> None:
    async for _ in stream:
        raise Bug


def close(stream: Any) -> None:
    next(stream)
    stream.close()
    stream.close()


async def close_async(stream: Any) -> None:
    await stream.__anext__()
    shut = getattr(stream, "aclose", None) or stream.close
    await shut()
    await shut()


def leave(stream: Any) -> None:
    with stream:
        next(stream)


async def leave_async(stream: Any) -> None:
    async with stream:
        await stream.__anext__()


def ignore(stream: Any) -> None: ...
async def ignore_async(stream: Any) -> None: ...


async def cancel(stream: Any) -> None:
    await stream.__anext__()
    task = asyncio.create_task(read_all_async(stream))
    await asyncio.sleep(0.02)
    task.cancel()
    await task


def cannot(stream: Any) -> None:
    pytest.skip("only a task can be cancelled")


class Case(NamedTuple):
    """One row: the course of a stream, and the attributes of its span."""

    reader: Reader
    turn: Turn
    status: str
    interrupted: str | None
    raises: type[BaseException] | None = None


ALL = Reader(read_all, read_all_async)
ANSWER = Turn(text=WORDS)

CASES = {
    "read to its end": Case(ALL, ANSWER, "UNSET", None),
    "left by break": Case(Reader(break_off, break_off_async), ANSWER, "UNSET", "abandoned"),
    "left by a with block": Case(Reader(leave, leave_async), ANSWER, "UNSET", "closed"),
    "closed": Case(Reader(close, close_async), ANSWER, "UNSET", "closed"),
    "never iterated": Case(Reader(ignore, ignore_async), ANSWER, "UNSET", "abandoned"),
    "consumer raises": Case(Reader(fail, fail_async), ANSWER, "UNSET", "abandoned", Bug),
    "provider raises": Case(ALL, Turn(text=WORDS, error_after=2), "ERROR", None, openai.APIError),
    "cut in mid-stream": Case(ALL, Turn(text=WORDS, cut_after=2), "ERROR", None, Exception),
    "refused": Case(ALL, Turn(status=500), "ERROR", None, openai.InternalServerError),
    "cancelled": Case(
        Reader(cannot, cancel),
        Turn(text=WORDS, chunk_delay_s=0.5),
        "ERROR",
        None,
        asyncio.CancelledError,
    ),
}

rows = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@pytest.fixture(autouse=True)
def silent(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Ours and OpenTelemetry's logs; asyncio may complain of HTTP clients that are not closed."""
    yield
    messages = [
        record.getMessage()
        for record in caplog.get_records("call")
        if record.levelno >= logging.WARNING
        and (record.name != "asyncio" or "steps" in record.getMessage())
    ]
    assert not messages


def play(case: Case, use: Callable[[Callable[[Any], Any]], Any], asynchronous: bool) -> None:
    """Let the consumer have its stream; it gets the exceptions it would get without us."""
    reader = case.reader.read_async if asynchronous else case.reader.read
    if case.raises is None:
        use(reader)
    else:
        with pytest.raises(case.raises):
            use(reader)


def judge(spans: Any, case: Case) -> None:
    gc.collect()
    span = spans.only()
    assert span.status.status_code.name == case.status
    assert span.attributes.get("agentool.interrupted") == case.interrupted
    assert ("error.type" in span.attributes) is (case.status == "ERROR")


@rows
@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_stream_of_openai(
    calls: Any,
    spans: Any,
    model: LoopbackModel,
    caplog: pytest.LogCaptureFixture,
    api: str,
    case: Case,
) -> None:
    # What it says of HTTP clients that are not closed would hold the stream, by its traceback.
    caplog.set_level(logging.CRITICAL, "asyncio")
    model.push(case.turn)
    requests: dict[str, Any] = {"model": "gpt-5", "stream": True}

    def create(client: Any) -> Any:
        if api == "responses":
            return client.responses.create(input="Hello", **requests)
        texts = [{"role": "user", "content": "Hello"}]
        return client.chat.completions.create(messages=texts, **requests)

    def use(reader: Callable[[Any], Any]) -> Any:
        def sync(client: Any) -> None:
            stream = create(client)
            assert isinstance(stream, openai.Stream)
            reader(stream)

        async def later(client: Any) -> None:
            stream = await create(client)
            assert isinstance(stream, openai.AsyncStream)
            await reader(stream)

        return calls.run(later if calls.asynchronous else sync)

    if api == "responses" and case.turn.error_after is not None:
        case = case._replace(raises=None)  # the event has the error, and openai 1 drops it
    play(case, use, calls.asynchronous)
    judge(spans, case)


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_stream_of_openai_has_every_attribute_it_had(
    calls: Any, spans: Any, model: LoopbackModel, api: str
) -> None:
    def create(client: Any) -> Any:
        if api == "responses":
            return client.responses.create(input="Hello", model="gpt-5", stream=True)
        texts = [{"role": "user", "content": "Hello"}]
        return client.chat.completions.create(messages=texts, model="gpt-5", stream=True)

    def same(stream: Any, base: type) -> None:
        inner = stream.__wrapped__
        assert isinstance(stream, base)
        assert stream.__class__ is type(inner)
        assert set(dir(inner)) <= set(dir(stream))
        for name in dir(base):
            if not name.startswith("_"):
                ours, theirs = getattr(stream, name), getattr(inner, name)
                assert type(ours).__name__ == type(theirs).__name__ or callable(theirs), name
                assert getattr(ours, "__doc__", None) == getattr(theirs, "__doc__", None)

    def sync(client: Any) -> None:
        with create(client) as stream:
            same(stream, openai.Stream)

    async def later(client: Any) -> None:
        async with await create(client) as stream:
            same(stream, openai.AsyncStream)

    calls.run(later if calls.asynchronous else sync)


# ---------------------------------------------------------------------------------------- LangChain


@pytest.fixture
def chat(spans: Any, model: LoopbackModel) -> Iterator[Any]:
    langchain_openai = pytest.importorskip("langchain_openai")
    from agentool_otel.integrations.langchain.instrumentor.patches import (
        LangChainInstrumentor,
        _runs,
    )
    from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor

    LangChainInstrumentor().instrument()
    OpenAIInstrumentor().instrument()
    value: Any = {"model": "gpt-5", "base_url": model.base_url, "api_key": "none"}
    yield langchain_openai.ChatOpenAI(max_retries=0, **value)
    LangChainInstrumentor().uninstrument()
    OpenAIInstrumentor().uninstrument()
    assert len(_runs) == 0, "a run was never forgotten"


@rows
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_stream_of_langchain(
    chat: Any, spans: Any, model: LoopbackModel, asynchronous: bool, case: Case
) -> None:
    model.push(case.turn)

    def use(reader: Callable[[Any], Any]) -> None:
        async def later() -> None:
            stream = chat.astream("Hello")
            assert isinstance(stream, AsyncIterator)
            await reader(stream)

        if asynchronous:
            asyncio.run(later())
        else:
            reader(chat.stream("Hello"))

    if case.reader.read is leave:
        pytest.skip("its streams are no context managers")
    play(case, use, asynchronous)
    if case.reader.read is ignore:  # nothing was asked of the model
        assert spans.finished() == []
    else:
        judge(spans, case if case.interrupted is None else case._replace(interrupted="closed"))
