"""Programs that are killed at the n-th call of the operating system in a rotation or a removal.

    python rotated.py rotation|nested|removal FOLDER STEP

Forks a child for n = 1, 1 + STEP, … until one survives, with a folder for each below FOLDER. A
child appends the id of every span to `ended` there once its end has returned. `nested` is a
rotation inside a run that is open from the first call to the last.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from itertools import count
from pathlib import Path
from typing import Any

from opentelemetry import trace

import agentool_otel
from agentool_otel.tracing.export.disk.enforcement import Enforcer
from agentool_otel.tracing.export.disk.limits import Limits
from agentool_otel.tracing.export.disk.rotation import Rotation

CALLS = ("open", "close", "write", "writev", "replace", "unlink", "ftruncate", "fstat", "scandir")
PART = 6_000
RUNS = 60

counting = started = False
left = 0


def counted(call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def counted_call(*args: Any, **options: Any) -> Any:
        global left
        if counting:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **options)

    return counted_call


def watch(owner: type, name: str) -> None:
    """Count the calls from the first call of a method on, until two runs later."""
    method = getattr(owner, name)

    def watched(*args: Any) -> Any:
        global counting, started
        counting, started = counting or not started, True
        return method(*args)

    setattr(owner, name, watched)


@agentool_otel.tool
def work(text: str, report: int) -> str:
    return f"{text} {trace.get_current_span().get_span_context().span_id:016x}"


def child(kind: str, n: int, folder: Path) -> None:
    global counting, left
    folder.mkdir()
    os.chdir(folder)
    os.environ["AGENTOOL_MAX_SIZE"] = "100KB" if kind == "removal" else "1GB"
    report = os.open("ended", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    Limits.part_size = lambda self, writers=1: PART  # type: ignore[method-assign] # small files
    Rotation.start = Rotation._enforce  # type: ignore[assignment,method-assign] # no thread
    left = n
    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    watch(*((Enforcer, "_remove") if kind == "removal" else (Rotation, "_rotate")))
    agentool_otel.instrument()
    runs_counted = 0
    if kind == "nested":
        agentool_otel.run("outer", input="open").__enter__()
    for number in range(RUNS):
        runs_counted += counting
        counting = counting and runs_counted <= 2
        ended = []
        with agentool_otel.run(f"run {number}", input=f"question {number}") as run:
            ended += [work("x" * 500, report).split()[1] for _ in range(3)]
            os.write(report, "".join(f"{span}\n" for span in ended).encode())
            run.output = f"answer {number}"


def main(kind: str, folder: Path, step: int) -> None:
    for n in count(1, step):
        pid = os.fork()
        if pid == 0:
            child(kind, n, folder / str(n))
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        if not os.WIFSIGNALED(status):
            print(n, os.waitstatus_to_exitcode(status))
            return


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
