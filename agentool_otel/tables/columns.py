"""Columns of the schemas, and their cells from JSON values, which may be of any type."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from agentool_otel.model.times import to_ns
from agentool_otel.tables.json_cells import cell

__all__ = ["DESCRIPTION", "column", "integer", "json_or_none", "number", "text", "time_ns"]

DESCRIPTION = b"description"
"""Key of the metadata of a column that has its meaning."""

_LIMIT = 1 << 63


def column(name: str, kind: pa.DataType, description: str) -> pa.Field[Any]:
    """Return a column, with its meaning in its metadata."""
    return pa.field(name, kind, metadata={DESCRIPTION: description.encode()})


def text(value: Any) -> str | None:
    """Return a text, the JSON of any other value, or None for null. What is not Unicode is `?`."""
    if value is None:
        return None
    written = value if isinstance(value, str) else cell(value)
    return written if written.isascii() else written.encode("utf-8", "replace").decode()


def json_or_none(value: Any) -> str | None:
    """Return the JSON of a value; None for null."""
    return None if value is None else cell(value)


def number(value: Any) -> float | None:
    """Return a number as a float; None for anything else, and for one that no float can hold."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def integer(value: Any) -> int | None:
    """Return a whole number of 64 bits; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value)
    return value if -_LIMIT <= value < _LIMIT else None


def time_ns(value: Any) -> int | None:
    """Return the nanoseconds since the epoch of an RFC 3339 time; None for anything else."""
    at = to_ns(value) if isinstance(value, str) else None
    return at if at is not None and -_LIMIT <= at < _LIMIT else None
