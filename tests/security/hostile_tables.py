"""Hostile Parquet and Arrow files, and a process with little memory that reads each of them.

    python -m tests.security.hostile_tables FOLDER CASE …

Each case has the four rows of `ROWS`, and something odd in, beside or around them.
"""

from __future__ import annotations

import datetime
import io
import json
import struct
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

from agentool_otel.errors import AgentoolError
from agentool_otel.reading.sources.opening import open_source

__all__ = ["CASES", "MEMORY", "Case"]

MEMORY = 1 << 30
"""Bytes that reading all cases may take, beyond those of the process at its start."""
_COUNT = 4
ROWS: dict[str, Any] = {
    "id": [f"observation {n}" for n in range(_COUNT)],
    "trace_id": [f"trace {n}" for n in range(_COUNT)],
    "type": ["GENERATION"] * _COUNT,
    "name": ["x"] * _COUNT,
    "start_time": ["2026-01-01T00:00:00Z"] * _COUNT,
}
_HUGE = 100 << 20


class Case(NamedTuple):
    """A file, and how many of its rows are read."""

    make: Callable[[], bytes]
    rows: int = _COUNT
    suffix: str = "arrow"
    is_whole: bool = False
    """Whether nothing in it is a problem."""


def arrow(*tables: pa.Table, compression: Any = None) -> bytes:
    options = ipc.IpcWriteOptions(compression=compression)
    with ipc.new_file(sink := io.BytesIO(), tables[0].schema, options=options) as writer:
        for table in tables:
            writer.write_table(table)
    return sink.getvalue()


def parquet(table: pa.Table, **options: Any) -> bytes:
    pq.write_table(table, sink := io.BytesIO(), **options)
    return sink.getvalue()


def rows(**columns: Any) -> pa.Table:
    return pa.table(ROWS | columns)


def _texts(data: list[bytes]) -> pa.Array[Any]:
    """Return an array of texts whose bytes are not checked."""
    return pa.array(data, pa.binary()).view(pa.string())


_BAD_TEXTS = [b"good", b"\xff\xfe", b"a\xc3", b"good"]
_FAR = 2**62

COLUMNS: dict[str, tuple[Callable[[], pa.Array[Any]], bool]] = {
    "dates beyond the calendar": (
        lambda: pa.array([10**7, 1, -(10**7), None], pa.int32()).cast(pa.date32()), False),
    "dates in milliseconds beyond the calendar": (
        lambda: pa.array([86_400_000 * 10**8, 0, 0, 0]).view(pa.date64()), False),
    "seconds beyond the calendar": (
        lambda: pa.array([2**52, 1, 2, -(2**52)]).view(pa.timestamp("s")), False),
    "microseconds beyond the calendar": (
        lambda: pa.array([2**62, 1, 2, 3]).view(pa.timestamp("us", "UTC")), False),
    "durations beyond what Python has": (
        lambda: pa.array([_FAR, 1, 2, None]).view(pa.duration("s")), False),
    "times in a list beyond the calendar": (
        lambda: pa.ListArray.from_arrays(
            pa.array([0, 1, 2, 2, 2], pa.int32()),
            pa.array([2**52, 1]).view(pa.timestamp("s"))), False),
    "text that is not UTF-8": (lambda: _texts(_BAD_TEXTS), False),
    "large text that is not UTF-8": (
        lambda: pa.array(_BAD_TEXTS, pa.large_binary()).view(pa.large_string()), False),
    "a dictionary that is not UTF-8": (
        lambda: pa.DictionaryArray.from_arrays(
            pa.array([0, 1, 2, 3], pa.int32()), _texts(_BAD_TEXTS)), False),
    "numbers that are not finite": (
        lambda: pa.array([float("nan"), float("inf"), -float("inf"), 0.0]), True),
    "decimals of 76 digits": (
        lambda: pa.array([Decimal("9" * 76), Decimal(0), None, Decimal(1)],
                         pa.decimal256(76, 0)), True),
    "bytes": (lambda: pa.array([b"\xff", b"", None, b"a"]), True),
    "a map with a key twice": (
        lambda: pa.array([[("a", 1), ("a", 2)], [], None, [("", None)]],
                         pa.map_(pa.string(), pa.int64())), True),
    "objects of sixty levels": (lambda: pa.array([_nested(60)] * _COUNT), True),
    "nothing but nulls": (lambda: pa.nulls(_COUNT), True),
}  # fmt: skip
_ARROW_ONLY: dict[str, tuple[Callable[[], pa.Array[Any]], bool]] = {
    "times beyond a day": (
        lambda: pa.array([2**40, 1, 2, 3]).view(pa.time64("us")), False),
    "intervals": (
        lambda: pa.nulls(_COUNT, pa.month_day_nano_interval()), True),
    "lists that lie over one another": (
        lambda: pa.array([["x"]] * _COUNT, pa.list_view(pa.string())), False),
    "a run that repeats a text": (
        lambda: pa.RunEndEncodedArray.from_arrays(pa.array([_COUNT]), pa.array(["x"])), False),
    "a union": (
        lambda: pa.UnionArray.from_sparse(
            pa.array([0, 1, 0, 1], pa.int8()), [pa.array([1] * 4), pa.array(["x"] * 4)]), False),
    "views": (lambda: pa.array(["x", "y" * 100, None, ""], pa.string_view()), True),
}  # fmt: skip

