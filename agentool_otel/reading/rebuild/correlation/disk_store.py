"""Disk-backed store of spans whose run is not known yet.

What is on disk has no name, and is gone when it is closed or the process ends.
"""

from __future__ import annotations

import pickle
import tempfile
from array import array
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from heapq import merge
from operator import attrgetter
from typing import IO, Any, Generic, TypeVar

import msgspec

from agentool_otel.ground.temporary import room
from agentool_otel.model.spans import SpanRecord

__all__ = ["LARGEST", "Group", "Packed", "Rows", "Sorted", "Units", "unpacked"]

LARGEST = (1 << 63) - 1
"""Integer that a row holds."""

_IN_MEMORY = 1 << 20
"""Bytes of each that are held in memory."""
_INTEGER = 8
_UNITS = 1 << 14
"""Approximate number of units that are sorted at once."""
_BLOCK = 64
"""Groups or records that are read again at once when parts are merged."""
_RECORDS = 1 << 13
"""Records that are sorted at once."""

Packed = bytes
"""A span as it is kept on disk."""
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(SpanRecord).decode


class Group(msgspec.Struct, array_like=True, gc=False):
    """Units that belong together."""

    order: bytes
    """Of the first unit."""
    units: list[int]
    """In their order."""
    places: list[tuple[int, int]]
    """Of their spans, in the same order."""


_unpack_groups = msgspec.msgpack.Decoder(list[Group]).decode


class Units:
    """Spans of numbered units, until it is known which units belong together."""

    def __init__(self) -> None:
        self._spans = _Bytes()
        """Before the first span of a unit lies its order."""
        self._places = Rows(4)
        """The unit, where the order begins and how long it is, 0 for what is not the first span of
        its unit, and how long the span is that follows."""
        self._index = _Bytes()

    def add(self, unit: int, span: SpanRecord, order: str = "") -> None:
        """Keep a span of a unit.

        Args:
            unit: its number.
            span: the span.
            order: a text by which units are sorted; with the first span of a unit.

        Raises:
            SourceError: the temporary folder is full.
        """
        first, data = order.encode("utf-8", "surrogatepass"), _packed(span)
        self._places.add(0, unit, self._spans.put(first + data), len(first), len(data))

    def get(self, group: Group) -> list[Packed]:
        """Return the spans of a group."""
        return [self._spans.get(*place) for place in group.places]

    def firsts(self) -> Iterator[tuple[int, SpanRecord]]:
        """Yield each unit with its first span; nothing can be added any more."""
        for unit, start, order, size in self._places.of(0):
            if order:
                yield unit, unpacked(self._spans.get(start + order, size))

    def spans(self) -> Iterator[tuple[int, SpanRecord, bool]]:
        """Yield each span with its unit, and whether it is the first one of that."""
        for unit, start, order, size in self._places.of(0):
            yield unit, unpacked(self._spans.get(start + order, size)), bool(order)

    def groups(
        self, group_of: Callable[[int], int], units: int, without: Container[int] = ()
    ) -> Iterator[Group]:
        """Yield the units that belong together, in order of the first one; nothing can be added
        any more.

        Args:
            group_of: gives the number of a unit's group.
            units: how many there are.
            without: units that are left out.

        Raises:
            SourceError: the temporary folder is full.
        """
        parts = 1 + units // _UNITS
        places = Rows(5, parts)
        try:
            for unit, *place in self._places.of(0):
                if unit not in without:
                    group = group_of(unit)
                    places.add(group % parts, group, unit, *place)
            ordered: list[Iterable[Group]] = []
            for part in range(parts):
                groups = self._groups(places.of(part))
                ordered.append(self._read_again(groups) if parts > 1 else groups)
        finally:
            places.close()
        return merge(*ordered, key=attrgetter("order"))

    def _groups(self, rows: Iterator[tuple[int, ...]]) -> list[Group]:
        """Return the groups of a part, in order."""
        by_group: dict[int, dict[int, list[tuple[int, int]]]] = defaultdict(
            lambda: defaultdict(list)
        )
        orders: dict[int, bytes] = {}
        for group, unit, start, order, size in rows:
            if order:
                orders[unit] = self._spans.get(start, order)
            by_group[group][unit].append((start + order, size))
        groups: list[Group] = []
        for members in by_group.values():
            units = sorted(members, key=orders.__getitem__)
            places = [place for unit in units for place in members[unit]]
            groups.append(Group(orders[units[0]], units, places))
        return sorted(groups, key=attrgetter("order"))

    def _read_again(self, groups: list[Group]) -> Iterator[Group]:
        """Write groups to disk at once, and yield them on demand."""
        blocks: list[tuple[int, int]] = []
        for at in range(0, len(groups), _BLOCK):
            data = _pack(groups[at : at + _BLOCK])
            blocks.append((self._index.put(data), len(data)))
        return (group for block in blocks for group in _unpack_groups(self._index.get(*block)))

    def close(self) -> None:
        self._spans.close()
        self._places.close()
        self._index.close()


