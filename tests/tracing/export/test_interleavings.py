"""Threads append to one journal and one recording while another thread replaces files.

Two threads take turns, one line of our code at a time. Every schedule with two switches is tried:
the first thread runs up to a line, then the other up to one of its lines, then each to its end. At
each switch, and at the end, the files are what a kill would leave.
"""

from __future__ import annotations

import random
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import orjson
import pytest

from agentool_otel.tracing.export import pipeline as pipelines
from agentool_otel.tracing.export.disk import files, gate, journal, recording, rotation
from agentool_otel.tracing.export.disk.limits import Limits
from agentool_otel.tracing.export.pipeline import Pipeline

pytestmark = pytest.mark.skipif(not gate.IS_SHARED, reason="here each write has the lock")

OURS = {module.__file__ for module in (files, gate, journal, recording, rotation, pipelines)}
NEVER = 1 << 30


class Turns:
    """Runs functions in threads of their own, of which one runs at a time.

    Args:
        switches: for each thread, after how many of its lines the next thread goes on.
        at_switch: called at each of these.
    """

    def __init__(self, switches: list[int], at_switch: Callable[[], None]):
        self._switches = switches
        self._at_switch = at_switch
        self.lines = [0] * len(switches)
        self._turns = [threading.Semaphore(0) for _ in switches]
        self._ended = [False] * len(switches)
        self._numbers: dict[int, int] = {}
        self.errors: list[BaseException] = []

    def run(self, *functions: Callable[[], None]) -> None:
        threads = [
            threading.Thread(target=self._run, args=(number, function), daemon=True)
            for number, function in enumerate(functions)
        ]
        for thread in threads:
            thread.start()
        self._turns[0].release()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
        if self.errors:
            raise self.errors[0]

    def _run(self, number: int, function: Callable[[], None]) -> None:
        self._turns[number].acquire()
        self._numbers[threading.get_ident()] = number
        sys.settrace(self._trace)
        try:
            function()
        except BaseException as error:
            self.errors.append(error)
        finally:
            sys.settrace(None)
            self._ended[number] = True
            self._next(number)

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in OURS:
            return None
        if event == "line":
            number = self._numbers[threading.get_ident()]
            self.lines[number] += 1
            if self.lines[number] == self._switches[number]:
                self._at_switch()
                self.give_way()
        return self._trace

    def give_way(self) -> None:
        """Let another thread run until it gives way, or ends."""
        number = self._numbers[threading.get_ident()]
        if self._next(number):
            self._turns[number].acquire()

    def _next(self, number: int) -> bool:
        count = len(self._turns)
        for other in range(number + 1, number + count):
            if not self._ended[other % count]:
                self._turns[other % count].release()
                return True
        return False


class Lock:
    """A lock that gives way to the thread that has it."""

    def __init__(self, turns: Turns):
        self._lock = threading.RLock()
        self._turns = turns

    def __enter__(self) -> None:
        while not self._lock.acquire(blocking=False):
            self._turns.give_way()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Span:
    start_time = 0


class Program:
    """A journal and a recording, and what a program has been promised of its spans."""

    def __init__(self, folder: Path, limits: Limits | None = None):
        self._folder = folder
        self._pipeline = Pipeline()
        self._pipeline.record(folder)
        if limits is not None:
            self._pipeline.limit(limits)
        self._journal = self._pipeline._journal
        self._spans: dict[int, Span] = {}
        self._noted: set[int] = set()
        self._ended: set[int] = set()
        self.call(1)  # the files are there

    def share(self, turns: Turns) -> None:
        assert self._journal is not None
        self._journal.gate.lock = Lock(turns)  # type: ignore[assignment]

    def note(self, number: int) -> None:
        assert self._journal is not None
        self._spans[number] = span = Span()
        self._journal.note(span, number, (b'{"open":%d}\n' % number,))  # type: ignore[arg-type]
        self._noted.add(number)

    def end(self, number: int) -> None:
        store, document = self._pipeline.store, b'{"ended":%d}\n' % number
        self._pipeline.put(store, self._journal, (document,), 1, number)  # type: ignore[arg-type]
        self._ended.add(number)
        self._noted.discard(number)

    def call(self, number: int) -> None:
        self.note(number)
        self.end(number)

    def rewrite(self) -> None:
        assert self._journal is not None
        self._journal.rewrite()

    def look(self) -> None:
        assert self._journal is not None
        self._pipeline._look(self._journal, 1)

    def close(self) -> None:
        for number in list(self._noted):
            self.end(number)
        self._pipeline.shutdown()

    def check(self) -> None:
        """Hold the files against the promises: nothing lost, and nothing ended told as open."""
        recorded: dict[int, tuple[int, int]] = {}
        for file in self._folder.glob("*.jsonl"):
            number_of_part = re.search(r"\.\d{9}\.?(\d*)\.jsonl$", file.name)
            part = int((number_of_part and number_of_part[1]) or 1)
            for found in re.finditer(rb'\{"ended":(\d+)\}\n', file.read_bytes()):
                number = int(found[1])
                assert number not in recorded, "recorded twice"
                recorded[number] = part, found.start()
        (file,) = self._folder.glob("*.open")
        first, *lines = file.read_bytes().splitlines()
        header = orjson.loads(first)
        opened = {orjson.loads(line)["open"] for line in lines}
        assert self._ended <= recorded.keys()
        assert self._noted - recorded.keys() <= opened
        for number in self._ended & opened:
            start = header.get("part", 1), header.get("from", header.get("part_from"))
            assert recorded[number] >= start, "an ended span is told as open"


def run(
    folder: Path, first: list[str], second: list[str], at: int, then: int, limits: Limits | None
) -> list[int]:
    """Run two lists of steps, with two switches; return how many lines each took."""
    program = Program(folder, limits)
    turns = Turns([at, then], program.check)
    program.share(turns)

    def perform(steps: list[str]) -> Callable[[], None]:
        def steps_of() -> None:
            for step in steps:
                name, _, number = step.partition(" ")
                getattr(program, name)(*([int(number)] if number else []))

        return steps_of

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("time.sleep", lambda _: turns.give_way())
        turns.run(perform(first), perform(second))
    program.check()
    program.close()
    return turns.lines


PROGRAMS = {
    "a start beside a rewrite": (["note 2"], ["rewrite"], None),
    "a call beside a rewrite": (["call 2"], ["rewrite"], None),
    "a call beside a call and a rewrite": (["call 2"], ["note 3", "rewrite", "end 3"], None),
    "two calls": (["call 2"], ["call 3"], None),
    "a call beside a rotation": (["call 2"], ["note 3", "look"], Limits(size=1)),
}


def schedules(lines: list[int], count: int | None, seed: int) -> Iterator[tuple[int, int]]:
    every = [(at, then) for at in range(1, lines[0] + 1) for then in range(1, lines[1] + 1)]
    yield from every if count is None else random.Random(seed).sample(every, min(count, len(every)))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("count", [150, pytest.param(None, marks=pytest.mark.thorough)])
def test_no_schedule_of_two_threads_loses_or_doubles_a_span(
    tmp_path_factory: pytest.TempPathFactory, name: str, count: int | None
) -> None:
    first, second, limits = PROGRAMS[name]
    base = tmp_path_factory.mktemp("turns")
    lines = run(base / "alone", first, second, NEVER, NEVER, limits)
    assert min(lines) > 20
    for at, then in schedules(lines, count, seed=68):
        try:
            run(base / f"{at}-{then}", first, second, at, then, limits)
        except BaseException as error:
            raise AssertionError(f"switches after {at} and {then} lines") from error
