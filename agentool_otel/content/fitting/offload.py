"""Storage for texts that are too large for an attribute, and for media: a folder, or any place
fsspec supports.

Content-addressed: a text is stored once, under its sha256, however many spans repeat it.
"""

from __future__ import annotations

import importlib
import os
import stat
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentool_otel.errors import ConfigurationError, MissingDependencyError
from agentool_otel.ground import environment
from agentool_otel.ground.interruptions import ignoring, let_through
from agentool_otel.ground.private_folders import make_private_folder
from agentool_otel.ground.untrusted_text import logger

__all__ = ["Folder", "Remote", "open_store", "watch_folder"]

_log = logger(__name__)

_REMEMBERED = 4096


class Folder:
    """Keeps each text in a file of its own, readable by its owner only."""

    def __init__(self, folder: str | os.PathLike[str], root: Path | None = None):
        """Keep texts in a folder.

        Args:
            folder: the folder; made with the first text.
            root: the folder of recordings above; None if the folder stands alone.
        """
        self.folder = Path(folder).absolute()
        self._inside = None if root is None else root.absolute()
        self._failed = False

    def put(self, digest: str, data: bytes) -> str | None:
        """Store bytes under their sha256, once; return the place, None if that failed."""
        return self.put_chunks(digest, len(data), (data,))

    def put_chunks(
        self, digest: str, size: int, chunks: Iterable[bytes | memoryview]
    ) -> str | None:
        """Store bytes that come in chunks, which are read only if they are not stored yet."""
        path = self.folder / digest
        try:
            if _holds(path, size):
                os.utime(path)  # so that nobody removes it for its age before the span is written
            else:
                make_private_folder(self.folder, self._inside)
                _write(path, chunks)
                _notify_watchers(self.folder, size)
        except OSError as error:
            let_through(error)
            if not self._failed:
                _log.error("large content cannot be stored in %s: %s", self.folder, error)
            self._failed = True
            return None
        return str(path)


def _write(path: Path, chunks: Iterable[bytes | memoryview]) -> None:
    """Write a file as a whole or not at all, also for a reader next door."""
    partial = path.with_suffix(f".{os.getpid()}.{id(chunks):x}")
    file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(file, "wb") as out:
            out.writelines(chunks)
            if environment.sync_wanted():
                out.flush()
                os.fsync(out.fileno())
        os.replace(partial, path)
    except BaseException:
        with ignoring(OSError):
            partial.unlink()
        raise


def watch_folder(folder: Path, on_stored: Callable[[int], None]) -> None:
    """Call a bound method, as long as its object lives, with the size of each text that this
    process stores in a folder.
    """
    _watchers.append((folder.absolute(), weakref.WeakMethod(on_stored)))


_watchers: list[tuple[Path, weakref.WeakMethod[Callable[[int], None]]]] = []


def _notify_watchers(folder: Path, size: int) -> None:
    for watcher in tuple(_watchers):
        watched, method = watcher
        on_stored = method()
        if on_stored is None:
            with suppress(ValueError):  # another thread was faster
                _watchers.remove(watcher)
        elif watched == folder:
            on_stored(size)


def _holds(path: Path, size: int) -> bool:
    """Return whether a text is stored at the path. A link or pipe of that name does not count."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == size


class Remote:
    """Keeps each text in an object of its own, wherever fsspec can write."""

    def __init__(self, url: str):
        self._url = url.rstrip("/")
        try:
            self._fsspec: Any = importlib.import_module("fsspec")
            self._fsspec.get_filesystem_class(url.partition("://")[0])
        except ImportError as error:
            raise MissingDependencyError(
                f"offloading to a URL needs fsspec and its file system for it ({error}); "
                "hint: pip install fsspec and that, e.g. s3fs"
            ) from error
        except ValueError as error:
            raise ConfigurationError(f"fsspec has no such file system: {error}") from error
        self._stored: set[str] = set()
        self._failed = False

    def put(self, digest: str, data: bytes) -> str | None:
        """Store bytes under their sha256, once; return the place, None if that failed."""
        return self.put_chunks(digest, len(data), (data,))

    def put_chunks(
        self, digest: str, size: int, chunks: Iterable[bytes | memoryview]
    ) -> str | None:
        """Store bytes that come in chunks, which are read only if they are not stored yet."""
        place = f"{self._url}/{digest}"
        if digest in self._stored:
            return place
        try:
            with self._fsspec.open(place, "wb") as out:
                for chunk in chunks:
                    out.write(chunk)
        except Exception as error:  # a file system of any vendor raises what it likes
            let_through(error)
            if not self._failed:
                _log.error("large content cannot be stored in %s: %s", self._url, error)
            self._failed = True
            return None
        if len(self._stored) < _REMEMBERED:
            self._stored.add(digest)
        return place


def open_store(where: str) -> Folder | Remote:
    """Return the store for a folder or a URL.

    Raises:
        MissingDependencyError: for a URL, if fsspec or its file system is not installed.
        ConfigurationError: fsspec has no file system for the URL.
    """
    return Remote(where) if "://" in where else Folder(where)
