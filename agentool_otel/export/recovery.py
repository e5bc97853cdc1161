"""What processes that are dead by now have left in a folder, and bringing it where it belongs.

A process is dead when its journal can be locked. While the lock is held nobody else recovers the
same files; they go only after what is in them is in its place, so a recovery that is killed itself
loses nothing. A recording gets every span once; a receiver may get one twice, with the same ids.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from agentool_otel.export import journal, recording, spool
from agentool_otel.export._files import AppendFile, lock
from agentool_otel.export.incomplete import as_protobuf, close_document, span_id_in
from agentool_otel.export.otlp import Destination, Senders, attempts, batches
from agentool_otel.export.spool import SUFFIXES
from agentool_otel.export.variables import Signal

__all__ = [
    "RECORDING",
    "Remains",
    "Sent",
    "complete_recordings",
    "destinations",
    "remains_in",
    "send_remains",
]

RECORDING = "recording"
"""Destination in the journal of a process that records."""
_READ = 4 << 20


class Remains:
    """The files of one dead process, locked until `release`."""

    def __init__(self, path: Path, file: int):
        self.path = path
        self._file = file
        self.died_ns = os.fstat(file).st_mtime_ns
        with open(path, "rb") as opened:
            lines = opened.read().splitlines()
        try:
            first = orjson.loads(lines[0])
            self.destination = Destination(
                str(first["destination"]),
                str(first.get("protocol", "")),
                str(first.get("signal", "traces")),
                bool(first.get("exact", False)),
            )
            self.ended_from = int(first["from"])
        except (IndexError, ValueError, TypeError, KeyError):  # killed while it wrote that line
            self.destination = Destination("")
            self.ended_from = 0
        self._first, self._lines = (lines or [b""])[0], lines[1:]

    def sibling(self, suffix: str) -> Path:
        """Return another file of the process; it may not be there."""
        return self.path.with_suffix(suffix)

    def unfinished(self, ended: Iterable[str]) -> Iterator[bytes]:
        """Yield a closed document for every span that has not ended; a damaged line is left out."""
        done = set(ended)
        for line in self._lines:
            with suppress(ValueError):
                span_id = span_id_in(line)
                if span_id not in done:
                    done.add(span_id)
                    yield close_document(line, self.died_ns)

    def remove(self) -> None:
        """Delete the journal: what was in it is in its place."""
        with suppress(OSError):
            self.path.unlink()

    def empty(self) -> None:
        """Leave only the first line of the journal, which says where the other files belong."""
        with suppress(OSError):
            file = AppendFile(self.path)
            file.replace(self._first + b"\n").close()

    def release(self) -> None:
        os.close(self._file)


def remains_in(folder: Path) -> Iterator[Remains]:
    """Yield what each dead process has left, one after the other, locked for the time."""
    try:
        paths = sorted(folder.glob(f"*{journal.SUFFIX}"))
    except OSError:
        return
    for path in paths:
        try:
            file = os.open(path, os.O_RDWR)
        except OSError:
            continue
        try:
            # The file may have been replaced or removed between opening and locking it.
            if not lock(file) or not os.path.samestat(os.fstat(file), os.stat(path)):
                os.close(file)
                continue
            found = Remains(path, file)
        except OSError:
            os.close(file)
            continue
        try:
            yield found
        finally:
            found.release()


def complete_recordings(folder: Path) -> int:
    """Append the spans that dead processes left open to their recordings; return how many.

    Raises:
        OSError: a recording cannot be written.
    """
    added = 0
    for remains in remains_in(folder):
        if remains.destination.said not in (RECORDING, ""):
            continue
        path = remains.sibling(recording.SUFFIX)
        with suppress(OSError):
            remains.died_ns = max(remains.died_ns, path.stat().st_mtime_ns)
        ended = list(_recorded(path, remains.ended_from))
        lines = [document + b"\n" for document in remains.unfinished(ended)]
        if lines or path.exists():
            file = AppendFile(path)
            try:
                _mend_tail(file)
                if lines:
                    file.append(b"".join(lines))
            finally:
                file.close()
        remains.remove()
        added += len(lines)
    return added


def _recorded(path: Path, start: int) -> Iterator[str]:
    """Yield the ids of the spans in a recording from a position on."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        return
    with file:
        file.seek(start)
        for line in file:
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


def destinations(folder: Path) -> list[Destination]:
    """Return the receivers that dead processes left spans or log records for."""
    found = dict.fromkeys(remains.destination for remains in remains_in(folder))
    return [destination for destination in found if destination.said not in (RECORDING, "")]


