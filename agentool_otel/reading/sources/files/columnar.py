"""Parquet and Arrow files: tables of this package, and rows of any store. Extra: `arrow`.

    PAR1 ... PAR1         Parquet
    ARROW1 ... ARROW1     Arrow IPC, also named Feather
    ff ff ff ff ...       Arrow IPC stream, or several in a row

The first two end with what nothing can be read without, so a pipe is copied to a temporary file
first, and a file that is cut short has no rows. A damaged row group does not affect the others.

Rows of other schemas become objects and are recognised by their members, as those of CSV are.
Source: parquet.apache.org/docs/file-format; arrow.apache.org/docs/format/Columnar.html, "IPC File
Format".
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from io import SEEK_END, FileIO
from shutil import disk_usage
from typing import IO, TYPE_CHECKING, BinaryIO

from agentool_otel.errors import SourceError
from agentool_otel.ground.temporary import room
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files.any_json import AnyJson
from agentool_otel.reading.sources.files.arrow_headers import is_stream
from agentool_otel.reading.sources.files.compression import (
    Feed,
    limit_of,
    repeated_limit_of,
    too_large,
)
from agentool_otel.reading.sources.files.find_spans import Foreign
from agentool_otel.reading.sources.files.tables import is_trace_column
from agentool_otel.reading.sources.files.undecoded import Batches, Report
from agentool_otel.tables import require

if TYPE_CHECKING:
    import pyarrow as pa

    from agentool_otel.reading.sources.files.columnar_parts import Columns, Part, Parts
    from agentool_otel.tables.trajectories import Documents

    _Read = Callable[[pa.RecordBatch, int], Batches]
    """Reads rows, and takes the number of the first."""

__all__ = ["Columnar", "is_columnar"]

_MAGIC = (b"PAR1", b"ARROW1")
_BARREN = 100_000
"""Most rows in a row of a small file without anything readable."""
_ROW_BYTES = 16
"""Bytes of a larger file that allow one more such row."""
_CHUNK = 1 << 20
_LISTED = 12
"""Columns that are named of a schema that is not known."""


def is_columnar(head: bytes) -> bool:
    """Return whether a file begins as Parquet or Arrow IPC."""
    return head.startswith(_MAGIC) or is_stream(head)


def _copy(stream: BinaryIO, copy: IO[bytes]) -> None:
    """Copy a stream to a temporary file, which may take half of the free space.

    Raises:
        SourceError: the stream is longer.
    """
    most = disk_usage(tempfile.gettempdir()).free // 2
    while data := stream.read(_CHUNK):
        if copy.tell() + len(data) > most:
            raise SourceError(
                f"a Parquet or Arrow stream of more than {most:,} bytes, half of the space left in "
                f"{tempfile.gettempdir()}; hint: save it to a file, and name the file"
            )
        copy.write(data)


class Columnar:
    """Reads one file.

    Args:
        values: reads rows of other schemas; whether the file is recognised is noted there.
        document: takes trajectories.
        report: takes what could not be read.
        report_end: takes the row from which on nothing is read, and why.
    """

    def __init__(
        self,
        values: AnyJson,
        document: Callable[[ReasoningTrace], None],
        report: Report,
        report_end: Report,
    ):
        self._values, self._document, self._report = values, document, report
        self._report_end = report_end
        self._progress: Callable[[float], None] = lambda at: None
        self._schema: pa.Schema | None = None
        self._columns: Columns
        self._read: _Read | None = None
        """What reads the rows of the schema."""
        self._unread = ""
        """Why nothing does."""
        self._parts_before = self._rows_before = 0
        self._trajectories: Documents | None = None
        self._limit = self._repeated_limit = 0
        self._distinct = self._unpacked = 0
        """Bytes of the rows so far: equal texts counted once, and with every value in its place."""
        self._refusal = ""
        """Why the first rows that are left out are."""
        self._empty = 0
        """Rows without a cell so far."""
        self._barren = self._most_barren = 0
        """Rows since the last one with anything readable, and the most that are read."""

    def stream(self, stream: BinaryIO) -> Batches:
        """Yield the spans of a stream, which is copied to a temporary file.

        Raises:
            MissingDependencyError: pyarrow is not installed.
            SourceError: the temporary folder is full, or would be.
        """
        require("a Parquet or Arrow file")
        with tempfile.TemporaryFile() as copy:
            with room:
                _copy(stream, copy)
            yield from self._batches(copy, copy.tell())

    def file(self, file: BinaryIO | FileIO, counted: Feed) -> Batches:
        """Yield the spans of a file.

        Args:
            file: the file, at any position.
            counted: its count of bytes is set to how far the file is read.

        Raises:
            MissingDependencyError: pyarrow is not installed.
        """
        require("a Parquet or Arrow file")
        size = file.seek(0, SEEK_END)

        def progress(at: float) -> None:
            counted.count = int(at)

        self._progress = progress
        yield from self._batches(file, size)

    def _batches(self, file: BinaryIO | FileIO, size: int) -> Batches:
        self._limit, self._repeated_limit = limit_of(size), repeated_limit_of(size)
        self._most_barren = max(_BARREN, size // _ROW_BYTES)
        yield from self._streams(file)
        for document in self._trajectories.rest() if self._trajectories is not None else ():
            self._document(document)
            yield ()
        if self._empty:
            self._refuse("", f"left out: {self._empty:,} rows without any cell")
        if not self._values.recognised:
            why = self._refusal or "it has none"
            self._values.seen = self._values.seen or f"a table without readable rows: {why}"

    def _streams(self, file: BinaryIO | FileIO) -> Batches:
        """Yield the spans of a file, which may be several Arrow IPC streams in a row."""
        import pyarrow as pa

        from agentool_otel.reading.sources.files.columnar_parts import Parts
        from agentool_otel.tables.readable_cells import reason

        at: int | None = 0
        while at is not None and self._end() is None:
            try:
                parts = Parts(file, at, self._parts_before)
                if parts.dictionaries(self._limit) > self._limit:
                    raise ValueError(too_large(self._limit))
                self._begin(parts.schema)
            except (pa.ArrowException, OSError, ValueError) as error:
                what = f"a Parquet or Arrow file that cannot be read: {reason(error)}"
                self._values.seen = self._values.seen or what
                if at:
                    self._refuse("", f"left out from byte {at:,} on: {reason(error)}")
                return
            if self._read is not None:
                yield from self._parts(parts, self._columns, self._read)
            elif at:
                self._refuse("", f"left out from byte {at:,} to {parts.end:,}: {self._unread}")
            for loss in parts.losses():
                self._refuse("", loss)
            self._parts_before += parts.count
            at = parts.following
            yield ()

    def _begin(self, schema: pa.Schema) -> None:
        """Prepare to read rows of a schema."""
        import pyarrow as pa

        from agentool_otel.reading.sources.files.column_types import named_once
        from agentool_otel.reading.sources.files.columnar_parts import Columns

        if self._schema is not None and schema.equals(self._schema, check_metadata=True):
            return
        self._schema = schema
        self._columns = Columns(*named_once(schema, lambda why: self._report("", why)))
        fields = [schema.field(place) for place in self._columns.places]
        self._read = self._reader(pa.schema(fields).with_metadata(schema.metadata))

    def _parts(self, parts: Parts, columns: Columns, read: _Read) -> Batches:
        import pyarrow as pa

        from agentool_otel.tables.readable_cells import reason

        for number in range(parts.count):
            name = parts.name(number)
            try:
                part = parts.part(number, columns, self._refuse)
            except (pa.ArrowException, OSError, ValueError) as error:
                self._refuse(name, f"left out: {reason(error)}")
                continue
            if part.unpacked > self._limit:
                self._refuse(name, f"left out: {too_large(self._limit)}")
            elif part.rows:
                yield from self._part(part, self._rows_before, read)
            if self._end() is not None:
                break
            self._rows_before += part.rows
            self._progress(parts.start + (parts.end - parts.start) * (number + 1) / parts.count)

    def _part(self, part: Part, row: int, read: _Read) -> Batches:
        import pyarrow as pa

        from agentool_otel.reading.sources.files.columnar_parts import slices
        from agentool_otel.tables.readable_cells import reason

        last = row + part.rows
        try:
            for rows in (some for batch in part.batches() for some in slices(batch)):
                self._unpacked += rows.size
                self._distinct += rows.distinct()
                self._barren += rows.rows.num_rows
                if (why := self._end()) is not None:
                    why = f"the rest is not read: {why}"
                    self._refusal = self._refusal or why
                    self._report_end(f"row {row}", why)
                    return
                if rows.is_empty():
                    self._empty += rows.rows.num_rows
                    yield ()
                else:
                    yield from read(rows.dense(), row)
                row += rows.rows.num_rows
        except (pa.ArrowException, OSError, ValueError) as error:
            why = f"left out from row {row} to row {last - 1}: {reason(error)}"
            self._refuse(part.name, why)

    def _end(self) -> str | None:
        """Return why nothing more is read; None while more is."""
        if self._distinct > self._limit:
            return too_large(self._limit)
        if self._unpacked > self._repeated_limit:
            return too_large(self._repeated_limit)
        if self._barren > self._most_barren:
            return f"no span in {self._most_barren:,} rows in a row"
        return None

    def _refuse(self, where: str, why: str) -> None:
        self._refusal = self._refusal or why
        self._report(where, why)

    def _reader(self, schema: pa.Schema) -> _Read | None:
        """Return what reads the rows of a schema; None if there is nothing to read in it."""
        from agentool_otel.tables import fitting, spans, trajectories

        if fitting.is_table(schema, spans.NAME, ("trace_id", "span_id", "start_time_unix_nano")):
            self._note(fitting.misfits(schema, spans.NAME, spans.SCHEMA, spans.READ))
            return self._spans
        if fitting.is_table(schema, trajectories.NAME, trajectories.READ):
            self._note(
                fitting.misfits(schema, trajectories.NAME, trajectories.SCHEMA, trajectories.READ)
            )
            self._trajectories = self._trajectories or trajectories.Documents(self._report)
            return self._documents
        if any(map(is_trace_column, schema.names)):
            return self._rows
        names = ", ".join(schema.names[:_LISTED])
        more = f" and {len(schema.names) - _LISTED} more" if len(schema.names) > _LISTED else ""
        self._unread = f"a table without a column for the trace: {names}{more}"
        self._values.seen = self._values.seen or self._unread
        return None

    def _note(self, misfits: list[str]) -> None:
        self._values.recognised = True
        for phrase in misfits:
            self._report("", phrase)

    def _documents(self, batch: pa.RecordBatch, row: int) -> Batches:
        from agentool_otel.tables import fitting, trajectories

        assert self._trajectories is not None
        self._barren = 0  # a run ends many rows after its first
        fits = fitting.fitted(batch, trajectories.SCHEMA, trajectories.READ)
        for document in self._trajectories.add(fits, row):
            self._document(document)
            yield ()

    def _spans(self, batch: pa.RecordBatch, row: int) -> Batches:
        from agentool_otel.tables import fitting, spans

        fits = fitting.fitted(batch, spans.SCHEMA, spans.READ)
        records = list(spans.spans_of(fits, row, self._report))
        if records:
            self._barren = 0
        yield records

    def _rows(self, batch: pa.RecordBatch, row: int) -> Batches:
        from agentool_otel.reading.sources.files.arrow_cells import json_rows

        def report(number: int, column: str, why: str) -> None:
            self._report(f"row {row + number}", f"column {column} {why}")

        for number, members in enumerate(json_rows(batch, report), row):
            if not members:
                self._empty += 1
                continue
            spans: list[SpanRecord] = []
            try:
                spans += self._values.spans(members, f"row {number}")
                self._barren = 0
            except Foreign as error:
                self._report(f"row {number}", str(error))
            yield spans
