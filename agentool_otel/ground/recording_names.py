"""Names of the files of one process in a folder of recordings.

    traces-<host>-<pid>-<start>.jsonl       the recording, or its first file
    traces-<host>-<pid>-<start>.2.jsonl     its next file, where a limit has it continue in one
    traces-<host>-<pid>-<start>.2.jsonl.gz  the same, compressed by somebody: it is read, and stays
    traces-<host>-<pid>-<start>.keep        whoever names the recording: no limit removes it
    traces-<host>-<pid>-<start>.open        the journal; spools have suffixes of their own

The start is in UTC, with nanoseconds. All files of one process are one recording.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Final, NamedTuple

from agentool_otel.ground import lazy_re as re

__all__ = [
    "KEEP_SUFFIX",
    "RECORDING_SUFFIX",
    "OwnName",
    "distinct_files",
    "files_of_recording",
    "own_name",
    "part_suffix",
    "read_part",
    "recording_part",
    "whole_recordings",
]

RECORDING_SUFFIX: Final = ".jsonl"
"""Suffix of recordings."""

KEEP_SUFFIX: Final = ".keep"
"""Suffix of the file that keeps a recording from being removed."""

_NAME = re.compile(
    r"(?P<stem>(?P<kind>[a-z]+)-(?P<host>[\w.-]+)-(?P<pid>\d+)-(?P<start>\d{8}T\d{6}\.\d{9}))"
    r"(?P<suffix>\..+)"
)
_PACKED = (".gz", ".zst")
_PART = re.compile(r"(?:\.([2-9]|[1-9]\d{1,8}))?" + re.escape(RECORDING_SUFFIX))


class OwnName(NamedTuple):
    """The name of a file that a process has made in a folder of recordings."""

    stem: str
    """The part of the name that all files of the process share."""
    kind: str
    """Kind of data: `traces`, `evaluations`."""
    host: str
    pid: int
    start: str
    """Start of the recording, as in the name."""
    suffix: str

    @property
    def started_ns(self) -> int | None:
        """The start in nanoseconds since the Unix epoch; None if it is no time."""
        seconds, _, ns = self.start.partition(".")
        try:
            start = datetime.strptime(seconds, "%Y%m%dT%H%M%S").replace(tzinfo=timezone.utc)
        except ValueError:
            return None
        return int(start.timestamp()) * 1_000_000_000 + int(ns)

    @property
    def part(self) -> int | None:
        """The number of this file in its recording, from 1 on; None if it is no recording."""
        return recording_part(self.suffix)


def own_name(name: str) -> OwnName | None:
    """Return the parts of a file name; None if it is not of one of our files."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    stem, kind, host, pid, start, suffix = match.groups()
    return OwnName(stem, kind, host, int(pid), start, suffix)


def part_suffix(number: int) -> str:
    """Return the suffix of a file of a recording, by its number from 1 on."""
    return RECORDING_SUFFIX if number == 1 else f".{number}{RECORDING_SUFFIX}"


def recording_part(suffix: str) -> int | None:
    """Return the number of the file with a suffix in its recording; None if it is in none."""
    match = _PART.fullmatch(suffix)
    return match and int(match[1] or 1)


def files_of_recording(folder: Path, stem: str) -> dict[int, Path]:
    """Return the files of a recording by their numbers, in ascending order.

    Raises:
        OSError: the folder cannot be read.
    """
    numbers = (
        (recording_part(name.removeprefix(stem)), name)
        for name in os.listdir(folder)
        if name.startswith(stem)
    )
    return {number: folder / name for number, name in sorted((n, s) for n, s in numbers if n)}


def read_part(name: OwnName) -> int | None:
    """Return the number of a file in its recording, compressed or not; None if it is in none."""
    suffix = name.suffix
    for packed in _PACKED:
        suffix = suffix.removesuffix(packed)
    return recording_part(suffix)


def whole_recordings(paths: Iterable[Path]) -> list[Path]:
    """Return files with the other files of their recordings beside them, each once, in order.

    Compressed files belong to their recordings, too, unless the file is there as it was. Of a
    symbolic link, the recording is also what lies beside the file that it leads to. A file with
    several names is returned once. Each folder is listed once.
    """
    listed: dict[Path, dict[str, dict[int, Path]]] = {}
    whole: dict[Path, None] = {}
    for path in paths:
        if path in whole:
            continue
        parts: dict[int, Path] = {}
        stem = None
        for place in (path, Path(os.path.realpath(path)) if path.is_symlink() else path):
            name = own_name(place.name)
            number = None if name is None else read_part(name)
            if name is None or number is None or name.stem != (stem or name.stem):
                continue
            if place.parent not in listed:
                listed[place.parent] = _recordings_in(place.parent)
            stem = name.stem
            parts = {**listed[place.parent].get(stem, {}), **parts, number: path}
        whole.update((part, None) for _, part in sorted(parts.items()))
        whole[path] = None
    return distinct_files(whole)


def distinct_files(paths: Iterable[Path]) -> list[Path]:
    """Return paths in their order without those that lead to a file before them."""
    distinct: dict[object, Path] = {}
    for path in paths:
        identity: object = path
        with suppress(OSError, ValueError):
            status = path.stat()
            if status.st_ino:  # some file systems have none
                identity = (status.st_dev, status.st_ino)
        distinct.setdefault(identity, path)
    return list(distinct.values())


def _recordings_in(folder: Path) -> dict[str, dict[int, Path]]:
    """Return the files of each recording in a folder, by stem and number."""
    recordings: dict[str, dict[int, Path]] = {}
    with suppress(OSError):
        for text in sorted(os.listdir(folder)):  # a file comes before its compressed copy
            name = own_name(text)
            if name is not None and (number := read_part(name)) is not None:
                recordings.setdefault(name.stem, {}).setdefault(number, folder / text)
    return recordings
