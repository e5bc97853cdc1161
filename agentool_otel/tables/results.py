"""Results of an evaluation as a table, a row per assertion: `results/1`."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from agentool_otel.tables import TABLE
from agentool_otel.tables.columns import column, number, text
from agentool_otel.tables.json_cells import cell

__all__ = ["NAME", "SCHEMA", "result_rows"]

NAME = "results/1"

_FIELDS: list[pa.Field[Any]] = [
    column("case_id", pa.string(), "the case, or `every trace`"),
    column("trace_id", pa.string(), "the run; null for a case without one"),
    column("passed", pa.bool_(), "the verdict; null where nothing was evaluated"),
    column("composite_score", pa.float64(), "0 to 1 over all assertions"),
    column("assertion_number", pa.int32(), "from 0; null for a result without assertions"),
    column("assertion_type", pa.string(), "type of the assertion"),
    column("assertion_passed", pa.bool_(), "its verdict; null where it was not evaluated"),
    column("score", pa.float64(), "0 to 1"),
    column("reason", pa.string(), "why"),
    column("result", pa.string(), "JSON of the whole result; first row only"),
]
SCHEMA = pa.schema(
    _FIELDS,
    {TABLE: NAME.encode()},
)


def result_rows(result: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of the JSON object of an EvalResult, cells in the order of `SCHEMA`."""
    of_result = (
        text(result["case_id"]),
        text(result.get("trace_id")),
        result.get("passed"),
        number(result.get("composite_score")),
    )
    document: str | None = cell(result)
    assertions: list[dict[str, Any]] = result["assertion_results"]
    if not assertions:
        return [(*of_result, None, None, None, None, None, document)]
    rows: list[tuple[Any, ...]] = []
    for place, of in enumerate(assertions):
        rows.append(
            (
                *of_result,
                place,
                text(of.get("assertion_type")),
                of.get("passed"),
                number(of.get("score")),
                text(of.get("reason")),
                document,
            )
        )
        document = None
    return rows
