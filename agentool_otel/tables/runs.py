"""Runs as a table, a row per run: `runs/1`. The columns of a run in `trajectories`, and more."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from agentool_otel.tables import TABLE
from agentool_otel.tables.columns import column, json_or_none, text
from agentool_otel.tables.trajectories import RUN_COLUMNS, run_cells

__all__ = ["NAME", "SCHEMA", "run_rows"]

NAME = "runs/1"

_FIELDS: list[pa.Field[Any]] = [
    *RUN_COLUMNS,
    column("input", pa.string(), "input of the agent; JSON where it is no text"),
    column("output", pa.string(), "output of the agent; JSON where it is no text"),
    column("step_count", pa.int32(), "number of steps"),
    column("tool_call_count", pa.int32(), "number of tool calls"),
    column("error_type", pa.string(), "what ended a run that did not succeed"),
    column("error_message", pa.string(), "message of that error"),
    column("metadata", pa.string(), "JSON object"),
]
SCHEMA = pa.schema(
    _FIELDS,
    {TABLE: NAME.encode()},
)


def run_rows(trace: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the row of the JSON object of a ReasoningTrace, in a list as for `step_rows`."""
    steps: list[dict[str, Any]] = trace["steps"]
    metadata = trace.get("metadata")
    error = metadata.get("error") if isinstance(metadata, dict) else None
    named = error if isinstance(error, dict) else {}
    return [
        (
            *run_cells(trace),
            text(trace.get("input")),
            text(trace.get("output")),
            len(steps),
            sum(isinstance(step.get("tool_call"), dict) for step in steps),
            text(named.get("type")),
            text(named.get("message")),
            json_or_none(metadata),
        )
    ]
