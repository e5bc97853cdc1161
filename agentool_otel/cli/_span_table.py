"""A Parquet file of spans, written trace by trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.grouping.span_size import span_size
from agentool_otel.tables.parquet_file import ParquetFile
from agentool_otel.tables.spans import SCHEMA, batch_of_spans

__all__ = ["SpanTable"]

_SPANS = 16_384
"""Most spans of a row group, which a reader has in memory."""
_BYTES = 32 << 20


class SpanTable:
    """Writes `spans/1`. Memory holds a row group.

    Args:
        out: takes the file.
    """

    def __init__(self, out: BinaryIO):
        self.spans = 0
        """Number of spans so far."""
        self._file = ParquetFile(out, SCHEMA)
        self._waiting: list[SpanRecord] = []
        self._size = 0

    def add(self, spans: Sequence[SpanRecord]) -> None:
        """Add the spans of a trace."""
        for span in spans:
            self._waiting.append(span)
            self._size += span_size(span)
            if len(self._waiting) >= _SPANS or self._size >= _BYTES:
                self._write()
        self.spans += len(spans)

    def finish(self) -> None:
        """Write the rest and the end of the file."""
        if self._waiting:
            self._write()
        self._file.finish()

    def _write(self) -> None:
        self._file.add_batch(batch_of_spans(self._waiting))
        self._waiting, self._size = [], 0
