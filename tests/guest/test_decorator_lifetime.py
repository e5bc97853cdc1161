"""Duration of a decorated callable's span, and the spans below it.

Rows of the table of decorator behaviour: each test is named as its row. No other package that was
measured in 2026 passes all of them.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agentool_otel.tracing.capture import agent, tool

Decorator = Callable[[Any], Any]


@tool
def child(n: int = 0) -> int:
    return n


def seconds(span: Any) -> float:
    return float(span.end_time - span.start_time) / 1e9


# --------------------------------------------------------------------------------- covers the whole


def test_async_def_is_covered_for_its_whole_run(spans: Any, decorator: Decorator) -> None:
    @decorator
    async def outer() -> None:
        assert not spans.finished()
        await asyncio.sleep(0.01)
        assert not spans.finished()

    asyncio.run(outer())
    assert seconds(spans.only()) >= 0.009


def test_children_of_parallel_coroutines_keep_their_parent(spans: Any) -> None:
    @tool
    async def branch(n: int) -> int:
        await asyncio.sleep(0)
        return child(n)

    @agent
    async def outer() -> None:
        await asyncio.gather(*(branch(n) for n in range(3)))

    asyncio.run(outer())
    assert (
        spans.tree() == "invoke_agent outer" + "\n  execute_tool branch\n    execute_tool child" * 3
    )


def test_a_generator_tool_covers_its_iteration(spans: Any, decorator: Decorator) -> None:
    @decorator
    def rows() -> Iterator[int]:
        yield 1
        yield 2

    for _ in rows():
        assert not spans.finished()
        time.sleep(0.005)
    assert seconds(spans.only()) >= 0.009


def test_an_async_generator_tool_covers_its_iteration(spans: Any, decorator: Decorator) -> None:
    @decorator
    async def rows() -> AsyncIterator[int]:
        yield 1
        yield 2

    async def read() -> None:
        async for _ in rows():
            assert not spans.finished()
            await asyncio.sleep(0.005)

    asyncio.run(read())
    assert seconds(spans.only()) >= 0.009


def test_yielded_values_are_recorded(spans: Any) -> None:
    @tool
    def rows() -> Iterator[Any]:
        yield {"a": 1}
        yield [2]

    @tool
    async def more() -> AsyncIterator[int]:
        yield 3

    async def read() -> list[int]:
        return [item async for item in more()]

    assert list(rows()) == [{"a": 1}, [2]]
    assert asyncio.run(read()) == [3]
    attributes = [span.attributes["gen_ai.tool.call.result"] for span in spans.finished()]
    assert attributes == ['{"result":[{"a":1},[2]]}', '{"result":[3]}']


# --------------------------------------------------------------------------------------- left early


def test_a_generator_dropped_after_one_item_is_exported(spans: Any, decorator: Decorator) -> None:
    @decorator
    def forever() -> Iterator[int]:
        while True:
            yield 1

    rows = forever()
    next(rows)
    assert not spans.finished()
    del rows
    assert spans.attributes()["agentool.interrupted"] == "closed"
    assert spans.only().status.is_unset


def test_an_async_generator_left_with_break_is_exported(spans: Any, decorator: Decorator) -> None:
    @decorator
    async def forever() -> AsyncIterator[int]:
        while True:
            yield 1

    async def read() -> None:
        async for _ in forever():
            break

    asyncio.run(read())
    assert spans.attributes()["agentool.interrupted"] == "closed"
    assert spans.only().status.is_unset


def test_a_broken_async_generator_logs_no_different_context(
    spans: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Opened in one task, closed in a second, collected in a third."""

    @tool
    async def forever() -> AsyncGenerator[int, None]:
        try:
            while True:
                yield 1
        finally:
            child()
            await asyncio.sleep(0)

    async def first(rows: Any) -> None:
        await rows.__anext__()

    async def main() -> None:
        closed, dropped, result = forever(), forever(), forever()
        for rows in (closed, dropped, result):
            await asyncio.create_task(first(rows))
        await asyncio.create_task(closed.aclose())
        del rows, dropped
        await asyncio.create_task(collect())
        others.append(result)  # until the loop closes it

    async def collect() -> None:
        gc.collect()
        await asyncio.sleep(0)

    others: list[Any] = []
    asyncio.run(main())
    assert spans.tree() == "\n".join(["execute_tool forever\n  execute_tool child"] * 3)
    assert not caplog.records


def test_the_consumers_own_spans_are_not_swallowed_by_the_generators(
    spans: Any, tracer: Any
) -> None:
    @tool
    def rows() -> Iterator[int]:
        yield child(1)
        yield child(2)

    @tool
    async def more() -> AsyncIterator[int]:
        yield child(1)

    async def read() -> None:
        async for _ in more():
            tracer.start_span("consumer").end()

    for _ in rows():
        tracer.start_span("consumer").end()
    asyncio.run(read())
    assert spans.tree() == (
        "execute_tool rows\n  execute_tool child\n  execute_tool child\n"
        "consumer\nconsumer\nexecute_tool more\n  execute_tool child\nconsumer"
    )


# ------------------------------------------------------------------------------------------ endings


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_inside_a_sync_tool_ends_its_span(
    spans: Any, decorator: Decorator, error: type[BaseException]
) -> None:
    @decorator
    def stopped() -> None:
        raise error("now")

    with pytest.raises(error):
        stopped()
    assert spans.only().status.status_code.name == "ERROR"
    assert spans.attributes()["error.type"] == error.__name__


def test_a_cancelled_async_tool_ends_as_cancelled(spans: Any, decorator: Decorator) -> None:
    @decorator
    async def hang() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        task = asyncio.create_task(hang())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert spans.only().status.status_code.name == "ERROR"
    assert spans.attributes()["error.type"] == "asyncio.exceptions.CancelledError"


# ------------------------------------------------------------------------------------------ threads


BELOW = "invoke_agent outer\n  execute_tool child"


@pytest.mark.usefixtures("carrying")
@pytest.mark.parametrize("made", [threading.Thread, lambda target: threading.Timer(0, target)])
def test_the_parent_is_kept_in_a_thread_and_a_timer(spans: Any, made: Any) -> None:
    @agent
    def outer() -> None:
        thread = made(target=child)
        thread.start()
        thread.join()

    outer()
    assert spans.tree() == BELOW


@pytest.mark.usefixtures("carrying")
def test_the_parent_is_kept_in_a_pool_and_run_in_executor(spans: Any) -> None:
    @agent
    async def outer() -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(child).result()
        await asyncio.get_running_loop().run_in_executor(None, child)

    asyncio.run(outer())
    assert spans.tree() == BELOW + "\n  execute_tool child"


def test_the_parent_is_kept_in_to_thread(spans: Any) -> None:
    @agent
    async def outer() -> None:
        await asyncio.to_thread(child)

    asyncio.run(outer())
    assert spans.tree() == BELOW
