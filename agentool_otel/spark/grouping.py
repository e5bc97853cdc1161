"""Runs from rows of spans that are sorted by key and trace.

A trace may begin in one batch and end in another. Calls and traces that belong together are joined
where they have the same key, and nowhere else: how rows are spread over partitions does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import pyarrow as pa

from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.runs import rebuild_groups
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.grouping.complete import complete
from agentool_otel.tables import spans as table
from agentool_otel.tables.readable_cells import readable_cells

__all__ = ["KEY", "PROBLEM", "Found", "Note", "runs_by_key", "sliced", "texts"]

KEY = "partition_key"
"""Column by which spans are joined: a session, or the id of a trace."""
PROBLEM = "problem"
"""Column of what could not be read or joined."""
NOT_JOINED = (
    "not joined: it continues a call that is not among the spans of its {of}; "
    "hint: agentool-otel rebuild without --engine joins calls across all spans"
)

_ROWS = 1024
"""Rows that are made into Python objects at a time."""


class Found(NamedTuple):
    """A problem of a trace."""

    trace_id: str | None
    problem: str


Note = Callable[[Found], None]
"""Takes a problem."""


def sliced(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches in pieces of few rows: a batch of Spark may have a hundred megabytes."""
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS):
            yield batch.slice(start, _ROWS)


def texts(batch: pa.RecordBatch, column: str) -> list[Any]:
    """Return the cells of a column of texts. Bytes that are not UTF-8 are spelled out: engines pass
    on the bytes of a file as they are."""
    return readable_cells(batch.column(column), lambda row, why: None)


def runs_by_key(
    batches: Iterable[pa.RecordBatch], note: Note, by_session: bool = True
) -> Iterator[Iterator[Rebuilt]]:
    """Yield the runs of one key after another. The runs of a key are read before the next one.

    Args:
        batches: rows of `spans/1`, sorted by `KEY`, where there is one, and trace.
        note: takes what could not be read, rebuilt or joined.
        by_session: whether a key is a session, for messages.
    """
    not_joined = NOT_JOINED.format(of="session, or its trace has none" if by_session else "trace")

    def unjoined(trace_id: str) -> None:
        note(Found(trace_id, not_joined))

    def failed(problem: Problem) -> None:
        note(Found(problem.where.removeprefix("trace "), problem.message))

    for _, of_key in groupby(_keyed_spans(batches, note), itemgetter(0)):
        traces = groupby((span for _, span in of_key), lambda span: span.trace_id)
        groups = ([*of_trace] for _, of_trace in traces)
        yield rebuild_groups(groups, complete, None, failed, unjoined)


def _keyed_spans(batches: Iterable[pa.RecordBatch], note: Note) -> Iterator[tuple[Any, SpanRecord]]:
    """Yield each span with its key."""
    for batch in sliced(batches):
        names = batch.schema.names
        trace_ids = texts(batch, "trace_id")
        keys = texts(batch, KEY) if KEY in names else trace_ids
        unread: set[int] = set()
        if PROBLEM in names:
            for row, problem in enumerate(texts(batch, PROBLEM)):
                if problem is not None:
                    unread.add(row)
                    note(Found(trace_ids[row], problem))
        yield from _spans(batch, keys, trace_ids, unread, note)


def _spans(
    batch: pa.RecordBatch, keys: list[Any], trace_ids: list[Any], unread: set[int], note: Note
) -> Iterator[tuple[Any, SpanRecord]]:
    """Yield the spans of a batch with their keys.

    Args:
        batch: the rows.
        keys, trace_ids: those of each row.
        unread: rows that are no spans; rows that turn out to be none are added.
        note: takes the problems of rows.
    """
    names = texts(batch, "span_id")

    def noted(where: str, reason: str) -> None:
        row = int(where.removeprefix("row "))
        note(Found(trace_ids[row], f"a span whose {reason} (span_id {names[row]!r})"))

    def broken(where: str, reason: str) -> None:
        row = int(where.removeprefix("row "))
        if row not in unread:
            unread.add(row)
            note(Found(trace_ids[row], f"a span {reason} (span_id {names[row]!r})"))

    row = 0
    for span in table.spans_of(batch, 0, broken, noted):
        while row in unread:
            row += 1
        yield keys[row], span
        row += 1
