"""Removal of the oldest files of recordings where a folder exceeds its limits.

Only files go that are closed. A file stays

- while a process writes it, or a command reads it or its folder: they hold locks
- while the journal of its process needs it, or has an open span of a run that is in it
- if spans of its process wait to be sent, or a file `.keep` stands beside it

Journals, spools and what receivers have refused are never removed. Several processes may do this in
one folder: one at a time does.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Generator, Iterator
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
    stored_digests,
)

__all__ = ["Enforcer"]

_TRACE = re.compile(rb'"traceId":"([0-9a-f]{32})"')
_READ = 256 << 10
"""Bytes that are searched at once: other threads have to wait for that."""
_OVERLAP = 64
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

    def enforce(self, limits: Limits) -> bool:
        """Remove files until the folder is below its limits; False if another process or a command
        works in the folder.

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
                    self._enforce(limits)
                return locked
        finally:
            os.close(folder)

    def _enforce(self, limits: Limits) -> None:
        writers, total = self._survey()
        self.writers = max(1, sum(writer.journal is not None for writer in writers))
        excess = 0
        if limits.size is not None:
            # Until the next look each process may fill two files, and its journal as much as one.
            growth = 3 * self.writers * (limits.part_size(self.writers) or 0)
            excess = total - max(limits.size - growth, limits.size // 2)
        before_ns = None if limits.age_ns is None else time.time_ns() - limits.age_ns
        journals: dict[int, _Journal | None] = {}
        removed: set[Path] = set()
        candidates = [
            (part, writer) for writer in writers if not writer.stays for part in writer.parts
        ]
        for part, writer in sorted(candidates, key=_age):
            if excess <= 0 and (before_ns is None or part.written_ns >= before_ns):
                break
            if writer.journal is not None:
                if id(writer) not in journals:
                    journals[id(writer)] = _read_journal(writer.journal)
                if _is_needed(part, journals[id(writer)]):
                    continue
            elif os.path.lexists(self._folder / f"{writer.stem}{JOURNAL}"):
                continue  # made since the survey
            is_elsewhere = writer.host != host_name()
            if is_elsewhere and time.time_ns() - part.written_ns < _ELSEWHERE_NS:
                continue
            with _claimed(part.path) as claimed:
                if claimed:
                    excess -= self._remove(part, removed)

    def _survey(self) -> tuple[list[_Writer], int]:
        """Return the processes with files in the folder, and the bytes of all files of ours."""
        writers: dict[str, _Writer] = {}
        total = 0
        for path, status in _regular_files(self._folder):
            name = own_name(path.name)
            if name is None:
                continue
            total += status.st_size
            writer = writers.setdefault(name.stem, _Writer(name.stem, name.host))
            if name.part is not None:
                writer.parts.append(_Part(status.st_mtime_ns, name.part, path, status.st_size))
            elif name.suffix == JOURNAL:
                writer.journal = path
            elif name.suffix == KEEP_SUFFIX or name.suffix in _WAITING:
                writer.stays = True
        total += sum(status.st_size for _, status in _regular_files(self._folder / TEXTS))
        return list(writers.values()), total

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
        only = referenced_digests(part.path) & stored if stored else set[str]()
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


def _is_needed(part: _Part, journal: _Journal | None) -> bool:
    if journal is None or part.number >= journal.part:
        return True
    return bool(journal.traces) and _holds_one(part.path, journal.traces)


def _holds_one(path: Path, traces: frozenset[bytes]) -> bool:
    """Return whether a file may hold a span of one of these runs."""
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
