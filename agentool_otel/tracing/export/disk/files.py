"""Files that one process appends to and that outlive it.

What is written is in the page cache when the call returns: the end of the process, by whatever
signal, does not touch it. The end of the machine does, unless `AGENTOOL_SYNC` is on: see `sync`.
"""

from __future__ import annotations

# After a fork the SDK's TracerProvider starts threads in its at-fork hook. Unless this module was
# there before the provider, its lock is still held then and the child hangs (seen with SDK 1.45).
import concurrent.futures.thread  # noqa: F401 # pyright: ignore[reportUnusedImport]
import errno
import itertools
import os
import platform
import re
import secrets
import sys
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from agentool_otel.ground import environment
from agentool_otel.ground.interruptions import ignoring, is_interruption, let_through
from agentool_otel.ground.ownership import create_own, identity, open_own
from agentool_otel.ground.private_folders import make_private_folder, remove_private_folder
from agentool_otel.ground.read_locks import share_lock
from agentool_otel.tracing.export.disk.gate import Gate

if TYPE_CHECKING:
    from agentool_otel.tracing.export.disk.kept_lock import KeptLock

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = [
    "AppendFile",
    "Contents",
    "FileReplaced",
    "RecordingDir",
    "host_name",
    "is_alive",
    "lock",
    "renew_after_fork",
]

_APPEND = os.O_RDWR | os.O_APPEND
_HIGH = 512
"""The number from which descriptors of ours are, where the process may have so many."""
_numbers = itertools.cycle(range(_HIGH, 2 * _HIGH))
"""The next number, where it is free. A number that was closed by the program is not used again
soon: a thread may have checked it before."""
_CLOSED = 5
"""How often a write is tried whose descriptor the program closes in between."""
_LOCKED_BYTE = 1 << 40
"""Offset at which Windows locks: behind all data, because locked bytes cannot be read."""


class RecordingDir:
    """A folder, and the name under which this process writes there.

    A forked process has a name of its own, so no file ever has two writers.

    Args:
        folder: by default `AGENTOOL_DIR`, or `.agentool` in the current folder.
        kind: what the files hold, the beginning of their names.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, kind: str = "traces"):
        self._kind = kind
        self.folder = Path(folder or environment.recordings_folder()).absolute()
        self._stem: Path | None = None
        self._made_folder = False
        _make_room()
        renew_after_fork(self._forked)

    def path(self, suffix: str) -> Path:
        """Return the path of this process' file with a suffix. Nothing is made yet."""
        if self._stem is None:
            now = time.time_ns()
            start = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 1_000_000_000))
            self._stem = self.folder / (
                f"{self._kind}-{host_name()}-{os.getpid()}-{start}.{now % 1_000_000_000:09}"
            )
        return self._stem.with_name(self._stem.name + suffix)

    def open(self, suffix: str, gate: Gate | None = None) -> AppendFile:
        """Make or continue a file of this process, the folder too where it is missing.

        Args:
            suffix: the end of its name.
            gate: the threads that append to it at once, if several do.

        Raises:
            OSError: it cannot be made.
        """
        path = self.path(suffix)
        return self._in_folder(lambda: AppendFile(path, gate))

    def put(self, suffix: str, contents: Contents, gate: Gate | None = None) -> AppendFile:
        """Make a file of this process that is whole and locked as soon as it is there.

        Args:
            suffix: the end of its name.
            contents: what it has from the beginning.
            gate: the threads that append to it at once, if several do.

        Raises:
            OSError: it cannot be made.
        """
        path = self.path(suffix)
        return self._in_folder(lambda: AppendFile.put(path, contents, gate))

    def leave(self) -> None:
        """Remove the folder again if nothing is left in it."""
        if self._made_folder:
            remove_private_folder(self.folder)

    def _in_folder(self, make: Callable[[], AppendFile]) -> AppendFile:
        try:
            return make()
        except FileNotFoundError:
            self._made_folder = make_private_folder(self.folder) or self._made_folder
            return make()

    def _forked(self) -> None:
        self._stem = None


