"""Cases in a process of their own, which may die of them: libraries in C read these files.

python -m tests.security.fuzz.isolated TARGET FIRST COUNT FOLDER
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.frameworks import ROOT
from tests.security.fuzz.memory import limit_memory

__all__ = ["failures"]

MEMORY = 1 << 30
"""Bytes that the process may take beyond those at its start. Limits of input are below."""
_PATIENCE_S = 60.0
"""Seconds without a word from the process: code in C does not hear alarms."""


def failures(target: str, first: int, count: int) -> Iterator[tuple[int, str | None]]:
    """Play cases; yield the number of each, and where it failed, if it did."""
    number = first
    with tempfile.TemporaryDirectory(prefix="agentool-fuzz-") as home:
        while number < first + count:
            for failure in _until_death(target, number, first + count - number, Path(home)):
                yield number, failure
                number += 1


def _until_death(target: str, first: int, count: int, home: Path) -> Iterator[str | None]:
    """Play cases in one process; yield where each failed, the last by how the process ended."""
    arguments = [target, str(first), str(count), str(home / "case")]
    environ = {**os.environ, "AGENTOOL_OTEL_STRICT": "1"}
    with (home / "errors").open("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.security.fuzz.isolated", *arguments],
            cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=errors, text=True, bufsize=1,
        )  # fmt: skip
        assert process.stdout is not None
        played = 0
        try:
            while played < count:
                ready, _, _ = select.select([process.stdout], [], [], _PATIENCE_S)
                line = process.stdout.readline() if ready else ""
                if not line:
                    process.kill()
                    break
                if line.startswith("\x1e"):  # what a case prints is no word of this program
                    played += 1
                    yield line[1:].strip() or None
        finally:
            process.kill()
            code = process.wait()
            process.stdout.close()
        if played < count:
            errors.seek(0)
            last = errors.read()[-300:]
            how = f"signal {signal.Signals(-code).name}" if code < 0 else f"code {code}"
            yield f"Death at {target}: the process ended with {how}: {last!r}"


def main(target: str, first: int, count: int, folder: Path) -> None:
    from tests.security.fuzz.__main__ import handling_alarms, play

    words = os.fdopen(os.dup(1), "w", buffering=1)
    with suppress(OSError):  # what is printed by a case is no word
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    play(target, first, folder)  # imports what it needs
    limit_memory(MEMORY)
    with handling_alarms():
        for number in range(first, first + count):
            failure = play(target, number, folder)
            words.write(f"\x1e{' '.join((failure or '').split())}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
