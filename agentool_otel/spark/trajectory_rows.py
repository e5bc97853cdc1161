"""Documents from rows of trajectories that are sorted by key, run and step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa

from agentool_otel.evaluation.scopes import Run
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.spark.grouping import KEY, PROBLEM, Found, Note, sliced, texts
from agentool_otel.tables.trajectories import Documents

__all__ = ["documents_by_key"]


def documents_by_key(batches: Iterable[pa.RecordBatch], note: Note) -> Iterator[Iterator[Run]]:
    """Yield the documents of one key after another. Those of a key are read before the next one.

    Args:
        batches: rows of `trajectories/1`, sorted by `KEY`, where there is one, run and step.
        note: takes the problems, also those that are rows.
    """
    for _, of_key in groupby(_keyed(batches, note), itemgetter(0)):
        yield (document for _, document in of_key)


def _keyed(batches: Iterable[pa.RecordBatch], note: Note) -> Iterator[tuple[Any, ReasoningTrace]]:
    """Yield each document with the key of its rows."""
    trace_ids: list[str | None] = []
    before: str | None = None
    first_row = 0

    def broken(where: str, reason: str) -> None:
        row = int(where.removeprefix("row ")) - first_row
        note(Found(trace_ids[row] if row >= 0 else before, f"a trajectory {reason}"))

    documents = Documents(broken)
    last: Any = None
    for batch in map(partial(_without_problems, note=note), sliced(batches)):
        keys = texts(batch, KEY if KEY in batch.schema.names else "trace_id")
        first_row += len(trace_ids)
        before = trace_ids[-1] if trace_ids else before
        trace_ids = texts(batch, "trace_id")
        row = 0
        for key, of_key in groupby(keys):
            if key != last:
                yield from ((last, document) for document in documents.rest())
            last = key
            count = sum(1 for _ in of_key)
            for document in documents.add(batch.slice(row, count), first_row + row):
                yield key, document
            row += count
    yield from ((last, document) for document in documents.rest())


def _without_problems(batch: pa.RecordBatch, note: Note) -> pa.RecordBatch:
    """Return the rows that are steps, and note the problems of the others."""
    if PROBLEM not in batch.schema.names:
        return batch
    problems = batch.column(PROBLEM)
    if problems.null_count == batch.num_rows:
        return batch
    for trace_id, problem in zip(texts(batch, "trace_id"), texts(batch, PROBLEM), strict=True):
        if problem is not None:
            note(Found(trace_id, problem))
    return batch.filter(problems.is_null())