def host_name() -> str:
    """Return the name of this machine as it stands in the names of files."""
    return re.sub(r"[^\w.-]+", "_", platform.node()) or "host"


Contents = Callable[[int], bytes]
"""Returns what a file holds, given its inode."""


class FileReplaced(FileNotFoundError):
    """A file of ours was deleted, or exchanged for another while it was closed."""

    def __init__(self, path: Path):
        super().__init__(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


class AppendFile:
    """A file for appending, readable by its owner only.

    The program may close our descriptor, as daemons do with all, and open something else under its
    number. Before each use we check what is open there; if that is not this file, the number is
    forgotten, never closed, and the file is opened again by its path.

    Args:
        path: where it is.
        gate: the threads that append to it at once, if several do.

    Raises:
        NotOurs: what stands under the path is not a file of ours.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path, gate: Gate | None = None):
        try:
            file = create_own(path, _APPEND)
        except FileExistsError:
            file = open_own(path, _APPEND)
        self._hold(path, file, gate)

    def _hold(self, path: Path, file: int, gate: Gate | None) -> None:
        self.path = path
        self.gate = gate
        self._kept_lock: KeptLock | None = None
        self._refuses_to_keep = False
        self._torn: deque[tuple[int, bytes]] = deque()
        """Beginnings of lines for which there was no room, and where each is at the earliest."""
        self._file = _out_of_the_way(file)
        status = os.fstat(self._file)
        self._device, self.inode = status.st_dev, status.st_ino
        self.size = status.st_size
        self._locked = False
        self._note_write = _sync_of_writes()
        if gate is not None and gate.is_crowded:
            self.keep_lock()

    @classmethod
    def put(cls, path: Path, contents: Contents, gate: Gate | None = None) -> AppendFile:
        """Write a new file, lock it and put it in the place of what stands there, in one step.

        Raises:
            OSError: there is no room; what stands there is as it was.
        """
        fresh = cls.beside(path, gate)
        try:
            fresh.append(contents(fresh.inode))
            fresh.take_place(path)
        except BaseException:
            fresh.remove()
            raise
        return fresh

    @classmethod
    def beside(cls, path: Path, gate: Gate | None = None) -> AppendFile:
        """Make an empty file that is to take the place of another one.

        Raises:
            OSError: it cannot be made.
        """
        fresh = cls.__new__(cls)
        temporary = path.with_name(f"{path.name}~{secrets.token_hex(8)}")
        fresh._hold(temporary, create_own(temporary, _APPEND), gate)
        return fresh

    def take_place(self, path: Path) -> None:
        """Lock the file and give it the name of another one, in one step.

        Raises:
            OSError: it cannot be renamed; what stands there is as it was.
        """
        self.lock()
        if self._note_write is not None:
            os.fsync(self._file)
        os.replace(self.path, path)
        self.path = path
        if self._note_write is not None:
            self._note_write(path)

    def append(self, *pieces: bytes) -> None:
        """Append all of the bytes, or none of them, in one write if the system can do that.

        Where several threads append to the file, call it under the lock of their gate.

        Raises:
            FileReplaced: the file was deleted.
            OSError: there is no room, or the file cannot be written.
        """
        if self._torn:
            self._erase_torn()
        data = b"".join(pieces)
        file, done = self._write(data)
        before = self.size
        if done != len(data):
            self._append_rest(file, data, done, before)
        self.size = before + len(data)
        if self._note_write is not None:
            self._note_write(self.path)

    def append_beside(self, *pieces: bytes) -> bool:
        """Append bytes in one write, beside other threads that do the same; from inside the gate.

        Returns:
            False if nothing was written, and `append` has to.

        Raises:
            OSError: as `append`.
        """
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        kept_lock = self._kept_lock
        written = None if kept_lock is None else kept_lock.append(data)
        if written is None:
            file = self._file
            try:
                status = os.fstat(file)
            except OSError as error:
                let_through(error)
                return False
            # By place, as names take longer: inode, device, links and size.
            if status[1] != self.inode or status[2] != self._device or not status[3]:
                return False
            try:
                written = status[6], os.write(file, data)
            except OSError as error:
                if error.errno != errno.EBADF or is_interruption(error):
                    raise
                return False  # closed since, by the program
        before, done = written
        if done != len(data):
            self._torn.append((before, data[:done]))
            return False
        self.size = before + done
        if self._note_write is not None:
            self._note_write(self.path)
        return True

    def _write(self, data: bytes) -> tuple[int, int]:
        """Write bytes; return the descriptor, and how many were written."""
        for _ in range(_CLOSED):
            file = self._descriptor()
            try:
                return file, os.write(file, data)
            except OSError as error:
                if error.errno != errno.EBADF or is_interruption(error):
                    raise
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), str(self.path))

    def keep_lock(self) -> None:
        """Have `append_beside` keep the interpreter lock, where that does no harm."""
        if self._kept_lock is not None or self._refuses_to_keep:
            return
        self._refuses_to_keep = True
        try:
            from agentool_otel.tracing.export.disk.kept_lock import KeptLock

            self._kept_lock = KeptLock(self._descriptor())
        except ImportError:  # a Python without ctypes
            return
        except OSError as error:
            let_through(error)

    def _append_rest(self, file: int, data: bytes, done: int, before: int) -> None:
        with self._alone() as alone:
            if not alone or os.fstat(file).st_size != before + done:
                self._torn.append((before, data[:done]))  # another thread has written behind it
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            try:
                while done < len(data):
                    done += os.write(file, data[done:])
            except BaseException:
                with ignoring(OSError):
                    os.ftruncate(file, before)
                raise

    def _erase_torn(self) -> None:
        """Remove the beginnings of lines: at the end of the file, or else by blanks."""
        with self._alone() as alone:
            while self._torn:
                before, piece = self._torn[0]
                tail = self.read(before, self.end() - before)
                at = tail.find(piece)
                if at >= 0 and alone and at + len(piece) == len(tail):
                    os.ftruncate(self._descriptor(), before + at)
                elif at >= 0:
                    self._overwrite(before + at, b" " * (len(piece) - 1) + b"\n")
                self._torn.popleft()

    def _overwrite(self, start: int, data: bytes) -> None:
        file = open_own(self.path, os.O_WRONLY)  # with `O_APPEND` the system writes at the end
        try:
            if self._is(os.fstat(file)):
                os.pwrite(file, data, start)
        finally:
            os.close(file)

    def end(self) -> int:
        """Return the size of the file, whatever other threads have written.

        Raises:
            FileReplaced: the file was deleted.
            OSError: it cannot be opened.
        """
        self._descriptor()
        return self.size

    def _alone(self) -> AbstractContextManager[bool]:
        return nullcontext(True) if self.gate is None else self.gate.alone()

    def read(self, start: int, size: int) -> bytes:
        """Return up to so many bytes from a position.

        Raises:
            FileReplaced: the file was deleted.
            OSError: it cannot be read.
        """
        file = self._descriptor()
        if sys.platform == "win32":
            os.lseek(file, start, os.SEEK_SET)  # appending does not depend on it
            return os.read(file, size)
        return os.pread(file, size, start)

    def holds(self, data: bytes, start: int) -> bool:
        """Return whether these bytes were written at a position or behind it.

        Raises:
            FileReplaced: the file was deleted.
            OSError: it cannot be read.
        """
        start = min(start, self.end())  # as it was in a longer file before this one
        return data in self.read(start, self.end() - start)

    def reader(self) -> BinaryIO:
        """Open the file once more, for reading beside the thread that appends to it.

        Raises:
            FileReplaced: something else stands under its name.
            OSError: it cannot be opened.
        """
        file = open_own(self.path, os.O_RDONLY)
        if not self._is(os.fstat(file)):
            os.close(file)
            raise FileReplaced(self.path)
        return os.fdopen(file, "rb", buffering=0)

    def truncate(self, size: int) -> None:
        """Cut off what is behind so many bytes."""
        os.ftruncate(self._descriptor(), size)
        self.size = size

    def lock(self) -> bool:
        """Mark the file as that of a living process; False if another one has it."""
        self._locked = lock(self._descriptor())
        return self._locked

    def share(self) -> None:
        """Keep the file from being removed by a limit as long as it is open."""
        share_lock(self._descriptor())

    def replace(self, contents: Contents) -> AppendFile:
        """Put a new file with other contents in place of this one, in one step.

        Raises:
            OSError: there is no room; this file is as it was.
        """
        fresh = AppendFile.put(self.path, contents, self.gate)
        self.close()
        return fresh

    def look(self) -> None:
        """Open the file again, and lock it, if its descriptor was closed meanwhile.

        Raises:
            FileReplaced: the file was deleted.
            OSError: it cannot be opened.
        """
        self._descriptor()

    def close(self) -> None:
        """Close the file, if it is still what is open under its number."""
        file, self._file = self._file, -1
        self._kept_lock = None
        if identity(file) == (self._device, self.inode):
            with ignoring(OSError):  # whatever it says, the number is free then
                os.close(file)

    def unlink(self) -> None:
        """Delete the file, if it is still what stands under its name."""
        with ignoring(OSError):
            if self._is(os.lstat(self.path)):
                self.path.unlink()

    def remove(self) -> None:
        """Delete and close the file."""
        self.unlink()
        self.close()

    def _descriptor(self) -> int:
        try:
            status = os.fstat(self._file)
        except OSError as error:
            let_through(error)
            return self._open_again()
        if status.st_ino != self.inode or status.st_dev != self._device:
            return self._open_again()
        if not status.st_nlink:
            raise FileReplaced(self.path)
        # An exception of a signal handler may have come between a write and its count.
        self.size = status.st_size
        return self._file

    def _open_again(self) -> int:
        # A thread inside has checked a number that the file may get now, or another file of ours.
        with self._alone() as alone:
            if not alone:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF), str(self.path))
            return self._open_alone()

    def _open_alone(self) -> int:
        self._file, self._kept_lock, self._refuses_to_keep = -1, None, False
        try:
            file = open_own(self.path, _APPEND)
        except FileNotFoundError:
            raise FileReplaced(self.path) from None
        status = os.fstat(file)
        if not self._is(status) or (self._locked and not lock(file)):
            os.close(file)
            raise FileReplaced(self.path)
        self._file = _out_of_the_way(file)
        self.size = status.st_size
        return self._file

    def _is(self, status: os.stat_result) -> bool:
        return status.st_ino == self.inode and status.st_dev == self._device


def _sync_of_writes() -> Callable[[Path], None] | None:
    """Return what has a file synced that was written to; None if the environment asks for none."""
    if not environment.sync_wanted():
        return None
    from agentool_otel.tracing.export.disk.sync import note_write

    return note_write


def _make_room() -> None:
    """Have the table of descriptors grow now: where threads run that takes milliseconds, in which
    the first call that is recorded would wait."""
    with suppress(OSError):
        os.close(_out_of_the_way(os.open(os.devnull, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))))


def _out_of_the_way(file: int) -> int:
    """Move a descriptor to a high number, which programs seldom close or use for their own files.

    It stays where it is if the process may not have so many.
    """
    if sys.platform == "win32":
        return file
    least = next(_numbers)
    for number in (least, _HIGH):
        with suppress(OSError):
            high = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, number)
            os.close(file)
            return high
    return file


def is_alive(pid: int) -> bool:
    """Return whether there is a process of this number; it may be another one."""
    if os.name != "posix":
        return False  # there a running program's file cannot be removed
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


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
        os.register_at_fork(after_in_child=lambda: (call := renew()) and call())
