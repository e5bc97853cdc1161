"""Removal of the oldest files of recordings where a folder exceeds its limits.

Only files go that are closed. A file stays

- while a process writes it, or a command reads it or its folder: they hold locks
- while the journal of its process needs it
- if spans of its process wait to be sent, or a file `.keep` stands beside it

A file with spans of a run that is still open goes after all others: a run that never ends, such as
that of a server, has a limit too.

Journals, spools and what receivers have refused are never removed. Several processes may do this in
one folder: one at a time does.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.ownership import open_own, why_untrusted
from agentool_otel.ground.read_locks import exclusive_lock
from agentool_otel.ground.recording_names import KEEP_SUFFIX, own_name
from agentool_otel.tracing.export.disk.files import host_name
from agentool_otel.tracing.export.disk.limits import Limits
from agentool_otel.tracing.export.disk.names import JOURNAL
from agentool_otel.tracing.export.disk.spool import SUFFIXES
from agentool_otel.tracing.export.disk.stored_texts import (
    TEXTS,
    files_below,
    is_stored_text,
    mentioned_digests,
    referenced_digests,
    referenced_media,
    remove_partial_texts,
    stored_digests,
)

__all__ = ["Enforcer"]

_TRACE = re.compile(rb'"traceId":"([0-9a-f]{32})"')
_READ = 256 << 10
"""Bytes that are searched at once: other threads have to wait for that."""
_OVERLAP = 64
_GROWTH = 4
"""Full files that a process may write until the next look: two files, as much as one in its
journal, and one while it waits for the lock of the folder."""
_LARGEST = 4
"""Full files that a large span or text counts as: a folder may have a file of any size from before
it had a limit."""
_ELSEWHERE_NS = 600_000_000_000
"""Time after its last write in which the file of another host stays: its lock may not be seen."""
_WAITING = tuple(suffix for both in SUFFIXES.values() for suffix in both)


class _Part(NamedTuple):
    """A file of a recording."""

    written_ns: int
    number: int
    path: Path
    size: int


class _Writer:
    """The files of one process."""

    def __init__(self, stem: str, host: str) -> None:
        self.stem = stem
        self.host = host
        self.parts: list[_Part] = []
        self.journal: Path | None = None
        self.stays = False
        """Whether all of its files stay."""


class _Journal(NamedTuple):
    """A journal, as far as it keeps files."""

    part: int
    """The number of the first file that a recovery needs."""
    traces: frozenset[bytes]
    """The ids of the runs with open spans."""


class Enforcer:
    """Keeps one folder below its limits.

    Args:
        folder: the folder of recordings.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._mentioned: dict[tuple[str, int, int], frozenset[str]] = {}
        """The digests in files that have not changed, by path, size and time."""
        self.writers = 1
        """Processes that have a journal there, at the last look."""
        self.is_tight = False
        """Whether the last removal found too few files for the next ones to have room."""
        self._remover: int | None = None
        """The thread of this process that removes files at the moment."""

    @property
    def removes_in_other_thread(self) -> bool:
        """Return whether another thread of this process removes files at the moment."""
        return self._remover not in (None, threading.get_ident())

    def forget_remover(self) -> None:
        """Forget in a forked process that a thread of its parent removes files."""
        self._remover = None

    def enforce(self, limits: Limits, at_end: bool = False) -> bool:
        """Remove files until the folder is below its limits; False if another process or a command
        works in the folder. Waits for neither.

        Args:
            limits: the limits.
            at_end: whether this process writes no more.

        Raises:
            LocksUnsupported: the file system has no locks, so nothing is ever removed.
        """
        try:
            if why_untrusted(self._folder) is not None:
                return True
            folder = os.open(self._folder, os.O_RDONLY)
        except OSError:
            return True  # it is not there
        try:
            with exclusive_lock(folder) as locked:
                if locked:
                    self._remover = threading.get_ident()
                    try:
                        self._enforce(limits, at_end)
                    finally:
                        self._remover = None
                return locked
        finally:
            os.close(folder)

    def _enforce(self, limits: Limits, at_end: bool) -> None:
        remove_partial_texts(self._folder)
        writers, total, largest = self._survey()
        journals = sum(writer.journal is not None for writer in writers)
        self.writers = max(1, journals)
        excess = excess_of_open_runs = 0
        if limits.size is not None:
            files = _GROWTH * (journals if at_end else self.writers)
            part_size = limits.part_size(self.writers) or 0
            large = min(max(part_size, largest), _LARGEST * part_size)
            excess = total - max(limits.size - files * large, limits.size // 2)
            excess_of_open_runs = total - max(limits.size - files * part_size, limits.size // 2)
        before_ns = None if limits.age_ns is None else time.time_ns() - limits.age_ns
        removed: set[Path] = set()

        def is_due(part: _Part, of_open_run: bool) -> bool:
            beyond = excess_of_open_runs if of_open_run else excess
            return beyond > 0 or (before_ns is not None and part.written_ns < before_ns)

        for part in self._removable(writers, is_due):
            with _claimed(part.path) as claimed:
                if claimed:
                    freed = self._remove(part, removed)
                    excess -= freed
                    excess_of_open_runs -= freed
        self.is_tight = excess > 0

    def _removable(
        self, writers: Iterable[_Writer], is_due: Callable[[_Part, bool], bool]
    ) -> Iterator[_Part]:
        """Yield the closed files that are due: the oldest first, and those with spans of open runs
        after all others."""
        journals: dict[int, _Journal | None] = {}
        of_open_runs: list[_Part] = []
        parts = [(part, writer) for writer in writers if not writer.stays for part in writer.parts]
        for part, writer in sorted(parts, key=_age):
            if not is_due(part, False):
                break
            is_elsewhere = writer.host != host_name()
            if is_elsewhere and time.time_ns() - part.written_ns < _ELSEWHERE_NS:
                continue
            if writer.journal is None:
                if not os.path.lexists(self._folder / f"{writer.stem}{JOURNAL}"):
                    yield part
                continue  # a journal was made since the survey
            if id(writer) not in journals:
                journals[id(writer)] = _read_journal(writer.journal)
            journal = journals[id(writer)]
            if journal is None or part.number >= journal.part:
                continue
            if _holds_one(part.path, journal.traces):
                of_open_runs.append(part)
            else:
                yield part
        for part in of_open_runs:
            if not is_due(part, True):
                break
            yield part

    def _survey(self) -> tuple[list[_Writer], int, int]:
        """Return the processes with files in the folder, the bytes of all files of ours, and those
        of the largest file with the largest text."""
        writers: dict[str, _Writer] = {}
        total = largest = 0
        for path, status in _regular_files(self._folder):
            name = own_name(path.name)
            if name is None:
                continue
            total += status.st_size
            writer = writers.setdefault(name.stem, _Writer(name.stem, name.host))
            if name.part is not None:
                writer.parts.append(_Part(status.st_mtime_ns, name.part, path, status.st_size))
                largest = max(largest, status.st_size)
            elif name.suffix == JOURNAL:
                writer.journal = path
            elif name.suffix == KEEP_SUFFIX or name.suffix in _WAITING:
                writer.stays = True
        texts = [status.st_size for _, status in _regular_files(self._folder / TEXTS)]
        return list(writers.values()), total + sum(texts), largest + max(texts, default=0)

    def _remove(self, part: _Part, removed: set[Path]) -> int:
        """Remove a file and the texts that it alone refers to; return their bytes."""
        freed = 0
        with suppress(OSError):
            # The texts go first: those of a file that is gone would stay for ever.
            for text in self._only_in(part, removed):
                size = text.stat().st_size
                text.unlink()
                freed += size
            part.path.unlink()
            removed.add(part.path)
            freed += part.size
        return freed

    def _only_in(self, part: _Part, removed: set[Path]) -> list[Path]:
        """Return the stored texts that no other file refers to, and no program stored since."""
        stored = stored_digests(self._folder)
        only = set[str]()
        if stored:
            only = referenced_digests(part.path) | referenced_media(part.path, self._folder)
            only &= stored
        if only:
            for path in files_below(self._folder, [part.path, *removed]):
                only -= self._mentions(path)
        texts = [self._folder / TEXTS / digest for digest in sorted(only)]
        return [
            text
            for text in texts
            # A text that was stored again later belongs to a span that is not written yet.
            if text.stat().st_mtime_ns <= part.written_ns and is_stored_text(text)
        ]

    def _mentions(self, path: Path) -> frozenset[str]:
        """Return the digests in a file; one that has not changed is read once."""
        status = path.stat()
        key = str(path), status.st_size, status.st_mtime_ns
        digests = self._mentioned.get(key)
        if digests is None:
            digests = frozenset(digest.decode() for digest in mentioned_digests(path))
            for old in [old for old in self._mentioned if old[0] == key[0]]:
                del self._mentioned[old]
            self._mentioned[key] = digests
        return digests


def _age(candidate: tuple[_Part, _Writer]) -> _Part:
    return candidate[0]


def _regular_files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield Path(entry.path), status


@contextmanager
def _claimed(path: Path) -> Generator[bool]:
    """Lock a file of ours for the block; False if it is in use, or not ours."""
    try:
        file = open_own(path, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        with exclusive_lock(file) as locked:
            yield locked
    finally:
        os.close(file)


def _read_journal(path: Path) -> _Journal | None:
    """Return what a journal needs; None if it is not to be understood."""
    try:
        with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:
            part = int(orjson.loads(file.readline(_READ)).get("part", 1))
            return _Journal(part, frozenset(_traces_in(file)))
    except FileNotFoundError:
        return _Journal(1 << 62, frozenset())  # its process has ended meanwhile
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _traces_in(file: Iterator[bytes]) -> Iterator[bytes]:
    for line in file:
        yield from _TRACE.findall(line)


def _holds_one(path: Path, traces: frozenset[bytes]) -> bool:
    """Return whether a file may hold a span of one of these runs."""
    if not traces:
        return False
    try:
        with open(path, "rb") as file:
            tail = b""
            while data := file.read(_READ):
                data = tail + data
                if not traces.isdisjoint(_TRACE.findall(data)):
                    return True
                tail = data[-_OVERLAP:]
    except OSError:
        return True
    return False
