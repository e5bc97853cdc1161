"""Sending what one dead process has left of one signal.

What was sent is noted in the journal of the process before what held it is removed, and after each
request: a recovery that fails, or is killed, is continued by the next one. A part that the receiver
does not take now does not keep the others from being sent.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from agentool_otel.ground.environment import Signal
from agentool_otel.tracing.export.disk import frames
from agentool_otel.tracing.export.disk.files import AppendFile
from agentool_otel.tracing.export.disk.frames import SentMark, Stretches
from agentool_otel.tracing.export.disk.leftovers import Damaged, Leftovers, RecoveryReport
from agentool_otel.tracing.export.disk.spool import SUFFIXES
from agentool_otel.tracing.export.incomplete import as_protobuf
from agentool_otel.tracing.export.send.attempt import Answer, Sender
from agentool_otel.tracing.export.send.otlp import Senders, attempts, batches

__all__ = ["Attempting", "Outcome", "send_signal"]

_READ = 4 << 20
_MISSES = 3
"""Requests in a row that a receiver does not take now, after which it is left alone."""
_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 5.0
_LONGEST_S = 60.0
"""Seconds that a slow receiver gets for a request at most."""


class Outcome(NamedTuple):
    """What became of one signal of one process."""

    sent: int = 0
    remaining: int = 0
    """Spans, or log records, that are still on disk."""
    reason: str = ""
    waiting: bool = False
    """Whether the files have to stay."""
    unreadable: bool = False


class Attempting:
    """How often and how long requests to a receiver are tried, for all that is sent to it.

    Args:
        timeout_s: of the first attempt.
        deadline: by the monotonic clock, when all attempts are over.
        persistent: try again what was not taken as long as something else is, and give a slow
            receiver more time.
    """

    def __init__(self, timeout_s: float, deadline: float | None, persistent: bool):
        self.timeout_s = timeout_s
        self.deadline = deadline
        self._is_persistent = persistent
        self._misses = 0
        self._is_unknown = False
        self._wait_s: float | None = None

    @property
    def is_over(self) -> bool:
        """Return whether the receiver, or the time, allows no further request."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            return True
        return self._misses >= _MISSES or self._is_unknown or self._wait_s is not None

    def take(self, answer: Answer) -> None:
        """Note the answer to a request."""
        if answer.verdict != "later":
            self._misses = 0
            return
        self._misses += 1
        self._is_unknown = answer.unknown
        self._wait_s = answer.retry_after_s
        if answer.late and self._is_persistent:
            self.timeout_s = min(2 * self.timeout_s, max(_LONGEST_S, self.timeout_s))

    def again(self, number: int) -> bool:
        """Wait, and return whether what was left is to be tried again.

        Args:
            number: how often it was tried, each time with success for a part of it.
        """
        if not self._is_persistent or self._is_unknown:
            return False
        pause_s = min(_PAUSE_S * number, _LONGEST_PAUSE_S)
        if self._wait_s is not None:
            if self._wait_s > _LONGEST_PAUSE_S:
                return False
            pause_s = max(pause_s, self._wait_s)
        time.sleep(pause_s)
        self._misses, self._wait_s = 0, None
        return True


class _Source(Protocol):
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


