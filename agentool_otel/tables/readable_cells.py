"""Cells of a column as Python objects, where some of them have no Python object.

A date after the year 9999, a duration of more than a billion days or text that is not UTF-8 raises
an exception, of whatever type. Such a cell is reported, and the others of its column are read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

__all__ = ["CellReport", "readable_cells", "reason"]

CellReport = Callable[[int, str], None]
"""Takes the number of a row, from 0, and what is wrong with its cell."""


def readable_cells(
    column: pa.Array[Any], report: CellReport, invalid_utf8: str = "backslashreplace"
) -> list[Any]:
    """Return the cells of a column; None for each that cannot be converted, which is reported.

    Args:
        column: the column.
        report: takes the cells that cannot be read as they are.
        invalid_utf8: the error handler for text that is not UTF-8.
    """
    try:
        return column.to_pylist()
    except Exception:  # pyarrow passes on what Python's types raise: OverflowError, ValueError, …
        return [_cell(column[row], row, report, invalid_utf8) for row in range(len(column))]


def _cell(scalar: Any, row: int, report: CellReport, invalid_utf8: str) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        report(row, "is not UTF-8")
        data = getattr(scalar, "as_buffer", lambda: None)()  # none inside a list or an object
        return None if data is None else data.to_pybytes().decode("utf-8", invalid_utf8)
    except Exception as error:  # the same as above
        report(row, f"left out: {reason(error)}")
        return None


def reason(error: Exception) -> str:
    """Return the first sentence of an error."""
    first = str(error).partition("\n")[0].partition(". ")[0]
    return first.rstrip(". ") or type(error).__name__
