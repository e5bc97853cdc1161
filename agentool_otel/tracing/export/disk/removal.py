"""Recordings that may be removed: of processes that have ended and have left nothing to be done.

Only files are touched whose names are those of our recordings, that belong to this user and are no
links. What waits to be sent, and the journals, keep their recordings in place.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.ownership import NotOurs, open_own
from agentool_otel.tracing.export.disk.files import host_name, is_alive, lock
from agentool_otel.tracing.export.disk.names import JOURNAL, RECORDING_SUFFIX
from agentool_otel.tracing.export.disk.spool import SUFFIXES

__all__ = ["TEXTS", "Recording", "State", "recordings_in", "remove", "unreferenced_texts"]

_NAME = re.compile(
    r"(?P<kind>[a-z]+)-(?P<host>[\w.-]+)-(?P<pid>\d+)-(?P<start>\d{8}T\d{6})\.(?P<ns>\d{9})"
    + re.escape(RECORDING_SUFFIX)
)
_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
TEXTS = "content"
"""The folder of texts that are stored apart, beside the recordings."""
_READ = 4 << 20
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


class Recording(NamedTuple):
    """A recording of one process."""

    path: Path
    kind: str
    """Kind of data: `traces`, `evaluations`."""
    size: int
    started_ns: int
    """When it was begun, in nanoseconds since the Unix epoch, by its name. A copy of the file has
    the same."""
    written_ns: int
    """When it was last written, likewise, by the file system. A copy may be newer."""
    state: State


def recordings_in(folder: Path) -> list[Recording]:
    """Return the recordings in a folder that are this user's, the newest first.

    Raises:
        OSError: the folder cannot be read.
    """
    names = frozenset(os.listdir(folder))
    recordings: list[Recording] = []
    for name in names:
        match = _NAME.fullmatch(name)
        if match is None:
            continue
        path = folder / name
        with suppress(OSError):  # a link, a file of another user, or removed meanwhile
            file = open_own(path, os.O_RDONLY)
            status = os.fstat(file)
            os.close(file)
            state = _state(path, names, match, status.st_mtime_ns)
            written_ns = status.st_mtime_ns
            started_ns = _started_ns(match, written_ns)
            recordings.append(
                Recording(path, match["kind"], status.st_size, started_ns, written_ns, state)
            )
    return sorted(
        recordings, key=lambda recording: (recording.started_ns, recording.path), reverse=True
    )


def _started_ns(match: re.Match[str], otherwise: int) -> int:
    """Return the time in the name of a recording, or another one where it is no time."""
    try:
        start = datetime.strptime(match["start"], "%Y%m%dT%H%M%S").replace(tzinfo=timezone.utc)
    except ValueError:
        return otherwise
    return int(start.timestamp()) * 1_000_000_000 + int(match["ns"])


def remove(recordings: Iterable[Recording]) -> list[Recording]:
    """Remove recordings that are finished; return those that were removed.

    The state of each is looked at once more.

    Raises:
        OSError: one cannot be removed; those before it are.
    """
    removed: list[Recording] = []
    for recording in recordings:
        path = recording.path
        match = _NAME.fullmatch(path.name)
        assert match is not None
        names = frozenset(os.listdir(path.parent))
        with suppress(FileNotFoundError, NotOurs):
            file = open_own(path, os.O_RDONLY)
            status = os.fstat(file)
            os.close(file)
            if _state(path, names, match, status.st_mtime_ns) is not State.FINISHED:
                continue
            path.unlink()
            removed.append(recording)
    return removed


def unreferenced_texts(folder: Path, leaving: Sequence[Recording]) -> list[Path]:
    """Return the texts that a folder stores apart and that only some recordings refer to.

    Args:
        folder: the folder of the texts, and of all that may refer to them.
        leaving: the recordings. None of the others may be written meanwhile.

    Raises:
        OSError: a file cannot be read.
    """
    texts = folder / TEXTS
    if texts.is_symlink() or not texts.is_dir():
        return []
    stored = {name.encode() for name in os.listdir(texts) if _DIGEST.fullmatch(name.encode())}
    paths = {recording.path for recording in leaving}
    only = {digest for path in paths for digest in _digests(path)} & stored
    if only:
        for root, folders, names in os.walk(folder):
            folders[:] = [folder for folder in folders if Path(root, folder) != texts]
            for path in (Path(root, name) for name in names):
                if path not in paths and path.is_file():
                    only.difference_update(_digests(path))
    return sorted(texts / digest.decode() for digest in only)


def _digests(path: Path) -> Iterator[bytes]:
    """Yield every SHA-256 in hexadecimal digits in a file."""
    with path.open("rb") as file:
        tail = b""
        while data := file.read(_READ):
            data = tail + data
            tail = data[-65:]
            yield from _DIGEST.findall(data)


def _state(path: Path, names: frozenset[str], match: re.Match[str], written_ns: int) -> State:
    stem = path.name.removesuffix(RECORDING_SUFFIX)
    if stem + JOURNAL in names:
        return State.OPEN if _can_be_locked(path.with_name(stem + JOURNAL)) else State.LIVE
    is_here = match["host"] == host_name()
    if is_here and is_alive(int(match["pid"])):
        return State.LIVE  # without a journal
    if any(stem + suffix in names for both in SUFFIXES.values() for suffix in both):
        return State.WAITING
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
