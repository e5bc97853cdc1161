"""Bringing what dead processes have left where it belongs.

While the lock of a journal is held nobody else recovers the same files; they go only after what is
in them is in its place, so a recovery that is killed itself loses nothing. A recording gets every
span once; a receiver may get one twice, with the same ids.

It is a favour: whatever a file holds costs that file, and the caller gets no exception.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from agentool_otel.ground.environment import Signal
from agentool_otel.ground.ownership import open_own
from agentool_otel.tracing.export.disk import spool
from agentool_otel.tracing.export.disk.files import AppendFile
from agentool_otel.tracing.export.disk.leftovers import (
    RECORDING,
    Damaged,
    Leftovers,
    RecoveryReport,
    lines_of,
    remains_in,
)
from agentool_otel.tracing.export.disk.spool import SUFFIXES
from agentool_otel.tracing.export.incomplete import as_protobuf
from agentool_otel.tracing.export.send.otlp import Destination, Senders, attempts, batches

__all__ = ["Sent", "complete_recordings", "destinations", "send_remains"]

_READ = 4 << 20


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
                added += _complete(remains)
            elif remains.waiting:
                survey.elsewhere[remains.destination] = None
    return added


def _complete(remains: Leftovers) -> int:
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
    remains.remove()
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

    def and_one(self, done: dict[Signal, _One]) -> Sent:
        """Return this with what became of one process' signals."""
        spans, logs = done.get("traces", _One()), done["logs"]
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
    """
    total = Sent()
    for remains in remains_in(folder, survey):
        with survey.handling(remains):
            if remains.destination == destination:
                total = total.and_one(_send(remains, senders, timeout_s, deadline, refused, total))
            elif remains.destination.address != RECORDING and remains.waiting:
                survey.elsewhere[remains.destination] = None
    return total


def _send(
    remains: Leftovers,
    senders: Senders,
    timeout_s: float,
    deadline: float | None,
    refused: bool,
    before: Sent,
) -> dict[Signal, _One]:
    """Send what one process left, log records beside spans, and tidy up what has arrived."""
    done: dict[Signal, _One] = {}
    if remains.destination.signal == "traces":
        by = 0 if before.remaining else deadline
        done["traces"] = _send_one(remains, "traces", senders, timeout_s, by, refused)
    by = 0 if before.logs_remaining else deadline
    done["logs"] = _send_one(remains, "logs", senders, timeout_s, by, refused)
    if not any(one.waiting for one in done.values()):
        if any(os.path.lexists(remains.sibling(suffix.refused)) for suffix in SUFFIXES.values()):
            remains.empty()
        else:
            remains.remove()
    return done


class _One(NamedTuple):
    """Result for one signal of one process."""

    sent: int = 0
    remaining: int = 0
    reason: str = ""
    waiting: bool = False
    """Whether its files have to stay."""
    unreadable: bool = False


def _send_one(
    remains: Leftovers,
    signal: Signal,
    senders: Senders,
    timeout_s: float,
    deadline: float | None,
    refused: bool,
) -> _One:
    waiting, separate = map(remains.sibling, SUFFIXES[signal])
    paths = [waiting, *([separate] if refused else [])]
    if signal != "traces" and not any(map(os.path.lexists, paths)):
        return _One()
    with suppress(OSError):
        remains.died_ns = max(remains.died_ns, os.lstat(waiting).st_mtime_ns)
    sender = senders[signal]
    size = min(sender.limit, _READ)
    also = remains.also if signal == "traces" else None
    sent = remaining = 0
    reason = ""
    rejects: list[bytes] = []
    unread: list[str] = []
    ended: list[str] = []
    pending = _spooled_batches(remains, signal, paths, size, unread, ended)
    if signal == "traces":
        pending = _with_open(pending, remains, size, unread, ended)
    for batch in pending:
        if remaining or (deadline is not None and time.monotonic() > deadline):
            remaining += len(batch)
            continue
        for part, answer in attempts(sender, batch, timeout_s, also, deadline):
            if answer.verdict == "accepted" and not answer.rejected:
                sent += len(part)
                continue
            reason = answer.reason
            if answer.verdict == "later":
                remaining += len(part)
            else:
                rejects += part
    if unread:
        return _One(sent, remaining + len(rejects), unread[0], waiting=True, unreadable=True)
    if remaining:
        return _One(sent, remaining + len(rejects), reason, waiting=True)
    try:
        _set_apart(separate, rejects, refused)
    except OSError as error:
        return _One(sent, len(rejects), error.strerror or str(error), waiting=True)
    with suppress(OSError):
        waiting.unlink()
    return _One(sent, len(rejects), reason)


def _with_open(
    spooled: Iterator[list[bytes]],
    remains: Leftovers,
    size: int,
    unread: list[str],
    ended: list[str],
) -> Iterator[list[bytes]]:
    """Yield, after what is spooled, the spans that are open and not among the ended ones."""
    yield from spooled
    if not unread:  # else nobody knows which of them have ended
        yield from batches(_as_protobuf(remains.unfinished(ended)), size)


def _as_protobuf(documents: Iterable[bytes]) -> Iterator[bytes]:
    for document in documents:
        with suppress(ValueError):  # a damaged line of the journal
            yield as_protobuf(document)


def _spooled_batches(
    remains: Leftovers,
    signal: Signal,
    paths: Sequence[Path],
    size: int,
    unread: list[str],
    ended: list[str],
) -> Iterator[list[bytes]]:
    """Yield what is in files and has not arrived, in batches.

    Args:
        remains: what the files belong to.
        signal: what is in them.
        paths: the files, that of the waiting ones first.
        size: bytes of a batch.
        unread: takes which of them cannot be read, and why.
        ended: takes the ids of all spans in them, those that have arrived too.
    """
    for path in paths:
        sent = 0
        try:
            if path is paths[0]:
                with suppress(Damaged):  # the journal: then all of it is sent
                    sent = remains.sent_bytes(signal)
            for batch in spool.read_spool(path, size):
                if signal == "traces":
                    ended += map(spool.span_id_of, batch)
                waiting: list[bytes] = []
                for span in batch:
                    if sent > 0:
                        sent -= 4 + len(span)
                    else:
                        waiting.append(span)
                yield from batches(waiting, size)
        except FileNotFoundError:
            pass
        except OSError as error:
            unread.append(f"{path.name}: {error.strerror or error}")


def _set_apart(path: Path, rejects: list[bytes], replace: bool) -> None:
    """Keep what the receiver does not take, whoever sends it, in a file of its own."""
    if not rejects:
        if replace:
            with suppress(FileNotFoundError):
                path.unlink()
        return
    data = b"".join(map(spool.frame_span, rejects))
    file = AppendFile(path)
    try:
        if replace:
            file = file.replace(lambda _: data)
        else:
            file.append(data)
    finally:
        file.close()
