"""Writes that survive the end of the machine, for `AGENTOOL_SYNC`.

A thread syncs the files that were written to, all of them together, at most every twentieth of a
second. A write asks for no sync; one that meets a sync of its file waits for the file system. So a
power failure loses what was written since the last group, a tenth of a second and the time of a
sync at most. `settle` syncs at once, for `flush()` and the end of the program. A file that replaces
another is synced before it takes its place.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

from opentelemetry.context import Context, attach, detach

from agentool_otel.ground.untrusted_text import logger

if sys.platform != "win32":
    import fcntl

__all__ = ["note_write", "settle", "sync_file"]

_log = logger(__name__)

_EVERY_S = 0.05
_REMEMBERED = 1000


def sync_file(file: int) -> None:
    """Have the disk write the contents of an open file.

    Raises:
        OSError: it cannot.
    """
    if sys.platform == "darwin":
        fcntl.fcntl(file, fcntl.F_FULLFSYNC)  # there fsync leaves data in the drive's own cache
    elif sys.platform == "win32":
        os.fsync(file)
    else:
        os.fdatasync(file)


def note_write(path: Path) -> None:
    """Have a file synced with the next group."""
    _group.add(path)


def settle() -> None:
    """Sync what was written so far. It returns when the disk has it, if the disk takes it."""
    _group.sync()


class _Group:
    """The files that were written to since the last sync."""

    def __init__(self) -> None:
        self._known: set[tuple[int, int]] = set()
        """Files whose names are on the disk, too."""
        self._reported = False
        self._begin()

    def _begin(self) -> None:
        self._paths: set[Path] = set()
        self._wake = threading.Event()
        self._syncing = threading.RLock()  # reentrant, for signal handlers
        self._thread: threading.Thread | None = None

    forked = _begin

    def add(self, path: Path) -> None:
        self._paths.add(path)
        if self._thread is None:
            self._start()
        self._wake.set()

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="agentool-otel-sync", daemon=True)
        self._thread = thread
        token = attach(Context())  # the thread keeps no context of the program alive
        try:
            thread.start()
        except RuntimeError:  # at the end of the interpreter: `settle` does it
            self._thread = None
        finally:
            detach(token)

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            self._wake.wait()
            self._wake.clear()
            self.sync()
            pause.wait(_EVERY_S)

    def sync(self) -> None:
        with self._syncing:
            for _ in range(len(self._paths)):
                try:
                    # Popped before the sync: what is written meanwhile is for the next group.
                    self._sync(self._paths.pop())
                except FileNotFoundError:
                    pass  # sent and removed meanwhile
                except OSError as error:
                    self._report(error)

    def _sync(self, path: Path) -> None:
        # A descriptor of our own: the program may close the one that is written to at any moment.
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            sync_file(file)
            status = os.fstat(file)
        finally:
            os.close(file)
        identity = status.st_dev, status.st_ino
        if identity not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known.add(identity)
            _sync_folder(path.parent)

    def _report(self, error: OSError) -> None:
        if not self._reported:
            self._reported = True
            _log.warning("writes cannot be synced to the disk: %s", error)


def _sync_folder(folder: Path) -> None:
    """Have the disk write the names in a folder; not every system can."""
    with suppress(OSError):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


_group = _Group()
atexit.register(settle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_group.forked)