class Sent(NamedTuple):
    """What a recovery has brought to a receiver."""

    sent: int = 0
    """Spans."""
    logs: int = 0
    """Log records."""
    left: int = 0
    """Spans that are still where they were."""
    logs_left: int = 0
    unreadable: int = 0
    """Files that cannot be read. What is in them stays there, and is not counted above."""
    reason: str = ""


def send_remains(
    folder: Path,
    destination: Destination,
    senders: Senders,
    timeout_s: float,
    deadline: float | None = None,
    refused: bool = False,
) -> Sent:
    """Send what dead processes left for a destination, spans closed where they were open.

    Args:
        folder: where they left it.
        destination: only what was meant for it.
        senders: to the destination.
        timeout_s: of each attempt.
        deadline: by the monotonic clock, after which no new attempt is made.
        refused: also send again what the receiver has refused before.
    """
    total = Sent()
    for remains in remains_in(folder):
        if remains.destination != destination:
            continue
        by = 0 if total.left else deadline
        spans = _One()
        if destination.signal == "traces":
            spans = _send_one(remains, "traces", senders, timeout_s, by, refused)
        by = 0 if total.logs_left else deadline
        logs = _send_one(remains, "logs", senders, timeout_s, by, refused)
        if not spans.waiting and not logs.waiting:
            if any(remains.sibling(suffixes.refused).exists() for suffixes in SUFFIXES.values()):
                remains.empty()
            else:
                remains.remove()
        total = Sent(
            total.sent + spans.sent,
            total.logs + logs.sent,
            total.left + spans.left,
            total.logs_left + logs.left,
            total.unreadable + spans.unreadable + logs.unreadable,
            total.reason or spans.reason or logs.reason,
        )
    return total


class _One(NamedTuple):
    """What came of one signal of one process."""

    sent: int = 0
    left: int = 0
    reason: str = ""
    waiting: bool = False
    """Whether its files have to stay."""
    unreadable: bool = False


def _send_one(
    remains: Remains,
    signal: Signal,
    senders: Senders,
    timeout_s: float,
    deadline: float | None,
    refused: bool,
) -> _One:
    waiting, apart = map(remains.sibling, SUFFIXES[signal])
    paths = [waiting, *([apart] if refused else [])]
    if signal != "traces" and not any(path.exists() for path in paths):
        return _One()
    with suppress(OSError):
        remains.died_ns = max(remains.died_ns, waiting.stat().st_mtime_ns)
    sender = senders[signal]
    size = min(sender.limit, _READ)
    sent = left = 0
    reason = ""
    rejects: list[bytes] = []
    unread: list[str] = []
    found = _spooled(paths, size, unread)
    if signal == "traces":
        found = _with_open(found, remains, size, unread)
    for batch in found:
        if left or (deadline is not None and time.monotonic() > deadline):
            left += len(batch)
            continue
        for part, answer in attempts(sender, batch, timeout_s):
            if answer.verdict == "accepted" and not answer.rejected:
                sent += len(part)
                continue
            reason = answer.reason
            if answer.verdict == "later":
                left += len(part)
            else:
                rejects += part
    if unread:
        return _One(sent, left + len(rejects), unread[0], waiting=True, unreadable=True)
    if left:
        return _One(sent, left + len(rejects), reason, waiting=True)
    try:
        _set_apart(apart, rejects, refused)
    except OSError as error:
        return _One(sent, len(rejects), error.strerror or str(error), waiting=True)
    with suppress(OSError):
        waiting.unlink()
    return _One(sent, len(rejects), reason)


def _with_open(
    spooled: Iterator[list[bytes]], remains: Remains, size: int, unread: list[str]
) -> Iterator[list[bytes]]:
    """Yield, after what is spooled, the spans that are open and not among that."""
    ended: list[str] = []
    for batch in spooled:
        ended += [spool.span_id_of(span) for span in batch]
        yield batch
    if not unread:  # else nobody knows which of them have ended
        yield from batches(map(as_protobuf, remains.unfinished(ended)), size)


def _spooled(paths: Iterable[Path], size: int, unread: list[str]) -> Iterator[list[bytes]]:
    """Yield what is in files, in batches; say in `unread` which of them cannot be read, and why."""
    for path in paths:
        try:
            for batch in spool.read_spool(path, size):
                yield from batches(batch, size)
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
    file = AppendFile(path)
    data = b"".join(map(spool.framed, rejects))
    try:
        if replace:
            file = file.replace(data)
        else:
            file.append(data)
    finally:
        file.close()
