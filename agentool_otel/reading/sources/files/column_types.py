"""Columns of a record batch before they are read: checked, and no larger than memory allows.

Arrow takes the offsets and indices of a file as they are, so a damaged one leads out of the file's
memory: a column is checked before a cell of it is read. A dictionary or a view has a long text once
and names it in every row, so the size of rows is computed before they are unpacked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agentool_otel.tables.readable_cells import reason

__all__ = ["checked", "dense", "dense_size", "distinct_size", "is_readable", "named_once"]

_REPEATING = (
    "is_list_view",
    "is_large_list_view",
    "is_run_end_encoded",
    "is_union",
)
"""Types whose values may lie over one another; no store exports them."""
_DEEPEST = 100
"""Levels of lists and objects inside each other: Arrow and Python recurse into each."""
_VIEW = 16
"""Bytes of an element of a view; the first four are the length of its text."""


def named_once(schema: pa.Schema, report: Callable[[str], None]) -> tuple[list[int], list[str]]:
    """Return the places and the names of the columns that are read; report the others."""
    places: list[int] = []
    names: list[str] = []
    for place in range(len(schema)):
        try:
            name = schema.field(place).name
        except UnicodeDecodeError:
            report(f"column {place + 1} is not read: its name is not UTF-8")
            continue
        if name in names:
            report(f"there is more than one column {name}: the first is read")
        elif (levels := _levels(kind := schema.field(place).type)) > _DEEPEST:
            report(f"column {name} is nested in {levels} levels: not read")
        elif not is_readable(kind) or not _is_sizeable(kind):
            report(f"column {name} is {kind}: not read")
        else:
            places.append(place)
            names.append(name)
    return places, names


def _levels(kind: pa.DataType) -> int:
    """Return how many lists and objects lie inside each other."""
    levels, kinds = 0, [kind]
    while kinds := [item.field(n).type for item in kinds for n in range(item.num_fields)]:
        levels += 1
    return levels


def is_readable(kind: pa.DataType) -> bool:
    """Return whether no value inside a value of this type lies over another one."""
    if isinstance(kind, pa.BaseExtensionType):
        return is_readable(kind.storage_type)
    if any(getattr(pa.types, name, _no)(kind) for name in _REPEATING):
        return False
    if pa.types.is_dictionary(kind):
        return is_readable(kind.value_type)
    return all(is_readable(kind.field(n).type) for n in range(kind.num_fields))


def _no(_: pa.DataType) -> bool:
    return False


def _is_sizeable(kind: Any) -> bool:
    """Return whether pyarrow has the functions that a column of this type is read with."""
    try:
        none: pa.Array[Any] = pa.nulls(0, kind)  # a cell may take gigabytes
        dense_size(none)
        distinct_size(dense(none))
        distinct_size(none)
    except (pa.ArrowException, NotImplementedError, TypeError, ValueError):
        return False
    return True


def checked(column: pa.Array[Any], report: Callable[[str], None]) -> pa.Array[Any]:
    """Return a column that is safe to read: nulls in place of a damaged one, which is reported.

    Text that is not UTF-8 stays, for its cells to be reported one by one.
    """
    try:
        column.validate(full=True)
    except (pa.ArrowException, ValueError) as error:
        try:
            _as_bytes(column).validate(full=True)
        except (pa.ArrowException, ValueError, TypeError):
            report(f"left out: {reason(error)}")
            nothing: pa.Array[Any] = pa.nulls(len(column))
            return nothing
    return column


def _as_bytes(column: pa.Array[Any]) -> pa.Array[Any]:
    """Return a column of texts as one of bytes, which need not be UTF-8.

    Raises:
        TypeError: it has no texts.
    """
    if isinstance(column, pa.DictionaryArray):
        return pa.DictionaryArray.from_arrays(
            column.indices, _as_bytes(column.dictionary), safe=False
        )
    for is_text, kind in (
        (pa.types.is_string, pa.binary()),
        (pa.types.is_large_string, pa.large_binary()),
        (getattr(pa.types, "is_string_view", _no), getattr(pa, "binary_view", pa.binary)()),
    ):
        if is_text(column.type):
            view: pa.Array[Any] = column.view(kind)
            return view
    raise TypeError("no texts")


def dense_size(array: Any) -> int:
    """Return the bytes of an array with every value in its place. Nothing is unpacked."""
    if isinstance(array, pa.ExtensionArray):
        return dense_size(array.storage)
    kind = array.type
    if isinstance(array, pa.DictionaryArray):
        return _dictionary_size(array)
    if _is_view(kind):
        views = memoryview(array.buffers()[1] or b"").cast("B").cast("i")
        words = _VIEW // 4
        return sum(views[array.offset * words : (array.offset + len(array)) * words : words])
    if pa.types.is_map(kind):
        first, last = array.offsets[0].as_py(), array.offsets[len(array)].as_py()
        inside = (array.keys[first:last], array.items[first:last])
        return 8 * len(array) + sum(map(dense_size, inside))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return 8 * len(array) + dense_size(array.flatten())
    if pa.types.is_fixed_size_list(kind):
        return 8 * len(array) + dense_size(array.flatten())
    if pa.types.is_struct(kind):
        return 8 * len(array) + sum(map(dense_size, array.flatten()))
    return max(int(array.nbytes), 8 * len(array))


def _dictionary_size(array: Any) -> int:
    counts = array.indices.drop_null().value_counts()
    values = _taken(array.dictionary, counts.field(0))
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        sizes = pc.binary_length(values).cast(pa.int64())
    else:
        sizes = pa.array([dense_size(values[n : n + 1]) for n in range(len(values))], pa.int64())
    return int(pc.sum(pc.multiply(sizes, counts.field(1))).as_py() or 0) + 8 * len(array)


def _taken(values: Any, places: Any) -> Any:
    """Return the values at some places. pyarrow's own `take` has no views and few nested types."""
    try:
        return values.take(places)
    except pa.ArrowNotImplementedError:
        nothing = pa.nulls(1, values.type)
        cells = [nothing if at is None else values[at : at + 1] for at in places.to_pylist()]
        return pa.concat_arrays([values[:0], *cells])


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_view(kind: pa.DataType) -> bool:
    return any(getattr(pa.types, name, _no)(kind) for name in ("is_string_view", "is_binary_view"))


def dense(column: pa.Array[Any]) -> pa.Array[Any]:
    """Return a column with every value in place, whose size is that in memory."""
    if isinstance(column, pa.DictionaryArray):
        taken: pa.Array[Any] = _taken(column.dictionary, column.indices)
        return taken
    return column


def distinct_size(column: pa.Array[Any]) -> int:
    """Return the bytes of a column whose equal texts count once."""
    kind = column.type
    if isinstance(column, pa.DictionaryArray):
        used = _taken(column.dictionary, column.indices.drop_null().unique())
        return dense_size(used) + 8 * len(column)
    if _is_view(kind):
        column = column.cast(pa.large_binary())
        kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_bytes(kind):
        return int(column.unique().nbytes) + 8 * len(column)
    return dense_size(column)
