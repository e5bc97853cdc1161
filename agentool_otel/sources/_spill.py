"""Spans on disk, sorted by a hash of their trace id.

They lie in blocks of one temporary file without a name, which is gone when the process is, however
that ends. A block holds spans of one bucket, so that a bucket is read back without the others.
"""

from __future__ import annotations

import errno
import pickle
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple
from zlib import crc32

import msgspec
from msgspec.structs import astuple

from agentool_otel.errors import SourceError
from agentool_otel.model.spans import Attributes, SpanEvent, SpanLink, SpanRecord
from agentool_otel.sources._span_size import span_size
from agentool_otel.sources._undecoded import Decoder, UndecodedSpan

__all__ = ["LEVELS", "Bucket", "Spill"]

_BITS = 8
"""Of the hash, for each level of splitting."""
LEVELS = 32 // _BITS
_WAITING = 1 / 4
"""Of the budget, for spans that wait until they fill a block."""

_Row = tuple[
    str, str, str | None, str, str, int | None, int | None, Attributes, list[SpanEvent],
    list[SpanLink], str, str | None, str, int,
]  # fmt: skip
"""A span: the fields of SpanRecord, the last one, the resource, as its place in the block."""
_UndecodedRow = tuple[str, int, str, int, int, int, int]
"""The same for UndecodedSpan: with the length of its data, and the number of its decoder. The data
follow, unless they can be read again from where they came."""
_Block = tuple[list[msgspec.Raw], list[_UndecodedRow], list[_Row]]
"""Resources, encoded by themselves, and the spans that refer to them."""

