"""Regular expressions and JSON Schemas of cases, within a time limit.

Both can take longer than anybody lives, and neither can be interrupted in the thread that runs it.
So they run in a process of their own, which is started when it is first needed and ends when its
time is over: Python's own `re`, compiled there too, and `jsonschema` with all that it calls.
"""

from __future__ import annotations

import atexit
import contextlib
import marshal
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from agentool_otel.errors import EvaluationError

__all__ = [
    "LIMIT_S",
    "TimeLimit",
    "compiles",
    "one_check",
    "replace",
    "schema_fault",
    "search",
    "violation",
]

LIMIT_S = 5.0
"""Seconds that the patterns and schemas of one check may take together."""
_TRIES = 3
"""Number of timeouts after which a pattern or schema is not tried again."""
_PROGRAM = Path(__file__).with_name("time_limit_process.py")
_SHOWN = 60


class _Budget:
    """Seconds that are left of a check."""

    def __init__(self) -> None:
        self.left = LIMIT_S


_budget: ContextVar[_Budget | None] = ContextVar("budget", default=None)
_reached: Counter[Any] = Counter()
"""Number of timeouts of each pattern or schema."""


class TimeLimit(EvaluationError):
    """A pattern or a schema exceeded the time limit, or cannot be run."""


@contextmanager
def one_check() -> Generator[None]:
    """Give all work in the context one limit together."""
    token = _budget.set(_Budget())
    try:
        yield
    finally:
        _budget.reset(token)


def compiles(pattern: str) -> str | None:
    """Return why a pattern is not a regular expression; None if it is one.

    Raises:
        TimeLimit: that takes too long.
    """
    why: str | None = _run("pattern", pattern, "compiles", pattern)
    return why


def search(pattern: str, text: str) -> tuple[int, int] | None:
    """Return where `re.search` finds a pattern in a text; None for nowhere.

    Raises:
        TimeLimit: that takes too long.
    """
    span: tuple[int, int] | None = _run("pattern", pattern, "search", pattern, text)
    return span


def replace(patterns: list[tuple[str, int]], placeholder: str, text: str) -> str:
    """Replace each match of several patterns in a text by a placeholder.

    Args:
        patterns: regular expressions, each with its flags of `re`.
        placeholder: the replacement.
        text: the text.

    Raises:
        TimeLimit: the replacement takes too long.
    """
    shown = ", ".join(pattern for pattern, _ in patterns)
    replaced: str = _run("pattern", shown, "replace", patterns, placeholder, text)
    return replaced


def violation(schema: str, value: str) -> str | None:
    """Return the first violation of a schema by a value, both JSON text; None without any.

    Raises:
        TimeLimit: that takes too long.
        ValueError: the schema is none.
    """
    message: str | None = _run("schema", schema, "violation", schema, value)
    return message


def schema_fault(schema: str) -> str | None:
    """Return why a JSON text is not a usable JSON Schema; None if it is one.

    Raises:
        TimeLimit: that takes too long.
    """
    fault: str | None = _run("schema", schema, "schema_fault", schema)
    return fault


def _run(subject: str, work: str, kind: str, *arguments: Any) -> Any:
    """Return the process's answer to a request.

    Args:
        subject: kind of thing that it runs, for messages.
        work: the pattern or schema.
        kind: function of the process.
        arguments: its arguments.
    """
    shown = work if len(work) <= _SHOWN else f"{work[:_SHOWN]}…"
    if _reached[work] >= _TRIES:
        raise TimeLimit(
            f"the {subject} {shown!r} reached the limit of {LIMIT_S:g} s {_TRIES} times, and is "
            "not tried again"
        )
    budget = _budget.get() or _Budget()
    if budget.left <= 0:
        raise TimeLimit(
            f"nothing is left of the {LIMIT_S:g} s of this check for the {subject} {shown!r}"
        )
    began = time.monotonic()
    try:
        outcome, value = _process.run(budget.left, kind, arguments)
    except TimeoutError:
        _reached[work] += 1
        raise TimeLimit(
            f"the {subject} {shown!r} did not end within {LIMIT_S:g} s, the limit of a "
            f"check; hint: write a simpler {subject}"
        ) from None
    except OSError as error:
        raise TimeLimit(
            f"the {subject} {shown!r} runs in a process of its own, which failed: {error}"
        ) from None
    finally:
        budget.left -= time.monotonic() - began
    if outcome == "value":
        return value
    if outcome == "ValueError":
        raise ValueError(value)
    raise TimeLimit(f"the {subject} {shown!r} could not be run: {value}")


class _Process:
    """The process, started again where it has ended; safe to use from threads and after a fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self._inherited: subprocess.Popen[bytes] | None = None
        self._pid = 0

    def run(self, seconds: float, kind: str, arguments: tuple[Any, ...]) -> tuple[str, Any]:
        """Send a request and return the reply.

        Raises:
            TimeoutError: the time is over.
            OSError: the process cannot be started, or has ended before the time was over.
        """
        if self._pid != os.getpid():  # a child has its parent's pipes, and a lock of any state
            self._inherited = self._running
            self._lock, self._running, self._pid = threading.Lock(), None, os.getpid()
        with self._lock:
            while True:
                fresh = self._running is None
                began = time.monotonic()
                try:
                    return self._exchange((seconds, kind, *arguments))
                except (OSError, EOFError, TypeError, ValueError) as error:
                    self.end()
                    if time.monotonic() - began >= seconds:
                        raise TimeoutError from None
                    if fresh:
                        raise OSError(str(error) or "it ended") from None
                    # It has ended while there was no work: another one is started.
                except BaseException:  # of Ctrl-C: the reply must not be taken for the next one
                    self.end()
                    raise

    def _exchange(self, request: tuple[Any, ...]) -> tuple[str, Any]:
        running = self._running or self._start()
        assert running.stdin is not None
        assert running.stdout is not None
        marshal.dump(request, running.stdin)
        running.stdin.flush()
        reply: tuple[str, Any] = marshal.load(running.stdout)
        return reply

    def _start(self) -> subprocess.Popen[bytes]:
        if not sys.executable or getattr(sys, "frozen", False):
            raise OSError("this program is no Python that can be started")
        self._running = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._running.stdin is not None
        marshal.dump([item for item in sys.path if item], self._running.stdin)
        return self._running

    def end(self) -> None:
        """End the process; another request starts it again."""
        running, self._running = self._running, None
        if running is None or self._pid != os.getpid():
            return
        running.kill()
        running.wait()
        for pipe in (running.stdin, running.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


_process = _Process()
atexit.register(_process.end)
