"""A program that forks children which make spans, and kills them at random moments.

    python killed.py KILLS SEED

Each child appends the id of every span to `reports/<pid>` once its end has returned; in each span
it has emitted a log record. The folder and where they go are those of the environment.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

from opentelemetry import _logs, trace

import agentool_otel

REPORTS = Path("reports")
SIZES = (10, 10, 1_000, 300_000)


@agentool_otel.tool
def work(text: str, log: list[str]) -> None:
    _logs.get_logger("killed").emit(_logs.LogRecord(body="at work"))
    log.append(f"{trace.get_current_span().get_span_context().span_id:016x}\n")
    if len(text) == 1_000:
        work("nested", log)


def child(seed: int, ready: int) -> None:
    report = os.open(REPORTS / str(os.getpid()), os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def make() -> None:
        size = random.Random(f"{seed} {threading.get_ident()}")
        while True:
            log: list[str] = []
            work("x" * size.choice(SIZES), log)
            os.write(report, "".join(log).encode())

    os.write(ready, b".")
    for _ in range(2):
        threading.Thread(target=make, daemon=True).start()
    make()


def main(kills: int, seed: int) -> None:
    REPORTS.mkdir()
    agentool_otel.instrument()
    moments = random.Random(seed)
    for number in range(kills):
        reads, ready = os.pipe()
        pid = os.fork()
        if pid == 0:
            child(seed + number, ready)
        os.read(reads, 1)
        os.close(reads)
        os.close(ready)
        time.sleep(moments.uniform(0, 0.05))
        os.kill(pid, moments.choice([signal.SIGKILL, signal.SIGTERM]))
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