def send_signal(
    remains: Leftovers,
    signal: Signal,
    senders: Senders,
    attempting: Attempting,
    refused: bool,
    survey: RecoveryReport,
) -> Outcome:
    """Send the spans, or log records, of a dead process, and remove the files that held them.

    Args:
        remains: what the process left. Nothing of these spans is in the journal afterwards, if all
            of them have arrived or are refused.
        signal: what is sent.
        senders: to the destination.
        attempting: how the receiver is tried.
        refused: also send again what the receiver has refused before.
        survey: takes damage.
    """
    waiting, separate = map(remains.sibling, SUFFIXES[signal])
    present = [path for path in (waiting, separate) if os.path.lexists(path)]
    if signal != "traces" and not present[: 2 if refused else 1]:
        return Outcome()
    with suppress(OSError):
        remains.died_ns = max(remains.died_ns, os.lstat(waiting).st_mtime_ns)
    sender = senders[signal]
    size = min(sender.limit, _READ)
    try:
        spooled = _Spooled(remains, signal, waiting, size)
        again = _Refused(separate, size) if refused and separate in present else None
        sources: list[_Source] = [spooled, *([again] if again else [])]
        if signal == "traces":
            sources.append(_Open(remains, spooled, size))
        also = remains.also if signal == "traces" else None
        sent, remaining, rejected, reason = _deliver(sources, sender, attempting, also, separate)
        if again is not None:
            again.rewrite()
    except _Unreadable as error:
        return Outcome(0, 0, str(error), waiting=True, unreadable=True)
    except OSError as error:
        return Outcome(0, 0, error.strerror or str(error), waiting=True)
    if remaining:
        return Outcome(sent, remaining + rejected, reason, waiting=True)
    if signal == "traces":
        remains.note_ended(None)
    try:
        spooled.remove(survey)
    except OSError as error:
        return Outcome(sent, rejected, error.strerror or str(error), waiting=True)
    return Outcome(sent, rejected, reason)


def _deliver(
    sources: Sequence[_Source],
    sender: Sender,
    attempting: Attempting,
    also: str | None,
    separate: Path,
) -> tuple[int, int, int, str]:
    """Send what is in some sources, again and again while that helps.

    Returns:
        the spans that have arrived, that remain, and that were refused, and why.
    """
    sent = rejected = passes = 0
    reason = ""
    while True:
        before = sent + rejected
        remaining = 0
        for source in sources:
            for batch in source.batches():
                if attempting.is_over:
                    remaining += len(batch)
                    source.postponed(batch)
                    continue
                timeout_s, deadline = attempting.timeout_s, attempting.deadline
                answers = attempts(sender, batch, timeout_s, also, deadline)
                last: Answer | None = None
                for part, answer in answers:
                    if answer is not last:  # one answer for all that was not tried any more
                        attempting.take(answer)
                    last = answer
                    if answer.verdict == "accepted" and not answer.rejected:
                        sent += len(part)
                        source.handled(part, arrived=True)
                        continue
                    reason = answer.reason
                    if answer.verdict == "later":
                        remaining += len(part)
                        source.postponed(part)
                    else:
                        rejected += len(part)
                        source.handled(part, arrived=False)
        passes += 1
        if not remaining or sent + rejected == before or not attempting.again(passes):
            return sent, remaining, rejected, reason


class _Unreadable(Exception):
    """A file cannot be read. Nobody knows then which spans have ended."""


class _Spooled:
    """What waits in the spool.

    Raises:
        _Unreadable: the file is there and cannot be read.
    """

    def __init__(self, remains: Leftovers, signal: Signal, path: Path, size: int):
        self._remains = remains
        self._signal: Signal = signal
        self._path = path
        self._size = size
        self._handled = Stretches()
        # A damaged journal: all of the spool is sent.
        with suppress(FileNotFoundError, Damaged), _readable(path):
            self._handled = remains.sent_stretches(signal)
        self._damage = Stretches()
        self._next: list[tuple[int, int]] = []
        self.ended: set[str] = set()
        """Ids of all spans in the file."""

    def batches(self) -> Iterator[Sequence[bytes]]:
        with _readable(self._path), suppress(FileNotFoundError):
            for stretch in frames.read_spool(self._path, self._size):
                if not stretch.spans:
                    self._damage.add(stretch.start, stretch.end)
                    continue
                yield from self._batches_of(stretch)

    def _batches_of(self, stretch: frames.Stretch) -> Iterator[Sequence[bytes]]:
        if self._signal == "traces":
            self.ended.update(map(frames.span_id_of, stretch.spans))
        start = stretch.start
        spans: list[bytes] = []
        places: list[tuple[int, int]] = []
        for span in stretch.spans:
            end = start + 4 + len(span)
            if start not in self._handled:
                spans.append(span)
                places.append((start, end))
            start = end
        for batch in batches(spans, self._size):
            self._next, places = places[: len(batch)], places[len(batch) :]
            yield batch

    def handled(self, spans: Sequence[bytes], arrived: bool) -> None:
        if not arrived:
            _set_apart(self._remains.sibling(SUFFIXES[self._signal].refused), spans)
        start, end = self._pass(spans)
        self._handled.add(start, end)
        self._remains.note_sent(self._signal, SentMark.of(end, spans[-1], start))

    def postponed(self, spans: Sequence[bytes]) -> None:
        self._pass(spans)

    def _pass(self, spans: Sequence[bytes]) -> tuple[int, int]:
        places, self._next = self._next[: len(spans)], self._next[len(spans) :]
        return places[0][0], places[-1][1]

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


