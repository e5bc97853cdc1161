"""Rows of spans from lines of OTLP/JSON, and of whatever else a file of JSON may hold.

A document may stand on several lines, as long as one task reads all of them: Spark cuts files of
more than 128 MB into parts.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files.any_json import AnyJson
from agentool_otel.reading.sources.files.otlp_json import JsonReader
from agentool_otel.spark.grouping import PROBLEM
from agentool_otel.tables import spans as table

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["FILE", "LINE", "SPANS", "START", "span_rows"]

LINE, FILE, START = "value", "file", "start"
"""Columns: the bytes of a line; the file it is in and the offset of the part of that, if known."""
_PROBLEM: pa.Field[Any] = pa.field(PROBLEM, pa.string())
SPANS = table.SCHEMA.append(_PROBLEM)
"""Columns of spans: those of `spans/1` and the problem."""

_SPANS = 1024
"""Most spans of a batch that is passed on."""


class _Part(NamedTuple):
    """The place of a line: its file, and where the part of this begins that a task reads."""

    file: str | None
    start: int | None

    def place(self, where: str) -> str:
        """Return the text of a place in it."""
        if self.file is None:
            return f"{where} of a partition" if where else "a partition"
        after = f" after byte {self.start}" if self.start else ""
        return f"{self.file} {where}{after}".strip()


def span_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the spans in lines, and as rows with nothing but a problem what could not be read.

    Args:
        batches: rows of `LINE`, as bytes, with or without `FILE` and `START`. The lines of a file
            follow each other.
    """
    lines = (line for batch in batches for line in _lines(batch))
    for part, of_part in groupby(lines, lambda line: line[0]):
        yield from _read(part, (line for _, line in of_part))


def _lines(batch: pa.RecordBatch) -> Iterator[tuple[_Part, bytes]]:
    names = batch.schema.names
    files, starts = (
        batch.column(name).to_pylist() if name in names else [None] * batch.num_rows
        for name in (FILE, START)
    )
    for line, file, start in zip(batch.column(LINE), files, starts, strict=True):
        yield _Part(file, start), line.as_py() or b""


def _read(part: _Part, lines: Iterator[bytes]) -> Iterator[pa.RecordBatch]:
    problems: list[str] = []

    def report(where: str, reason: str) -> None:
        problems.append(f"{part.place(where)}: {reason}")

    def document(trace: ReasoningTrace) -> None:
        report("", f"left out: a trace document, which is no span: {trace.trace_id}")

    values = AnyJson(report, document)
    reader = JsonReader(report, values)
    waiting: list[SpanRecord] = []
    stream = io.BufferedReader(_Lines(lines), _BUFFER)
    for spans in reader.batches(stream):
        waiting += (span for span in spans if isinstance(span, SpanRecord))
        if len(waiting) >= _SPANS or problems:
            yield from _rows(waiting, problems)
            waiting, problems = [], []
    waiting += values.rest()
    yield from _rows(waiting, problems)


def _rows(spans: list[SpanRecord], problems: list[str]) -> Iterator[pa.RecordBatch]:
    for at in range(0, len(spans), _SPANS):
        batch = table.batch_of_spans(spans[at : at + _SPANS])
        columns = [*batch.columns, pa.nulls(batch.num_rows, pa.string())]
        yield pa.RecordBatch.from_arrays(columns, schema=SPANS)
    if problems:
        texts = [problem.encode("utf-8", "replace").decode() for problem in problems]
        nulls = [pa.nulls(len(texts), field.type) for field in table.SCHEMA]
        yield pa.RecordBatch.from_arrays([*nulls, pa.array(texts, pa.string())], schema=SPANS)


_BUFFER = 1 << 20


class _Lines(io.RawIOBase):
    """A stream of lines that come without their ends."""

    def __init__(self, lines: Iterator[bytes]):
        self._lines = lines
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        if not self._rest:
            line = next(self._lines, None)
            if line is None:
                return 0
            self._rest = memoryview(line + b"\n")
        target = memoryview(buffer).cast("B")
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
