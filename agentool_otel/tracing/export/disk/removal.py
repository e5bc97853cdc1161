"""Recordings that may be removed: of processes that have ended and have left nothing to be done.

Only files are touched whose names are those of our recordings, that belong to this user and are no
links. What waits to be sent, and the journals, keep their recordings in place.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from agentool_otel.ground.ownership import open_own
from agentool_otel.ground.recording_names import KEEP_SUFFIX, OwnName, own_name
from agentool_otel.tracing.export.disk.files import host_name, is_alive, lock
from agentool_otel.tracing.export.disk.names import JOURNAL
from agentool_otel.tracing.export.disk.spool import SUFFIXES
from agentool_otel.tracing.export.disk.stored_texts import (
    TEXTS,
    files_below,
    is_stored_text,
    mentioned_digests,
    referenced_digests,
    referenced_media,
    stored_digests,
)

__all__ = ["Recording", "State", "recordings_in", "remove", "unreferenced_texts"]

_ASSUMED_LIVE_NS = 24 * 3_600_000_000_000
"""Time after its last write in which the program of a recording is taken for running, where nothing
shows whether it is: its host is another one, and it has no journal."""


class State(Enum):
    """State of a recording with regard to its removal."""

    FINISHED = "finished"
    LIVE = "of a program that is running"
    OPEN = "of a program that was killed, with spans that are not closed yet"
    WAITING = "with spans or log records that wait to be sent"
    ELSEWHERE = "of a program on another host, written in the last 24 hours"
    KEPT = f"that a baseline or a test needs; deleting the file {KEEP_SUFFIX} beside it lets it go"


class Recording(NamedTuple):
    """A recording of one process, in one file or several."""

    files: tuple[Path, ...]
    """In the order in which they were written."""
    kind: str
    """Kind of data: `traces`, `evaluations`."""
    size: int
    started_ns: int
    """When it was begun, in nanoseconds since the Unix epoch, by its name. A copy of the file has
    the same."""
    written_ns: int
    """When it was last written, likewise, by the file system. A copy may be newer."""
    state: State

    @property
    def path(self) -> Path:
        """The first of the files that are there."""
        return self.files[0]


class _File(NamedTuple):
    part: int
    path: Path
    size: int
    written_ns: int


def recordings_in(folder: Path) -> list[Recording]:
    """Return the recordings in a folder that are this user's, the newest first.

    Raises:
        OSError: the folder cannot be read.
    """
    names = frozenset(os.listdir(folder))
    files: dict[str, list[_File]] = {}
    of_stem: dict[str, OwnName] = {}
    for text in names:
        name = own_name(text)
        if name is None or name.part is None:
            continue
        with suppress(OSError):  # a link, a file of another user, or removed meanwhile
            status = _own_status(folder / text)
            file = _File(name.part, folder / text, status.st_size, status.st_mtime_ns)
            files.setdefault(name.stem, []).append(file)
            of_stem[name.stem] = name
    recordings: list[Recording] = []
    for stem, parts in files.items():
        name = of_stem[stem]
        written_ns = max(file.written_ns for file in parts)
        recordings.append(
            Recording(
                tuple(file.path for file in sorted(parts)),
                name.kind,
                sum(file.size for file in parts),
                written_ns if name.started_ns is None else name.started_ns,
                written_ns,
                _state(folder, name, names, written_ns),
            )
        )
    return sorted(
        recordings, key=lambda recording: (recording.started_ns, recording.path), reverse=True
    )


def remove(recordings: Iterable[Recording]) -> list[Recording]:
    """Remove recordings that are finished; return those that were removed.

    The state of each is looked at once more.

    Raises:
        OSError: one cannot be removed; those before it are.
    """
    removed: list[Recording] = []
    for recording in recordings:
        folder = recording.path.parent
        names = frozenset(os.listdir(folder))
        files: list[Path] = []
        written_ns = 0
        for path in recording.files:
            with suppress(OSError):  # removed meanwhile, or a link by now
                written_ns = max(written_ns, _own_status(path).st_mtime_ns)
                files.append(path)
        name = own_name(recording.path.name)
        assert name is not None
        if not files or _state(folder, name, names, written_ns) is not State.FINISHED:
            continue
        for path in files:
            path.unlink(missing_ok=True)
        removed.append(recording)
    return removed


def unreferenced_texts(folder: Path, leaving: Sequence[Recording]) -> list[Path]:
    """Return the texts that programs have stored apart and that only some recordings refer to.

    Args:
        folder: the folder of the texts, and of all that may refer to them.
        leaving: the recordings. None of the others may be written meanwhile.

    Raises:
        OSError: a file cannot be read.
    """
    stored = stored_digests(folder)
    paths = [path for recording in leaving for path in recording.files]
    only = set[str]()
    for path in paths if stored else ():
        only |= (referenced_digests(path) | referenced_media(path, folder)) & stored
    if only:
        for path in files_below(folder, paths):
            only.difference_update(digest.decode() for digest in mentioned_digests(path))
    texts = [folder / TEXTS / digest for digest in sorted(only)]
    return [text for text in texts if is_stored_text(text)]


def _own_status(path: Path) -> os.stat_result:
    """Return the status of a file of ours.

    Raises:
        NotOurs: it is a link, or a file of another user.
        OSError: it cannot be opened.
    """
    file = open_own(path, os.O_RDONLY)
    try:
        return os.fstat(file)
    finally:
        os.close(file)


def _state(folder: Path, name: OwnName, names: frozenset[str], written_ns: int) -> State:
    stem = name.stem
    if stem + JOURNAL in names:
        return State.OPEN if _can_be_locked(folder / (stem + JOURNAL)) else State.LIVE
    is_here = name.host == host_name()
    if is_here and is_alive(name.pid):
        return State.LIVE  # without a journal
    if any(stem + suffix in names for both in SUFFIXES.values() for suffix in both):
        return State.WAITING
    if stem + KEEP_SUFFIX in names:
        return State.KEPT
    if not is_here and time.time_ns() - written_ns < _ASSUMED_LIVE_NS:
        return State.ELSEWHERE
    return State.FINISHED


def _can_be_locked(journal: Path) -> bool:
    try:
        file = open_own(journal, os.O_RDWR)
    except OSError:
        return False
    try:
        return lock(file)
    finally:
        os.close(file)
