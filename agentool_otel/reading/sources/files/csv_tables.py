"""Tables in text as trace stores export them: a header, one of whose columns is the trace, and a
row a span.

    CSV                        cells between commas, semicolons, bars or tabs, some of them quoted
    TSV of ClickHouse          cells between tabs, with backslashes before what would end one
    … WithNamesAndTypes        a second row has the types of the columns

Cells are text; a cell with an object or list in it is read as JSON where its field is one, or as
what pandas or ClickHouse prints of it. Source: RFC 4180; ClickHouse formats, `TabSeparated`.
"""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.invalid_utf8 import MARKING
from agentool_otel.ground.json_codec import Json, dumps
from agentool_otel.ground.literals import literal
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files.any_json import AnyJson
from agentool_otel.reading.sources.files.find_spans import TELLING, Foreign, Piece, container_of
from agentool_otel.reading.sources.files.tables import is_trace_column
from agentool_otel.reading.sources.files.undecoded import Batches, Report
from agentool_otel.reading.sources.stores.store_format import Container

if TYPE_CHECKING:
    from _csv import Reader as _Reader

__all__ = ["batches", "looks_like_table"]

_HEADER = 1 << 14
"""Bytes of a file in which its header is looked for."""
_LONGEST = 64 << 20
"""Characters of one cell: conversations are longer than the standard library expects."""
_PRINTED = ("{'", "['", "[{'")
"""Beginnings of objects and lists that a data frame has printed rather than encoded."""
_LONGEST_PRINTED = 1 << 20
"""Characters of such a one: parsing Python takes far longer than JSON."""
_TYPES_LINE = 2
"""The line in which a table has the types of its columns, if it has them."""
_SHAPES = 512
"""Most sets of columns that are remembered; rows leave cells empty in few ways."""

_SEPARATORS = ",\t;|"
_QUOTED = re.compile(rb'(?:^|\t)"(?:[^"]|"")*"(?:\t|\r?$)', re.MULTILINE)
"""A quoted cell between tabs; ClickHouse quotes none."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"b": "\b", "f": "\f", "r": "\r", "n": "\n", "t": "\t", "0": "\0", "a": "\a", "v": "\v"}
_NULL = "\\N"
_TYPE = re.compile(
    r"(?:LowCardinality|Nullable|Map|Array|Tuple|Nested|FixedString|Enum(?:8|16)|Decimal\w*|DateTime"
    r"(?:64)?|JSON|Object|Variant)\(.*\)|U?Int\d+|B?Float\d+|String|Bool|UUID|Date(?:32|Time)?|JSON"
)
"""A type of ClickHouse."""

_limit = threading.Lock()


def looks_like_table(head: bytes) -> bool:
    """True where the first line is a header with a column for the trace."""
    return _separator(head) is not None


def _separator(head: bytes) -> str | None:
    """Return the separator in a header that has a column for the trace."""
    line = head[:_HEADER].removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    if b"{" in line:
        return None
    header = line.decode("utf-8", "replace")
    for separator in _SEPARATORS:
        names = [name.strip(' "\r') for name in header.split(separator)]
        if len(names) > 1 and any(map(is_trace_column, names)):
            return separator
    return None


def batches(stream: BinaryIO, head: bytes, values: AnyJson, report: Report) -> Batches:
    """Yield the spans of each row.

    Args:
        stream: the table.
        head: how it begins.
        values: reads the rows as objects.
        report: takes what could not be read.
    """
    separator = _separator(head) or ","
    escaped = separator == "\t" and _QUOTED.search(head) is None
    text = io.TextIOWrapper(stream, "utf-8-sig", MARKING, newline="")
    reader = csv.reader(text, delimiter=separator)
    if escaped:
        reader = csv.reader(text, delimiter=separator, quoting=csv.QUOTE_NONE)
    try:
        yield from _rows(reader, _unescaped if escaped else _printed, values, report)
    finally:
        text.detach()


def _rows(
    reader: _Reader, read: Callable[[str], Json], values: AnyJson, report: Report
) -> Iterator[list[SpanRecord]]:
    names = _next(reader) or []
    containers: dict[tuple[str | None, ...], Container | None] = {}
    while True:
        where = f"row {reader.line_num}"
        try:
            cells = _next(reader)
        except csv.Error as error:
            report(where, f"left out: {error}")
            yield []
            continue
        if cells is None:
            return
        if reader.line_num == _TYPES_LINE and cells and all(map(_TYPE.fullmatch, cells)):
            continue
        row = {
            name: read(cell)
            for name, cell in zip(names, cells, strict=False)
            if cell and cell != _NULL
        }
        shape = (*row, *[str(row.get(name)) for name in TELLING])
        if shape not in containers:
            if len(containers) >= _SHAPES:
                containers.clear()
            containers[shape] = container_of(row)
        container = containers[shape]
        try:
            if container is None:
                yield list(values.spans(row, where))
            else:
                yield list(values.spans(row, where, (Piece(row, container),)))
        except Foreign as error:
            if cells:
                report(where, str(error))
            yield []


def _unescaped(cell: str) -> Json:
    """Return the value of a cell of ClickHouse's TSV. Texts inside its maps and lists are escaped
    as Python's are.
    """
    if cell.startswith(_PRINTED):
        return _printed(cell)
    if "\\" not in cell:
        return cell
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), cell)


def _printed(cell: str) -> Json:
    """Return the object or list of a cell that is a Python literal; the text of any other."""
    if not cell.startswith(_PRINTED):
        return cell
    try:
        value: Json = literal(cell, _LONGEST_PRINTED)
        dumps(value)
    except (ValueError, TypeError):
        return cell
    return value


def _next(reader: _Reader) -> list[str] | None:
    """Return the next row, of cells of any length. Their limit is the process's, there is none of a
    reader: it is raised for one row at a time, and by one thread."""
    with _limit:
        before = csv.field_size_limit()
        csv.field_size_limit(max(before, _LONGEST))
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(before)
