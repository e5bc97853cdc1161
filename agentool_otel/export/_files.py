"""Files that one process appends to and that outlive it.

What is written is in the page cache when the call returns: the end of the process, by whatever
signal, does not touch it. The end of the machine does; nothing here calls fsync.
"""

from __future__ import annotations

# After a fork the SDK's TracerProvider starts threads in its at-fork hook. Unless this module was
# there before the provider, its lock is still held then and the child hangs (seen with SDK 1.45).
import concurrent.futures.thread  # noqa: F401 # pyright: ignore[reportUnusedImport]
import os
import platform
import re
import sys
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["AppendFile", "Place", "lock", "renew_after_fork"]

_LOCKED_BYTE = 1 << 40
"""Where Windows locks: behind everything, because what is locked there cannot be read."""


class Place:
    """A folder, and the name under which this process writes there.

    A forked process has a name of its own, so no file ever has two writers.

    Args:
        folder: by default `AGENTOOL_DIR`, or `.agentool` in the current folder.
        kind: what the files hold, the beginning of their names.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, kind: str = "traces"):
        self._kind = kind
        self.folder = Path(folder or os.environ.get("AGENTOOL_DIR") or ".agentool").absolute()
        self._stem: Path | None = None
        self._made = False
        renew_after_fork(self._forked)

    def path(self, suffix: str) -> Path:
        """Return the path of this process' file with a suffix. Nothing is made yet."""
        if self._stem is None:
            host = re.sub(r"[^\w.-]+", "_", platform.node()) or "host"
            now = time.time_ns()
            start = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 1_000_000_000))
            self._stem = self.folder / (
                f"{self._kind}-{host}-{os.getpid()}-{start}.{now % 1_000_000_000:09}"
            )
        return self._stem.with_name(self._stem.name + suffix)

    def open(self, suffix: str) -> AppendFile:
        """Make or continue a file of this process, the folder too where it is missing.

        Raises:
            OSError: it cannot be made.
        """
        try:
            return AppendFile(self.path(suffix))
        except FileNotFoundError:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._made = True
            return AppendFile(self.path(suffix))

    def leave(self) -> None:
        """Remove the folder again if nothing is left in it."""
        if self._made:
            with suppress(OSError):
                self.folder.rmdir()

    def _forked(self) -> None:
        self._stem = None


class AppendFile:
    """A file for appending, readable by its owner only.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path, empty: bool = False):
        self.path = path
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | (os.O_TRUNC if empty else 0)
        self._file = os.open(path, flags, 0o600)
        self.size = os.fstat(self._file).st_size

    @property
    def gone(self) -> bool:
        """Whether somebody has deleted the file."""
        return not os.fstat(self._file).st_nlink

    def append(self, *pieces: bytes) -> None:
        """Append all of the bytes, or none of them, in one write if the system can do that.

        Raises:
            OSError: there is no room, or the file cannot be written.
        """
        if len(pieces) == 1 or sys.platform == "win32":
            data = b"".join(pieces)  # no copy of a single one
            size, done = len(data), os.write(self._file, data)
        else:
            size, done = sum(map(len, pieces)), os.writev(self._file, pieces)
        if done != size:
            self._append_rest(b"".join(pieces), done)
        self.size += size

    def _append_rest(self, data: bytes, done: int) -> None:
        try:
            while done < len(data):
                done += os.write(self._file, data[done:])
        except BaseException:
            with suppress(OSError):
                os.ftruncate(self._file, self.size)
            raise

    def read(self, start: int, size: int) -> bytes:
        """Return up to so many bytes from a position."""
        os.lseek(self._file, start, os.SEEK_SET)  # appending does not depend on it
        return os.read(self._file, size)

    def truncate(self, size: int) -> None:
        """Cut off what is behind so many bytes."""
        os.ftruncate(self._file, size)
        self.size = size

    def lock(self) -> bool:
        """Mark the file as that of a living process; False if another one has it."""
        return lock(self._file)

    def replace(self, data: bytes) -> AppendFile:
        """Put a new file with other contents in place of this one, in one step.

        Raises:
            OSError: there is no room; this file is as it was.
        """
        fresh = AppendFile(self.path.with_name(self.path.name + "~"), empty=True)
        try:
            fresh.append(data)
            fresh.lock()
            os.replace(fresh.path, self.path)
        except OSError:
            fresh.remove()
            raise
        fresh.path = self.path
        self.close()
        return fresh

    def close(self) -> None:
        os.close(self._file)

    def remove(self) -> None:
        """Delete and close the file."""
        with suppress(OSError):
            self.path.unlink()
        self.close()


def lock(file: int) -> bool:
    """Lock an open file until it is closed, by the end of the process too; False if it is locked.

    Forked processes share the lock until they close the file, which ours do.
    """
    try:
        if sys.platform == "win32":
            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # also on file systems without locks: there every process is taken for alive
        return False
    return True


def renew_after_fork(method: Callable[[], None]) -> None:
    """Call a bound method in every forked child, as long as its object lives."""
    if hasattr(os, "register_at_fork"):
        renew = weakref.WeakMethod(method)
        os.register_at_fork(after_in_child=lambda: (found := renew()) and found())
