"""Tables: rows whose members are named once, as query APIs, data frames and CSV files have them.

    {"columns": [{"name"}, …], "rows": [[…], …]}      Azure Monitor, Snowflake, Databricks
    {"meta": [{"name"}, …], "data": [[…], …]}         ClickHouse `FORMAT JSONCompact`
    {"schema": {"fields": [{"name"}]}, "rows": [{"f": [{"v"}]}]}      BigQuery
    {"columns": [{"name", "values": […]}, …]}         Logfire, by column
    {"fields": [{"name"}, …], "columns": [[…], …]}    Axiom, by column
    {"columns": ["a", …], "data": [[…], …]}           pandas `to_json(orient="split")`
    {"a": {"0": …}, "b": {"0": …}}                    pandas `to_json()`

Which rows are spans is not known here: each becomes an object, and objects are recognised by
their members.

Source: Azure Monitor query API v1; ClickHouse formats; BigQuery `jobs.getQueryResults`; Pydantic
Logfire query API v1; Axiom query API v1; pandas 2.3 `DataFrame.to_json`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import Json

__all__ = ["is_trace_column", "rows_of"]

_TRACE_COLUMN = re.compile(r"(^|[._])(trace|operation)[._]?id$|^trace$", re.IGNORECASE)


def is_trace_column(name: Json) -> bool:
    """Return whether a column has the trace of each row, as every store's table does."""
    return isinstance(name, str) and _TRACE_COLUMN.search(name) is not None


def rows_of(value: dict[str, Json]) -> Iterator[dict[str, Json]] | None:
    """Return the rows of a table as objects; None if a value is no table."""
    fields = value.get("fields")
    columns = value.get("columns", value.get("meta"))
    if isinstance(fields, list) and isinstance(columns, list) and _hold_cells(columns):
        return _rows_by_column(dict(zip(map(_column_name, fields), columns, strict=False)))
    if columns is None and isinstance(schema := value.get("schema"), dict):
        columns = schema.get("fields")
    if isinstance(columns, list) and columns:
        return _rows_under(columns, value)
    return _rows_by_index(value) if _is_frame(value) else None


def _rows_under(columns: list[Json], value: dict[str, Json]) -> Iterator[dict[str, Json]] | None:
    if all(
        isinstance(column, dict) and isinstance(column.get("values"), list) for column in columns
    ):
        return _rows_by_column({_column_name(column): column["values"] for column in columns})
    for rows in (value.get("rows"), value.get("data")):
        if isinstance(rows, list) and rows and _cells(rows[0]) is not None:
            return _rows(list(map(_column_name, columns)), rows)
    return None


def _column_name(column: Json) -> str:
    return str(column.get("name") if isinstance(column, dict) else column)


def _hold_cells(columns: list[Json]) -> bool:
    return all(isinstance(column, list) for column in columns)


def _rows(names: list[str], rows: list[Json]) -> Iterator[dict[str, Json]]:
    for row in rows:
        yield dict(zip(names, _cells(row) or (), strict=False))


def _cells(row: Json) -> list[Json] | None:
    if isinstance(row, list):
        return row
    cells = row.get("f") if isinstance(row, dict) else None
    if isinstance(cells, list):
        return [cell.get("v") if isinstance(cell, dict) else cell for cell in cells]
    return None


def _rows_by_column(columns: dict[str, list[Json]]) -> Iterator[dict[str, Json]]:
    for cells in zip(*columns.values(), strict=False):
        yield dict(zip(columns, cells, strict=True))


def _is_frame(value: dict[str, Any]) -> bool:
    """Columns of cells by their index, one of which is the trace of a row."""
    if not isinstance(next(iter(value.values()), None), dict):
        return False
    ids = next((cells for name, cells in value.items() if is_trace_column(name)), None)
    return isinstance(ids, dict) and all(
        isinstance(cells, dict) and cells.keys() == ids.keys() for cells in value.values()
    )


def _rows_by_index(columns: dict[str, Any]) -> Iterator[dict[str, Json]]:
    for index in next(iter(columns.values())):
        yield {name: cells[index] for name, cells in columns.items()}
