"""Sizes of the pages of a Parquet file, from their own headers.

The footer has sizes of column chunks, but a reader allocates what each page's header says. A value
is never larger than its page, though a dictionary or a shared prefix repeats it in every row.

Source: apache/parquet-format src/main/thrift/parquet.thrift `PageHeader`; apache/thrift
doc/specs/thrift-compact-protocol.md.
"""

from __future__ import annotations

from typing import Any, BinaryIO

__all__ = ["largest_page"]

_WINDOWS = (1 << 9, 1 << 16, 1 << 20)
"""Bytes that a header is looked for in: it may have the smallest and the largest value."""
_SIZE, _PACKED = 2, 3
"""Fields of the header of a page."""
_COUNTS = (501, 801)
"""The number of values in a page of either version: field 1 of field 5 or 8."""
_VALUE = 8
"""Bytes that a value inside a list takes at least: one row may have millions, all of them null."""
_DEEP = 8


def largest_page(file: BinaryIO, column: Any) -> int:
    """Return the bytes in memory of the largest page of a column chunk.

    Args:
        file: the file.
        column: metadata of the chunk, as pyarrow has them.

    Raises:
        ValueError: the header of a page is damaged.
    """
    at = column.data_page_offset
    if column.has_dictionary_page and 0 < (first := column.dictionary_page_offset or 0) < at:
        at = first
    end = at + column.total_compressed_size
    is_flat = "." not in column.path_in_schema
    largest = 0
    while at < end:
        fields, header = _header(file, at)
        values = 0 if is_flat else max(fields.get(count, 0) for count in _COUNTS)
        largest = max(largest, fields[_SIZE], _VALUE * values)
        at += header + fields[_PACKED]
    return largest


def _header(file: BinaryIO, at: int) -> tuple[dict[int, int], int]:
    """Return the integers in the header of a page, and the size of the header."""
    for window in _WINDOWS:
        file.seek(at)
        data = file.read(window)
        try:
            fields, end = _struct(data, 0)
        except IndexError:
            continue  # it is longer, or the file ends
        if min(fields.get(_SIZE, -1), fields.get(_PACKED, -1)) < 0:
            break
        return fields, end
    raise ValueError("the header of a page is damaged")


def _struct(data: bytes, at: int, depth: int = 0) -> tuple[dict[int, int], int]:
    """Return the integers of a struct by the numbers of their fields, and where it ends.

    Field 1 of a struct in field 5 has the number 501.

    Raises:
        IndexError: the data ends first.
        ValueError: it is no struct.
    """
    fields: dict[int, int] = {}
    number = 0
    while (head := data[at]) != 0:
        at += 1
        kind, delta = head & 15, head >> 4
        if delta:
            number += delta
        else:
            raw, at = _varint(data, at)
            number = _signed(raw)
        if kind in (4, 5, 6):
            raw, at = _varint(data, at)
            fields.setdefault(number, _signed(raw))
        elif kind == 12 and depth < _DEEP:
            inner, at = _struct(data, at, depth + 1)
            fields |= {100 * number + name: value for name, value in inner.items()}
        else:
            at = _skipped(data, at, kind)
    return fields, at + 1


def _skipped(data: bytes, at: int, kind: int) -> int:
    """Return where a value ends."""
    if kind in (1, 2):
        return at
    if kind == 3:
        return at + 1
    if kind == 7:
        return at + 8
    if kind == 8:
        size, at = _varint(data, at)
        return at + size
    raise ValueError("the header of a page is damaged")  # it has no lists and no maps


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
            raise ValueError("the header of a page is damaged")


def _signed(raw: int) -> int:
    return raw >> 1 ^ -(raw & 1)
