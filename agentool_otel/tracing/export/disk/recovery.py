"""Bringing what dead processes have left where it belongs.

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
from typing import NamedTuple

import orjson

from agentool_otel.ground.environment import Signal
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
from agentool_otel.tracing.export.disk.resending import Attempting, Outcome, send_signal
from agentool_otel.tracing.export.disk.spool import SUFFIXES
from agentool_otel.tracing.export.send.otlp import Destination, Senders

__all__ = ["Sent", "complete_recordings", "destinations", "send_remains"]


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


class Sent(NamedTuple):
    """Totals of a recovery that were delivered to a receiver."""

    sent: int = 0
    """Spans."""
    logs: int = 0
    """Log records."""
    remaining: int = 0
    """Spans that are still where they were."""
    logs_remaining: int = 0
    unreadable: int = 0
    """Files that cannot be read. What is in them stays there, and is not counted above."""
    reason: str = ""

    def and_one(self, done: dict[Signal, Outcome]) -> Sent:
        """Return this with what became of one process' signals."""
        spans, logs = done.get("traces", Outcome()), done["logs"]
        return Sent(
            self.sent + spans.sent,
            self.logs + logs.sent,
            self.remaining + spans.remaining,
            self.logs_remaining + logs.remaining,
            self.unreadable + spans.unreadable + logs.unreadable,
            self.reason or spans.reason or logs.reason,
        )


def send_remains(
    folder: Path,
    destination: Destination,
    senders: Senders,
    timeout_s: float,
    survey: RecoveryReport,
    deadline: float | None = None,
    refused: bool = False,
    persistent: bool = False,
) -> Sent:
    """Send what dead processes left for a destination, spans closed where they were open.

    Args:
        folder: where they left it.
        destination: only what was meant for it.
        senders: to the destination.
        timeout_s: of each attempt.
        survey: takes what is left alone, could not be done or waits for another receiver.
        deadline: by the monotonic clock, when all attempts are over.
        refused: also send again what the receiver has refused before.
        persistent: go on as long as the receiver takes some of it, and give it more time for a
            request than `timeout_s` where it needs that.
    """
    total = Sent()
    attempting = Attempting(timeout_s, deadline, persistent)
    for remains in remains_in(folder, survey):
        with survey.handling(remains):
            if remains.destination == destination:
                total = total.and_one(_send(remains, senders, attempting, refused, survey))
            elif remains.destination.address != RECORDING and remains.waiting:
                survey.elsewhere[remains.destination] = None
    return total


def _send(
    remains: Leftovers,
    senders: Senders,
    attempting: Attempting,
    refused: bool,
    survey: RecoveryReport,
) -> dict[Signal, Outcome]:
    """Send what one process left, log records beside spans, and tidy up what has arrived.

    Spans go before the log records, and nothing of them is left in the journal then: whatever
    becomes of the log records, no span is sent again.
    """
    done: dict[Signal, Outcome] = {}
    if remains.destination.signal == "traces":
        done["traces"] = send_signal(remains, "traces", senders, attempting, refused, survey)
        if not done["traces"].waiting:
            remains.forget_spans()
    done["logs"] = send_signal(remains, "logs", senders, attempting, refused, survey)
    if not any(one.waiting for one in done.values()):
        if any(os.path.lexists(remains.sibling(suffix.refused)) for suffix in SUFFIXES.values()):
            remains.forget_spans()
        else:
            remains.retire(survey)
    return done
