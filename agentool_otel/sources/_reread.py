"""Files whose parts can be read again, at any place and quickly.

Spans that wait for the rest of their trace need not be copied then. It is quick where the system
still holds the file in memory; read from a disk at random, a file takes hours.
"""

from __future__ import annotations

import os
import re
import stat
import weakref
from contextlib import suppress
from pathlib import Path

__all__ = ["Reread"]

_PART = 1 / 2
"""Of the available memory: the rest is left to what else is held or needed."""
_AVAILABLE = re.compile(rb"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)


class Reread:
    """A file that stays open as long as somebody may read from it."""

    def __init__(self, path: Path):
        """Raises:
        OSError: it cannot be opened.
        """
        descriptor = os.open(path, os.O_RDONLY)
        self._descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)

    @classmethod
    def of(cls, path: Path, least: int) -> Reread | None:
        """Return a file of at least so many bytes, all of which the system can hold in memory.

        None for any other.
        """
        try:
            found = path.stat()
            fits = least <= found.st_size <= _PART * _available()
            if fits and stat.S_ISREG(found.st_mode) and hasattr(os, "pread"):
                return cls(path)
        except OSError:
            pass
        return None

    def read(self, at: int, length: int) -> bytes:
        """Return bytes from a place on; fewer where the file has become shorter or fails."""
        try:
            return os.pread(self._descriptor, length, at)
        except OSError:
            return b""


def _available() -> int:
    """Return how many bytes of memory the system could give, 0 where it does not say.

    Spec: proc(5), /proc/meminfo, and the kernel's cgroup-v2.rst, memory.max. Elsewhere than on
    Linux there is no such number in the standard library.
    """
    available = 0
    with suppress(OSError):
        if found := _AVAILABLE.search(Path("/proc/meminfo").read_bytes()):
            available = int(found[1]) << 10
    with suppress(OSError, ValueError):  # "max" is no limit
        available = min(available, int(Path("/sys/fs/cgroup/memory.max").read_bytes()))
    return available
