"""The current run in threads, pools, tasks and child processes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agentool_otel.tracing.capture import agent, bind_context, child_environment, run, tool
from agentool_otel.tracing.capture.threads import carry_into_threads, stop_carrying


@pytest.fixture
def carrying() -> Iterator[None]:
    carry_into_threads()
    yield
    stop_carrying()


@tool
def work() -> int:
    return 1


BELOW = "invoke_agent a\n  execute_tool work"


def test_a_carried_function_keeps_its_parent_in_a_thread(spans: Any) -> None:
    with run("a"):
        thread = threading.Thread(target=bind_context(work))
    thread.start()
    thread.join()
    assert spans.tree() == BELOW


@pytest.mark.usefixtures("carrying")
def test_threads_and_timers_keep_their_parent(spans: Any) -> None:
    with run("a"):
        for thread in (threading.Thread(target=work), threading.Timer(0, work)):
            thread.start()
            thread.join()
    assert spans.tree() == BELOW + "\n  execute_tool work"


@pytest.mark.usefixtures("carrying")
def test_a_thread_pool_keeps_the_parent_of_each_submission(spans: Any) -> None:
    with ThreadPoolExecutor(1) as pool:
        for name in ("a", "b"):
            with run(name):
                pool.submit(work).result()
    assert spans.tree() == BELOW + "\ninvoke_agent b\n  execute_tool work"


@pytest.mark.usefixtures("carrying")
def test_run_in_executor_and_to_thread_keep_their_parent(spans: Any) -> None:
    @agent
    async def a() -> None:
        await asyncio.get_running_loop().run_in_executor(None, work)
        await asyncio.to_thread(work)

    asyncio.run(a())
    assert spans.tree() == BELOW + "\n  execute_tool work"


@pytest.mark.usefixtures("carrying")
def test_a_thread_outside_a_run_has_no_parent(spans: Any) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert spans.tree() == "execute_tool work"


def test_carrying_can_be_switched_off_again() -> None:
    start, submit = threading.Thread.start, ThreadPoolExecutor.submit
    carry_into_threads()
    stop_carrying()
    assert threading.Thread.start is start
    assert ThreadPoolExecutor.submit is submit


def test_concurrent_runs_do_not_mix(spans: Any) -> None:
    @agent
    async def one(session_id: str) -> None:
        await asyncio.sleep(0)
        work()
        await asyncio.sleep(0)
        work()

    async def main() -> None:
        await asyncio.gather(*(one(session_id=f"s{n}") for n in range(50)))

    asyncio.run(main())
    by_trace: dict[int, set[Any]] = {}
    for span in spans.finished():
        session = span.attributes["gen_ai.conversation.id"]
        by_trace.setdefault(span.context.trace_id, set()).add(session)
    assert len(by_trace) == 50
    assert all(len(sessions) == 1 for sessions in by_trace.values())


def test_a_child_process_gets_the_current_trace(spans: Any) -> None:
    with run("a"):
        child = child_environment({"PATH": "/bin"})
    [span] = spans.finished()
    assert child["PATH"] == "/bin"
    assert f"{span.context.trace_id:032x}" in child["TRACEPARENT"]
