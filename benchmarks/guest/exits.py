"""The exit table: how many of five tool spans arrive, by how the process ends.

The SDK's ordinary pipeline sends to the receiver; nothing is flushed by hand. A program that waits
for a signal prints that it is ready.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from signal import SIGINT, SIGKILL, SIGTERM
from typing import Any

from benchmarks.guest._table import Cell, Outcome, Row, no, partly, yes
from benchmarks.guest.sdks import Sdk, prepared

__all__ = ["READY", "ROWS", "SIGNAL"]

READY = "ready"
"""Output of a program that waits for its signal."""

SIGNAL = "signal"
"""Option of a row: the signal to send to a program that is ready."""

_SPANS = 5


def _tools(sdk: Sdk, count: int = _SPANS) -> None:
    @sdk.tool
    def search(n: int) -> int:
        return n

    for n in range(count):
        search(n)


def _wait() -> None:
    print(READY, flush=True)
    threading.Event().wait()


def normally(sdk: Sdk) -> None:
    _tools(sdk)


def by_sys_exit(sdk: Sdk) -> None:
    _tools(sdk)
    sys.exit(1)


def by_exception(sdk: Sdk) -> None:
    _tools(sdk)
    raise RuntimeError("nobody catches this")


def by_signal(sdk: Sdk) -> None:
    _tools(sdk)
    _wait()


def by_os_exit(sdk: Sdk) -> None:
    _tools(sdk)
    os._exit(0)


def in_a_fork(sdk: Sdk) -> None:
    child = os.fork()
    if child == 0:
        _tools(sdk)
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


def _in_a_process(method: str) -> Callable[[Sdk], None]:
    def run(sdk: Sdk) -> None:
        context: Any = multiprocessing.get_context(method)
        process = context.Process(target=_work, args=(sys.argv[1],))
        process.start()
        process.join()
        sys.exit(process.exitcode)

    return run


def _work(name: str) -> None:
    # A forked child has its parent's; a program that is imported afresh sets its SDK up again.
    _tools(prepared(name))


def beside_a_daemon(sdk: Sdk) -> None:
    running = threading.Event()

    @sdk.tool
    def search() -> None:
        running.set()
        threading.Event().wait()

    _tools(sdk, _SPANS - 1)
    threading.Thread(target=search, daemon=True).start()
    running.wait()


def inside_a_tool(sdk: Sdk) -> None:
    @sdk.tool
    def search() -> None:
        _wait()

    _tools(sdk, _SPANS - 1)
    search()


def _arrived(exit_code: int) -> Callable[[Outcome], Cell]:
    def judge(outcome: Outcome) -> Cell:
        spans = [span for span in outcome.spans if "search" in span.name]
        ended = [span for span in spans if span.ended]
        text = f"{len(ended)} of {_SPANS}"
        if len(spans) > len(ended):
            text += f", {len(spans) - len(ended)} without an end"
        if len(spans) < _SPANS:
            return no(text)
        if len(spans) > _SPANS:
            return no(f"{text}: some twice")
        if outcome.exit_code != exit_code:
            return partly(f"{text}, but exit code {outcome.exit_code}, not {exit_code}")
        return yes(text)

    return judge


def _signalled(title: str, program: Any, signal: int) -> Row:
    return Row(title, program, _arrived(-signal), options={SIGNAL: signal})


ROWS = (
    Row("normal end", normally, _arrived(0)),
    Row("`sys.exit(1)`", by_sys_exit, _arrived(1)),
    Row("unhandled exception", by_exception, _arrived(1)),
    _signalled("SIGINT", by_signal, SIGINT),
    _signalled("SIGTERM, default handler", by_signal, SIGTERM),
    _signalled("SIGKILL", by_signal, SIGKILL),
    Row("`os._exit`", by_os_exit, _arrived(0)),
    Row("`os.fork` child, normal end", in_a_fork, _arrived(0)),
    Row("`multiprocessing`, fork", _in_a_process("fork"), _arrived(0)),
    Row("`multiprocessing`, spawn", _in_a_process("spawn"), _arrived(0)),
    Row("`multiprocessing`, forkserver", _in_a_process("forkserver"), _arrived(0)),
    Row("4 ended, 1 running in a daemon thread at exit", beside_a_daemon, _arrived(0)),
    _signalled("4 ended, SIGTERM inside the 5th", inside_a_tool, SIGTERM),
    _signalled("4 ended, SIGKILL inside the 5th", inside_a_tool, SIGKILL),
)
