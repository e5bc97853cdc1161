"""Trajectories as a table, a row per step: `trajectories/1`.

The rows of a run follow each other in the order of its steps; a run without steps is one row, whose
`step_number` and members of a step are null.

`run` and `step` have everything, the other columns repeat it for queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from agentool_otel.errors import DecodeError
from agentool_otel.model.amounts import possible
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.tables import TABLE
from agentool_otel.tables.columns import column, integer, json_or_none, number, text, time_ns
from agentool_otel.tables.json_cells import cell, value_of
from agentool_otel.tables.readable_cells import readable_cells

__all__ = [
    "NAME",
    "READ",
    "RUN_COLUMNS",
    "SCHEMA",
    "Documents",
    "batch_of_rows",
    "run_cells",
    "step_rows",
]

NAME = "trajectories/1"
READ = ("trace_id", "step_number", "run", "step")
"""The columns that documents are read from."""

RUN_COLUMNS: tuple[pa.Field[Any], ...] = (
    column("trace_id", pa.string(), "id of the run"),
    column("agent_id", pa.string(), "the agent that ran"),
    column("session_id", pa.string(), "the conversation that the run is part of"),
    column("status", pa.string(), "status at the end of the run"),
    column("started_at_unix_nano", pa.int64(), "nanoseconds since the epoch"),
    column(
        "finished_at_unix_nano",
        pa.int64(),
        "null while the run goes on",
    ),
    column("total_tokens", pa.int64(), "tokens of all model calls"),
    column("total_cost_usd", pa.float64(), "cost in US dollars"),
    column("total_duration_ms", pa.float64(), "length of the run"),
)

_FIELDS: list[pa.Field[Any]] = [
    *RUN_COLUMNS,
    column("step_number", pa.int32(), "from 0; null for a run without steps"),
    column("step_id", pa.string(), "unique in its run"),
    column(
        "step_type",
        pa.string(),
        "such as tool_call or reasoning",
    ),
    column("step_time_unix_nano", pa.int64(), "nanoseconds since the epoch"),
    column("content", pa.string(), "text of a thought, or the value that memory is given"),
    column("tool_name", pa.string(), "name of the tool that is called"),
    column("tool_call_id", pa.string(), "id of a call, in its result too"),
    column("tool_arguments", pa.string(), "JSON"),
    column("tool_output", pa.string(), "JSON"),
    column("tool_error", pa.string(), "error of the tool"),
    column("tool_duration_ms", pa.float64(), "length of the call"),
    column("to_agent", pa.string(), "the agent of a handoff"),
    column(
        "run",
        pa.string(),
        "JSON of the run with an empty list of steps; first row only",
    ),
    column("step", pa.string(), "JSON of the step"),
]
SCHEMA = pa.schema(
    _FIELDS,
    {TABLE: NAME.encode()},
)

_Object = dict[str, Any]


def run_cells(trace: _Object) -> tuple[Any, ...]:
    """Return the cells of `RUN_COLUMNS` for the JSON object of a ReasoningTrace."""
    metrics = _object(trace.get("metrics"))
    return (
        text(trace["trace_id"]),
        text(trace.get("agent_id")),
        text(trace.get("session_id")),
        text(trace.get("status")),
        time_ns(trace.get("started_at")),
        time_ns(trace.get("finished_at")),
        integer(possible(metrics.get("total_tokens"))),
        number(possible(metrics.get("total_cost_usd"))),
        number(possible(metrics.get("total_duration_ms"))),
    )


def step_rows(trace: _Object) -> list[tuple[Any, ...]]:
    """Return the rows of the JSON object of a ReasoningTrace, cells in the order of `SCHEMA`."""
    of_run = run_cells(trace)
    steps: list[_Object] = trace["steps"]
    run: str | None = cell({**trace, "steps": []})
    if not steps:
        return [(*of_run, *[None] * _STEP_CELLS, run, None)]
    rows: list[tuple[Any, ...]] = []
    for place, step in enumerate(steps):
        call, result = _object(step.get("tool_call")), _object(step.get("tool_result"))
        rows.append(
            (
                *of_run,
                place,
                text(step.get("step_id")),
                text(step.get("type")),
                time_ns(step.get("timestamp")),
                text(step.get("content")),
                text(call.get("name")),
                text(call.get("id", result.get("call_id"))),
                json_or_none(call.get("arguments")),
                json_or_none(result.get("output")),
                text(result.get("error")),
                number(result.get("duration_ms")),
                text(step.get("to_agent")),
                run,
                cell(step),
            )
        )
        run = None
    return rows


_STEP_CELLS = len(SCHEMA) - len(RUN_COLUMNS) - 2
"""Columns of a row between those of its run and the two of JSON."""


def _object(value: Any) -> _Object:
    return value if isinstance(value, dict) else {}


def batch_of_rows(rows: Iterable[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows, their cells in the order of a schema, as a batch."""
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in schema]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


