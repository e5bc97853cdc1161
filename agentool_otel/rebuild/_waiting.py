"""Spans that wait for others: on disk, in memory as long as they are few."""

from __future__ import annotations

import pickle
import tempfile
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from agentool_otel.model.spans import SpanRecord

__all__ = ["Packed", "Places", "Store", "packed", "unpacked"]

_SPOOL = 16 << 20
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(SpanRecord).decode

Packed = bytes
"""A span as it is kept on disk."""


def packed(span: SpanRecord) -> Packed:
    try:
        return b"m" + _pack(span)
    except (OverflowError, UnicodeEncodeError, TypeError):  # 65-bit integers, lone surrogates
        return b"p" + pickle.dumps(span)


def unpacked(data: Packed) -> SpanRecord:
    if data[:1] == b"p":
        kept: SpanRecord = pickle.loads(data[1:])  # written by ourselves into a private file
        return kept
    return _unpack(data[1:])


class Places:
    """Where the spans of every unit are kept."""

    def __init__(self) -> None:
        self._units = array("q")
        self._starts = array("q")
        self._sizes = array("q")

    def add(self, unit: int, place: tuple[int, int]) -> None:
        self._units.append(unit)
        self._starts.append(place[0])
        self._sizes.append(place[1])

    def by_unit(self) -> Callable[[int], Iterator[tuple[int, int]]]:
        """Return a function that gives the places of a unit."""
        entries = sorted(range(len(self._units)), key=self._units.__getitem__)
        ordered = array("q", (self._units[entry] for entry in entries))

        def of(unit: int) -> Iterator[tuple[int, int]]:
            for at in range(bisect_left(ordered, unit), bisect_right(ordered, unit)):
                yield self._starts[entries[at]], self._sizes[entries[at]]

        return of


class Store:
    """Spans on disk, in memory as long as they are few."""

    def __init__(self) -> None:
        self._file: Any = None
        self._end = 0

    def put(self, span: SpanRecord) -> tuple[int, int]:
        data = packed(span)
        if self._file is None:
            self._file = tempfile.SpooledTemporaryFile(_SPOOL)  # noqa: SIM115 - `close` closes it
        self._file.write(data)  # at the end: all is put before anything is got
        place = (self._end, len(data))
        self._end += len(data)
        return place

    def get(self, start: int, size: int) -> Packed:
        self._file.seek(start)
        data: Packed = self._file.read(size)
        return data

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
