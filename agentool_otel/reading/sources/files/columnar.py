"""Parquet and Arrow files: tables of this package, and rows of any store. Extra: `arrow`.

    PAR1 ... PAR1         Parquet
    ARROW1 ... ARROW1     Arrow IPC, also named Feather

Both end with what nothing can be read without, so a stream is copied to a temporary file first, and
a file that is cut short has no rows. A row group that is damaged does not affect the others.

Rows of other schemas become objects and are recognised by their members, as those of CSV are.
Source: parquet.apache.org/docs/file-format; arrow.apache.org/docs/format/Columnar.html, "IPC File
Format".
"""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from io import SEEK_END, FileIO, IOBase
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from agentool_otel.ground.json_codec import Json
from agentool_otel.ground.temporary import room
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.spans import SpanRecord
from agentool_otel.model.times import from_ns, in_calendar
from agentool_otel.reading.sources.files.any_json import AnyJson
from agentool_otel.reading.sources.files.compression import Feed, limit_of
from agentool_otel.reading.sources.files.find_spans import Foreign
from agentool_otel.reading.sources.files.tables import is_trace_column
from agentool_otel.reading.sources.files.undecoded import Batches, Report
from agentool_otel.tables import require

if TYPE_CHECKING:
    import pyarrow as pa

    from agentool_otel.tables.trajectories import Documents

__all__ = ["Columnar", "is_columnar"]

_PARQUET, _ARROW = b"PAR1", b"ARROW1"
_ROWS = 256
"""Rows that are in memory at a time."""
_LISTED = 12
"""Columns that are named of a schema that is not known."""


def is_columnar(head: bytes) -> bool:
    """Return whether a file begins as Parquet or Arrow IPC."""
    return head.startswith((_PARQUET, _ARROW))


class _Part(NamedTuple):
    """Part of a file that is read by itself: a row group, or a record batch."""

    name: str
    first_row: int
    size: int
    """Bytes without compression, as the file has it."""
    batches: Callable[[], Iterator[pa.RecordBatch]]


class Columnar:
    """Reads one file.

    Args:
        values: reads rows of other schemas; whether the file is recognised is noted there.
        document: takes trajectories.
        report: takes what could not be read.
    """

    def __init__(self, values: AnyJson, document: Callable[[ReasoningTrace], None], report: Report):
        self._values, self._document, self._report = values, document, report
        self._progress: Callable[[float], None] = lambda share: None
        self._size = 0
        self._trajectories: Documents | None = None

    def stream(self, stream: BinaryIO) -> Batches:
        """Yield the spans of a stream, which is copied to a temporary file.

        Raises:
            MissingDependencyError: pyarrow is not installed.
            SourceError: the temporary folder is full.
        """
        require("a Parquet or Arrow file")
        with tempfile.TemporaryFile() as copy:
            with room:
                copyfileobj(stream, copy)
                self._size = copy.tell()
            yield from self._batches(copy)

    def file(self, file: BinaryIO | FileIO, counted: Feed) -> Batches:
        """Yield the spans of a file.

        Args:
            file: the file, at any position.
            counted: its count of bytes is set to how far the file is read.

        Raises:
            MissingDependencyError: pyarrow is not installed.
        """
        require("a Parquet or Arrow file")
        self._size = size = file.seek(0, SEEK_END)

        def progress(share: float) -> None:
            counted.count = int(size * share)

        self._progress = progress
        yield from self._batches(file)

    def _batches(self, file: BinaryIO | FileIO) -> Batches:
        import pyarrow as pa

        file.seek(0)
        try:
            schema, parts, rows = _opened(file)
        except (pa.ArrowException, OSError, ValueError) as error:
            self._values.seen = f"a Parquet or Arrow file that cannot be read: {_reason(error)}"
            return
        read = self._reader(schema)
        if read is not None:
            yield from self._parts(parts, rows, read)

    def _parts(
        self, parts: Sequence[_Part], rows: int, read: Callable[[pa.RecordBatch, int], Batches]
    ) -> Batches:
        import pyarrow as pa

        limit, unpacked = limit_of(self._size), 0
        for part in parts:
            row = part.first_row
            try:
                for batch in map(_dense, part.batches() if part.size <= limit else ()):
                    unpacked += batch.nbytes
                    if unpacked > limit:
                        break
                    yield from read(batch, row)
                    row += batch.num_rows
                    self._progress(row / rows)
            except (pa.ArrowException, OSError) as error:
                self._report(part.name, f"left out from row {row} on: {_reason(error)}")
            if max(unpacked, part.size) > limit:
                more = f"more than {limit:,} bytes come out of it"
                self._report(f"row {row}", f"the rest is not read: {more}")
                break
        for document in self._trajectories.rest() if self._trajectories is not None else ():
            self._document(document)
            yield ()

    def _reader(self, schema: pa.Schema) -> Callable[[pa.RecordBatch, int], Batches] | None:
        """Return what reads the rows of a schema; None if there is nothing to read in it."""
        from agentool_otel.tables import fitting, spans, trajectories

        if fitting.is_table(schema, spans.NAME, ("trace_id", "span_id", "start_time_unix_nano")):
            self._note(fitting.misfits(schema, spans.NAME, spans.SCHEMA, spans.READ))
            return self._spans
        if fitting.is_table(schema, trajectories.NAME, trajectories.READ):
            self._note(
                fitting.misfits(schema, trajectories.NAME, trajectories.SCHEMA, trajectories.READ)
            )
            self._trajectories = trajectories.Documents(self._report)
            return self._documents
        if any(map(is_trace_column, schema.names)):
            return self._rows
        names = ", ".join(schema.names[:_LISTED])
        more = f" and {len(schema.names) - _LISTED} more" if len(schema.names) > _LISTED else ""
        self._values.seen = f"a table without a column for the trace: {names}{more}"
        return None

    def _note(self, misfits: list[str]) -> None:
        self._values.recognised = True
        for phrase in misfits:
            self._report("", phrase)

    def _documents(self, batch: pa.RecordBatch, row: int) -> Batches:
        from agentool_otel.tables import fitting, trajectories

        assert self._trajectories is not None
        fits = fitting.fitted(batch, trajectories.SCHEMA, trajectories.READ)
        for document in self._trajectories.add(fits, row):
            self._document(document)
            yield ()

    def _spans(self, batch: pa.RecordBatch, row: int) -> Batches:
        from agentool_otel.tables import fitting, spans

        fits = fitting.fitted(batch, spans.SCHEMA, spans.READ)
        yield list(spans.spans_of(fits, row, self._report))

    def _rows(self, batch: pa.RecordBatch, row: int) -> Batches:
        columns = {name: _cells(batch.column(name)) for name in batch.schema.names}
        for number, cells in enumerate(zip(*columns.values(), strict=True), row):
            members = {
                name: cell for name, cell in zip(columns, cells, strict=True) if cell is not None
            }
            spans: list[SpanRecord] = []
            try:
                spans += self._values.spans(members, f"row {number}")
            except Foreign as error:
                self._report(f"row {number}", str(error))
            yield spans