def _packed(span: SpanRecord) -> Packed:
    try:
        return b"m" + _pack(span)
    except (OverflowError, UnicodeEncodeError, TypeError):  # 65-bit integers, lone surrogates
        return b"p" + pickle.dumps(span)


def unpacked(data: Packed) -> SpanRecord:
    if data[:1] == b"p":
        kept: SpanRecord = pickle.loads(data[1:])  # written by ourselves into a private file
        return kept
    return _unpack(data[1:])


class Rows:
    """Rows of signed 64-bit integers, divided into parts. All are added before a part is read."""

    def __init__(self, width: int, parts: int = 1):
        """Make room for rows of `width` integers in so many parts."""
        self._width = width
        self._waiting: list[array[int]] = []
        """By part, rows that are not on disk; empty until the first one is added."""
        self._count = parts
        self._most = _IN_MEMORY // (_INTEGER * width)
        self._room = self._most
        self._on_disk = _Bytes()
        self._blocks: list[list[tuple[int, int]]] = []

    def add(self, part: int, *row: int) -> None:
        """Add a row to a part.

        Raises:
            SourceError: the temporary folder is full.
        """
        if not self._waiting:
            self._waiting = [array("q") for _ in range(self._count)]
            self._blocks = [[] for _ in range(self._count)]
        self._waiting[part].extend(row)
        self._room -= 1
        if not self._room:
            self._settle()

    def _settle(self) -> None:
        for waiting, blocks in zip(self._waiting, self._blocks, strict=True):
            if waiting:
                blocks.append((self._on_disk.put(waiting.tobytes()), len(waiting) * _INTEGER))
                del waiting[:]
        self._room = self._most

    def parts(self) -> Iterator[int]:
        """Yield the parts that have rows: of a small file that is hardly one."""
        for part, (waiting, blocks) in enumerate(zip(self._waiting, self._blocks, strict=True)):
            if waiting or blocks:
                yield part

    def of(self, part: int) -> Iterator[tuple[int, ...]]:
        """Yield the rows of a part in the order they were added."""
        if not self._waiting:
            return
        for start, size in self._blocks[part]:
            block = array("q")
            block.frombytes(self._on_disk.get(start, size))
            yield from self._cut(block)
        yield from self._cut(self._waiting[part])

    def _cut(self, block: array[int]) -> Iterator[tuple[int, ...]]:
        numbers = iter(block)
        return zip(*[numbers] * self._width, strict=True)

    def close(self) -> None:
        self._on_disk.close()


T = TypeVar("T")


class Sorted(Generic[T]):
    """Records in order, read again any number of times. All are added before one is read.

    Args:
        kind: the type of a record, a Struct.
        key: by which they are sorted.
    """

    def __init__(self, kind: type[T], key: Callable[[T], Any]):
        self._key = key
        self._decode = msgspec.msgpack.Decoder(list[kind]).decode  # type: ignore[valid-type]
        self._waiting: list[T] = []
        self._runs: list[list[tuple[int, int]]] = []
        """Of each sorted run on disk, the places of its blocks."""
        self._on_disk = _Bytes()

    def add(self, record: T) -> None:
        """Add a record.

        Raises:
            SourceError: the temporary folder is full.
        """
        self._waiting.append(record)
        if len(self._waiting) >= _RECORDS:
            self._waiting.sort(key=self._key)
            blocks: list[tuple[int, int]] = []
            for at in range(0, len(self._waiting), _BLOCK):
                data = _pack(self._waiting[at : at + _BLOCK])
                blocks.append((self._on_disk.put(data), len(data)))
            self._runs.append(blocks)
            self._waiting = []

    def __iter__(self) -> Iterator[T]:
        self._waiting.sort(key=self._key)
        return merge(*map(self._read, self._runs), self._waiting, key=self._key)

    def _read(self, blocks: list[tuple[int, int]]) -> Iterator[T]:
        for block in blocks:
            yield from self._decode(self._on_disk.get(*block))

    def close(self) -> None:
        self._on_disk.close()


class _Bytes:
    """Pieces of bytes, got again by their places. All are put before one is got."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._end = 0

    def put(self, data: bytes) -> int:
        """Keep bytes and return where they begin.

        Raises:
            SourceError: the temporary folder is full.
        """
        start = self._end
        with room:
            if self._file is None:
                self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
            self._file.write(data)
        self._end += len(data)
        return start

    def get(self, start: int, size: int) -> bytes:
        """Return the bytes of a place."""
        if self._file is None:
            return b""
        with room:
            self._file.seek(start)
        return self._file.read(size)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
