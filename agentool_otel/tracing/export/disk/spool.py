"""Encoded spans in the order they ended, on disk while they wait to be sent.

Log records wait in the same way in a file of their own; below, "spans" means both.
`<name>.spool`: each span a request of its own after its length as `uint32` big-endian, the framing
of the Collector's file exporter, so that `agentool-otel show` reads it too. The disk is the queue:
memory holds its first few megabytes at most, however long an endpoint is down. Where there is no
disk to write to, spans wait in memory, up to a limit.
"""

from __future__ import annotations

import os
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, NamedTuple

from agentool_otel.ground.environment import Signal
from agentool_otel.ground.ownership import open_own
from agentool_otel.otlp.protobuf_encoder import is_whole, span_of
from agentool_otel.tracing.export.disk.files import AppendFile, FileReplaced, RecordingDir

__all__ = [
    "SUFFIXES",
    "SentMark",
    "Spool",
    "Suffixes",
    "frame_span",
    "frames",
    "read_spool",
    "sent_bytes",
    "span_id_of",
]


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
_ON_DISK = 1 << 30
"""Bytes that wait at most; what comes beyond is dropped and counted."""
_IN_HAND = 8 << 20
"""Bytes of spans on disk that are in memory as well: what was just written is not read again."""
_READ = 4 << 20
"""Bytes that are read from disk at once."""
_LARGEST = 1 << 28
"""Bytes of a span, within reason."""
_PATIENCE_NS = 1_000_000_000


class SentMark(NamedTuple):
    """End of the spans in a spool that have been sent.

    The mark outlives the file: a file that was cut, or replaced, since then has another span there.
    """

    end: int
    """Position behind the last span that has been sent."""
    size: int
    """Bytes of that span."""
    checksum: int
    """CRC-32 of that span."""


def frame_span(span: bytes) -> bytes:
    """Return an encoded span after its length."""
    return len(span).to_bytes(4, "big") + span


def frames(data: bytes) -> Iterator[bytes]:
    """Yield the spans whose frames are complete; damage ends it."""
    at = 0
    while at + 4 < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        # A request begins with the tag of its only field.
        if end > len(data) or data[at + 4] != 0x0A:
            return
        yield data[at + 4 : end]
        at = end


def span_id_of(span: bytes) -> str:
    """Return the id of an encoded span, in hex."""
    # Its message begins with the trace id (tag, length, 16 bytes), then the span id.
    return span_of(span)[20:28].hex()


def read_spool(path: Path, size: int) -> Iterator[list[bytes]]:
    """Yield the spans of a spool in batches of about `size` bytes, up to the first damage.

    Raises:
        NotOurs: it was not made here.
        OSError: it cannot be read.
    """
    with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:
        tail = b""
        while data := file.read(max(size, _missing(tail))):
            tail += data
            complete = list(frames(tail))
            batch = list(takewhile(is_whole, complete))
            tail = tail[sum(len(span) + 4 for span in batch) :]
            if batch:
                yield batch
            if len(batch) < len(complete):
                return


def sent_bytes(path: Path, marks: Iterable[SentMark]) -> int:
    """Return the bytes at the beginning of a spool that have been sent, by the marks that fit it.

    Raises:
        NotOurs: it was not made here.
        OSError: it cannot be read.
    """
    with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:
        return max((mark.end for mark in marks if _fits(mark, file)), default=0)


def _fits(mark: SentMark, file: BinaryIO) -> bool:
    start = mark.end - mark.size - 4
    is_complete = 0 <= start < mark.end <= os.fstat(file.fileno()).st_size
    if not (is_complete and 0 < mark.size < _LARGEST):
        return False
    file.seek(start)
    frame = file.read(4 + mark.size)
    return frame[:4] == mark.size.to_bytes(4, "big") and zlib.crc32(frame[4:]) == mark.checksum


def _missing(tail: bytes) -> int:
    """Return the bytes that a span which has begun still lacks, within reason."""
    return min(int.from_bytes(tail[:4], "big"), _LARGEST) if len(tail) >= 4 else 0


