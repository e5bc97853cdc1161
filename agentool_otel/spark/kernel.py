"""Batches of sorted rows in, batches of trajectories or results out: the work of one partition.

Nothing here knows Spark: any engine that shuffles rows by a key, sorts them and calls a function
with an iterator of Arrow batches can use it, such as Dask and Ray. Memory holds the largest trace,
and what later traces of the same key may belong to is on disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from agentool_otel.evaluation.cases.matching import MatchRule
from agentool_otel.evaluation.running import Evaluation, TraceResults
from agentool_otel.evaluation.scopes import Run, Scope
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.reading.rebuild.error_isolation import skip_on_error
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.spark.grouping import PROBLEM, Found, runs_by_key
from agentool_otel.spark.trajectory_rows import documents_by_key
from agentool_otel.tables import results as result_table
from agentool_otel.tables import trajectories as step_table
from agentool_otel.tables.trajectories import batch_of_rows

if TYPE_CHECKING:
    Batches = Iterator[pa.RecordBatch]

__all__ = ["RESULTS", "TRAJECTORIES", "UNMATCHED", "Checks", "results", "trajectories"]

_PROBLEM: pa.Field[Any] = pa.field(PROBLEM, pa.string())
TRAJECTORIES = step_table.SCHEMA.append(_PROBLEM)
"""Columns of trajectories: those of `trajectories/1` and the problem."""
RESULTS = result_table.SCHEMA.append(_PROBLEM)
"""Columns of results: those of `results/1` and the problem."""
UNMATCHED = "not evaluated: "
"""Begins the problem of a trace that is a try of no case."""

_ROWS = 2000
"""Most rows of a batch that is passed on."""
_CHARACTERS = 16 << 20
"""Most characters of text in it."""

_Row = tuple[Any, ...]


class Checks(NamedTuple):
    """The arguments of an evaluation, which can be sent to other processes."""

    cases: Sequence[Mapping[str, Any]]
    """Cases, or assertions alone, as JSON objects."""
    min_evaluated: float = 1.0
    match: MatchRule | None = None
    scope: Scope = "tree"

    def evaluation(self) -> Evaluation:
        """Return the prepared evaluation.

        Raises: as `agentool_otel.evaluate`.
        """
        return Evaluation(self.cases, self.min_evaluated, None, self.match, self.scope)


def trajectories(batches: Iterable[pa.RecordBatch], by_session: bool = True) -> Batches:
    """Yield the trajectories of a partition, the rows of a run in a row, and its problems.

    Args:
        batches: rows of `spans/1`, sorted by `partition_key`, where there is one, and trace.
        by_session: whether that key is a session, for messages.
    """
    out = _Rows(TRAJECTORIES)
    for runs in runs_by_key(batches, out.note, by_session):
        for run in runs:
            with skip_on_error(run.trace_id, out.failed):
                out.add([(*row, None) for row in step_table.step_rows(run.document)])
            yield from out.full()
    yield from out.rest()


def results(batches: Iterable[pa.RecordBatch], checks: Checks, by_session: bool = True) -> Batches:
    """Yield the results of the runs of a partition, and its problems. Cases without a run have
    none: their runs may be in another partition.

    Args:
        batches: rows of `spans/1` or `trajectories/1`, sorted by `partition_key`, where there is
            one, and trace, trajectories also by the number of the step.
        checks: what runs are held against.
        by_session: whether that key is a session, for messages.
    """
    batches = iter(batches)
    first = next(batches, None)
    if first is None:
        return
    out = _Rows(RESULTS)
    evaluation = checks.evaluation()
    all_batches = _chain(first, batches)
    keys: Iterator[Iterator[Run]]
    if "step_number" in first.schema.names:
        keys = documents_by_key(all_batches, out.note)
    else:
        keys = (_sound(runs, out) for runs in runs_by_key(all_batches, out.note, by_session))
    try:
        for runs in keys:
            for run in runs:
                for outcome in evaluation.put(run):
                    out.add_outcome(outcome)
                yield from out.full()
            for outcome in evaluation.rest():
                out.add_outcome(outcome)
                yield from out.full()
        yield from out.rest()
    finally:
        evaluation.close()


def _chain(first: pa.RecordBatch, others: Batches) -> Batches:
    yield first
    yield from others


def _sound(runs: Iterable[Rebuilt], out: _Rows) -> Iterator[Run]:
    """Yield the runs whose document can be made."""
    for run in runs:
        documents: list[ReasoningTrace] = []
        with skip_on_error(run.trace_id, out.failed):
            documents.append(run.trace)
        if documents:
            yield run


class _Rows:
    """Rows until they fill a batch."""

    def __init__(self, schema: pa.Schema):
        self._schema = schema
        self._trace_id = schema.get_field_index("trace_id")
        self._rows: list[_Row] = []
        self._characters = 0

    def add(self, rows: Sequence[_Row]) -> None:
        """Add rows, their cells in the order of the schema."""
        self._rows += rows
        self._characters += sum(len(cell) for row in rows for cell in row if isinstance(cell, str))

    def add_outcome(self, outcome: TraceResults) -> None:
        """Add the results of a run."""
        for result in outcome.results:
            self.add([(*row, None) for row in result_table.result_rows(result.to_dict())])
        if outcome.why_none is not None and outcome.source is not None:
            source = outcome.source
            trace_id = source.trace_id
            self.note(Found(trace_id, f"{UNMATCHED}{outcome.why_none}"))

    def note(self, found: Found) -> None:
        """Add a problem."""
        cells: list[Any] = [None] * len(self._schema)
        cells[self._trace_id], cells[-1] = _text(found.trace_id), _text(found.problem)
        self._rows.append(tuple(cells))

    def failed(self, problem: Problem) -> None:
        """Add the problem of a trace."""
        self.note(Found(problem.where.removeprefix("trace "), problem.message))

    def full(self) -> Batches:
        """Yield the rows if they fill a batch."""
        if len(self._rows) >= _ROWS or self._characters >= _CHARACTERS:
            yield from self.rest()

    def rest(self) -> Batches:
        """Yield all rows."""
        rows, self._rows, self._characters = self._rows, [], 0
        for at in range(0, len(rows), _ROWS):
            yield batch_of_rows(rows[at : at + _ROWS], self._schema)


def _text(value: str | None) -> str | None:
    return None if value is None else value.encode("utf-8", "replace").decode()