class _Refused:
    """What the receiver has refused before."""

    def __init__(self, path: Path, size: int):
        self._path = path
        self._size = size
        with _readable(path):
            self._end = os.lstat(path).st_size
        self._arrived = Stretches()
        self._tried = Stretches()
        self._next: list[tuple[int, int]] = []

    def batches(self) -> Iterator[Sequence[bytes]]:
        with _readable(self._path):
            for stretch in frames.read_spool(self._path, self._size):
                yield from self._batches_of(stretch)

    def _batches_of(self, stretch: frames.Stretch) -> Iterator[Sequence[bytes]]:
        start = stretch.start
        spans: list[bytes] = []
        places: list[tuple[int, int]] = []
        for span in stretch.spans:
            end = start + 4 + len(span)
            if end <= self._end and start not in self._tried:  # else it was refused just now
                spans.append(span)
                places.append((start, end))
            start = end
        for batch in batches(spans, self._size):
            self._next, places = places[: len(batch)], places[len(batch) :]
            yield batch

    def handled(self, spans: Sequence[bytes], arrived: bool) -> None:
        for start, end in self._pass(spans):
            self._tried.add(start, end)
            if arrived:
                self._arrived.add(start, end)

    def postponed(self, spans: Sequence[bytes]) -> None:
        self._pass(spans)

    def _pass(self, spans: Sequence[bytes]) -> list[tuple[int, int]]:
        places, self._next = self._next[: len(spans)], self._next[len(spans) :]
        return places

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


class _Open:
    """The spans that the process left open, closed as incomplete.

    Args:
        remains: what the process left.
        spooled: the spans that have ended, all of them read.
        size: bytes of a batch.
    """

    def __init__(self, remains: Leftovers, spooled: _Spooled, size: int):
        self._remains = remains
        self._ended = spooled.ended
        self._size = size

    def batches(self) -> Iterator[Sequence[bytes]]:
        yield from batches(self._spans(), self._size)

    def _spans(self) -> Iterator[bytes]:
        for document in self._remains.unfinished(self._ended):
            with suppress(ValueError):  # a damaged line of the journal
                yield as_protobuf(document)

    def handled(self, spans: Sequence[bytes], arrived: bool) -> None:
        if not arrived:
            _set_apart(self._remains.sibling(SUFFIXES["traces"].refused), spans)
        ids = [frames.span_id_of(span) for span in spans]
        self._ended.update(ids)
        self._remains.note_ended(ids)

    def postponed(self, spans: Sequence[bytes]) -> None:
        pass


def _set_apart(path: Path, spans: Iterable[bytes]) -> None:
    """Keep what the receiver does not take, whoever sends it, in a file of its own."""
    file = AppendFile(path)
    try:
        file.append(b"".join(map(frames.frame_span, spans)))
    finally:
        file.close()


@contextmanager
def _readable(path: Path) -> Generator[None]:
    """Name a file that cannot be read; that one is missing is another matter.

    Raises:
        _Unreadable: it cannot be read.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _Unreadable(f"{path.name}: {error.strerror or error}") from error
