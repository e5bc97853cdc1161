"""Run a command as in a terminal, and return its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["COLUMNS", "run_in_terminal"]

COLUMNS = 80
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\-_])")


def run_in_terminal(
    command: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    timeout_s: float,
    typed: str = "",
) -> tuple[int, str]:
    """Return the exit code and the text on the screen, without colours.

    A line that is written again, as progress is, counts as written last. What is `typed` waits in
    the terminal until the command reads it.

    Raises:
        TimeoutError: if the command has not ended in time; it is killed.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    with subprocess.Popen(
        command, cwd=folder, env=environ, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        os.write(ours, typed.encode())
        try:
            output = _read(ours, time.monotonic() + timeout_s)
        except TimeoutError:
            process.kill()
            raise
        finally:
            os.close(ours)
    return process.returncode, _screen(output.decode("utf-8", "replace"))


def _read(descriptor: int, deadline: float) -> bytes:
    """Return everything that is written until all writers have closed the terminal."""
    parts: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            raise TimeoutError
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # Linux: the last writer has closed it
            return b"".join(parts)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _screen(output: str) -> str:
    lines = _ESCAPE.sub("", output).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2].rstrip() for line in lines)
