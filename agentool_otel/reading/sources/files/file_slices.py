"""Files whose parts can be read again, at any place and quickly.

Spans that wait for the rest of their trace need not be copied then. It is quick where the system
still holds the file in memory; read from a disk at random, a file takes hours.
"""

from __future__ import annotations

import io
import os
import stat
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO

from agentool_otel.ground import lazy_re as re

__all__ = ["Reread", "fits_in_memory", "is_dense"]

_PART = 1 / 2
"""The share of the available memory that files may take; the rest is for everything else."""
_SMALL = 1 << 20
"""Bytes of a file that a file system may keep without any block."""
_BLOCK = 512
"""Bytes of a block in `stat`, whatever the file system's."""
_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
_AVAILABLE = re.compile(rb"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)


class Reread:
    """A file that stays open as long as it has readers."""

    def __init__(self, descriptor: int):
        self._descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)

    @classmethod
    def of(cls, file: IO[bytes] | io.FileIO) -> Reread | None:
        """Return an open file, to be read again even if its name is another's by then; None for
        anything else, and where the system cannot."""
        try:
            descriptor = file.fileno()
            if stat.S_ISREG(os.fstat(descriptor).st_mode) and hasattr(os, "pread"):
                return cls(os.dup(descriptor))
        except OSError:
            pass
        return None

    def read(self, at: int, length: int) -> bytes:
        """Return bytes from a place on; fewer where the file has become shorter or fails."""
        try:
            return os.pread(self._descriptor, length, at)
        except OSError:
            return b""


def is_dense(file: IO[bytes] | io.FileIO) -> bool:
    """Return whether a file ends, and takes about its size on the disk.

    A pipe and a device may have no end; a file with holes may be any size.
    """
    try:
        status = os.fstat(file.fileno())
    except (OSError, AttributeError):
        return True  # bytes in memory
    if not stat.S_ISREG(status.st_mode):
        return False
    blocks: int | None = getattr(status, "st_blocks", None)
    return blocks is None or 2 * _BLOCK * blocks >= status.st_size - _SMALL


def fits_in_memory(size: int) -> bool:
    """Return whether the system's cache can keep so many bytes of files."""
    return size <= _PART * _available()


def _available() -> int:
    """Return how many bytes of memory the system could give; 0 if unknown.

    Spec: proc(5), /proc/meminfo; the kernel's admin-guide/cgroup-v2.rst, memory.max, and
    cgroup-v1/memory.rst. Elsewhere than on Linux there is no such number in the standard library.
    """
    available = 0
    with suppress(OSError):
        if kibibytes := _AVAILABLE.search(Path("/proc/meminfo").read_bytes()):
            available = int(kibibytes[1]) << 10
    for limit in _LIMITS:
        with suppress(OSError, ValueError):  # "max" is no limit
            available = min(available, int(limit.read_bytes()))
    return available
