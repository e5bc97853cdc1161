"""A call that returns a future is done when that is, and the user gets the future itself."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from agentool_otel.tracing.capture import agent, tool
from agentool_otel.tracing.capture.threads import carry_into_threads, stop_carrying


@pytest.fixture(autouse=True)
def carrying() -> Iterator[None]:
    carry_into_threads()
    yield
    stop_carrying()


@tool
def child() -> None: ...


@tool
def give(value: Any) -> Any:
    return value


def ended(spans: Any) -> list[str]:
    return [span.name for span in spans.finished()]


@pytest.mark.parametrize("decorator", [tool, agent])
def test_work_in_a_pool_is_covered_until_it_is_done(
    spans: Any, decorator: Callable[[Any], Any]
) -> None:
    go = threading.Event()

    def work() -> str:
        go.wait()
        child()
        return "done"

    with ThreadPoolExecutor(1) as pool:

        @decorator
        def search() -> Future[str]:
            return pool.submit(work)

        future = search()
        assert ended(spans) == []
        go.set()
        assert future.result() == "done"
    inner, outer = spans.finished()
    assert inner.parent.span_id == outer.context.span_id
    assert "done" in str(outer.attributes)


def test_the_span_of_a_task_ends_before_its_awaiter_resumes(spans: Any) -> None:
    async def work() -> str:
        child()
        await asyncio.sleep(0)
        return "done"

    @tool
    def search() -> asyncio.Task[str]:
        return asyncio.get_running_loop().create_task(work())

    async def main() -> None:
        task = search()
        assert type(task) is asyncio.Task
        assert ended(spans) == []
        assert await task == "done"
        assert ended(spans) == ["execute_tool child", "execute_tool search"]

    asyncio.run(main())
    inner, outer = spans.finished()
    assert inner.parent.span_id == outer.context.span_id
    assert outer.attributes["gen_ai.tool.call.result"] == '{"result":"done"}'


def test_a_future_that_is_done_is_a_result(spans: Any) -> None:
    future = Future[int]()
    future.set_result(3)

    @tool
    def search() -> Future[int]:
        return future

    assert search() is future
    assert spans.json("gen_ai.tool.call.result") == {"result": 3}


def test_an_unhandled_error_is_recorded_and_reported(spans: Any) -> None:
    reports: list[str] = []

    @tool
    def search() -> asyncio.Future[int]:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        future.set_exception(ValueError("no"))
        return future

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda _, item: reports.append(item["message"])
        )
        search()
        await asyncio.sleep(0)
        gc.collect()

    asyncio.run(main())
    assert reports == ["Future exception was never retrieved"]
    assert spans.attributes()["error.type"] == "ValueError"
    assert [event.name for event in spans.only().events] == ["exception"]


def test_a_cancelled_future_ends_as_cancelled(spans: Any) -> None:
    @tool
    def search() -> Future[int]:
        return Future()

    search().cancel()
    assert spans.attributes()["error.type"] == "concurrent.futures._base.CancelledError"

    @tool
    def wait() -> asyncio.Future[int]:
        return asyncio.get_running_loop().create_future()

    async def main() -> None:
        wait().cancel()
        await asyncio.sleep(0)

    asyncio.run(main())
    last = spans.finished()[-1]
    assert last.attributes["error.type"] == "asyncio.exceptions.CancelledError"


def test_a_future_of_the_caller_is_not_waited_for(spans: Any) -> None:
    future = Future[int]()
    assert give(future) is future
    assert ended(spans) == ["execute_tool give"]


def test_a_future_of_another_loop_is_not_waited_for(spans: Any) -> None:
    loop = asyncio.new_event_loop()
    future = loop.create_future()

    @tool
    def search() -> asyncio.Future[Any]:
        return future

    assert search() is future
    assert ended(spans) == ["execute_tool search"]
    loop.close()


def test_a_subclass_is_left_alone(spans: Any) -> None:
    class Own(Future[int]):
        def add_done_callback(self, fn: Any) -> None:
            raise AssertionError

    @tool
    def search() -> Own:
        return Own()

    search()
    assert ended(spans) == ["execute_tool search"]