_TOO_LARGE: dict[str, Callable[[], pa.Array[Any]]] = {
    "a list of 268 million nulls":
        lambda: pa.FixedSizeListArray.from_arrays(pa.nulls(_COUNT << 26), 1 << 26),
    "lists of two billion nulls":
        lambda: pa.ListArray.from_arrays(
            pa.array([0, 1, 2, 3, 2**31 - 1], pa.int32()), pa.nulls(2**31 - 1)),
}  # fmt: skip


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


# ------------------------------------------------------------------------ changed files


def _with_offset(middle: int, column: str = "input") -> bytes:
    """Return a file one of whose texts begins in another place."""
    texts = {column: ["a" * 0x1235, "b", "c", "d"]}
    data = arrow(pa.table(ROWS | texts), rows(**({"input": ["e"] * _COUNT} if column == "input"
                                                 else {})))  # fmt: skip
    at = data.find(struct.pack("<iii", 0, 0x1235, 0x1236)) + 4
    return data[:at] + struct.pack("<i", middle) + data[at + 4 :]


def _with_index(index: int) -> bytes:
    """Return a file with an index that its dictionary does not have."""
    marks = pa.DictionaryArray.from_arrays(
        pa.array([0x11, 0x12, 0x11, 0x12], pa.int32()), pa.array([f"v{n}" for n in range(0x20)])
    )
    data = arrow(rows(input=marks))
    at = data.find(struct.pack("<iiii", 0x11, 0x12, 0x11, 0x12))
    return data[:at] + struct.pack("<i", index) + data[at + 4 :]


def _with_footer(change: Callable[[bytearray, int], None]) -> bytes:
    data = bytearray(arrow(rows()))
    change(data, struct.unpack("<i", data[-10:-6])[0])
    return bytes(data)


def _footer_length(length: int) -> bytes:
    def change(data: bytearray, _: int) -> None:
        data[-10:-6] = struct.pack("<i", length)

    return _with_footer(change)


def _scrambled(data: bytearray, length: int) -> None:
    data[-10 - length : -10] = b"\x7f" * length


def _bombs(compression: str) -> bytes:
    """Return three batches, the second of which unpacks to 100 MB."""
    good, bad = rows(input=["q"] * _COUNT), rows(input=["a" * _HUGE, "b", "c", "d"])
    return arrow(good, bad, good, compression=compression)


def _dictionary_bomb() -> bytes:
    marks = pa.DictionaryArray.from_arrays(
        pa.array([0] * _COUNT, pa.int32()), pa.array(["a" * _HUGE])
    )
    return arrow(rows(input=marks), compression="zstd")


def _repeated_views() -> bytes:
    """Return a row for each of a thousand views of one text of 100,000 characters."""
    text, count = b"a" * 10**5, 1000
    view = struct.pack("<i4sii", len(text), text[:4], 0, 0)
    views = pa.Array.from_buffers(
        pa.string_view(), count, [None, pa.py_buffer(view * count), pa.py_buffer(text)]
    )
    columns = {name: [cells[0]] * count for name, cells in ROWS.items()}
    return arrow(pa.table(columns | {"input": views}))


def _nulls(count: int) -> bytes:
    return arrow(pa.table({name: pa.nulls(count) for name in ROWS}))


