"""Writes to a file that keep the interpreter lock.

A write to the page cache takes two microseconds. `os.write` gives the interpreter lock away for
that time; where many threads run, the call that is traced then waits for milliseconds until it has
the lock again. So once a second thread is traced, writes keep the lock, by `ctypes`.

A write that blocks would stop every thread of the program, and not only those that are traced. So
this is for local file systems only, and not for a minute after a write that took long. What is open
under the descriptor is checked before each write, as everywhere (`docs/decisions/file-ownership`):
`fstat` by `ctypes`, too. Where its result does not look as we know it nothing is kept.
"""

from __future__ import annotations

import ctypes
import errno
import os
from functools import partial
from time import perf_counter
from typing import Any

__all__ = ["KeptLock"]

_LONG_S = 0.05
_PAUSE_S = 60.0
_HEAD = 24
"""Bytes of `struct stat` with device, inode and links; on some processors the mode as well."""
_SIZE = 48
"""Position of the size, eight bytes."""
_STAT = 256
"""Bytes that hold any `struct stat`."""
_LOCAL = {
    *(0xEF53, 0x58465342, 0x9123683E, 0xF2F52010, 0x2FC12FC1),  # ext, XFS, Btrfs, F2FS, ZFS
    *(0x01021994, 0x794C7630),  # tmpfs, and overlayfs of containers
}
"""File systems whose writes do not wait for a network. Source: Linux 6.1, magic.h."""


_clock = partial(perf_counter)
_call: Any = partial.__call__


class KeptLock:
    """Appends to one descriptor.

    Args:
        file: the descriptor.

    Raises:
        OSError: this file system, processor or C library is none that this is for.
    """

    __slots__ = (
        "_address",
        "_buffer",
        "_file",
        "_fstat",
        "_head",
        "_not_before",
        "_view",
        "_write",
    )

    def __init__(self, file: int):
        library = ctypes.PyDLL(None, use_errno=True)
        try:
            self._write, self._fstat, statfs = library.write, library.fstat, library.fstatfs
        except AttributeError:  # an older C library has `fstat` in its headers only
            raise OSError("no fstat in the C library") from None
        self._write.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
        self._write.restype = ctypes.c_ssize_t
        self._fstat.argtypes = statfs.argtypes = (ctypes.c_int, ctypes.c_void_p)
        self._buffer = (ctypes.c_char * _STAT)()
        self._address = ctypes.addressof(self._buffer)
        self._view = memoryview(self._buffer).cast("B")
        self._file = file
        self._not_before = 0.0
        if statfs(file, self._address) or self._number(0) & 0xFFFFFFFF not in _LOCAL:
            raise OSError("not a local file system")
        status = os.fstat(file)
        if self._fstat(file, self._address):
            raise OSError("fstat fails")
        self._head = bytes(self._view[:_HEAD])
        numbers = (self._number(0), self._number(8), self._number(_SIZE))
        links = {self._number(16), self._number(16) >> 32}  # x86-64; Arm has the mode before them
        if (
            numbers != (status.st_dev, status.st_ino, status.st_size)
            or status.st_nlink not in links
        ):
            raise OSError("struct stat is not as expected")

    def _number(self, at: int) -> int:
        return int.from_bytes(self._view[at : at + 8], "little")

    def append(self, data: bytes) -> tuple[int, int] | None:
        """Append bytes in one write.

        Returns:
            the size of the file before, and how many bytes were written; None, and nothing was
            written, where the caller has to do it.

        Raises:
            OSError: there is no room, or the file cannot be written.
        """
        if perf_counter() < self._not_before or self._fstat(self._file, self._address):
            return None
        if bytes(self._view[:_HEAD]) != self._head:
            return None
        before = self._number(_SIZE)
        # In one step of the interpreter: between two of them other threads may run for long.
        write = partial(self._write, self._file, data, len(data))
        start, done, end = map(_call, (_clock, write, _clock))
        if end - start > _LONG_S:
            self._not_before = end + _PAUSE_S
        if done < 0:
            error = ctypes.get_errno()
            if error in (errno.EBADF, errno.EINTR):
                return None  # closed since, by the program
            raise OSError(error, os.strerror(error))
        return before, done
