"""Encoded spans in the order they ended, on disk while they wait to be sent.

Log records wait in the same way in a file of their own; below, "spans" means both.
`<name>.spool` has the format of `frames`, so `agentool-otel show` reads it too. The disk is the
queue: threads append to it at once, and the sender reads it, a megabyte at a time, however long an
endpoint is down. Where there is no disk to write to, spans wait in memory, up to a limit.

An exception of the program's signal handlers may end a call here at any point. So the file is what
counts: a span that was written and not counted is sent like the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agentool_otel.ground.environment import Signal
from agentool_otel.ground.interruptions import ignoring, insist, let_through
from agentool_otel.tracing.export.disk.files import AppendFile, FileReplaced, RecordingDir
from agentool_otel.tracing.export.disk.frames import (
    SentMark,
    Stretch,
    frame_pieces,
    frame_span,
    stretches,
)
from agentool_otel.tracing.export.disk.gate import Gate, OpenFile

__all__ = ["LARGEST", "SUFFIXES", "Spool", "Suffixes"]


class Suffixes(NamedTuple):
    """The files of one signal."""

    waiting: str
    refused: str
    """Of what the receiver does not take, whoever sends it."""


SUFFIXES: dict[Signal, Suffixes] = {
    "traces": Suffixes(".spool", ".refused"),
    "logs": Suffixes(".logs.spool", ".logs.refused"),
}
_IN_MEMORY = 32 << 20
LARGEST = 1 << 30
"""Bytes that wait at most; what comes beyond is dropped and counted."""
_READ = 1 << 20
"""Bytes that are read from disk at once."""
_COPIED = 4 << 20
"""Bytes that are copied at once."""
_PATIENCE_NS = 1_000_000_000


class _Disk(NamedTuple):
    """The file, and the position of its first byte among all that this process has written."""

    file: AppendFile
    first: int

    @property
    def end(self) -> int:
        return self.first + self.file.size

    def read(self, start: int, size: int) -> bytes:
        return self.file.read(start - self.first, size)


class _Sent(NamedTuple):
    """The spans on disk that are where they belong, or lost."""

    end: int = 0
    number: int = 0
    last: bytes = b""
    """The last one; empty where no mark can be made of it."""


class Spool:
    """The waiting spans of this process. The owner has the lock of the gate.

    Args:
        place: where the file is; None keeps spans in memory only.
        signal: what the spans are.
        gate: the threads that append to the open file at once, if several do.
    """

    def __init__(
        self, place: RecordingDir | None, signal: Signal = "traces", gate: Gate | None = None
    ):
        self._place = place
        self._gate = Gate() if gate is None else gate
        self.open = OpenFile(frame_pieces)
        """The file, where `offer` has opened it."""
        self._suffixes = SUFFIXES[signal]
        self._disk: _Disk | None = None
        self._appended = 0
        """Spans on disk but for those that others have appended."""
        self._sent = _Sent()
        self._in_hand: deque[tuple[int, bytes]] = deque()
        """Spans that were read from `_sent` on, without a gap, and where each ends."""
        self._is_damaged = False
        """Whether spans in the file may have been damaged that were counted."""
        self._memory: deque[bytes] = deque()
        """Spans that are not on disk."""
        self._memory_bytes = 0
        self._from_memory = False  # where the spans being sent came from
        self._batch_waits = False  # whether those spans are still here
        self._retry_ns = 0
        self.has_forgotten = False
        """Whether the file was replaced since this was last reset."""
        self.lost = 0
        """Spans that did wait here and are gone, with their file or for lack of room."""
        self.damage: list[Stretch] = []
        """Parts of the file that could not be read, since this was last emptied."""

    @property
    def waiting(self) -> int:
        """Return the number of spans that have not been sent."""
        return self._on_disk + len(self._memory)

    @property
    def _on_disk(self) -> int:
        return max(0, self._number - self._sent.number)

    @property
    def _number(self) -> int:
        """Spans that were written to disk."""
        return self._appended + self.open.taken.value

    @property
    def waiting_bytes(self) -> int:
        disk = self._disk
        if disk is None:
            return self._memory_bytes
        return self._memory_bytes + disk.first + disk.file.size - self._sent.end

    @property
    def is_large(self) -> bool:
        """Return whether there is no more room on disk for what waits."""
        return self.waiting_bytes - self._memory_bytes >= LARGEST

    @property
    def path(self) -> Path | None:
        return None if self._disk is None else self._disk.file.path

    def put(self, span: bytes, now_ns: int) -> bool:
        """Take an encoded span; False if there is no room for it."""
        if self._place is not None and now_ns >= self._retry_ns:
            try:
                if not self.is_large:
                    self._append(self._place, span)
                    return True
            except OSError as error:
                let_through(error)
                self._retry_ns = now_ns + _PATIENCE_NS
        if self._memory_bytes + len(span) > _IN_MEMORY:
            return False
        self._memory.append(span)
        self._memory_bytes += len(span)
        return True

    def holds(self, span: bytes, start: int) -> bool:
        """Return whether a span was put, to the file from a position on or to memory."""
        if span in self._memory:
            return True
        with ignoring(OSError):
            self.look()
            return self._disk is not None and self._disk.file.holds(frame_span(span), start)
        return False

    def offer(self, offered: bool, size: int) -> None:
        """Let threads append to the file by themselves, or not.

        Args:
            offered: whether they may. They may not where spans wait in memory.
            size: bytes that may wait until they have to call `open.on_limit`.
        """
        disk = self._disk
        if disk is None or self._memory or self._place is None:
            offered = False
        self.open.file = disk.file if offered and disk is not None else None
        self.open.limit = self.sent_bytes + size

    def skip(self) -> Path | None:
        """Leave a file that cannot be read where it is, count what waits in it as lost, and keep
        what comes in memory: in its place it could not be read either. Return its path."""
        path = self.path
        self._place = None
        self._forget()
        return path

    def look(self) -> None:
        """Begin a new file if somebody has deleted this one.

        Raises:
            OSError: as `next`.
        """
        if self._disk is not None:
            try:
                self._disk.file.look()
            except FileReplaced:
                self._forget()

    def next(self, size: int, most: int | None = None) -> list[bytes]:
        """Return the spans to be sent next: of `size` bytes or a single one, and at most `most`.

        Raises:
            OSError: the file cannot be read; `skip` goes on without it.
        """
        self._from_memory = bool(self._memory)
        in_hand = self._in_hand
        while in_hand and in_hand[0][0] <= self._sent.end:  # `done` was interrupted
            in_hand.popleft()
        if not (self._from_memory or in_hand):
            self._read_ahead()
        batch: list[bytes] = []
        for span in self._memory if self._from_memory else (span for _, span in in_hand):
            if batch and (size < len(span) or len(batch) == most):
                break
            size -= len(span)
            batch.append(span)
        self._batch_waits = True
        return batch

    def _read_ahead(self) -> None:
        """Take the next spans of the file in hand, behind damage if there is any."""
        disk = self._disk
        if disk is None:
            return
        for stretch in stretches(disk.read, self._sent.end, disk.end, _READ):
            end = stretch.start
            for span in stretch.spans:
                end += 4 + len(span)
                self._in_hand.append((end, span))
            if stretch.spans:
                return
            self.damage.append(stretch._replace(start=stretch.start - disk.first))
            self._sent = _Sent(stretch.end, self._sent.number)
            self._is_damaged = True
        if self._is_damaged:
            with self._gate.alone() as alone:
                self.look()
                if alone and self._sent.end >= disk.end:
                    self._lose(self._on_disk)
                    self._sent = _Sent(disk.end, self._number)
                    self._is_damaged = False

    def done(self, spans: Sequence[bytes]) -> None:
        """Forget the first of the spans that `next` returned: they are where they belong."""
        if not self._batch_waits:  # they have been counted as lost with their file
            self.lost -= len(spans)
            return
        for _ in spans:
            if self._from_memory:
                self._memory_bytes -= len(self._memory.popleft())
            else:
                end, span = self._in_hand[0]
                self._sent = _Sent(end, self._sent.number + 1, span)
                self._in_hand.popleft()

    @property
    def sent_mark(self) -> SentMark | None:
        """Return the end of the spans in the file that have been sent; None without any."""
        end, _, last = self._sent
        if self._disk is None or not last or end <= self._disk.first:
            return None
        return SentMark.of(end - self._disk.first, last)

    @property
    def sent_bytes(self) -> int:
        """Bytes of the file that are no longer needed."""
        return 0 if self._disk is None else self._sent.end - self._disk.first

    def remainder(self) -> Remainder | None:
        """Return what waits in the file, for a new file; None where there is no file.

        Raises:
            OSError: the file cannot be read, or there is no room for a new one.
        """
        return None if self._disk is None else Remainder(self._disk.file, self.sent_bytes)

    def remove_sent(self, remainder: Remainder | None) -> None:
        """Remove what has been sent from the file. No thread may be inside the gate.

        Args:
            remainder: what waits, most of it copied already. Without it nothing is removed as
                long as something waits; nor is it if spans have been sent since it was made.

        Raises:
            OSError: there is no room for the rest in a new file.
        """
        disk = self._disk
        if disk is None or self._sent.end <= disk.first:
            return
        self.look()
        self.open.file = None
        if disk.end <= self._sent.end:
            insist(self._empty)
        elif remainder is not None and remainder.begins(disk.file, self.sent_bytes):
            self._disk = _Disk(remainder.take_place(), disk.first + remainder.start)
            disk.file.close()

    def _empty(self) -> None:
        """Begin the file anew. Repeated, it does the same."""
        if self._disk is not None:
            self._disk.file.truncate(0)
            self._disk = _Disk(self._disk.file, self._sent.end)
            self._appended = self._sent.number - self.open.taken.value  # all that was written

    def save(self) -> None:
        """Move what is in memory to disk; what the disk does not take is lost."""
        if self._place is not None:
            with ignoring(OSError):
                while self._memory:
                    self._append(self._place, self._memory[0])
                    self._memory_bytes -= len(self._memory.popleft())
        self._lose(len(self._memory))
        self._memory.clear()

    def _append(self, place: RecordingDir, span: bytes) -> None:
        """Write a span, into a new file if somebody has deleted ours."""
        frame = frame_span(span)
        try:
            (self._disk or self._open(place)).file.append(frame)
        except FileReplaced:
            self._forget()
            self._open(place).file.append(frame)
        self._appended += 1

    def _open(self, place: RecordingDir) -> _Disk:
        file = place.open(self._suffixes.waiting, self._gate)
        self._disk = disk = _Disk(file, self._sent.end)
        return disk

    def _forget(self) -> None:
        """Leave the file, and count what waits in it as lost."""
        self._lose(self._on_disk)
        self._batch_waits = self._batch_waits and self._from_memory
        self.has_forgotten = True
        self._pass_over()
        self._leave_file()

    def _leave_file(self) -> None:
        disk, self._disk = self._disk, None
        self.open.file = None
        with self._gate.alone() as alone:
            if disk is not None and alone:  # else a thread hangs in a write to it
                disk.file.close()

    def _pass_over(self) -> None:
        """Go on behind all that was written."""
        end = self._sent.end if self._disk is None else self._disk.end
        self._sent = _Sent(end, self._number)
        self._in_hand.clear()

    def _lose(self, spans: int) -> None:
        self.lost += spans

    def give_up(self) -> None:
        """Forget all that waits: nobody takes it."""
        self._lose(self.waiting)
        self._memory.clear()
        self._memory_bytes = 0
        self._batch_waits = False
        self._pass_over()

    def refuse(self, spans: Sequence[bytes]) -> bool:
        """Keep spans that the receiver does not take apart from the others; False if impossible."""
        if self._place is None:
            return False
        try:
            file = self._place.open(self._suffixes.refused)
        except OSError as error:
            let_through(error)
            return False
        try:
            file.append(b"".join(map(frame_span, spans)))
        except OSError as error:
            let_through(error)
            return False
        finally:
            file.close()
        return True

    def close(self) -> None:
        """Close the file, and remove it if nothing waits in it."""
        self.open.file = None
        with self._gate.alone():
            if self._disk is not None:
                with ignoring(OSError):
                    self.look()
            if self._disk is not None and self._sent.end >= self._disk.end:
                self._disk.file.unlink()
            self._leave_file()

    def abandon(self) -> None:
        """Leave everything to the parent, in a forked child."""
        disk, self._disk = self._disk, None
        self.open.file = None
        if disk is not None:
            disk.file.close()


class Remainder:
    """A new file with what waits in a spool, made while the spool is still written.

    Args:
        source: the spool.
        start: the first byte that is copied.

    Raises:
        OSError: the spool cannot be read, or there is no room.
    """

    def __init__(self, source: AppendFile, start: int):
        self.source = source
        self.start = start
        self._copied = start
        self._is_in_place = False
        self._reader = source.reader()
        try:
            self._file = AppendFile.beside(source.path, source.gate)
        except BaseException:
            self._reader.close()
            raise

    @property
    def left(self) -> int:
        """Return the bytes that are not copied yet."""
        return self.source.size - self._copied

    def begins(self, source: AppendFile, start: int) -> bool:
        """Return whether the copy is of this file from this position on."""
        return self.source is source and self.start == start

    def copy(self, size: int) -> None:
        """Copy up to so many bytes.

        Raises:
            OSError: there is no room, or the spool cannot be read.
        """
        self._reader.seek(self._copied)
        data = self._reader.read(min(size, self.left))
        if not data:
            raise FileReplaced(self.source.path)
        self._file.append(data)
        self._copied += len(data)

    def take_place(self) -> AppendFile:
        """Copy what is left, and put the file in the place of the spool.

        Raises:
            OSError: there is no room, or the spool cannot be read.
        """
        while self.source.end() > self._copied:
            self.copy(_COPIED)
        self._file.take_place(self.source.path)
        self._is_in_place = True
        return self._file

    def drop(self) -> None:
        """Remove the new file, unless it has taken the place of the spool."""
        self._reader.close()
        if not self._is_in_place:
            self._file.remove()
