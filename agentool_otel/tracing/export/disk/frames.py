"""The format of spools: encoded spans or log records, each after its length, and what was sent.

A frame is a length as `uint32` big-endian and a request of one span, the framing of the Collector's
file exporter. Damage costs the frame that has it: reading goes on with the next frame that is
whole. Below, "spans" means log records, too.
"""

from __future__ import annotations

import os
import struct
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from agentool_otel.ground.ownership import open_own
from agentool_otel.otlp.protobuf_encoder import WholeRequests, is_whole, span_of
from agentool_otel.otlp.varints import from_bytes

__all__ = [
    "SentMark",
    "Stretch",
    "Stretches",
    "frame_pieces",
    "frame_span",
    "frames",
    "read_spool",
    "sent_stretches",
    "span_id_of",
    "stretches",
]

_length = struct.Struct(">I").pack

_LARGEST = 1 << 28
"""Bytes of a span, within reason."""
_TAG = 0x0A
"""The first byte of a request: the tag of its only field."""
_SHORTEST = 8
"""Bytes of a request, at least."""
_HEADER = 4 + 1 + 5
"""Bytes of a frame that show its length twice."""
_SCANNED = 1 << 20
"""Bytes that are searched for a frame at once."""

Read = Callable[[int, int], bytes]
"""Returns up to so many bytes of a file from a position."""


class SentMark(NamedTuple):
    """Spans in a spool that have been sent, from one position to another.

    The mark outlives the file: a file that was cut, or replaced, since then has another span there.
    """

    end: int
    """Position behind the last of these spans."""
    size: int
    """Bytes of the last span."""
    checksum: int
    """CRC-32 of the last span."""
    start: int = 0
    """Position of the first of these spans."""

    @classmethod
    def of(cls, end: int, last: bytes, start: int = 0) -> SentMark:
        return cls(end, len(last), zlib.crc32(last), start)


class Stretch(NamedTuple):
    """Spans that follow one another in a file, or bytes in which no span can be read."""

    start: int
    end: int
    spans: list[bytes]
    """Empty where the file is damaged."""


class Stretches:
    """Positions of a file, as few stretches as possible."""

    def __init__(self, known: Iterable[tuple[int, int]] = ()):
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in known:
            self.add(start, end)

    def add(self, start: int, end: int) -> None:
        """Add the positions from `start` up to `end`."""
        first = bisect_right(self._ends, start - 1)
        last = bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last], self._ends[first:last] = [start], [end]

    def __contains__(self, position: int) -> bool:
        at = bisect_right(self._starts, position) - 1
        return at >= 0 and position < self._ends[at]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(list(zip(self._starts, self._ends, strict=True)))

    def __len__(self) -> int:
        """Return the number of positions."""
        return sum(self._ends) - sum(self._starts)


def frame_span(span: bytes) -> bytes:
    """Return an encoded span after its length."""
    return len(span).to_bytes(4, "big") + span


def frame_pieces(span: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return an encoded span, which comes in pieces, after its length."""
    return (_length(sum(map(len, span))), *span)


def frames(data: bytes) -> Iterator[bytes]:
    """Yield the spans whose frames are complete; damage ends it."""
    at = 0
    while at + 4 < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        if end > len(data) or data[at + 4] != _TAG:
            return
        yield data[at + 4 : end]
        at = end


def span_id_of(span: bytes) -> str:
    """Return the id of an encoded span, in hex."""
    # Its message begins with the trace id (tag, length, 16 bytes), then the span id.
    return span_of(span)[20:28].hex()


def read_spool(path: Path, size: int) -> Iterator[Stretch]:
    """Yield the contents of a spool in stretches of about `size` bytes.

    A frame that the process was killed in, at the end of the file, is left out.

    Raises:
        NotOurs: the file was not made here.
        OSError: it cannot be read.
    """
    with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:

        def read(start: int, most: int) -> bytes:
            file.seek(start)
            return file.read(most)

        yield from stretches(read, 0, os.fstat(file.fileno()).st_size, size)


def stretches(read: Read, at: int, end: int, size: int) -> Iterator[Stretch]:
    """Yield what is between two positions of a file, in stretches of about `size` bytes.

    Args:
        read: reads the file.
        at: the position of a frame.
        end: the end of the file.
        size: bytes that are read at once; a larger span is read whole.
    """
    requests = WholeRequests()
    while at < end:
        length = int.from_bytes(read(at, 4), "big")
        is_large = size < 4 + length <= min(end - at, _LARGEST)
        data = read(at, 4 + length if is_large else size)
        spans: list[bytes] = []
        after = at
        for span in frames(data):
            if not requests.has(span):
                break
            spans.append(span)
            after += 4 + len(span)
        if spans and after < end and not _may_begin(read, after, end):
            start = after - 4 - len(spans[-1])
            if (_next_frame(read, start + 1, end) or end) < after:
                spans.pop()  # torn: it has swallowed the beginning of the next frame
                after = start
        if spans:
            yield Stretch(at, after, spans)
            at = after
            continue
        found = _next_frame(read, at + 1, end)
        if found is None:
            if not _is_cut(read, at, end):
                yield Stretch(at, end, [])
            return
        yield Stretch(at, found, [])
        at = found


def _may_begin(read: Read, at: int, end: int) -> bool:
    """Return whether the bytes at a position are the beginning of a frame, as far as they go."""
    header = read(at, _HEADER)
    if len(header) < _HEADER and end - at < _HEADER:
        return True
    return _has_length(header, 4, int.from_bytes(header[:4], "big"))


def _is_cut(read: Read, at: int, end: int) -> bool:
    """Return whether the last bytes are the beginning of a frame, and not all of it."""
    length = int.from_bytes(read(at, 4), "big")
    return end - at < 4 + length and _may_begin(read, at, end)


def _has_length(data: bytes, at: int, length: int) -> bool:
    """Return whether the request that begins at a position of some bytes states a length."""
    if data[at : at + 1] != b"\x0a":
        return False
    try:
        size, begin = from_bytes(data, at + 1)
    except (ValueError, IndexError):
        return False
    return begin - at + size == length


def _next_frame(read: Read, at: int, end: int) -> int | None:
    """Return the position of the first whole frame from a position on."""
    while at + 4 + _SHORTEST <= end:
        data = read(at, _SCANNED)
        tag = data.find(_TAG, 4)
        while 0 <= tag < len(data) - _SHORTEST:
            length = int.from_bytes(data[tag - 4 : tag], "big")
            start = at + tag - 4
            fits = _SHORTEST <= length <= _LARGEST and start + 4 + length <= end
            if fits and _has_length(data, tag, length) and is_whole(read(start + 4, length)):
                return start
            tag = data.find(_TAG, tag + 1)
        if at + len(data) >= end:
            return None
        at += len(data) - 4 - _SHORTEST - 10
    return None


def sent_stretches(path: Path, marks: Iterable[SentMark]) -> Stretches:
    """Return the parts of a spool that have been sent, by the marks that fit it.

    Raises:
        NotOurs: the file was not made here.
        OSError: it cannot be read.
    """
    with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:
        total = os.fstat(file.fileno()).st_size
        sent = Stretches()
        for mark in marks:
            begin = mark.end - mark.size - 4
            is_inside = 0 <= mark.start <= begin < mark.end <= total
            if not is_inside or not 0 < mark.size < _LARGEST:
                continue
            file.seek(begin)
            frame = file.read(4 + mark.size)
            size = mark.size.to_bytes(4, "big")
            if frame[:4] == size and zlib.crc32(frame[4:]) == mark.checksum:
                sent.add(mark.start, mark.end)
        return sent
