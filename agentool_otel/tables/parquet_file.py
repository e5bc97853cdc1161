"""Parquet files of tables, written as their rows come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from agentool_otel.tables.trajectories import batch_of_rows

__all__ = ["ParquetFile", "table_of"]

_ROWS = 20_000
"""Most rows of a row group, which a reader has in memory."""
_CHARACTERS = 32 << 20
"""Most characters of text in it."""


class ParquetFile:
    """A file of one table, compressed with zstd. Memory holds a row group.

    Args:
        out: takes the file.
        schema: columns of the table.
    """

    def __init__(self, out: BinaryIO, schema: pa.Schema):
        self._schema = schema
        self._writer = pq.ParquetWriter(out, schema, compression="zstd")
        self._rows: list[tuple[Any, ...]] = []
        self._characters = 0

    def add_rows(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add rows, their cells in the order of the schema."""
        self._rows += rows
        self._characters += sum(
            len(value) for row in rows for value in row if isinstance(value, str)
        )
        if len(self._rows) >= _ROWS or self._characters >= _CHARACTERS:
            self._write()

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Add a batch of rows as a row group."""
        self._writer.write_batch(batch)

    def finish(self) -> None:
        """Write the rest and the end of the file, which nothing can be read without."""
        if self._rows:
            self._write()
        self._writer.close()

    def _write(self) -> None:
        self._writer.write_batch(batch_of_rows(self._rows, self._schema))
        self._rows, self._characters = [], 0


def table_of(rows: Iterable[Sequence[tuple[Any, ...]]], schema: pa.Schema) -> pa.Table:
    """Return lists of rows as one table in memory."""
    batches: list[pa.RecordBatch] = []
    waiting: list[tuple[Any, ...]] = []
    for some in rows:
        waiting += some
        if len(waiting) >= _ROWS:
            batches.append(batch_of_rows(waiting, schema))
            waiting = []
    batches.append(batch_of_rows(waiting, schema))
    return pa.Table.from_batches(batches, schema)
