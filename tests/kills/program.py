"""A program whose threads trace until it is killed.

    python -m tests.kills.program ENDPOINT|- THREADS MODE SEED

Each thread writes the mark of a call to the file `ended` once the call has returned.
"""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import agentool_otel
from agentool_otel.tracing.export.disk.enforcement import Enforcer

SIZES = (10, 200, 1000, 8000, 60_000)


class Late(Exception):
    """A time limit of the program."""


def too_late(*_: object) -> None:
    raise Late


class Work:
    """What the threads do."""

    def __init__(self, mode: str, seed: str):
        self.out = os.open("ended", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.mode = mode
        self.seed = seed
        self.until = time.monotonic() + (0.5 if mode == "ends" else 1e9)
        self.emit: Callable[[], None] = _logs() if mode in ("logs", "ends") else lambda: None

    def run(self, thread: int) -> None:
        rng = random.Random(f"{self.seed} {thread}")
        pause_s = 100_000 * 4 / 20_000_000 if self.mode == "steady" else 0.0
        size = 100_000 if self.mode == "steady" else 0
        number = 0
        while time.monotonic() < self.until:
            number += 1
            began = time.monotonic()
            try:
                self.call(f"#{thread}x{number}#", "x" * (size or rng.choice(SIZES)), rng)
            except Late:
                continue
            time.sleep(max(0.0, pause_s - (time.monotonic() - began)) or rng.random() * 0.002)

    def call(self, mark: str, text: str, rng: random.Random) -> None:
        if rng.random() < 0.2:
            agent(mark, text, self)
        else:
            tool(mark, text)
        self.emit()
        os.write(self.out, f"{mark}\n".encode())


@agentool_otel.tool
def tool(mark: str, text: str) -> str:
    return "ok"


@agentool_otel.agent
def agent(mark: str, text: str, work: Work) -> str:
    return tool(f"{mark}inner", text)


def _logs() -> Callable[[], None]:
    from opentelemetry import _logs

    logger = _logs.get_logger("kills")
    return lambda: logger.emit(_logs.LogRecord(body="at work"))


def limit() -> None:
    """Note the marks of the spans that a limit removes in the file `removed`."""
    remove = Enforcer._remove
    out = os.open("removed", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def noted(self: Enforcer, part: Any, removed: set[Path]) -> int:
        marks = re.findall(rb"#\d+x\d+#(?!inner)", part.path.read_bytes())
        os.write(out, b"".join(mark + b"\n" for mark in marks))
        return remove(self, part, removed)

    Enforcer._remove = noted  # type: ignore[method-assign] # noted before they are gone


def alarm() -> None:
    """Have the main thread interrupted every few milliseconds."""

    def again(*_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0005, 0.01))
        raise Late

    signal.signal(signal.SIGALRM, again)
    signal.setitimer(signal.ITIMER_REAL, 0.01)


def main() -> None:
    endpoint, threads, mode, seed = sys.argv[1:]
    if mode == "limited":
        limit()
    agentool_otel.instrument(
        None if endpoint == "-" else endpoint,
        content=True,
        max_size="3MB" if mode == "limited" else None,
    )
    work = Work(mode, seed)
    others = [threading.Thread(target=work.run, args=(n,)) for n in range(1, int(threads))]
    for thread in others:
        thread.daemon = mode != "ends"
        thread.start()
    print("ready", flush=True)
    if mode == "interrupted":
        alarm()
    while True:
        try:
            work.run(0)
            break
        except Late:
            continue
    for thread in others:
        thread.join()
    print("ending", flush=True)


if __name__ == "__main__":
    main()
