"""Parts of a Parquet or Arrow file: row groups and record batches, each read by itself.

    slices    a part in slices of some hundred rows, so that memory holds few of them at a time
    limits    what a part may take in memory, and what may come out of the file

A prompt that every row repeats is in the file once, so the file may be a thousandth of its rows.
What is in memory at a time, and what is different in it, has the limit of any packed file; all rows
together may have a hundred times as much. A column that repeats one value takes no room in a file
either, so each row counts as some bytes, even an empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from io import SEEK_END, FileIO, IOBase, RawIOBase
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa
import pyarrow.parquet as pq

from agentool_otel.reading.sources.files.arrow_headers import Headers, is_stream
from agentool_otel.reading.sources.files.column_types import (
    checked,
    dense,
    dense_size,
    distinct_size,
)
from agentool_otel.reading.sources.files.compression import HEAD
from agentool_otel.reading.sources.files.parquet_pages import RowGroup, largest_page, row_groups
from agentool_otel.tables.readable_cells import reason

__all__ = ["ARROW", "PARQUET", "Columns", "Part", "Parts", "Slice", "slices"]

PARQUET, ARROW = b"PAR1", b"ARROW1"
_ROWS = 256
"""Rows that are in memory at a time."""
_DENSE = 64 << 20
"""Bytes that the rows of a slice may have together, unless it is one row."""
_SPREAD = 64 << 20
"""Bytes that one column of a batch may have, if each of its values were as long as a page."""
_ROW = 256
"""Bytes that a row counts as at least: reading it takes time even if it has no cell."""


_DEPTH: dict[str, Any] = (
    {"schema_depth_limit": 1000}
    if "schema_depth_limit" in signature(pq.ParquetFile).parameters
    else {}
)
"""Lets a file be opened whose columns are nested too deeply to be read."""


class Columns(NamedTuple):
    """Columns that are read, by their places in the file."""

    places: list[int]
    names: list[str]


class _Cursor(RawIOBase):
    """Reads a file in order, wherever others move its position between the reads."""

    def __init__(self, file: BinaryIO | FileIO, at: int):
        self._file = file
        self.at = at
        self.end: int | None = None
        self._skipped: dict[int, int] = {}

    def skip(self, start: int, end: int) -> None:
        """Go on at `end` once `start` is reached."""
        self._skipped[start] = end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while self.at in self._skipped:
            self.at = self._skipped.pop(self.at)
        self._file.seek(self.at)
        size = len(buffer) if self.end is None else min(len(buffer), self.end - self.at)
        data = self._file.read(size)
        self.at += len(data)
        buffer[: len(data)] = data
        return len(data)


class Part(NamedTuple):
    """Part of a file that is read by itself: a row group, or a record batch."""

    name: str
    rows: int
    unpacked: int
    """Bytes that pyarrow unpacks at a time."""
    batches: Callable[[], Iterator[pa.RecordBatch]]


class Parts:
    """Parts of a file, or of one of the streams in it.

    Attributes:
        schema: columns of the file.
        count: number of its parts.
        start: where the stream begins.
        end: where it ends.

    Raises:
        pyarrow.ArrowException, OSError, ValueError: the file cannot be read.
    """

    def __init__(self, file: BinaryIO | FileIO, start: int = 0, before: int = 0):
        """
        Args:
            file: the file.
            start: where the stream begins; 0 for all other files.
            before: the number of parts of the streams before it.
        """
        self._file = file
        self.start, self._before = start, before
        self.end = file.seek(0, SEEK_END)
        file.seek(start)
        head = file.read(HEAD)
        file.seek(start)
        source = pa.PythonFile(cast("IOBase", file), mode="r")
        self._headers: Headers | None = None
        self._arrow: Any = None
        self._parquet: Any = None
        self._groups: list[RowGroup] = []
        self._stream: Any = None
        self._cursor = _Cursor(file, start)
        self._next = 0
        """The first batch of a stream that pyarrow is not asked for yet."""
        if is_stream(head):
            self._stream = pa.ipc.open_stream(pa.PythonFile(self._cursor, mode="r"))
            self.schema: pa.Schema = self._stream.schema
            self._headers = Headers(self._file, stream_at=start)
            self.count: int = self._headers.batches
            self.end = self._cursor.end = self._headers.end
            for place in self._headers.others:
                self._cursor.skip(*place)
        elif head.startswith(ARROW):
            self._arrow = pa.ipc.open_file(source)
            self._headers = Headers(self._file)
            self.schema = self._arrow.schema
            self.count = self._arrow.num_record_batches
        else:
            self._parquet = pq.ParquetFile(source, **_DEPTH)
            self.schema = self._parquet.schema_arrow
            self._groups = row_groups(self._file)
            self.count = len(self._groups)

    def dictionaries(self, limit: int) -> int:
        """Return the bytes of the dictionaries that all parts need, or more than `limit`."""
        return 0 if self._headers is None else self._headers.dictionaries(limit)

    def name(self, number: int) -> str:
        """Return the name of a part in messages."""
        number += self._before
        return f"{'row group' if self._headers is None else 'record batch'} {number}"

    def part(self, number: int, columns: Columns, report: Callable[[str, str], None]) -> Part:
        """Return a part.

        Raises:
            ValueError: its header is damaged.
        """
        if self._headers is None:
            return self._row_group(number, columns)
        name = self.name(number)
        rows, unpacked = self._headers.batch(number)

        def batches() -> Iterator[pa.RecordBatch]:
            batch = self._batch(number)
            arrays: list[pa.Array[Any]] = []
            for place, column in zip(*columns, strict=True):
                damage: list[str] = []
                array = checked(batch.column(place), damage.append)
                arrays.append(_of_length(array, batch.num_rows))
                for why in damage:
                    report(name, f"column {column} {why}")
            yield pa.RecordBatch.from_arrays(arrays, columns.names)

        return Part(name, rows, unpacked, batches)

    def _batch(self, number: int) -> pa.RecordBatch:
        """Return a record batch. A stream gives them in order only, and without those before it
        that nobody asked for.

        Raises:
            ValueError: pyarrow has stopped inside one before it.
        """
        if self._stream is None or self._headers is None:
            batch: pa.RecordBatch = self._arrow.get_batch(number)
            return batch
        if self._next and self._cursor.at < self._headers.place(self._next - 1)[1]:
            raise ValueError("a batch before it in the stream is damaged")
        for unread in range(self._next, number):
            self._cursor.skip(*self._headers.place(unread))
        self._next = number + 1
        try:
            batch = self._stream.read_next_batch()
        except StopIteration:
            raise ValueError("the stream ends before it") from None
        return batch

    @property
    def following(self) -> int | None:
        """Where another stream begins behind this one; None without one."""
        is_followed = self._stream is not None and self._headers and self._headers.is_followed()
        return self.end if is_followed else None

    def losses(self) -> Iterator[str]:
        """Yield what of a stream is not read, beside its parts."""
        if self._stream is None or self._headers is None:
            return
        if others := len(self._headers.others):
            yield f"left out: {others:,} message{'s' * (others != 1)} of an unknown kind"
        if (why := self._end_error()) is not None:
            yield f"left out: a message behind the last record batch: {why}"
        if self._headers.is_cut:
            yield f"cut short or damaged after {self.count} whole record batches"
        elif self.following is None and (size := self._headers.following()):
            yield f"the end of the stream is followed by {size:,} bytes that are not read"

    def _end_error(self) -> str | None:
        """Return why pyarrow cannot read what is behind the last batch of a stream; None if it can,
        or has not come so far."""
        headers = self._headers
        if headers is None or headers.is_cut or not 0 < self._next == self.count:
            return None
        if self._cursor.at < headers.place(self._next - 1)[1]:
            return None
        try:
            self._stream.read_next_batch()
        except StopIteration:
            return None
        except (pa.ArrowException, OSError, ValueError) as error:
            return reason(error)
        return "it is a record batch"

    def _row_group(self, number: int, columns: Columns) -> Part:
        group = self._groups[number]
        chunks = group.chunks if group.rows else []
        largest = max((largest_page(self._file, chunk) for chunk in chunks), default=0)
        rows = max(1, min(_ROWS, _SPREAD // max(largest, 1)))

        def batches() -> Iterator[pa.RecordBatch]:
            read = self._parquet.iter_batches(rows, row_groups=[number], columns=columns.names)
            for batch in read:
                places = (batch.schema.get_all_field_indices(name)[0] for name in columns.names)
                arrays = [batch.column(place) for place in places]
                yield pa.RecordBatch.from_arrays(arrays, columns.names)

        return Part(self.name(number), group.rows, largest, batches)


def _of_length(column: pa.Array[Any], rows: int) -> pa.Array[Any]:
    return column if len(column) == rows else pa.nulls(rows, column.type)


class Slice(NamedTuple):
    """Some rows of a part."""

    rows: pa.RecordBatch
    size: int
    """Bytes that they take in memory, once every value is in its place."""

    def distinct(self) -> int:
        """Return the same with equal texts counted once, and no row as less than `_ROW`."""
        return max(_ROW * self.rows.num_rows, sum(map(distinct_size, self.rows.columns)))

    def is_empty(self) -> bool:
        """Return whether no row has a cell."""
        return all(column.null_count == len(column) for column in self.rows.columns)

    def dense(self) -> pa.RecordBatch:
        """Return the rows with every value in its place."""
        names = self.rows.schema.names
        return pa.RecordBatch.from_arrays([*map(dense, self.rows.columns)], names)


def slices(batch: pa.RecordBatch) -> Iterator[Slice]:
    """Yield a batch in slices of little memory; a row that takes much is a slice by itself."""
    for start in range(0, batch.num_rows, _ROWS):
        yield from _halves(batch.slice(start, _ROWS))


def _halves(batch: pa.RecordBatch) -> Iterator[Slice]:
    size = sum(map(dense_size, batch.columns))
    if size > _DENSE and batch.num_rows > 1:
        middle = batch.num_rows // 2
        yield from _halves(batch.slice(0, middle))
        yield from _halves(batch.slice(middle))
        return
    yield Slice(batch, size)
