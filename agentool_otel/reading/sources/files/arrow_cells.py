"""Rows of Arrow as JSON objects.

A cell that has no value in JSON or in Python, such as a date after the year 9999, is reported and
left out; the row keeps its other cells.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa

from agentool_otel.ground.invalid_utf8 import MARKING
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.times import from_ns, in_calendar
from agentool_otel.tables.readable_cells import CellReport, readable_cells

__all__ = ["json_rows"]

_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def json_rows(
    batch: pa.RecordBatch, report: Callable[[int, str, str], None]
) -> Iterator[dict[str, Json]]:
    """Yield each row as an object without its nulls; times are text, to the nanosecond.

    Args:
        batch: the rows.
        report: takes the number of a row, from 0, the column, and what is wrong with the cell.
    """
    columns: dict[str, list[Json]] = {}
    for name in batch.schema.names:

        def report_cell(row: int, why: str, name: str = name) -> None:
            report(row, name, why)

        columns[name] = _cells(batch.column(name), report_cell)
    for cells in zip(*columns.values(), strict=True):
        yield {name: cell for name, cell in zip(columns, cells, strict=True) if cell is not None}


def _cells(column: pa.Array[Any], report: CellReport) -> list[Json]:
    """Return the cells of a column as JSON values."""
    if pa.types.is_timestamp(column.type):
        unit = _UNITS[column.type.unit]
        numbers = column.cast(pa.int64()).to_pylist()
        return [
            None if at is None else _time(at * unit, row, report) for row, at in enumerate(numbers)
        ]
    return [
        _json(value, row, report)
        for row, value in enumerate(readable_cells(column, report, MARKING))
    ]


def _time(ns: int, row: int, report: CellReport) -> Json:
    if in_calendar(ns):
        return from_ns(ns)
    report(row, "left out: it is a time before the year 1 or after the year 9999")
    return None


def _json(value: Any, row: int, report: CellReport) -> Json:
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    try:
        return _plain(value)
    except (ValueError, ArithmeticError, RecursionError) as error:
        report(row, f"left out: {type(error).__name__}")
        return None


def _plain(value: Any) -> Json:
    """Return a value of Arrow as a JSON value."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(item, tuple) and len(item) == 2 for item in value):
            return {str(key): _plain(item) for key, item in value}  # a map
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)
