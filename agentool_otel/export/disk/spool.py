"""Encoded spans in the order they ended, on disk while they wait to be sent.

Log records wait in the same way in a file of their own; below, "spans" means both.
`<name>.spool`: each span a request of its own after its length as `uint32` big-endian, the framing
of the Collector's file exporter, so that `agentool-otel show` reads it too. The disk is the queue:
memory holds a batch at a time, however long an endpoint is down. Where there is no disk to write
to, spans wait in memory, up to a limit.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from agentool_otel.export.disk.files import AppendFile, Gone, Place
from agentool_otel.export.encoding.otlp_proto import is_whole, span_of
from agentool_otel.ground.environment import Signal
from agentool_otel.ground.ownership import open_own

__all__ = ["SUFFIXES", "Spool", "Suffixes", "framed", "frames", "read_spool", "span_id_of"]


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
_PATIENCE_NS = 1_000_000_000


def framed(span: bytes) -> bytes:
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
    """Yield the spans of a spool in batches of some `size` bytes, up to where it is damaged.

    Raises:
        NotOurs: it was not made here.
        OSError: it cannot be read.
    """
    with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:
        rest = b""
        while data := file.read(max(size, _missing(rest))):
            rest += data
            complete = list(frames(rest))
            batch = list(takewhile(is_whole, complete))
            rest = rest[sum(len(span) + 4 for span in batch) :]
            if batch:
                yield batch
            if len(batch) < len(complete):
                return


def _missing(rest: bytes) -> int:
    """Return the bytes that a span which has begun still lacks, within reason."""
    return min(int.from_bytes(rest[:4], "big"), 1 << 28) if len(rest) >= 4 else 0


class Spool:
    """The waiting spans of this process. Not safe for threads: the owner has the lock.

    Args:
        place: where the file is; None keeps spans in memory only.
        signal: what the spans are.
    """

    def __init__(self, place: Place | None, signal: Signal = "traces"):
        self._place = place
        self._suffixes = SUFFIXES[signal]
        self._file: AppendFile | None = None
        self._sent = 0
        self._memory: deque[bytes] = deque()
        self._memory_bytes = 0
        self._from_memory = False  # where the spans being sent came from
        self._retry_ns = 0
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
                    self._append(self._place, framed(span))
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
            except Gone:
                self._forget()

    def next(self, size: int) -> list[bytes]:
        """Return the spans that are to be sent next, some `size` bytes or a single one.

        Raises:
            OSError: the file cannot be read; `skip` goes on without it.
        """
        self._from_memory = bool(self._memory)
        if self._from_memory:
            batch: list[bytes] = []
            for span in self._memory:
                if batch and size < len(span):
                    break
                size -= len(span)
                batch.append(span)
            return batch
        if self._file is None or self._sent >= self._file.size:
            return []
        data = self._file.read(self._sent, size)
        first = 4 + int.from_bytes(data[:4], "big")
        if first > len(data):
            data = self._file.read(self._sent, first)
        spans = list(frames(data))
        if not spans:  # damaged: where the next one begins is unknown
            self._lose(self.waiting)
            self._sent = self._file.size
        return spans

    def done(self, spans: Sequence[bytes]) -> None:
        """Forget the first of the spans that `next` returned: they are where they belong."""
        self.waiting -= len(spans)
        for span in spans:
            if self._from_memory:
                self._memory_bytes -= len(self._memory.popleft())
            else:
                self._sent += 4 + len(span)

    @property
    def settled(self) -> int:
        """Bytes of the file that are no longer needed."""
        return self._sent

    def settle(self) -> None:
        """Remove what has been sent from the file.

        Raises:
            OSError: there is no room for the rest in a new file.
        """
        if self._file is None or not self._sent:
            return
        rest = self._file.size - self._sent
        if rest:
            data = self._file.read(self._sent, rest)
            self._file = self._file.replace(lambda _: data)
        else:
            self._file.truncate(0)
        self._sent = 0

    def save(self) -> None:
        """Move what is in memory to disk; what the disk does not take is lost."""
        if self._place is not None:
            with suppress(OSError):
                while self._memory:
                    self._append(self._place, framed(self._memory[0]))
                    self._memory_bytes -= len(self._memory.popleft())
        self._lose(len(self._memory))
        self._memory.clear()

    def _append(self, place: Place, frame: bytes) -> None:
        """Write a frame, into a new file if somebody has deleted ours."""
        try:
            if self._file is None:
                self._file = place.open(self._suffixes.waiting)
            self._file.append(frame)
        except Gone:
            self._forget()
            self._file = place.open(self._suffixes.waiting)
            self._file.append(frame)

    def _forget(self) -> None:
        """Leave the file, and count what waits in it as lost."""
        file, self._file = self._file, None
        self._lose(self.waiting - len(self._memory))
        self._sent = 0
        if file is not None:
            file.close()

    def _lose(self, spans: int) -> None:
        self.waiting -= spans
        self.lost += spans

    def give_up(self) -> None:
        """Forget all that waits: nobody takes it."""
        self._lose(self.waiting)
        self._memory.clear()
        self._memory_bytes = 0
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
            file.append(b"".join(map(framed, spans)))
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
        self._memory_bytes = self._sent = self.waiting = self.lost = 0
        self._retry_ns = 0
