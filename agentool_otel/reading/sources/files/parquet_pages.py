"""Sizes of the row groups and pages of a Parquet file, from its own headers.

The footer has sizes of column chunks, but a reader allocates what each page's header says. A value
is never larger than its page, though a dictionary or a shared prefix repeats it in every row.

pyarrow's metadata of a column chunk end the process if they contradict each other, so the footer is
read here.

Source: apache/parquet-format src/main/thrift/parquet.thrift `FileMetaData`, `PageHeader`;
apache/thrift doc/specs/thrift-compact-protocol.md.
"""

from __future__ import annotations

from collections.abc import Callable
from io import SEEK_END
from typing import Any, BinaryIO, NamedTuple

__all__ = ["Chunk", "RowGroup", "largest_page", "row_groups"]

_DAMAGED = "the header of a page is damaged"
_DAMAGED_FOOTER = "its footer is damaged"
_WINDOWS = (1 << 9, 1 << 16, 1 << 20)
"""Bytes that a header is looked for in: it may have the smallest and the largest value."""
_VALUE = 8
"""Bytes that a value inside a list takes at least: one row may have millions, all of them null."""
_DEEP = 16

_Struct = dict[int, Any]
"""Fields of a struct by their numbers."""


class Chunk(NamedTuple):
    """Column chunk."""

    begin: int
    end: int
    is_flat: bool
    """Whether its values are in no list and no object."""


class RowGroup(NamedTuple):
    """Row group."""

    rows: int
    chunks: list[Chunk]


def row_groups(file: BinaryIO) -> list[RowGroup]:
    """Return the row groups of a file.

    Raises:
        ValueError: the footer is damaged.
    """
    end = file.seek(0, SEEK_END)
    file.seek(max(0, end - 8))
    size = int.from_bytes(file.read(4), "little")
    if size > end - 8:
        raise ValueError(_DAMAGED_FOOTER)
    file.seek(end - 8 - size)
    try:
        footer, _ = _struct(file.read(size), 0)
        return [_row_group(group, end) for group in footer.get(4, [])]
    except (IndexError, KeyError, TypeError, AttributeError, ValueError):
        raise ValueError(_DAMAGED_FOOTER) from None


def _row_group(group: _Struct, end: int) -> RowGroup:
    chunks: list[Chunk] = []
    for column in group[1]:
        meta = column[3]
        begin, first = int(meta[9]), int(meta.get(11) or 0)
        if 0 < first < begin:
            begin = first
        chunks.append(Chunk(begin, min(end, begin + int(meta[7])), len(meta[3]) == 1))
    return RowGroup(int(group[3]), chunks)


def largest_page(file: BinaryIO, chunk: Chunk) -> int:
    """Return the bytes in memory of the largest page of a column chunk.

    Raises:
        ValueError: the header of a page is damaged.
    """
    at = chunk.begin
    largest = 0
    while at < chunk.end:
        page, header = _page(file, at)
        counts = [page[field][1] for field in (5, 8) if field in page]
        values = 0 if chunk.is_flat else max([0, *counts])
        largest = max(largest, page[2], _VALUE * values)
        at += header + page[3]
    return largest


def _page(file: BinaryIO, at: int) -> tuple[_Struct, int]:
    """Return the header of a page, and its size."""
    for window in _WINDOWS:
        file.seek(at)
        data = file.read(window)
        try:
            page, end = _struct(data, 0)
            if min(page[2], page[3], *(page[field][1] for field in (5, 8) if field in page)) < 0:
                break
        except IndexError:
            continue  # it is longer, or the file ends
        except (KeyError, TypeError, ValueError):
            break
        return page, end
    raise ValueError(_DAMAGED)


# -------------------------------------------------------------------- thrift's compact protocol


def _struct(data: bytes, at: int, depth: int = 0) -> tuple[_Struct, int]:
    """Return a struct, and where it ends.

    Raises:
        IndexError: the data end first.
        ValueError: it is no struct.
    """
    if depth > _DEEP:
        raise ValueError("nested too deeply")
    fields: _Struct = {}
    number = 0
    while (head := data[at]) != 0:
        at += 1
        kind, delta = head & 15, head >> 4
        if delta:
            number += delta
        else:
            number, at = _integer(data, at)
        if kind in (1, 2):
            fields[number] = kind == 1
        else:
            fields[number], at = _value(data, at, kind, depth)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    read = _READERS.get(kind)
    if read is None:
        raise ValueError("an unknown type")
    return read(data, at, depth)


def _list(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    size, kind = data[at] >> 4, data[at] & 15
    at += 1
    if size == 15:
        size, at = _varint(data, at)
    if size > len(data) - at:
        raise IndexError("a list is longer than the data")
    items: list[Any] = []
    for _ in range(size):
        item, at = (data[at], at + 1) if kind in (1, 2) else _value(data, at, kind, depth)
        items.append(item)
    return items, at


def _binary(data: bytes, at: int, _: int = 0) -> tuple[int, int]:
    """Return the size of a text, and where it ends: no text is needed."""
    size, at = _varint(data, at)
    if size > len(data) - at:
        raise IndexError("a text is longer than the data")
    return size, at + size


def _integer(data: bytes, at: int, _: int = 0) -> tuple[int, int]:
    raw, at = _varint(data, at)
    return raw >> 1 ^ -(raw & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")


def _inner(data: bytes, at: int, depth: int) -> tuple[_Struct, int]:
    return _struct(data, at, depth + 1)


_READERS: dict[int, Callable[[bytes, int, int], tuple[Any, int]]] = {
    3: lambda data, at, _: (data[at], at + 1),
    4: _integer,
    5: _integer,
    6: _integer,
    7: lambda data, at, _: (0.0, at + 8),
    8: _binary,
    9: _list,
    10: _list,
    12: _inner,
}
"""Readers of types; maps are in no struct of Parquet."""
