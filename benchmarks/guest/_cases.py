"""Running cases: each in a fresh process under a receiver of its own, with an end to patience."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from benchmarks._child import ROOT
from benchmarks.guest import exits, hostile
from benchmarks.guest._environments import Environment
from benchmarks.guest._receiver import Receiver
from benchmarks.guest._table import Cell, Outcome, Row, no

__all__ = ["run_case", "run_corpus"]

_PATIENCE_S = 30
_KIND_PATIENCE_S = 10
"""For one kind of value; a process that starts gets the longer one."""


class _Process:
    """A case in progress; it and its children end after a timeout."""

    def __init__(self, command: list[str], variables: dict[str, str], stderr: Any):
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        )
        self.hung = False
        self._timer: threading.Timer | None = None

    def expect(self, within_s: float) -> None:
        """End the process unless it shows activity in time."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(within_s, self._give_up)
        self._timer.daemon = True
        self._timer.start()

    def _give_up(self) -> None:
        self.hung = True
        self.end()

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def send(self, number: int) -> None:
        self._process.send_signal(number)

    def lines(self) -> Iterator[str]:
        """Yield its output, until it and all that share its output have ended."""
        assert self._process.stdout is not None
        yield from self._process.stdout

    def wait(self) -> int:
        code = self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        if self._timer is not None:
            self._timer.cancel()
        return code


@contextmanager
def _started(environment: Environment, module: str, *arguments: str) -> Generator[_Case]:
    with tempfile.TemporaryDirectory(prefix="guest-") as folder, Receiver() as receiver:
        variables = environment.variables(receiver.endpoint, folder)
        with tempfile.TemporaryFile("w+", dir=folder) as stderr:
            command = [str(environment.python), "-m", module, *arguments]
            process = _Process(command, variables, stderr)
            try:
                yield _Case(environment, process, variables, receiver, stderr)
            finally:
                process.end()
                process.wait()


class _Case:
    """A process with its folder and receiver."""

    def __init__(
        self,
        environment: Environment,
        process: _Process,
        variables: dict[str, str],
        receiver: Receiver,
        stderr: Any,
    ):
        self.environment = environment
        self.process = process
        self.variables = variables
        self.receiver = receiver
        self._stderr = stderr

    def stderr(self) -> str:
        self._stderr.seek(0)
        return str(self._stderr.read())

    def recover(self) -> None:
        """Run the command that ships leftovers of a dead process, if the SDK has one."""
        if self.environment.adapter.RECOVER:
            subprocess.run(
                [str(self.environment.python), *self.environment.adapter.RECOVER],
                env={**self.variables, "OTEL_EXPORTER_OTLP_ENDPOINT": self.receiver.endpoint},
                cwd=ROOT,
                capture_output=True,
                check=False,
                timeout=_PATIENCE_S,
            )


def run_case(
    environment: Environment, name: str, table: str, rows: tuple[Row, ...], n: int
) -> Cell:
    """Run one row of a table under one SDK."""
    row = rows[n]
    if row.decorates and not environment.adapter.DECORATES:
        return Cell("-", "no decorator")
    with _started(environment, "benchmarks.guest._child", name, table, str(n)) as case:
        process = case.process
        process.expect(_PATIENCE_S)
        facts: Any = None
        text = False
        for line in process.lines():
            if line.strip() == exits.READY:
                process.send(row.options[exits.SIGNAL])
            elif table != "exits":
                facts, text = json.loads(line), True
        code = process.wait()
        if process.hung:
            return no("hangs")
        if table == "exits":
            case.recover()
        elif not text:
            return no(_death(code, case.stderr()))
        elif isinstance(facts, dict) and "raised" in facts:
            return no(f"user's call fails: {facts['raised']}")
        stderr = case.stderr()
        case.receiver.close()
        return row.judge(Outcome(facts, case.receiver.spans(), stderr, code))


def run_corpus(environment: Environment, name: str) -> dict[str, Cell]:
    """Run every kind of value under one SDK."""
    cells: dict[str, Cell] = {}
    first = 0
    while True:
        results: dict[int, tuple[str, dict[str, Any]]] = {}
        kind, finished = None, False
        with _started(environment, "benchmarks.guest.hostile", name, str(first)) as case:
            process = case.process
            process.expect(_PATIENCE_S)
            number = first
            for line in process.lines():
                document = json.loads(line)
                process.expect(_KIND_PATIENCE_S)
                if "kind" in document:
                    number, kind = document["number"], document["kind"]
                elif "facts" in document and kind is not None:
                    results[number] = (kind, document["facts"])
                finished = finished or "done" in document
            code = process.wait()
            stderr = case.stderr()
            case.receiver.close()
            spans = case.receiver.spans()
        for each, (of, facts) in results.items():
            mine = [span for span in spans if f"kind_{each}_" in span.name and span.ended]
            cells[of] = hostile.judge(facts, mine)
        if finished or kind is None:
            return cells
        after = "the flush after it " if number in results else ""
        cells[kind] = no(f"{after}hangs" if process.hung else after + _death(code, stderr))
        first = number + 1


def _death(code: int, stderr: str) -> str:
    if code < 0:
        return f"process dies: {signal.Signals(-code).name}"
    lines = stderr.strip().splitlines()
    return lines[-1][:80] if lines else f"process ends: {code}"