def _opened(file: BinaryIO | FileIO) -> tuple[pa.Schema, list[_Part], int]:
    """Return the schema of a file, its parts, and its number of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    beginning = file.read(len(_ARROW))
    file.seek(0)
    source = pa.PythonFile(cast("IOBase", file), mode="r")
    parts: list[_Part] = []
    row = 0
    if beginning == _ARROW:
        arrow = pa.ipc.open_file(source)
        for number in range(arrow.num_record_batches):
            rows = arrow.get_batch(number).num_rows
            parts.append(_Part(f"record batch {number}", row, 0, _sliced(arrow, number)))
            row += rows
        return arrow.schema, parts, row
    parquet = pq.ParquetFile(source)
    for number in range(parquet.num_row_groups):
        group = parquet.metadata.row_group(number)
        read = _read(parquet, number)
        parts.append(_Part(f"row group {number}", row, group.total_byte_size, read))
        row += group.num_rows
    return parquet.schema_arrow, parts, row


def _sliced(arrow: Any, number: int) -> Callable[[], Iterator[pa.RecordBatch]]:
    def batches() -> Iterator[pa.RecordBatch]:
        batch = arrow.get_batch(number)
        for start in range(0, batch.num_rows, _ROWS):
            yield batch.slice(start, _ROWS)

    return batches


def _read(parquet: Any, number: int) -> Callable[[], Iterator[pa.RecordBatch]]:
    return lambda: parquet.iter_batches(_ROWS, row_groups=[number])


def _dense(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch with every value in place, whose size is that in memory."""
    import pyarrow as pa

    arrays = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, batch.schema.names)


def _reason(error: Exception) -> str:
    """Return the first sentence of an error."""
    first = str(error).partition("\n")[0].partition(". ")[0]
    return first.rstrip(". ") or type(error).__name__


def _cells(column: pa.Array[Any]) -> list[Json]:
    """Return the cells of a column as JSON values; times as text, to the nanosecond."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        times = column.cast(pa.timestamp("ns", column.type.tz), safe=False).cast(pa.int64())
        return [None if at is None else _time(at) for at in times.to_pylist()]
    return [_plain(value) for value in column.to_pylist()]


def _time(ns: int) -> Json:
    return from_ns(ns) if in_calendar(ns) else None


def _plain(value: Any) -> Json:
    """Return a value of Arrow as a JSON value."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(item, tuple) and len(item) == 2 for item in value):
            return {str(key): _plain(item) for key, item in value}  # a map
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)
