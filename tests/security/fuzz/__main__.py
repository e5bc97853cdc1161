"""Play each target with hostile input until the time is over, ten minutes if none is given.

    python -m tests.security.fuzz              ten minutes
    python -m tests.security.fuzz 120 journals for two minutes, one target
    python -m tests.security.fuzz 0 traces 17  one case again, by its number

What fails is named with its number, once for each place in the code; exit 1 if anything did.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

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
        TARGETS[target](random.Random(f"{target} {number}"), fresh(folder))
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


def main(arguments: list[str]) -> int:
    seconds = float(arguments[0]) if arguments else USUAL_S
    targets = [arguments[1]] if len(arguments) > 1 else list(TARGETS)
    failures: dict[str, str] = {}
    counts = dict.fromkeys(targets, 0)
    with tempfile.TemporaryDirectory(prefix="agentool-fuzz-") as home:
        if len(arguments) > 2:
            print(play(targets[0], int(arguments[2]), Path(home) / "case") or "nothing failed")
            return 0
        first = time.time_ns() if seconds > 0 else 0
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            for target in targets:
                number = first + counts[target]
                counts[target] += 1
                failure = play(target, number, Path(home) / "case")
                place = (failure or "").partition(":")[0]
                if failure is not None and place not in failures:
                    failures[place] = f"{target} {number}: {failure}"
                    print(failures[place], file=sys.stderr, flush=True)
    print(f"{', '.join(f'{n:,} {name}' for name, n in counts.items())}; {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    os.environ["AGENTOOL_OTEL_STRICT"] = "1"
    with handling_alarms():
        code = main(sys.argv[1:])
    raise SystemExit(code)
