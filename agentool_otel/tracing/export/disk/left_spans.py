"""What a dead process left of one signal: waiting spans, refused ones, and those that were open.

Each is a source of batches that notes what became of them. Below, "spans" means log records, too.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from agentool_otel.ground.environment import Signal
from agentool_otel.tracing.export.disk.files import AppendFile
from agentool_otel.tracing.export.disk.frames import (
    SentMark,
    Stretch,
    Stretches,
    frame_span,
    read_spool,
    span_id_of,
)
from agentool_otel.tracing.export.disk.leftovers import Damaged, Leftovers, RecoveryReport
from agentool_otel.tracing.export.disk.spool import SUFFIXES
from agentool_otel.tracing.export.incomplete import as_protobuf, span_id_in
from agentool_otel.tracing.export.send.otlp import batches

__all__ = ["Open", "Refused", "Source", "Spooled", "Unreadable"]


class Source(Protocol):
    """A part of what a process left, which is sent in batches."""

    def batches(self) -> Iterator[Sequence[bytes]]:
        """Yield what has not been handled yet."""
        ...

    def handled(self, spans: Sequence[bytes], arrived: bool) -> None:
        """Note the next spans of the batch that was yielded last."""
        ...

    def postponed(self, spans: Sequence[bytes]) -> None:
        """Pass over the next spans of that batch: the receiver does not take them now."""
        ...


class Unreadable(Exception):
    """A file cannot be read. Nobody knows then which spans have ended."""


class _Frames:
    """The spans of a file, in batches, and which of them are done with.

    Args:
        path: the file.
        size: bytes of a batch.
    """

    def __init__(self, path: Path, size: int):
        self._path = path
        self._size = size
        self._done = Stretches()
        self._next: list[tuple[int, int]] = []
        """Places of the spans in the last batch, as far as nothing is known of them."""

    def _stretches(self) -> Iterator[Stretch]:
        with _readable(self._path), suppress(FileNotFoundError):
            yield from read_spool(self._path, self._size)

    def _batches_of(self, stretch: Stretch) -> Iterator[Sequence[bytes]]:
        start = stretch.start
        spans: list[bytes] = []
        places: list[tuple[int, int]] = []
        for span in stretch.spans:
            end = start + 4 + len(span)
            if start not in self._done:
                spans.append(span)
                places.append((start, end))
            start = end
        for batch in batches(spans, self._size):
            self._next, places = places[: len(batch)], places[len(batch) :]
            yield batch

    def _pass(self, spans: Sequence[bytes]) -> list[tuple[int, int]]:
        """Return the places of the next spans of the batch."""
        places, self._next = self._next[: len(spans)], self._next[len(spans) :]
        return places

    def postponed(self, spans: Sequence[bytes]) -> None:
        self._pass(spans)


class Spooled(_Frames):
    """What waits in the spool.

    Raises:
        Unreadable: the file is there and cannot be read.
    """

    def __init__(self, remains: Leftovers, signal: Signal, path: Path, size: int):
        super().__init__(path, size)
        self._remains = remains
        self._signal: Signal = signal
        # A damaged journal: all of the spool is sent.
        with suppress(FileNotFoundError, Damaged), _readable(path):
            self._done = remains.sent_stretches(signal)
        self._damage = Stretches()
        self.ended: set[str] = set()
        """Ids of all spans in the file."""

    def batches(self) -> Iterator[Sequence[bytes]]:
        for stretch in self._stretches():
            if not stretch.spans:
                self._damage.add(stretch.start, stretch.end)
                continue
            if self._signal == "traces":
                self.ended.update(map(span_id_of, stretch.spans))
            yield from self._batches_of(stretch)

    def handled(self, spans: Sequence[bytes], arrived: bool) -> None:
        if not arrived:
            _set_apart(self._remains.sibling(SUFFIXES[self._signal].refused), spans)
        places = self._pass(spans)
        start, end = places[0][0], places[-1][1]
        self._done.add(start, end)
        self._remains.note_sent(self._signal, SentMark.of(end, spans[-1], start))

    def remove(self, survey: RecoveryReport) -> None:
        """Remove the file, but keep bytes in which no span can be read.

        Raises:
            OSError: the file cannot be removed, or these bytes cannot be written.
        """
        if len(self._damage):
            aside = self._path.with_name(self._path.name + ".damaged")
            with self._path.open("rb") as damaged:
                kept = AppendFile(aside)
                try:
                    for start, end in self._damage:
                        damaged.seek(start)
                        kept.append(damaged.read(end - start))
                        survey.set_aside[aside] = (
                            f"no span can be read from byte {start} to {end} of {self._path.name}"
                        )
                finally:
                    kept.close()
        self._path.unlink(missing_ok=True)


class Refused(_Frames):
    """What the receiver has refused before."""

    def __init__(self, path: Path, size: int):
        super().__init__(path, size)
        with _readable(path):
            self._end = os.lstat(path).st_size
        self._arrived = Stretches()

    def batches(self) -> Iterator[Sequence[bytes]]:
        self._done.add(self._end, sys.maxsize)  # what was refused just now
        for stretch in self._stretches():
            yield from self._batches_of(stretch)

    def handled(self, spans: Sequence[bytes], arrived: bool) -> None:
        for start, end in self._pass(spans):
            self._done.add(start, end)
            if arrived:
                self._arrived.add(start, end)

    def rewrite(self) -> None:
        """Leave only what has not arrived."""
        data: list[bytes] = []
        with self._path.open("rb") as file:
            at = 0
            for start, end in self._arrived:
                data.append(file.read(start - at))
                file.seek(end)
                at = end
            data.append(file.read())
        if not any(data):
            self._path.unlink()
        elif len(self._arrived):
            AppendFile(self._path).replace(lambda _: b"".join(data)).close()


class Open:
    """The spans that the process left open, closed as incomplete.

    Args:
        remains: what the process left.
        spooled: the spans that have ended, all of them read.
        size: bytes of a batch.
    """

    def __init__(self, remains: Leftovers, spooled: Spooled, size: int):
        self._remains = remains
        self._ended = spooled.ended
        self._size = size
        self._next: deque[str] = deque()
        """Ids of the spans that were yielded, as far as nothing is known of them."""

    def batches(self) -> Iterator[Sequence[bytes]]:
        self._next.clear()
        yield from batches(self._spans(), self._size)

    def _spans(self) -> Iterator[bytes]:
        for document in self._remains.unfinished(self._ended):
            with suppress(ValueError):  # a damaged line of the journal
                span = as_protobuf(document)
                self._next.append(span_id_in(document))
                yield span

    def handled(self, spans: Sequence[bytes], arrived: bool) -> None:
        if not arrived:
            _set_apart(self._remains.sibling(SUFFIXES["traces"].refused), spans)
        ids = self._pass(spans)
        self._ended.update(ids)
        self._remains.note_ended(ids)

    def postponed(self, spans: Sequence[bytes]) -> None:
        self._pass(spans)

    def _pass(self, spans: Sequence[bytes]) -> list[str]:
        return [self._next.popleft() for _ in spans]


def _set_apart(path: Path, spans: Iterable[bytes]) -> None:
    """Keep what the receiver does not take, whoever sends it, in a file of its own."""
    file = AppendFile(path)
    try:
        file.append(b"".join(map(frame_span, spans)))
    finally:
        file.close()


@contextmanager
def _readable(path: Path) -> Generator[None]:
    """Name a file that cannot be read; that one is missing is another matter.

    Raises:
        Unreadable: it cannot be read.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unreadable(f"{path.name}: {error.strerror or error}") from error
