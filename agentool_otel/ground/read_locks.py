"""Locks of commands that read recordings, so that no limit removes a file meanwhile.

A reader has a shared lock on the files that it names, or on their folder; whoever removes files
needs an exclusive one on both. Locks end with their process. Where a file system has no locks, and
on Windows, where files that are open cannot be removed, a reader goes without.
"""

from __future__ import annotations

import errno
import os
import sys
import time
import weakref
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

__all__ = ["LocksUnsupported", "exclusive_lock", "lock_while_alive", "share_lock"]

_FEW = 64
"""Most files that are locked one by one. Of more, the folders are locked."""
_WAIT_S = 2.0
_BUSY = (errno.EAGAIN, errno.EACCES)


class LocksUnsupported(OSError):
    """A file cannot be locked where it is."""


def lock_while_alive(reader: object, paths: Iterable[Path]) -> None:
    """Keep files and folders from being removed as long as an object lives.

    Args:
        reader: the object that reads them.
        paths: the files and folders.
    """
    unique = list(dict.fromkeys(paths))
    if len(unique) > _FEW:
        unique = list(dict.fromkeys(path if path.is_dir() else path.parent for path in unique))
    locked = [file for path in unique[:_FEW] if (file := _locked(path)) is not None]
    if locked:
        weakref.finalize(reader, _close, locked)


def share_lock(file: int, wait_s: float = 0.0) -> bool:
    """Take a shared lock on an open file; False if there is none to be had in that time."""
    if sys.platform == "win32":
        return False
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _BUSY or time.monotonic() >= deadline:
                return False
            time.sleep(0.005)
        else:
            return True


@contextmanager
def exclusive_lock(file: int) -> Generator[bool]:
    """Lock an open file for the block; False if a reader or another process has a lock on it.

    Raises:
        LocksUnsupported: the file system has no locks.
    """
    if sys.platform == "win32":
        yield True
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _BUSY:
            raise LocksUnsupported(error.errno, error.strerror) from error
        yield False
        return
    try:
        yield True
    finally:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)


def _locked(path: Path) -> int | None:
    """Return a descriptor of a file with a shared lock; None if it cannot be locked."""
    if sys.platform == "win32":
        return None
    with suppress(OSError, ValueError):
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        if share_lock(file, _WAIT_S):
            return file
        os.close(file)
    return None


def _close(files: list[int]) -> None:
    for file in files:
        with suppress(OSError):
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_UN)  # for forked processes that still have it open
            os.close(file)