_PICKLED = b"\xc1"
"""Begins a block that is pickled; nothing begins with it in MessagePack."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Block).decode
_decode_resource = msgspec.msgpack.Decoder(Attributes).decode

_Span = SpanRecord | UndecodedSpan


class Spill:
    """Buckets of spans, those of a trace in one of them. Holds an open file until it is closed."""

    def __init__(self, budget_bytes: int, level: int = 0):
        """Open the file.

        Args:
            budget_bytes: what may be held in memory.
            level: how often these spans were split before: another part of the hash splits them.

        Raises:
            SourceError: the temporary folder is full.
        """
        with _room():
            self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._end = 0
        self._shift = level * _BITS
        self._decoders: dict[Decoder, int] = {}
        block = int(_WAITING * budget_bytes) >> _BITS
        self._buckets = [Bucket(self, block) for _ in range(1 << _BITS)]

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *_: object) -> None:
        self._buckets.clear()  # they refer to this, and what they hold is let go of at once
        with suppress(OSError):  # a full disk does not take the rest either, and nobody needs it
            self._file.close()

    def add(self, spans: Iterable[_Span]) -> None:
        """Add spans. The data of those that can be read again are let go of.

        Raises:
            SourceError: the temporary folder is full.
        """
        buckets, shift, mask = self._buckets, self._shift, len(self._buckets) - 1
        for span in spans:
            trace_id = span.trace_id
            if isinstance(span, UndecodedSpan) and span.at >= 0:
                span.data = b""
            buckets[crc32(trace_id.encode("utf-8", "replace")) >> shift & mask].add(trace_id, span)

    def buckets(self) -> Iterator[Bucket]:
        """Yield the buckets that have spans."""
        return (bucket for bucket in self._buckets if bucket.size)

    def write(self, spans: list[_Span]) -> _Place:
        """Write a block of spans, and return where it lies.

        Raises:
            SourceError: the temporary folder is full.
        """
        parts = self._encoded(spans)
        data = b"".join(parts)
        with _room():
            self._file.write(data)
            self._file.flush()
        at = self._end
        self._end += len(data)
        return _Place(at, len(parts[0]), len(data))

    def read(self, block: _Place, resources: dict[bytes, Attributes]) -> list[_Span]:
        """Return the spans of a block.

        Args:
            block: what `write` returned.
            resources: those that are known, and shared by the spans that are read.
        """
        self._file.seek(block.at)
        data = self._file.read(block.length)
        at = block.head
        if data.startswith(_PICKLED):
            pickled: list[_Span] = pickle.loads(data[len(_PICKLED) :])  # by ourselves, for us
            return pickled
        raws, undecoded, rows = _decode(data[:at])
        found: list[Attributes] = []
        for raw in map(bytes, raws):
            if raw not in resources:
                resources[raw] = _decode_resource(raw)
            found.append(resources[raw])
        decoders = list(self._decoders)
        spans: list[_Span] = []
        for trace_id, length, scope, number, line, known, place in undecoded:
            span = b""
            if place < 0:
                span = data[at : at + length]
                at += length
            spans.append(
                UndecodedSpan(
                    trace_id, span, scope, found[number], line, decoders[known], place, length
                )
            )
        for row in rows:
            fields: list[Any] = list(row)
            fields[-1] = found[fields[-1]]
            spans.append(SpanRecord(*fields))
        return spans

    def _encoded(self, spans: list[_Span]) -> list[bytes]:
        """Return what is decoded at once, and then what is cut into pieces."""
        numbers: dict[int, int] = {}
        resources: list[msgspec.Raw] = []
        undecoded: list[_UndecodedRow] = []
        data: list[bytes] = []
        rows: list[tuple[Any, ...]] = []
        decoders = self._decoders
        try:
            for span in spans:
                resource = span.resource  # one object for all the spans of a batch
                number = numbers.setdefault(id(resource), len(resources))
                if number == len(resources):
                    resources.append(msgspec.Raw(_encode(resource)))
                if isinstance(span, UndecodedSpan):
                    trace_id, json, scope, _, line, decoder, at, length = astuple(span)
                    if at < 0:
                        data.append(json)
                        length = len(json)
                    known = decoders.setdefault(decoder, len(decoders))
                    undecoded.append((trace_id, length, scope, number, line, known, at))
                else:
                    rows.append((*astuple(span)[:-1], number))
            return [_encode((resources, undecoded, rows)), *data]
        except (TypeError, ValueError, OverflowError):  # 65-bit integers, lone surrogates
            decoded = (span.decode() if isinstance(span, UndecodedSpan) else span for span in spans)
            return [_PICKLED + pickle.dumps([span for span in decoded if span is not None])]


@contextmanager
def _room() -> Generator[None]:
    """Say of a full disk what helps."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise SourceError(
            f"no space left in {tempfile.gettempdir()} to sort the spans; "
            "hint: set TMPDIR to a larger disk"
        ) from error


class _Place(NamedTuple):
    """Where a block lies in the file, in bytes."""

    at: int
    head: int
    """Up to the data of undecoded spans."""
    length: int


class Bucket:
    """Spans whose traces share a part of their hash."""

    __slots__ = ("_block", "_blocks", "_due", "_spill", "_trace_id", "_waiting", "several", "size")

    def __init__(self, spill: Spill, block: int):
        self.size = 0
        """In memory, about."""
        self.several = False
        """Whether there are spans of more than one trace."""
        self._spill = spill
        self._block = self._due = block
        self._trace_id: str | None = None
        self._waiting: list[_Span] = []
        self._blocks: list[_Place] = []

    def add(self, trace_id: str, span: _Span) -> None:
        if trace_id != self._trace_id:
            self.several = self._trace_id is not None
            self._trace_id = trace_id
        self.size += span_size(span)
        self._waiting.append(span)
        if self.size >= self._due:
            self._due = self.size + self._block
            self._blocks.append(self._spill.write(self._waiting))
            self._waiting = []

    def spans(self) -> Iterator[_Span]:
        """Yield the spans, once."""
        resources: dict[bytes, Attributes] = {}
        for block in self._blocks:
            yield from self._spill.read(block, resources)
        waiting, self._waiting = self._waiting, []
        yield from waiting
