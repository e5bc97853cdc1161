"""The library that has system calls fail, built and loaded."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

__all__ = ["CALLS", "ERRORS", "KILLED", "KILLED_BEFORE", "Fault", "build", "why_not"]

CALLS = ("open", "read", "write", "truncate", "rename", "unlink", "lock", "fsync", "send", "recv",
         "connect")  # fmt: skip
ERRORS = tuple(getattr(errno, name) for name in ("ENOSPC", "EIO", "EINTR", "EAGAIN", "EMFILE"))
KILLED_BEFORE, KILLED = -1, -2
"""Instead of an error: the process is killed before, or after, the call."""


def why_not() -> str | None:
    """Return why faults cannot be injected on this machine, None if they can."""
    if not sys.platform.startswith("linux"):
        return "needs Linux"
    if shutil.which("cc") is None:
        return "needs a C compiler"
    return None


@cache
def build(folder: Path) -> Path:
    """Compile the library into a folder, and return its path."""
    library = folder / "shim.so"
    source = Path(__file__).with_name("shim.c")
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return library


class Fault:
    """The n-th call of a kind fails, in this process, from `arm` on.

    Args:
        library: path of the library, which this process was started with.
        report: a file that gets a byte when the fault is reached.
    """

    def __init__(self, library: Path, report: Path):
        self._library = ctypes.CDLL(str(library))
        self._report = report

    def arm(self, call: str, number: int, error: int, folder: Path) -> None:
        """Have a call fail if it is about a file below the folder, or about a socket."""
        self._library.fault_arm(
            call.encode(), number, error, os.fsencode(folder), os.fsencode(self._report)
        )

    def was_reached(self) -> bool:
        """Return whether the fault was reached since the last time, and forget it."""
        try:
            self._report.unlink()
        except FileNotFoundError:
            return False
        return True