class Documents:
    """Reads documents from batches of rows, in their order. The rows of a run may be in several.

    Args:
        report: takes the place and the reason of what cannot be read.
    """

    def __init__(self, report: Callable[[str, str], None]):
        self._report = report
        self._run: _Object | None = None
        self._first_row = 0
        self._lost: str | None = None
        """The run of the steps before, if its first row is not there; it is reported once."""

    def add(self, batch: pa.RecordBatch, first_row: int = 0) -> Iterator[ReasoningTrace]:
        """Yield the runs that end in a batch.

        Args:
            batch: rows with the columns `READ`.
            first_row: number of its first row, for messages.
        """
        columns = (self._cells(batch, name, first_row) for name in READ)
        for number_, cells in enumerate(zip(*columns, strict=True), first_row):
            trace_id, step_number, run, step = cells
            if run is not None:
                yield from self.rest()
                self._begin(number_, run)
            if self._run is None or trace_id != self._id or step_number not in self._next:
                self._skip(number_, trace_id)
            elif step_number is not None:
                self._add_step(number_, step)

    def _cells(self, batch: pa.RecordBatch, column: str, first_row: int) -> list[Any]:
        def report(row: int, why: str) -> None:
            self._report(f"row {first_row + row}", f"column {column} {why}")

        return readable_cells(batch.column(column), report)

    def rest(self) -> Iterator[ReasoningTrace]:
        """Yield the last run; no row of it follows."""
        run, self._run = self._run, None
        if run is None:
            return
        try:
            yield decode(ReasoningTrace, run)
        except DecodeError as error:
            self._report(f"row {self._first_row}", f"left out: {error}")

    def _begin(self, row: int, text: str) -> None:
        try:
            run = value_of(text)
        except ValueError as error:
            self._report(f"row {row}", f"left out: run is not JSON: {error}")
            return
        if not isinstance(run, dict) or run.get("steps") != []:
            self._report(f"row {row}", "left out: run is no JSON object without steps")
            return
        self._run = run
        self._first_row, self._lost = row, None

    @property
    def _id(self) -> Any:
        return text(self._run.get("trace_id")) if self._run is not None else None

    @property
    def _next(self) -> tuple[int | None, ...]:
        """The numbers that the next row may have: that of the next step, or none."""
        count = len(self._run["steps"]) if self._run is not None else 0
        return (count, None) if not count else (count,)

    def _add_step(self, row: int, text: str | None) -> None:
        assert self._run is not None
        try:
            self._run["steps"].append(value_of(text or ""))
        except ValueError as error:
            self._report(f"row {row}", f"step is not JSON: {error}")
            self._run["steps"].append({"type": "unreadable"})

    def _skip(self, row: int, trace_id: Any) -> None:
        if self._lost != (lost := str(trace_id)):
            self._lost = lost
            self._report(
                f"row {row}", f"left out: a step of {lost!r}, whose rows before are not there"
            )