class Spool:
    """The waiting spans of this process. Not safe for threads: the owner has the lock.

    Args:
        place: where the file is; None keeps spans in memory only.
        signal: what the spans are.
    """

    def __init__(self, place: RecordingDir | None, signal: Signal = "traces"):
        self._place = place
        self._suffixes = SUFFIXES[signal]
        self._file: AppendFile | None = None
        self._sent = 0
        self._sent_last = b""  # the span before that position
        self._in_hand: deque[bytes] = deque()  # spans of the file, from that position on
        self._in_hand_bytes = 0  # of the file
        self._memory: deque[bytes] = deque()  # spans that are not in the file
        self._memory_bytes = 0
        self._from_memory = False  # where the spans being sent came from
        self._batch_waits = False  # whether those spans are still here
        self._retry_ns = 0
        self.has_forgotten = False
        """Whether the file was replaced since this was last reset."""
        self.waiting = 0
        """Spans that have not been sent."""
        self.lost = 0
        """Spans that did wait here and are gone, with their file or for lack of room."""

    @property
    def waiting_bytes(self) -> int:
        return self._memory_bytes + (0 if self._file is None else self._file.size - self._sent)

    def put(self, span: bytes, now_ns: int) -> bool:
        """Take an encoded span; False if there is no room for it."""
        if self._place is not None and now_ns >= self._retry_ns:
            try:
                if self._file is None or self._file.size < _ON_DISK:
                    self._append(self._place, span)
                    self.waiting += 1
                    return True
            except OSError:
                self._retry_ns = now_ns + _PATIENCE_NS
        if self._memory_bytes + len(span) > _IN_MEMORY:
            return False
        self._memory.append(span)
        self._memory_bytes += len(span)
        self.waiting += 1
        return True

    def skip(self) -> Path | None:
        """Leave a file that cannot be read where it is, count what waits in it as lost, and keep
        what comes in memory: in its place it could not be read either. Return its path."""
        file = self._file
        self._place = None
        self._forget()
        return None if file is None else file.path

    def look(self) -> None:
        """Begin a new file if somebody has deleted this one.

        Raises:
            OSError: as `next`.
        """
        if self._file is not None:
            try:
                self._file.look()
            except FileReplaced:
                self._forget()

    def next(self, size: int, most: int | None = None) -> list[bytes]:
        """Return the spans to be sent next: of `size` bytes or a single one, and at most `most`.

        Raises:
            OSError: the file cannot be read; `skip` goes on without it.
        """
        self._from_memory = bool(self._memory)
        if not (self._from_memory or self._in_hand):
            self._read_ahead()
        batch: list[bytes] = []
        for span in self._memory if self._from_memory else self._in_hand:
            if batch and (size < len(span) or len(batch) == most):
                break
            size -= len(span)
            batch.append(span)
        self._batch_waits = True
        return batch

    def _read_ahead(self) -> None:
        """Take the next spans of the file in hand."""
        if self._file is None or self._sent >= self._file.size:
            return
        data = self._file.read(self._sent, _READ)
        first = 4 + int.from_bytes(data[:4], "big")
        if first > len(data):
            data = self._file.read(self._sent, first)
        self._in_hand.extend(frames(data))
        self._in_hand_bytes = sum(map(len, self._in_hand)) + 4 * len(self._in_hand)
        if not self._in_hand:  # damaged: where the next one begins is unknown
            self._lose(self.waiting)
            self._sent, self._sent_last = self._file.size, b""

    def done(self, spans: Sequence[bytes]) -> None:
        """Forget the first of the spans that `next` returned: they are where they belong."""
        if not self._batch_waits:  # they have been counted as lost with their file
            self.lost -= len(spans)
            return
        self.waiting -= len(spans)
        for span in spans:
            if self._from_memory:
                self._memory_bytes -= len(self._memory.popleft())
                continue
            self._sent_last = self._in_hand.popleft()
            self._in_hand_bytes -= 4 + len(span)
            self._sent += 4 + len(span)

    @property
    def sent_mark(self) -> SentMark | None:
        """Return the end of the spans in the file that have been sent; None without any."""
        if not self._sent or not self._sent_last:
            return None
        return SentMark(self._sent, len(self._sent_last), zlib.crc32(self._sent_last))

    @property
    def consumed_bytes(self) -> int:
        """Bytes of the file that are no longer needed."""
        return self._sent

    def remove_sent(self) -> None:
        """Remove what has been sent from the file.

        Raises:
            OSError: there is no room for the rest in a new file.
        """
        if self._file is None or not self._sent:
            return
        remainder = self._file.size - self._sent
        if remainder:
            data = self._file.read(self._sent, remainder)
            self._file = self._file.replace(lambda _: data)
        else:
            self._file.truncate(0)
        self._sent = 0
        self._sent_last = b""

    def save(self) -> None:
        """Move what is in memory to disk; what the disk does not take is lost."""
        if self._place is not None:
            with suppress(OSError):
                while self._memory:
                    self._append(self._place, self._memory[0])
                    self._memory_bytes -= len(self._memory.popleft())
        self._lose(len(self._memory))
        self._memory.clear()

    def _append(self, place: RecordingDir, span: bytes) -> None:
        """Write a span, into a new file if somebody has deleted ours."""
        frame = frame_span(span)
        try:
            if self._file is None:
                self._file = place.open(self._suffixes.waiting)
            self._file.append(frame)
        except FileReplaced:
            self._forget()
            self._file = place.open(self._suffixes.waiting)
            self._file.append(frame)
        in_hand = self._in_hand_bytes + len(frame)
        if in_hand <= _IN_HAND and self._sent + in_hand == self._file.size:
            self._in_hand.append(span)
            self._in_hand_bytes = in_hand

    def _forget(self) -> None:
        """Leave the file, and count what waits in it as lost."""
        file, self._file = self._file, None
        self._lose(self.waiting - len(self._memory))
        self._batch_waits = self._batch_waits and self._from_memory
        self.has_forgotten = True
        self._rewind()
        if file is not None:
            file.close()

    def _rewind(self) -> None:
        """Begin at the start of a file that is empty."""
        self._sent = self._in_hand_bytes = 0
        self._sent_last = b""
        self._in_hand.clear()

    def _lose(self, spans: int) -> None:
        self.waiting -= spans
        self.lost += spans

    def give_up(self) -> None:
        """Forget all that waits: nobody takes it."""
        self._lose(self.waiting)
        self._memory.clear()
        self._memory_bytes = 0
        self._batch_waits = False
        self._rewind()
        if self._file is not None:
            self._sent = self._file.size

    def refuse(self, spans: Sequence[bytes]) -> bool:
        """Keep spans that the receiver does not take apart from the others; False if impossible."""
        if self._place is None:
            return False
        try:
            file = self._place.open(self._suffixes.refused)
        except OSError:
            return False
        try:
            file.append(b"".join(map(frame_span, spans)))
        except OSError:
            return False
        finally:
            file.close()
        return True

    def close(self) -> None:
        """Close the file, and remove it if nothing waits in it."""
        file, self._file = self._file, None
        if file is not None:
            if self._sent >= file.size:
                file.remove()
            else:
                file.close()

    def abandon(self) -> None:
        """Leave everything to the parent, in a forked child."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
        self._memory.clear()
        self._memory_bytes = self.waiting = self.lost = 0
        self._batch_waits = False
        self._rewind()
        self._retry_ns = 0
