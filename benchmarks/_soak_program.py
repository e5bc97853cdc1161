"""The program of the soak: rounds of agent runs whose results depend on nothing but their number.

python -m benchmarks._soak_program SETTINGS-AS-JSON

`plain` settings run it without the package: the decorators are gone, not merely switched off. Ids
of the spans that start go to stdout, eight bytes each; the report is a file.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, closing
from contextvars import copy_context
from pathlib import Path
from typing import Any, Protocol, TypedDict, TypeVar

from opentelemetry import trace

from benchmarks._child import rss_mb
from tests.guest.hostile import CORPUS, TOUCHED

__all__ = ["WARM", "Report", "Sample", "Settings"]

_HEAVY = {
    "every level twice the one below",
    "dict of 100 000",
    "list of 300 000",
    "text of 20 MB",
    "text of 20 MB beyond ASCII",
    "pandas frame of a million rows",
}
"""Kinds that cost up to a second each, which is not what a soak is to spend its minutes on."""
_RARELY = 40
"""Rounds to one with a heavy kind."""
_LIGHT = sorted(set(CORPUS) - _HEAVY)
_HEAVY_HERE = sorted(set(CORPUS) & _HEAVY)
WARM = 2 * _RARELY * len(_HEAVY_HERE)
"""Rounds after which every kind of value has come twice: until then libraries are still being
imported and caches filled, and the allocator has not had its largest moments."""


def _kind(number: int) -> str:
    if number % _RARELY == _RARELY - 1:
        return _HEAVY_HERE[number // _RARELY % len(_HEAVY_HERE)]
    return _LIGHT[number % len(_LIGHT)]


_F = TypeVar("_F", bound=Callable[..., Any])


class Settings(TypedDict):
    """Settings of a process."""

    plain: bool
    endpoint: str | None
    """None records."""
    seconds: float
    rounds: int
    """Instead of the seconds, if not 0."""
    full_every_s: float
    """The disk is full for the last two fifths of each of these; 0: never."""
    report: str


class Sample(TypedDict):
    """The memory of the process at one moment, garbage collected."""

    rounds: int
    mb: float
    """Resident size."""
    blocks: int
    """Of memory that the interpreter's allocator has given out: what is held, whatever the holes
    between it take."""


class Report(TypedDict):
    """Results of a process."""

    rounds: int
    digest: str
    """Of every result and exception."""
    spans: dict[str, int]
    samples: list[Sample]
    """At each hundredth of the time, unless the disk is full: what waits for it waits in memory."""
    threads: list[str]
    """Of the package, left after its shutdown."""
    closing_s: float


# --------------------------------------------------------------------------------- the agent runs


class _NoRun:
    """Stand-in for the run where the package is missing."""

    def __init__(self, *_: Any, **__: Any):
        self.output: Any = None

    def __enter__(self) -> _NoRun:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def reasoning(self, text: Any) -> None:
        return None

    def tool_call(self, name: str, arguments: Any = None) -> str:
        return "call"

    def tool_result(self, call: Any, result: Any = None) -> None:
        return None


class Kit(Protocol):
    """Functions of the package, or their stand-ins."""

    run: Any

    def tool(self, function: _F, /) -> _F: ...
    def agent(self, function: _F, /) -> _F: ...


class Plain(Kit):
    """Nothing at all."""

    run = _NoRun

    def tool(self, function: _F, /) -> _F:
        return function

    def agent(self, function: _F, /) -> _F:
        return function


def outcome(call: Callable[[], Any]) -> Any:
    """Return the result or exception of a call, as a comparable value."""
    try:
        return call()
    except Exception as error:
        inner = [repr(each) for each in getattr(error, "exceptions", ())]
        return (type(error).__name__, str(error.args)[:200], sorted(inner), repr(error.__cause__))


async def together(*each: Coroutine[Any, Any, Any]) -> list[Any]:
    """Await all of them in tasks of one group."""
    if sys.version_info >= (3, 11):
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in each]
        return [task.result() for task in tasks]
    return await asyncio.gather(*each)


def program(kit: Kit, pool: ThreadPoolExecutor) -> Callable[[int], list[Any]]:
    """Return a function for one round with the decorators of a kit."""

    @kit.tool
    def search(query: str, limit: int = 3) -> list[str]:
        return [f"{query} {number}" for number in range(limit)]

    @kit.tool
    def fail(reason: Any) -> None:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise ValueError("no such thing", type(reason).__name__) from error

    @kit.tool
    async def fetch(number: int) -> int:
        await asyncio.sleep(0)
        if number % 7 == 6:
            raise LookupError(number)
        return number * 2

    @kit.tool
    async def wait(started: asyncio.Event, log: list[str]) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            log.append("cleaned up")

    @kit.tool
    def stream(text: str) -> Generator[str, Any, str]:
        for word in text.split():
            try:
                answer = yield word
                if answer:
                    yield f"answer {answer}"
            except OSError:
                yield "caught"
        return "end"

    @kit.tool
    async def stream_later(number: int) -> AsyncGenerator[int, None]:
        for each in range(number):
            await asyncio.sleep(0)
            yield each

    @kit.tool
    def give(value: Any, **more: Any) -> Any:
        return value

    @kit.agent
    def clerk(number: int) -> Any:
        match = search(f"question {number}", limit=number % 5)
        return match, outcome(lambda: fail(match))

    @kit.agent
    async def crowd(number: int) -> list[int]:
        return await together(*(fetch(number + step) for step in range(4)))

    def in_threads(number: int) -> list[Any]:
        with kit.run("threads", input=number) as run:
            run.output = list(pool.map(search, [f"{number} {part}" for part in "abc"]))
            return list(run.output)

    def by_hand(number: int) -> str:
        with kit.run("by hand", input={"n": number}, session_id=f"s{number % 50}") as run:
            run.reasoning("I should look that up. " * 20)
            run.tool_result(run.tool_call("search", {"q": number}), "found " * 200)
            if number % 3 == 0:
                raise RuntimeError(f"run {number}")
            run.output = "done"
        return "by hand"

    def left_early(number: int) -> Any:
        words = "a b c d"
        full = list(stream(words))
        with closing(stream(words)) as first:
            taken = [next(first), first.send("x"), first.throw(OSError())]
        dropped = next(stream(words))
        complete = stream("")
        try:
            next(complete)
        except StopIteration as end:
            return full, taken, dropped, end.value

    async def left_early_later() -> Any:
        async with aclosing(stream_later(5)) as numbers:
            first = await numbers.__anext__()
        return first, [each async for each in stream_later(3)]

    async def cancelled() -> Any:
        started, observation = asyncio.Event(), list[str]()
        task = asyncio.ensure_future(wait(started, observation))
        await started.wait()
        task.cancel()
        try:
            await task
        except asyncio.CancelledError as error:
            observation.append(type(error).__name__)
        try:
            await asyncio.wait_for(wait(asyncio.Event(), observation), 0.001)
        except asyncio.TimeoutError:
            observation.append("timed out")
        return observation

    def never_finished(number: int) -> None:
        run = kit.run("never finished", input=number)
        run.__enter__()
        run.tool_call("search", {"q": number})

    def hostile(number: int) -> Any:
        value = CORPUS[kind := _kind(number)]()
        if kind in _HEAVY:
            return kind, give(value) is value
        with kit.run("hostile", input=value) as run:
            same = give(value) is value, give(value, more=value, other=[value]) is value
            raised = outcome(lambda: fail(value))
            run.output = value
        return kind, same, raised

    async def later(number: int) -> Any:
        return await left_early_later(), await cancelled()

    def one_round(number: int) -> list[Any]:
        results = [
            outcome(lambda: clerk(number)),
            outcome(lambda: asyncio.run(crowd(number))),
            outcome(lambda: in_threads(number)),
            outcome(lambda: by_hand(number)),
            outcome(lambda: left_early(number)),
            outcome(lambda: asyncio.run(later(number))),
            outcome(lambda: hostile(number)),
        ]
        if number % 10 == 9:
            copy_context().run(never_finished, number)  # what it attaches goes with its context
        results.append(list(TOUCHED))
        TOUCHED.clear()
        return results

    return one_round


# ------------------------------------------------------------------------------------- the process


class _Disk:
    """A disk that is full at times: files may not grow beyond their present size."""

    def __init__(self, every_s: float):
        self._every_s = every_s
        self.full = False
        self._times = 0

    def at(self, elapsed_s: float) -> None:
        full = bool(self._every_s) and 0.2 < elapsed_s / self._every_s % 1 < 0.6
        if full == self.full:
            return
        self.full = full
        self._times += full
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        # By turns nothing can be written at all, or the next line only in part.
        sizes = [path.stat().st_size for path in Path(".agentool").glob("traces-*")]
        room = max(sizes, default=0) + 700 if self._times % 2 else 0
        resource.setrlimit(resource.RLIMIT_FSIZE, (room if full else most, most))


def _instrument(endpoint: str | None) -> Any:
    """Switch the package on and return it; ids of spans that start go to stdout."""
    import agentool_otel

    agentool_otel.instrument(endpoint=endpoint, content=True)
    from opentelemetry.sdk.trace import SpanProcessor

    class Ids(SpanProcessor):
        def on_start(self, span: Any, parent_context: Any = None) -> None:
            os.write(1, span.get_span_context().span_id.to_bytes(8, "big"))

    provider: Any = trace.get_tracer_provider()
    provider.add_span_processor(Ids())
    return agentool_otel


def main(settings: Settings) -> None:
    """Run rounds for the time, shut down and report."""
    disk = _Disk(settings["full_every_s"])
    digest = hashlib.sha256()
    samples: list[Sample] = []
    package = None if settings["plain"] else _instrument(settings["endpoint"])
    with ThreadPoolExecutor(3) as pool:
        one_round = program(package or Plain(), pool)
        start, rounds, done, due = time.monotonic(), 0, 0.0, 0.01
        while done < 1:
            digest.update(repr(one_round(rounds)).encode())
            rounds += 1
            elapsed = time.monotonic() - start
            if settings["rounds"]:
                done = rounds / settings["rounds"]
            else:
                done = elapsed / settings["seconds"]
            disk.at(elapsed if done < 1 else 0)
            if done >= due and not disk.full:
                due = done + 0.01
                gc.collect()
                blocks = sys.getallocatedblocks()
                samples.append({"rounds": rounds, "mb": rss_mb(), "blocks": blocks})
    spans: dict[str, int] = {}
    start = time.monotonic()
    if package is not None:
        provider: Any = trace.get_tracer_provider()
        provider.shutdown()
        spans = package.status()["spans"]
    closing_s = time.monotonic() - start
    report: Report = {
        "rounds": rounds,
        "digest": digest.hexdigest(),
        "spans": spans,
        "samples": samples,
        "threads": [one.name for one in threading.enumerate() if "agentool" in one.name],
        "closing_s": closing_s,
    }
    Path(settings["report"]).write_text(json.dumps(report))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
