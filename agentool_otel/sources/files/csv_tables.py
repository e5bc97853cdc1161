"""CSV as trace stores export it: a header, one of whose columns is the trace, and a row a span.

Cells are text; a cell with an object or list in it is read as JSON where its field is one, or as
what pandas prints of it.
"""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Iterator
from typing import BinaryIO, TextIO

from agentool_otel.ground.json_codec import Json, dumps
from agentool_otel.ground.literals import literal
from agentool_otel.model.spans import SpanRecord
from agentool_otel.sources.containers.container import Container
from agentool_otel.sources.files.any_json import AnyJson
from agentool_otel.sources.files.damage import MARKING
from agentool_otel.sources.files.find_spans import TELLING, Foreign, Piece, container_of
from agentool_otel.sources.files.tables import is_trace_column
from agentool_otel.sources.files.undecoded import Batches, Report

__all__ = ["batches", "looks_like_csv"]

_HEADER = 1 << 14
"""Bytes of a file in which its header is looked for."""
_LONGEST = 64 << 20
"""Characters of one cell: conversations are longer than the standard library expects."""
_PRINTED = ("{'", "['", "[{'")
"""How objects and lists begin that a data frame has printed rather than encoded."""
_LONGEST_PRINTED = 1 << 20
"""Characters of such a one: parsing Python takes far longer than JSON."""
_SHAPES = 512
"""How many sets of columns are remembered; rows leave cells empty in few ways."""

_limit = threading.Lock()


def looks_like_csv(head: bytes) -> bool:
    """True where the first line is a header with a column for the trace."""
    line = head[:_HEADER].removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    names = [name.strip(' "\r') for name in line.decode("utf-8", "replace").split(",")]
    return b"{" not in line and len(names) > 1 and any(map(is_trace_column, names))


def batches(stream: BinaryIO, values: AnyJson, report: Report) -> Batches:
    """Yield the spans of each row."""
    text = io.TextIOWrapper(stream, "utf-8-sig", MARKING, newline="")
    try:
        yield from _rows(text, values, report)
    finally:
        text.detach()


def _rows(text: TextIO, values: AnyJson, report: Report) -> Iterator[list[SpanRecord]]:
    reader = csv.reader(text)
    names = _next(reader) or []
    known: dict[tuple[str | None, ...], Container | None] = {}
    while True:
        where = f"row {reader.line_num}"
        try:
            cells = _next(reader)
        except csv.Error as error:
            report(where, f"left out: {error}")
            continue
        if cells is None:
            return
        row = {
            name: _printed(cell) if cell.startswith(_PRINTED) else cell
            for name, cell in zip(names, cells, strict=False)
            if cell
        }
        shape = (*row, *[str(row.get(name)) for name in TELLING])
        if shape not in known:
            if len(known) >= _SHAPES:
                known.clear()
            known[shape] = container_of(row)
        container = known[shape]
        try:
            if container is None:
                yield list(values.spans(row, where))
            else:
                yield list(values.spans(row, where, (Piece(row, container),)))
        except Foreign as error:
            if cells:
                report(where, str(error))


def _printed(cell: str) -> Json:
    """Return the object or list of a cell that is a Python literal; the text of any other."""
    try:
        value: Json = literal(cell, _LONGEST_PRINTED)
        dumps(value)
    except (ValueError, TypeError):
        return cell
    return value


def _next(reader: Iterator[list[str]]) -> list[str] | None:
    """Return the next row, of cells of any length. Their limit is the process's, there is none of a
    reader: it is raised for one row at a time, and by one thread."""
    with _limit:
        before = csv.field_size_limit()
        csv.field_size_limit(max(before, _LONGEST))
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(before)