def _large_page(**options: Any) -> bytes:
    """Return three row groups, the second of which has a text of 100 MB."""
    texts = ["q"] * _COUNT + ["a" * _HUGE, "b", "c", "d"] + ["q"] * _COUNT
    table = pa.table({name: cells * 3 for name, cells in ROWS.items()} | {"input": texts})
    return parquet(table, row_group_size=_COUNT, compression="zstd", **options)


def _lying_page() -> bytes:
    """Return a file whose first page claims another size."""
    data = parquet(rows(), use_dictionary=False, compression="zstd", write_statistics=False)
    column = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0)
    at = column.data_page_offset
    head = bytearray(data[at : at + 8])
    assert head[2] == 0x15, "the size of a page is its second field"
    head[3:5] = b"\xfe\x0f"  # the same number of bytes, another size
    return data[:at] + bytes(head) + data[at + 8 :]


def _null_lists() -> bytes:
    """Return a row whose list has thirty million nulls: a few bytes in the file."""
    count = 30_000_000
    lists = pa.ListArray.from_arrays(
        pa.array([0, 1, 2, 3, count], pa.int32()), pa.nulls(count, pa.int8())
    )
    return parquet(rows(input=lists), compression="zstd")


def _deep_parquet() -> bytes:
    value: pa.Array[Any] = pa.array([1] * _COUNT)
    for _ in range(90):
        value = pa.StructArray.from_arrays([value], ["a"])
    return parquet(rows(input=value))


def _twice(column: str) -> pa.Table:
    return rows().append_column(column, pa.array(["other"] * _COUNT))


def _named(name: str) -> pa.Table:
    return rows().append_column(name, pa.array(["v"] * _COUNT))


def _own(**columns: Any) -> pa.Table:
    """Return a table as this package writes it."""
    start = int(datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc).timestamp())
    return pa.table(
        {
            "trace_id": [f"{n + 1:032x}" for n in range(_COUNT)],
            "span_id": [f"{n + 1:016x}" for n in range(_COUNT)],
            "start_time_unix_nano": [start * 10**9] * _COUNT,
            **columns,
        }
    )


def _damaged_pages() -> bytes:
    data = bytearray(_groups())
    group = pq.ParquetFile(io.BytesIO(bytes(data))).metadata.row_group(1)
    at = group.column(1).dictionary_page_offset or 0
    data[at : at + 16] = b"\xff" * 16
    return bytes(data)


def _groups() -> bytes:
    return parquet(pa.concat_tables([rows(), rows(), rows()]), row_group_size=_COUNT)


def _blocks(offset: int) -> bytes:
    """Return a file whose footer has another place for its only batch."""
    data = arrow(rows())
    block = ipc.open_file(io.BytesIO(data))
    assert block.num_record_batches == 1
    length = struct.unpack("<i", data[-10:-6])[0]
    footer = data[-10 - length : -10]
    at = footer.rfind(struct.pack("<i", 1))  # the number of blocks; the block follows
    changed = footer[: at + 4] + struct.pack("<q", offset) + footer[at + 12 :]
    return data[: -10 - length] + changed + data[-10:]


def _cases(
    columns: dict[str, tuple[Callable[[], pa.Array[Any]], bool]], format: str
) -> dict[str, Case]:
    """Return a case for each odd column."""
    write = parquet if format == "Parquet" else arrow

    def case(make: Callable[[], pa.Array[Any]], is_whole: bool) -> Case:
        return Case(lambda: write(rows(input=make())), _COUNT, format.lower(), is_whole)

    return {f"{format}, {name}": case(*column) for name, column in columns.items()}


def _too_large(make: Callable[[], pa.Array[Any]]) -> Case:
    return Case(lambda: arrow(rows(input=make())), 0)


