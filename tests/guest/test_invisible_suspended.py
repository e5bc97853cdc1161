"""Calls that are suspended, cancelled, thrown into and collected go as if not decorated."""

from __future__ import annotations

import asyncio
import functools
import gc
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import pytest

from agentool_otel.tracing import capture
from tests.guest.decorated import Decorator, coroutine, generator, tool

agent: Decorator = capture.agent


@tool
def child() -> None: ...


def test_an_awaitable_returned_by_a_plain_wrapper_is_covered_too(spans: Any) -> None:
    """A decorator below ours that is no coroutine function itself, or a lambda."""

    def logged(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def call(*args: Any) -> Any:
            return fn(*args)

        return call

    @tool
    @logged
    async def later() -> Any:
        await asyncio.sleep(0)
        child()
        return "done"

    rows: Any = tool(lambda: (n for n in range(2)))
    assert asyncio.run(later()) == "done"
    assert list(rows()) == [0, 1]
    assert spans.tree() == "execute_tool later\n  execute_tool child\nexecute_tool <lambda>"
    assert [s.attributes["gen_ai.tool.call.result"] for s in spans.finished()[1:]] == [
        '{"result":"done"}',
        '{"result":[0,1]}',
    ]


def test_a_returned_coroutine_that_is_cancelled_before_it_starts(spans: Any) -> None:
    later: Any = tool(lambda: asyncio.sleep(0))

    async def main() -> None:
        asyncio.create_task(later()).cancel()
        await asyncio.sleep(0)

    asyncio.run(main())
    gc.collect()
    assert spans.attributes()["agentool.interrupted"] == "closed"


def test_a_task_cancelled_before_it_starts_makes_no_span(spans: Any) -> None:
    async def main() -> None:
        asyncio.create_task(coroutine(1)).cancel()
        await asyncio.sleep(0)

    asyncio.run(main())
    assert spans.finished() == []


def test_a_coroutine_that_is_never_awaited_is_warned_of_once(spans: Any) -> None:
    with warnings.catch_warnings(record=True) as catch_warnings:
        warnings.simplefilter("always")
        result: Any = coroutine(1)
        del result
        gc.collect()
    assert [str(warning.message) for warning in catch_warnings] == [
        "coroutine 'coroutine' was never awaited"
    ]


def test_context_managers_made_of_generators(spans: Any, decorator: Decorator) -> None:
    @contextmanager
    @decorator
    def below() -> Generator[int, None, None]:
        yield 1

    @decorator
    @contextmanager
    def above() -> Generator[int, None, None]:
        child()
        yield 2
        child()

    @decorator
    @asynccontextmanager
    async def later() -> AsyncGenerator[int, None]:
        yield 3

    async def use() -> Any:
        async with later() as value:
            return value

    with below() as one, above() as two:
        assert (one, two) == (1, 2)
        assert [span.name for span in spans.finished()] == ["execute_tool child"]
    assert asyncio.run(use()) == 3
    assert len(spans.finished()) == 5


def test_an_exception_inside_a_with_block_passes_through_the_manager(spans: Any) -> None:
    @tool
    @contextmanager
    def forgiving() -> Generator[None, None, None]:
        try:
            yield
        except KeyError:
            child()

    def fail(error: type[Exception]) -> None:
        raise error

    with forgiving():
        fail(KeyError)
    with pytest.raises(ValueError), forgiving():
        fail(ValueError)
    assert [span.status.status_code.name for span in spans.finished()] == [
        "UNSET",
        "UNSET",
        "ERROR",
    ]


@pytest.mark.parametrize("drive", ["plain", "decorated"])
def test_generators_handle_throw_and_close_themselves(spans: Any, drive: str) -> None:
    def stubborn() -> Generator[str, Any, Any]:
        try:
            yield "first"
        except GeneratorExit:
            yield "no"

    def failing() -> Generator[int, Any, Any]:
        with suppress(KeyError):
            yield 1
        raise OSError("later")

    result: Any = tool if drive == "decorated" else lambda fn: fn
    item = result(stubborn)()
    next(item)
    assert item.throw(GeneratorExit) == "no"
    closing = result(stubborn)()
    next(closing)
    with pytest.raises(RuntimeError, match="generator ignored GeneratorExit"):
        closing.close()
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        result(lambda: (next(iter(())) for _ in "a"))().__next__()
    item = result(failing)()
    next(item)
    with pytest.raises(OSError, match="later") as raised:
        item.throw(KeyError())
    assert raised.value.__context__ is None


def test_async_generators_handle_asend_athrow_and_aclose_themselves(spans: Any) -> None:
    @tool
    async def echo() -> AsyncGenerator[Any, Any]:
        got = yield "ready"
        try:
            yield got
        except KeyError:
            yield "caught"

    async def main() -> list[Any]:
        talk = echo()
        event = [await talk.__anext__(), await talk.asend("hello"), await talk.athrow(KeyError())]
        await talk.aclose()
        with pytest.raises(StopAsyncIteration):
            await talk.__anext__()
        return event

    assert asyncio.run(main()) == ["ready", "hello", "caught"]
    assert spans.json("gen_ai.tool.call.result") == {"result": ["ready", "hello", "caught"]}


def test_clean_up_of_a_cancelled_generator_is_inside_its_span(spans: Any) -> None:
    @tool
    async def rows() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            child()
            await asyncio.sleep(0)
            child()

    async def read() -> None:
        async for _ in rows():
            pass

    async def main() -> None:
        task = asyncio.create_task(read())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert spans.tree() == (
        "execute_tool rows      error=asyncio.exceptions.CancelledError\n"
        "  execute_tool child\n  execute_tool child"
    )


def test_a_coroutine_collected_in_the_middle_restores_no_foreign_context(spans: Any) -> None:
    @tool
    async def hang() -> None:
        await asyncio.Future()

    loop = asyncio.new_event_loop()
    waiting: Any = loop.create_task(hang())
    loop.call_soon(loop.stop)
    loop.run_forever()
    coro: Any = waiting.get_coro()
    waiting._log_destroy_pending = False
    coro.close()  # by us, outside of the task's context
    loop.close()
    assert spans.attributes()["agentool.interrupted"] == "closed"


def test_an_awaitable_generator_is_left_as_it_is(spans: Any) -> None:
    import types

    @types.coroutine
    def old_style() -> Generator[Any, Any, int]:
        yield from asyncio.sleep(0).__await__()
        return 4

    async def main() -> int:
        waiting: Awaitable[int] = tool(old_style)()
        return await waiting

    assert asyncio.run(main()) == 4


def test_the_return_value_of_a_generator_is_recorded_too(spans: Any) -> None:
    assert list(generator(1)) == [1, 2]
    assert spans.json("gen_ai.tool.call.result") == {"yielded": [1, 2], "returned": "over"}


def test_values_beyond_the_limit_are_counted(spans: Any) -> None:
    @tool
    def rows() -> Iterator[str]:
        for _ in range(100):
            yield "x" * 10_000

    list(rows())
    result = spans.json("gen_ai.tool.call.result")["result"]
    assert result[-1] == f"... {100 - (len(result) - 1)} more"


def test_yielded_values_are_not_encoded_if_nothing_is_recorded(spans: Any) -> None:
    from agentool_otel.tracing.spans.settings import settings

    class Value:
        def to_dict(self) -> dict[str, Any]:
            raise AssertionError("looked at")

    settings.enabled = False
    result = agent(lambda: (Value() for _ in range(2)))
    assert len(list(result())) == 2
