"""Parts of a Parquet or Arrow file: row groups and record batches, each read by itself.

    slices    a part in slices of some hundred rows, so that memory holds few of them at a time
    limits    what a part may take in memory, and what may come out of the file

A prompt that every row repeats is in the file once, so the file may be a thousandth of its rows.
What is in memory at a time, and what is different in it, has the limit of any packed file; all rows
together may have a hundred times as much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import FileIO, IOBase
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa
import pyarrow.parquet as pq

from agentool_otel.reading.sources.files.arrow_headers import Headers
from agentool_otel.reading.sources.files.column_types import (
    checked,
    dense,
    dense_size,
    distinct_size,
)
from agentool_otel.reading.sources.files.parquet_pages import RowGroup, largest_page, row_groups

__all__ = ["ARROW", "PARQUET", "Columns", "Part", "Parts", "Slice", "slices"]

PARQUET, ARROW = b"PAR1", b"ARROW1"
_ROWS = 256
"""Rows that are in memory at a time."""
_DENSE = 64 << 20
"""Bytes that the rows of a slice may have together, unless it is one row."""
_SPREAD = 256 << 20
"""Bytes that one column of a batch may have, if each of its values were as long as a page."""


class Columns(NamedTuple):
    """Columns that are read, by their places in the file."""

    places: list[int]
    names: list[str]


class Part(NamedTuple):
    """Part of a file that is read by itself: a row group, or a record batch."""

    name: str
    rows: int
    unpacked: int
    """Bytes that pyarrow unpacks at a time."""
    batches: Callable[[], Iterator[pa.RecordBatch]]


class Parts:
    """Parts of a file.

    Attributes:
        schema: columns of the file.
        count: number of its parts.

    Raises:
        pyarrow.ArrowException, OSError, ValueError: the file cannot be read.
    """

    def __init__(self, file: BinaryIO | FileIO):
        self._file = file
        file.seek(0)
        is_arrow = file.read(len(ARROW)) == ARROW
        file.seek(0)
        source = pa.PythonFile(cast("IOBase", file), mode="r")
        self._headers: Headers | None = None
        self._arrow: Any = None
        self._parquet: Any = None
        self._groups: list[RowGroup] = []
        if is_arrow:
            self._arrow = pa.ipc.open_file(source)
            self._headers = Headers(self._file)
            self.schema: pa.Schema = self._arrow.schema
            self.count: int = self._arrow.num_record_batches
        else:
            self._parquet = pq.ParquetFile(source)
            self.schema = self._parquet.schema_arrow
            self._groups = row_groups(self._file)
            self.count = len(self._groups)

    def dictionaries(self, limit: int) -> int:
        """Return the bytes of the dictionaries that all parts need, or more than `limit`."""
        return 0 if self._headers is None else self._headers.dictionaries(limit)

    def name(self, number: int) -> str:
        """Return the name of a part in messages."""
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
            batch = self._arrow.get_batch(number)
            arrays: list[pa.Array[Any]] = []
            for place, column in zip(*columns, strict=True):
                damage: list[str] = []
                array = checked(batch.column(place), damage.append)
                arrays.append(_of_length(array, batch.num_rows))
                for why in damage:
                    report(name, f"column {column} {why}")
            yield pa.RecordBatch.from_arrays(arrays, columns.names)

        return Part(name, rows, unpacked, batches)

    def _row_group(self, number: int, columns: Columns) -> Part:
        group = self._groups[number]
        chunks = group.chunks if group.rows else []
        largest = max((largest_page(self._file, chunk) for chunk in chunks), default=0)
        rows = max(1, min(_ROWS, _SPREAD // max(largest, 1)))

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in self._parquet.iter_batches(rows, row_groups=[number]):
                arrays = [batch.column(place) for place in columns.places]
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
        """Return the same with equal texts counted once."""
        return sum(map(distinct_size, self.rows.columns))

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
