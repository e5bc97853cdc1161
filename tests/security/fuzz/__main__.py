"""Play each target with hostile input until the time is over, ten minutes if none is given.

    python -m tests.security.fuzz              ten minutes
    python -m tests.security.fuzz 120 journals for two minutes, one target
    python -m tests.security.fuzz 0 traces 17  one case again, by its number
    python -m tests.security.fuzz 10000x arrow so many cases, one target

Targets of files play in a process of their own, with little memory: libraries in C read many of
them. What fails is named with its number, once for each place in the code; exit 1 if anything did.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.security.fuzz.file_targets import FILE_TARGETS
from tests.security.fuzz.isolated import failures
from tests.security.fuzz.targets import TARGETS, fresh

USUAL_S = 600.0
LONGEST_S = 20
"""Most seconds per case."""


class Endless(BaseException):
    """A case that takes too long."""


def _stop(_: int, frame: FrameType | None) -> None:
    raise Endless(f"more than {LONGEST_S} s")


@contextmanager
def handling_alarms() -> Generator[None]:
    before = signal.signal(signal.SIGALRM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def play(target: str, number: int, folder: Path) -> str | None:
    """Play a case; return where it failed, if it did."""
    signal.alarm(LONGEST_S)
    try:
        (TARGETS | FILE_TARGETS)[target](random.Random(f"{target} {number}"), fresh(folder))
    except (Exception, Endless) as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [
            frame for frame in frames if f"{os.sep}agentool_otel{os.sep}" in frame.filename
        ] or frames
        where = ours[-1]
        place = f"{Path(where.filename).name}:{where.lineno} {where.name}"
        return f"{type(error).__name__} at {place}: {str(error)[:200]!r}"
    finally:
        signal.alarm(0)
    return None


class Failures:
    """What failed, once for each place in the code."""

    def __init__(self) -> None:
        self.count = 0
        self._places: set[str] = set()

    def note(self, target: str, number: int, failure: str | None) -> None:
        place = (failure or "").partition(": ")[0]
        if failure is not None and place not in self._places:
            self._places.add(place)
            self.count += 1
            print(f"{target} {number}: {failure}", file=sys.stderr, flush=True)


_BATCH = 50
"""Cases of a target in a row."""


def main(arguments: list[str]) -> int:
    amount = arguments[0] if arguments else str(USUAL_S)
    known = [*TARGETS, *FILE_TARGETS]
    targets = [arguments[1]] if len(arguments) > 1 else known
    found, counts = Failures(), dict.fromkeys(targets, 0)
    if len(arguments) > 2:
        ((_, failure),) = _played(targets[0], int(arguments[2]), 1)
        print(failure or "nothing failed")
        return 0
    most = int(amount[:-1]) if amount.endswith("x") else sys.maxsize
    ends = time.monotonic() + (float(amount) if most == sys.maxsize else float("inf"))
    first = time.time_ns()
    while time.monotonic() < ends and min(counts.values()) < most:
        for target in targets:
            size = min(_BATCH if most == sys.maxsize else 1000, most - counts[target])
            for number, failure in _played(target, first + counts[target], size):
                found.note(target, number, failure)
                counts[target] += 1
                if time.monotonic() >= ends:
                    break
    print(f"{', '.join(f'{n:,} {name}' for name, n in counts.items())}; {found.count} failures")
    return 1 if found.count else 0


def _played(target: str, first: int, count: int) -> Iterator[tuple[int, str | None]]:
    """Play cases of a target; yield the number of each, and where it failed, if it did."""
    if target in FILE_TARGETS:
        yield from failures(target, first, count)
        return
    with tempfile.TemporaryDirectory(prefix="agentool-fuzz-") as home:
        for number in range(first, first + count):
            yield number, play(target, number, Path(home) / "case")


if __name__ == "__main__":
    os.environ["AGENTOOL_OTEL_STRICT"] = "1"
    with handling_alarms():
        code = main(sys.argv[1:])
    raise SystemExit(code)
