"""Work belongs to whoever gave it: through threads, pools, tasks, callbacks and processes."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import multiprocessing
import multiprocessing.pool
import multiprocessing.process
import os
import random
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import nullcontext
from multiprocessing.context import SpawnProcess
from pathlib import Path
from pickle import PicklingError
from typing import Any

import pytest
from opentelemetry import baggage, context, trace

from agentool_otel.tracing.capture import agent, child_environment, run, tool
from agentool_otel.tracing.capture.context import inherited_context
from agentool_otel.tracing.capture.threads import carry_into_threads, stop_carrying
from agentool_otel.tracing.spans.settings import settings


@tool
def work(n: int = 0) -> int:
    return n


def where(_: object = None) -> tuple[int, str]:
    """Return the process and the span that is current in it."""
    return os.getpid(), format(trace.get_current_span().get_span_context().span_id, "016x")


BELOW = "invoke_agent a\n  execute_tool work"


# ----------------------------------------------------------------------------------------- threads


class Worker(threading.Thread):
    """Overrides `run` and does not call the one of `Thread`."""

    def run(self) -> None:
        work()


@pytest.mark.usefixtures("carrying")
def test_a_subclass_of_thread_keeps_its_parent(spans: Any) -> None:
    with run("a"):
        worker = Worker()
        worker.start()
        worker.join()
    assert spans.tree() == BELOW
    assert "run" not in vars(worker)


@pytest.mark.usefixtures("carrying")
def test_starting_a_thread_twice_fails_as_it_always_did(spans: Any) -> None:
    with run("a"):
        worker = Worker()
        worker.start()
        worker.join()
        with pytest.raises(RuntimeError, match="threads can only be started once"):
            worker.start()
    assert "run" not in vars(worker)


@pytest.mark.usefixtures("carrying")
def test_pool_threads_do_not_stay_in_the_run_that_started_them(spans: Any) -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with run("a"):
            pool.submit(work).result()
        pool.submit(work).result()
        assert list(pool.map(work, range(2))) == [0, 1]
    assert spans.tree() == BELOW + "\nexecute_tool work" * 3


@pytest.mark.usefixtures("carrying")
@pytest.mark.parametrize("give", ["apply", "map", "starmap", "imap", "imap_unordered", "map_async"])
def test_the_thread_pool_of_multiprocessing_keeps_the_parent(spans: Any, give: str) -> None:
    with multiprocessing.pool.ThreadPool(1) as pool, run("a"):
        value: Any = getattr(pool, give)(work, [(1,)] if give == "starmap" else [1])
        if give == "map_async":
            value.get()
        elif give != "apply":
            list(value)
    assert spans.tree() == BELOW


# --------------------------------------------------------------------------------------- processes


def pool_of(kind: str, method: str) -> Any:
    result = multiprocessing.get_context(method)
    if kind == "executor":
        return concurrent.futures.ProcessPoolExecutor(1, mp_context=result)
    return result.Pool(1)


@pytest.mark.usefixtures("carrying")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("kind", ["executor", "pool"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_process_pool_works_below_the_span_that_submits(
    spans: Any, tracer: Any, kind: str, method: str
) -> None:
    with pool_of(kind, method) as pool:
        submit: Callable[..., Any] = getattr(pool, "submit", None) or pool.apply
        for _ in range(2):
            with tracer.start_as_current_span("submits") as span:
                result = submit(where)
                target, parent = result.result() if kind == "executor" else result
            assert target != os.getpid()
            assert parent == format(span.get_span_context().span_id, "016x")
        result = submit(where)
        _, parent = result.result() if kind == "executor" else result
        assert parent == "0" * 16, "the worker stays in the run it was started in"
        assert len(list(pool.map(where, range(2)))) == 2


def answer(answers: Any) -> None:
    answers.put(where())


class Answering(SpawnProcess):
    """Overrides `run`."""

    def __init__(self, answers: Any):
        super().__init__()
        self.answers = answers

    def run(self) -> None:
        answer(self.answers)


@pytest.mark.usefixtures("carrying")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("kind", ["fork", "spawn", "forkserver", "subclass"])
def test_a_process_begins_below_the_span_that_starts_it(spans: Any, tracer: Any, kind: str) -> None:
    result: Any = multiprocessing.get_context("spawn" if kind == "subclass" else kind)
    answers = result.SimpleQueue()
    span: Any
    for inner in (True, False):
        process: Any = (
            Answering(answers)
            if kind == "subclass"
            else result.Process(target=answer, args=(answers,))
        )
        with tracer.start_as_current_span("starts") if inner else nullcontext() as span:
            process.start()
        target, parent = answers.get()
        process.join()
        assert "run" not in vars(process)
        assert target == process.pid
        assert parent == (format(span.get_span_context().span_id, "016x") if inner else "0" * 16)


@pytest.mark.usefixtures("carrying")
def test_a_process_that_cannot_be_pickled_fails_as_it_always_did(spans: Any, tracer: Any) -> None:
    process = SpawnProcess(target=lambda: None)
    with tracer.start_as_current_span("starts"), pytest.raises((AttributeError, PicklingError)):
        process.start()
    assert "run" not in vars(process)


@pytest.mark.usefixtures("carrying")
def test_an_exception_in_a_process_is_the_one_its_function_raised(spans: Any) -> None:
    with pool_of("executor", "spawn") as pool, run("a"), pytest.raises(TypeError, match="'x'"):
        pool.submit(int, x=1).result()


# ------------------------------------------------------------------------- tasks and callbacks


def test_tasks_groups_and_callbacks_keep_the_parent(spans: Any) -> None:
    @tool
    async def later() -> None:
        await asyncio.sleep(0)
        work()

    @agent
    async def a() -> None:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()
        await asyncio.create_task(later())
        if sys.version_info >= (3, 11):
            async with asyncio.TaskGroup() as group:
                group.create_task(later())
        else:
            await later()
        loop.call_soon(work)
        loop.call_soon_threadsafe(work)
        loop.call_later(0, work)
        loop.call_later(0.001, done.set)
        await done.wait()

    asyncio.run(a())
    task = "\n  execute_tool later\n    execute_tool work"
    assert spans.tree() == "invoke_agent a" + task * 2 + "\n  execute_tool work" * 3


def test_an_agent_in_the_background_belongs_to_whoever_started_it(spans: Any) -> None:
    @agent
    async def background() -> None:
        await asyncio.sleep(0)
        work()

    async def main() -> None:
        with run("a"):
            task = asyncio.create_task(background())
        await task

    asyncio.run(main())
    assert "  invoke_agent background\n    execute_tool work" in spans.tree()


@pytest.mark.usefixtures("carrying")
@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_interleaved_runs_never_mix(spans: Any, seed: int) -> None:
    """Each run works in tasks, threads, pools and generators at once, in any order."""
    dice = random.Random(seed)
    pool = concurrent.futures.ThreadPoolExecutor(8)

    @tool
    async def rows(session_id: str) -> AsyncIterator[str]:
        for _ in range(2):
            await asyncio.sleep(0)
            look(session_id)
            yield session_id

    @tool
    def look(session_id: str) -> None: ...

    async def step(session_id: str, way: int) -> None:
        loop = asyncio.get_running_loop()
        if way == 0:
            await loop.run_in_executor(pool, look, session_id)
        elif way == 1:
            async for _ in rows(session_id):
                look(session_id)
        elif way == 2:
            await asyncio.create_task(asyncio.to_thread(look, session_id))
        else:
            loop.call_soon(look, session_id)
            await asyncio.sleep(0)

    @agent
    async def one(number: int, session_id: str) -> None:
        ways = [step(session_id, way) for way in dice.choices(range(4), k=2)]
        await asyncio.gather(*ways)

    async def main() -> None:
        await asyncio.gather(*(one(n, session_id=f"s{n}") for n in range(1000)))

    with pool:
        asyncio.run(main())
    sessions: dict[int, set[str]] = {}
    for span in spans.finished():
        text = sessions.setdefault(span.context.trace_id, set())
        text.add(span.attributes["gen_ai.conversation.id"])
        if span.name != "invoke_agent one":
            text.add(span.attributes["gen_ai.tool.call.arguments"].split('"')[3])
    assert len(sessions) == 1000
    assert all(len(session) == 1 for session in sessions.values())
    spans.forget()


# ------------------------------------------------------------------------------------------ switch


def originals() -> list[Any]:
    return [
        threading.Thread.start,
        concurrent.futures.ThreadPoolExecutor.submit,
        concurrent.futures.ProcessPoolExecutor.submit,
        multiprocessing.process.BaseProcess.start,
        multiprocessing.pool.Pool.apply_async,
        multiprocessing.pool.Pool.imap,
    ]


def test_switched_off_every_method_is_the_original_again() -> None:
    before = originals()
    carry_into_threads()
    carry_into_threads()
    assert all(now is not then for now, then in zip(originals(), before, strict=True))
    stop_carrying()
    assert all(now is then for now, then in zip(originals(), before, strict=True))


def test_a_later_wrapper_stays_when_carrying_is_switched_off(spans: Any) -> None:
    start = threading.Thread.start
    carry_into_threads()
    ours = threading.Thread.start

    @functools.wraps(ours)
    def theirs(self: Any) -> None:
        ours(self)

    threading.Thread.start = theirs  # type: ignore[method-assign]
    try:
        for carried in (False, True, False):
            (carry_into_threads if carried else stop_carrying)()
            with run("a"):
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
        assert threading.Thread.start is theirs
        tools = [span for span in spans.finished() if span.name == "execute_tool work"]
        assert [span.parent is not None for span in tools] == [False, True, False]
    finally:
        threading.Thread.start = ours  # type: ignore[method-assign]
        stop_carrying()
    assert threading.Thread.start is start


@pytest.mark.parametrize(
    ("options", "variable", "carried"),
    [
        ("", "", True),
        ("exclude=['threads']", "", False),
        ("include=[], exclude=['threads']", "", False),
        ("", "agentool-threads", False),
        ("", "*", False),
    ],
)
def test_instrument_switches_carrying_on_by_default(
    tmp_path: Path, options: str, variable: str, carried: bool
) -> None:
    code = (
        f"import threading, agentool_otel; agentool_otel.instrument({options})\n"
        f"assert hasattr(threading.Thread.start, '__wrapped__') is {carried}\n"
        "agentool_otel.uninstrument()\n"
        "assert not hasattr(threading.Thread.start, '__wrapped__')"
    )
    environ = {**os.environ, "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": variable}
    subprocess.run([sys.executable, "-c", code], env=environ, cwd=tmp_path, check=True, timeout=120)


@pytest.fixture(params=["theirs first", "ours first"])
def beside_opentelemetry(request: pytest.FixtureRequest) -> Iterator[None]:
    threading_of = pytest.importorskip("opentelemetry.instrumentation.threading")
    theirs = threading_of.ThreadingInstrumentor()
    first, second = theirs.instrument, carry_into_threads
    if request.param == "ours first":
        first, second = second, first
    first()
    second()
    yield
    stop_carrying()
    theirs.uninstrument()
    del threading.Timer.start  # it leaves a copy of the one of `Thread`
    stop_carrying()


@pytest.mark.usefixtures("beside_opentelemetry")
def test_beside_opentelemetrys_own_instrumentation_nothing_is_doubled(spans: Any) -> None:
    with run("a"), concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
        for thread in (threading.Thread(target=work), threading.Timer(0, work)):
            thread.start()
            thread.join()
    assert spans.tree() == BELOW + "\n  execute_tool work" * 2


# ------------------------------------------------------------------------------- a parent process


def test_a_run_joins_the_trace_of_its_parent_process(spans: Any, tracer: Any) -> None:
    with tracer.start_as_current_span("parent") as span:
        token = context.attach(baggage.set_baggage("tenant", "t1"))
        environment = child_environment({})
        context.detach(token)
    log: list[Any] = []

    @tool
    def look() -> None:
        log.append(baggage.get_baggage("tenant"))

    settings.inherited = inherited_context(environment)
    contextvars.Context().run(look)
    assert spans.tree() == "parent\n  execute_tool look"
    assert spans.finished()[-1].parent.span_id == span.get_span_context().span_id
    assert log == ["t1"]


@pytest.mark.parametrize("texts", [{}, {"TRACEPARENT": "nonsense"}, {"TRACEPARENT": ""}])
def test_an_environment_without_a_valid_trace_is_ignored(spans: Any, texts: dict[str, str]) -> None:
    settings.inherited = inherited_context(texts)
    work()
    assert spans.only().parent is None


def test_the_users_own_span_wins_over_the_parent_process(spans: Any, tracer: Any) -> None:
    settings.inherited = inherited_context({"TRACEPARENT": f"00-{'1' * 32}-{'2' * 16}-01"})
    with tracer.start_as_current_span("mine"):
        work()
    assert spans.tree() == "mine\n  execute_tool work"