CASES: dict[str, Case] = {
    **_cases(COLUMNS | _ARROW_ONLY, "Arrow"),
    **_cases(COLUMNS, "Parquet"),
    **{f"Arrow, {name}": _too_large(make) for name, make in _TOO_LARGE.items()},
    "Arrow, a text that begins a billion bytes later": Case(lambda: _with_offset(1 << 30), 8),
    "Arrow, a text that begins behind the column": Case(lambda: _with_offset(100_000), 8),
    "Arrow, a text that begins before the column": Case(lambda: _with_offset(-5), 8),
    "Arrow, ids that lie outside": Case(lambda: _with_offset(1 << 30, "trace_id"), 4),
    "Arrow, an index beyond the dictionary": Case(lambda: _with_index(2**31 - 1)),
    "Arrow, an index below the dictionary": Case(lambda: _with_index(-7)),
    "Arrow, a footer of two billion bytes": Case(lambda: _footer_length(2**31 - 1), 0),
    "Arrow, a footer of negative size": Case(lambda: _footer_length(-2), 0),
    "Arrow, a footer of noise": Case(lambda: _with_footer(_scrambled), 0),
    "Arrow, a batch outside the file": Case(lambda: _blocks(1 << 60), 0),
    "Arrow, a batch before the file": Case(lambda: _blocks(-8), 0),
    "Arrow, cut short": Case(lambda: arrow(rows())[:-40], 0),
    "Arrow, a batch of 100 MB in 10 kB by zstd": Case(lambda: _bombs("zstd"), 8),
    "Arrow, a batch of 100 MB by lz4": Case(lambda: _bombs("lz4"), 8),
    "Arrow, a dictionary of 100 MB": Case(_dictionary_bomb, 0),
    "Arrow, views of one text": Case(_repeated_views, 1000, is_whole=True),
    "Arrow, two billion rows of nulls": Case(lambda: _nulls(2**31 - 1), 0),
    "Arrow, no rows": Case(lambda: arrow(rows().slice(0, 0)), 0),
    "Arrow, a column twice": Case(lambda: arrow(_twice("trace_id"))),
    "Arrow, a name that clears the screen": Case(lambda: arrow(_named("\x1b[2J\u202e")),
                                                 is_whole=True),
    "Arrow, an extension with a pickle": Case(lambda: arrow(_pickled()), is_whole=True),
    "Arrow, our table with text that is not UTF-8": Case(
        lambda: arrow(_own(name=_texts(_BAD_TEXTS)))),
    "Arrow, our table with a column twice": Case(
        lambda: arrow(_own().append_column("span_id", pa.array(["x"] * _COUNT)))),
    "Parquet, our table with text that is not UTF-8": Case(
        lambda: parquet(_own(name=_texts(_BAD_TEXTS))), suffix="parquet"),
    "Parquet, a text of 100 MB in a dictionary": Case(_large_page, 8, "parquet"),
    "Parquet, a text of 100 MB in a page": Case(lambda: _large_page(use_dictionary=False), 8,
                                                "parquet"),
    "Parquet, a text of 100 MB by its prefix": Case(
        lambda: _large_page(use_dictionary=False, column_encoding={"input": "DELTA_BYTE_ARRAY"}),
        8, "parquet"),
    "Parquet, a page that lies": Case(_lying_page, 0, "parquet"),
    "Parquet, a list of thirty million nulls": Case(_null_lists, 0, "parquet"),
    "Parquet, objects of ninety levels": Case(_deep_parquet, 4, "parquet", is_whole=True),
    "Parquet, a damaged page": Case(_damaged_pages, 8, "parquet"),
    "Parquet, a column twice": Case(lambda: parquet(_twice("trace_id")), suffix="parquet"),
    "Parquet, cut short": Case(lambda: parquet(rows())[:-9], 0, "parquet"),
    "Parquet, no rows": Case(lambda: parquet(rows().slice(0, 0)), 0, "parquet"),
}  # fmt: skip


def _pickled() -> pa.Table:
    """Return a table with metadata that old versions of pyarrow unpickled."""
    field = pa.field(
        "input",
        pa.string(),
        metadata={
            "ARROW:extension:name": "arrow.py_extension_type",
            "ARROW:extension:metadata": b"cos\nsystem\n(S'touch /tmp/agentool-was-here'\ntR.",
        },
    )
    return rows().append_column(field, pa.array(["v"] * _COUNT))


def path_of(folder: Path, name: str) -> Path:
    return folder / f"{[*CASES].index(name)}.{CASES[name].suffix}"


def read(path: Path) -> dict[str, Any]:
    """Return how many spans a file has, and its problems."""
    try:
        source = open_source(path)
        count = sum(1 for _ in source.spans())
    except AgentoolError as error:
        return {"rows": 0, "problems": [str(error)]}
    return {"rows": count, "problems": [str(problem) for problem in source.problems]}


def main(folder: Path, names: list[str]) -> None:
    from tests.security.fuzz.memory import limit_memory

    limit_memory(MEMORY)
    for name in names:
        print(json.dumps({"begins": name}), flush=True)
        print(json.dumps({"case": name, **read(path_of(folder, name))}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
