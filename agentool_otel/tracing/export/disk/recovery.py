"""Completing the recordings of dead processes; `resending` has what waits to be sent.

While the lock of a journal is held nobody else recovers the same files; they go only after what is
in them is in its place, so a recovery that is killed itself loses nothing. A recording gets every
span once; a receiver may get one twice, with the same ids.

It is a favour: whatever a file holds costs that file, and the caller gets no exception.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import orjson

from agentool_otel.ground.ownership import open_own
from agentool_otel.tracing.export.disk.files import AppendFile
from agentool_otel.tracing.export.disk.leftovers import (
    RECORDING,
    Damaged,
    Leftovers,
    RecoveryReport,
    lines_of,
    remains_in,
)
from agentool_otel.tracing.export.send.otlp import Destination

__all__ = ["complete_recordings", "destinations"]


def complete_recordings(folder: Path, survey: RecoveryReport) -> int:
    """Append the spans that dead processes left open to their recordings; return how many.

    Args:
        folder: that of the recordings.
        survey: takes what is left alone, could not be done or waits for a receiver.
    """
    added = 0
    for remains in remains_in(folder, survey):
        with survey.handling(remains):
            if remains.destination.address == RECORDING:
                added += _complete(remains, survey)
            elif remains.waiting:
                survey.elsewhere[remains.destination] = None
    return added


def _complete(remains: Leftovers, survey: RecoveryReport) -> int:
    paths = remains.recording_files()
    for path in paths:
        with suppress(FileNotFoundError):
            remains.died_ns = max(remains.died_ns, os.lstat(path).st_mtime_ns)
    ended = [
        span_id
        for path in paths
        for span_id in _recorded_ids(path, remains.ended_from if path is paths[0] else 0)
    ]
    lines = [document + b"\n" for document in remains.unfinished(ended)]
    last = paths[-1]
    if lines or os.path.lexists(last):
        file = AppendFile(last)
        try:
            _mend_tail(file)
            if lines:
                file.append(b"".join(lines))
        finally:
            file.close()
    remains.retire(survey)
    return len(lines)


def _recorded_ids(path: Path, start: int) -> Iterator[str]:
    """Yield the ids of the spans in a recording from a position on."""
    try:
        file = os.fdopen(open_own(path, os.O_RDONLY), "rb")
    except FileNotFoundError:
        return
    with file:
        if not 0 <= start <= os.fstat(file.fileno()).st_size:
            raise Damaged(f"it begins at byte {start} of {path.name}, which is shorter")
        file.seek(start)
        for line in lines_of(file):
            with suppress(ValueError, KeyError, TypeError):  # a torn line
                for resource in orjson.loads(line)["resourceSpans"]:
                    for scope in resource["scopeSpans"]:
                        for span in scope["spans"]:
                            yield span["spanId"]


def _mend_tail(file: AppendFile) -> None:
    """Cut off a line that the process was killed in: it is not whole, and its span is open."""
    size = min(file.size, 64 << 20)
    tail = file.read(file.size - size, size)
    if tail and not tail.endswith(b"\n"):
        file.truncate(file.size - size + tail.rfind(b"\n") + 1)


def destinations(folder: Path, survey: RecoveryReport) -> list[Destination]:
    """Return the receivers that dead processes left spans or log records for."""
    unique = dict.fromkeys(remains.destination for remains in remains_in(folder, survey))
    return [destination for destination in unique if destination.address != RECORDING]
