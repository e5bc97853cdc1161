"""Tables that were written by other engines, as the schemas of this package have them.

DuckDB, Spark and pandas keep the columns of a file and change their types: integers with nulls
become floats, texts large texts, and the metadata of the schema are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from agentool_otel.tables import TABLE

__all__ = ["fitted", "is_table", "misfits"]


def is_table(schema: pa.Schema, name: str, columns: Sequence[str]) -> bool:
    """Return whether a file has a table.

    Args:
        schema: that of the file.
        name: name and version of the table.
        columns: columns that no other table has, for files without metadata.
    """
    written = (schema.metadata or {}).get(TABLE)
    if written is not None:
        return bool(written.partition(b"/")[0] == name.partition("/")[0].encode())
    return set(columns) <= set(schema.names)


def misfits(schema: pa.Schema, name: str, wanted: pa.Schema, columns: Sequence[str]) -> list[str]:
    """Return what of a table cannot be read, one phrase each.

    Args:
        schema: that of the file.
        name: name and version of the table as it is read here.
        wanted: its schema.
        columns: the columns that are read.
    """
    phrases: list[str] = []
    written = (schema.metadata or {}).get(TABLE, name.encode()).decode("utf-8", "replace")
    if written != name:
        phrases.append(f"written as {written}, read as {name}: upgrade agentool-otel")
    if missing := [column for column in columns if column not in schema.names]:
        phrases.append(f"without the column{'s' * (len(missing) > 1)} {', '.join(missing)}")
    for column in columns:
        if column in schema.names and not _fits(kind := schema.field(column).type, wanted, column):
            phrases.append(f"column {column} is {kind}, not {wanted.field(column).type}: not read")
    return phrases


def fitted(batch: pa.RecordBatch, wanted: pa.Schema, columns: Sequence[str]) -> pa.RecordBatch:
    """Return the columns of a batch with the types of a schema; what cannot be read is null.

    Raises:
        pyarrow.ArrowInvalid: a number does not fit its column.
    """
    arrays: list[pa.Array[Any]] = []
    for column in columns:
        kind = wanted.field(column).type
        if column in batch.schema.names and _fits(batch.schema.field(column).type, wanted, column):
            array = batch.column(column)
            arrays.append(array if array.type == kind else array.cast(kind, safe=False))
        else:
            arrays.append(pa.nulls(batch.num_rows, kind))
    return pa.RecordBatch.from_arrays(arrays, list(columns))


def _fits(kind: pa.DataType, wanted: pa.Schema, column: str) -> bool:
    """Return whether a column can be cast without a change of meaning."""
    if pa.types.is_null(kind):
        return True
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    target = wanted.field(column).type
    if pa.types.is_string(target):
        return pa.types.is_string(kind) or _is_other_string(kind)
    if pa.types.is_integer(target):
        return pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return kind.equals(target)


def _is_other_string(kind: pa.DataType) -> bool:
    is_view = getattr(pa.types, "is_string_view", lambda _: False)
    return bool(pa.types.is_large_string(kind) or is_view(kind))
