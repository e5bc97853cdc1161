"""Spans on disk, sorted by a hash of their trace id.

They lie in blocks of one temporary file without a name, which is gone when the process is, however
that ends. A block holds spans of one bucket, so that a bucket is read back without the others.
"""

from __future__ import annotations

import pickle
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import IO, Any, NamedTuple
from zlib import crc32

import msgspec
from msgspec.structs import astuple

from agentool_otel.ground.temporary import room
from agentool_otel.model.spans import Attributes, Damage, SpanEvent, SpanLink, SpanRecord
from agentool_otel.reading.sources.files.undecoded import Decoder, UndecodedSpan
from agentool_otel.reading.sources.grouping.span_size import SpanSizes

__all__ = ["LEVELS", "Bucket", "Spill"]

_BITS = 8
"""Of the hash, for each level of splitting."""
_MASK = (1 << _BITS) - 1
LEVELS = 32 // _BITS
_WAITING = 1 / 4
"""Of the budget, for spans that wait until they fill a block."""

_Row = tuple[
    str, str, str | None, str, str, int | None, int | None, Attributes, list[SpanEvent],
    list[SpanLink], str, str | None, str, int, tuple[Damage, ...], bool, bool,
]  # fmt: skip
"""A span: the fields of SpanRecord, the resource as its place in the block."""
_RESOURCE = -4
"""Index of the resource among them."""
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
        with room:
            self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._end = 0
        self._shift = level * _BITS
        self._decoders: dict[Decoder, int] = {}
        self._most_waiting = int(_WAITING * budget_bytes)
        self._buckets: dict[int, Bucket] = {}

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *_: object) -> None:
        self._buckets.clear()  # they refer to this, and what they hold is let go of at once
        with suppress(OSError):  # a full disk does not take the rest either, and nobody needs it
            self._file.close()

    def add(self, spans: Iterable[_Span]) -> None:
        """Add spans. The data of those that can be read again are not copied.

        Raises:
            SourceError: the temporary folder is full.
        """
        waiting: dict[int, list[_Span]] = defaultdict(list)
        size, shift, sizes = 0, self._shift, SpanSizes()
        for span in spans:
            waiting[crc32(span.trace_id.encode("utf-8", "replace")) >> shift & _MASK].append(span)
            size += sizes.of(span)
            if size > self._most_waiting:
                self._write(waiting)
                size = 0
        self._write(waiting)

    def buckets(self) -> list[Bucket]:
        """Return the buckets that have spans, in an order that does not depend on theirs."""
        return [self._buckets[number] for number in sorted(self._buckets)]

    def _write(self, waiting: dict[int, list[_Span]]) -> None:
        """Write a block to every bucket that spans wait for."""
        for number, spans in waiting.items():
            bucket = self._buckets.get(number)
            if bucket is None:
                bucket = self._buckets[number] = Bucket(self)
            parts = self._encode(spans)
            data = b"".join(parts)
            bucket.take(spans, _Place(self._end, len(parts[0]), len(data)))
            with room:
                self._file.write(data)
            self._end += len(data)
        with room:
            self._file.flush()
        waiting.clear()

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
        by_number: list[Attributes] = []
        for raw in map(bytes, raws):
            if raw not in resources:
                resources[raw] = _decode_resource(raw)
            by_number.append(resources[raw])
        decoders = list(self._decoders)
        spans: list[_Span] = []
        for trace_id, length, scope, number, line, decoder, place in undecoded:
            span = b""
            if place < 0:
                span = data[at : at + length]
                at += length
            spans.append(
                UndecodedSpan(
                    trace_id, span, scope, by_number[number], line, decoders[decoder], place, length
                )
            )
        for row in rows:
            fields: list[Any] = list(row)
            fields[_RESOURCE] = by_number[fields[_RESOURCE]]
            spans.append(SpanRecord(*fields))
        return spans

    def _encode(self, spans: list[_Span]) -> list[bytes]:
        """Return the parts to decode at once, and then the ones to cut into pieces."""
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
                    index = decoders.setdefault(decoder, len(decoders))
                    undecoded.append((trace_id, length, scope, number, line, index, at))
                else:
                    fields = list(astuple(span))
                    fields[_RESOURCE] = number
                    rows.append(tuple(fields))
            return [_encode((resources, undecoded, rows)), *data]
        except (TypeError, ValueError, OverflowError):  # 65-bit integers, lone surrogates
            decoded = (span.decode() if isinstance(span, UndecodedSpan) else span for span in spans)
            return [_PICKLED + pickle.dumps([span for span in decoded if span is not None])]


class _Place(NamedTuple):
    """Offset and length of a block in the file, in bytes."""

    at: int
    head: int
    """Up to the data of undecoded spans."""
    length: int


class Bucket:
    """Spans whose traces share a part of their hash."""

    def __init__(self, spill: Spill):
        self.size = 0
        """In memory, about."""
        self.several = False
        """Whether there are spans of more than one trace."""
        self._spill = spill
        self._trace_id: str | None = None
        self._blocks: list[_Place] = []

    def take(self, spans: list[_Span], place: _Place) -> None:
        """Take a block of spans."""
        self._blocks.append(place)
        if self._trace_id is None:
            self._trace_id = spans[0].trace_id
        self.several = self.several or any(span.trace_id != self._trace_id for span in spans)
        self.size += sum(map(SpanSizes().of, spans))

    def spans(self) -> Iterator[_Span]:
        """Yield the spans."""
        resources: dict[bytes, Attributes] = {}
        for block in self._blocks:
            yield from self._spill.read(block, resources)
