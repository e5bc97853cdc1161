"""Wall time of a traced tool call in many threads, and CPU time of the process per call.

In a *server* each thread pauses for 0 to 100 ms between two calls; in a *closed loop* it calls at
once. The tool does nothing. Each measurement has an interpreter of its own.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from benchmarks._child import in_child
from benchmarks._rounds import compared
from benchmarks._sink import sink
from benchmarks._sizes import Size
from benchmarks._table import Row, Target
from benchmarks._whole_worker import VARIANTS, Tracing

__all__ = ["measure", "rows"]

_WAYS = ("recorded", "sent")
_FIGURES = ("p50", "p99", "p99.9", "CPU")
_LONGEST_PAUSE_S = 0.1
_TARGETS = {
    ("server", 200, "p50"): Target("≤ 2×", 2.0),
    ("server", 200, "p99"): Target("≤ 3×", 3.0),
    ("closed loop", 200, "p50"): Target("≤ 5×", 5.0),
}


class _Load(NamedTuple):
    kind: str
    threads: int
    calls: int
    """Calls of each thread."""

    @property
    def what(self) -> str:
        return f"{self.kind}, {self.threads} {'tasks' if self.kind == 'tasks' else 'threads'}"


def rows(size: Size) -> Iterator[Row]:
    calls = size.agent_runs * 60
    loads = [
        *(_Load("server", threads, size.agent_runs // 5) for threads in (8, 50, 200)),
        *(_Load("closed loop", threads, calls // threads) for threads in (1, 8, 50, 200)),
        _Load("tasks", 2000, 20),
    ]
    for load in loads:
        yield from _compare(load, max(3, size.rounds // 3))


def _compare(load: _Load, rounds: int) -> Iterator[Row]:
    results: dict[str, list[list[float]]] = {name: [] for name in ("sdk", *_WAYS)}
    with sink() as url:
        for number in range(rounds):
            turns = list(results)
            for variant in turns if number % 2 else reversed(turns):
                results[variant].append(in_child(measure, variant, url, *load, quiet=True))
    for way in _WAYS:
        for at, figure in enumerate(_FIGURES):
            pairs = [
                (ours[at], sdk[at]) for ours, sdk in zip(results[way], results["sdk"], strict=True)
            ]
            target = _TARGETS.get((load.kind, load.threads, figure))
            yield Row.of(f"{load.what}, {way}: {figure} (wall)" if figure != "CPU" else
                         f"{load.what}, {way}: CPU", "µs", compared(pairs), target)  # fmt: skip


def measure(variant: str, url: str, kind: str, threads: int, calls: int) -> list[float]:
    """Return p50, p99 and p99.9 of a call in microseconds, and the CPU time of one.

    Args:
        variant: a name in `_whole_worker.VARIANTS`.
        url: the receiver.
        kind: "server", "closed loop" or "tasks".
        threads: threads, or tasks of asyncio.
        calls: calls of each.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(AGENTOOL_DIR=folder, OTEL_SERVICE_NAME="bench")
        tracing = VARIANTS[variant](url)

        def search(query: str) -> str:
            return "nothing"

        call = tracing.tool(search)
        for _ in range(200):
            call(query="warm")
        waits: list[list[float]] = []

        def run() -> None:
            if kind == "tasks":
                asyncio.run(_tasks(call, threads, calls, waits))
            else:
                _threads(call, threads, calls, kind == "server", waits)

        return _measured(tracing, run, waits, threads * calls)


def _measured(
    tracing: Tracing, run: Callable[[], None], waits: list[list[float]], count: int
) -> list[float]:
    start = time.process_time()
    run()
    tracing.flush()
    cpu = (time.process_time() - start) / count
    ordered = sorted(wait for each in waits for wait in each)
    shares = [ordered[min(len(ordered) - 1, int(len(ordered) * at))] for at in (0.5, 0.99, 0.999)]
    return [value * 1e6 for value in (*shares, cpu)]


def _threads(
    call: Callable[..., Any], threads: int, calls: int, pauses: bool, waits: list[list[float]]
) -> None:
    together = threading.Barrier(threads)

    def work(seed: int) -> None:
        own: list[float] = []
        waits.append(own)
        pause = random.Random(seed).uniform
        together.wait()
        for number in range(calls):
            if pauses:
                time.sleep(pause(0, _LONGEST_PAUSE_S))
            start = time.perf_counter()
            call(query=f"question {number}")
            own.append(time.perf_counter() - start)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


async def _tasks(
    call: Callable[..., Any], tasks: int, calls: int, waits: list[list[float]]
) -> None:
    async def work() -> None:
        own: list[float] = []
        waits.append(own)
        for number in range(calls):
            start = time.perf_counter()
            call(query=f"question {number}")
            await asyncio.sleep(0)
            own.append(time.perf_counter() - start)  # the lag of the event loop, too

    await asyncio.gather(*(work() for _ in range(tasks)))
