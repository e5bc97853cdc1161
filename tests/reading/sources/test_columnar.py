"""Parquet and Arrow files, ours and those of stores: whole, rewritten by others, damaged."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyarrow import ipc

from agentool_otel.errors import DecodeError, MissingDependencyError
from agentool_otel.loading import load, rebuild
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files import column_types, columnar, compression
from agentool_otel.reading.sources.files.columnar_parts import Slice
from agentool_otel.reading.sources.files.compression import limited_to
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tables import spans as span_table
from tests.frameworks import ROOT
from tests.integrations.langfuse.exports import EXPORTS

RECORDING = ROOT / "tests/fixtures/spans/anthropic-2.12.0.openinference.jsonl"


@pytest.fixture
def records() -> list[SpanRecord]:
    return list(open_source(RECORDING).spans())


@pytest.fixture
def parquet(tmp_path: Path, records: list[SpanRecord]) -> Path:
    path = tmp_path / "spans.parquet"
    pq.write_table(_table(records), path, row_group_size=2)
    return path


def test_a_file_a_stream_and_a_packed_one_have_the_spans(
    parquet: Path, records: list[SpanRecord]
) -> None:
    assert list(open_source(parquet).spans()) == records
    assert list(SpanFiles([io.BytesIO(parquet.read_bytes())]).spans()) == records
    packed = io.BytesIO(gzip.compress(parquet.read_bytes()))
    assert list(SpanFiles([packed]).spans()) == records


def test_a_folder_and_a_url_are_read(parquet: Path, records: list[SpanRecord]) -> None:
    assert list(open_source(parquet.parent).spans()) == records
    assert list(open_source(f"file://{parquet.parent}").spans()) == records


def test_arrow_is_read(tmp_path: Path, records: list[SpanRecord]) -> None:
    feather.write_feather(_table(records), str(tmp_path / "spans.arrow"), chunksize=3)
    assert list(open_source(tmp_path).spans()) == records


_ENGINES = {
    "pandas": "import pandas; pandas.read_parquet({0!r}).to_parquet({1!r})",
    "polars": "import polars; polars.read_parquet({0!r}).write_parquet({1!r})",
}


@pytest.mark.parametrize("engine", _ENGINES)
def test_a_file_that_another_engine_wrote_is_read(
    engine: str, parquet: Path, records: list[SpanRecord]
) -> None:
    path = parquet.with_name("x.parquet")
    # In a process of its own: polars has threads, and other tests here fork.
    program = _ENGINES[engine].format(str(parquet), str(path))
    subprocess.run([sys.executable, "-c", program], check=True)
    source = open_source(path)
    assert list(source.spans()) == records
    assert source.problems == []


def test_a_missing_column_and_a_wrong_type_are_named(
    tmp_path: Path, records: list[SpanRecord]
) -> None:
    table = _table(records).drop_columns(["links", "scope_name"])
    place = table.schema.get_field_index("kind")
    table = table.set_column(place, "kind", pa.array([1] * len(records)))
    path = tmp_path / "x.parquet"
    pq.write_table(table, path)
    source = open_source(path)
    assert [span.attributes for span in source.spans()] == [span.attributes for span in records]
    assert source.problems == [
        Problem(str(path), "without the columns scope_name, links"),
        Problem(str(path), "column kind is int64, not string: not read"),
    ]


def test_a_newer_version_is_named(tmp_path: Path, records: list[SpanRecord]) -> None:
    table = _table(records).replace_schema_metadata({"agentool_table": "spans/9"})
    pq.write_table(table, tmp_path / "x.parquet")
    source = open_source(tmp_path / "x.parquet")
    assert list(source.spans()) == records
    assert "written as spans/9, read as spans/1" in source.problems[0].message


def test_a_broken_row_costs_only_itself(tmp_path: Path, records: list[SpanRecord]) -> None:
    rows = _table(records).to_pylist()
    rows[0]["span_id"] = None
    rows[1]["trace_id"] = None
    pq.write_table(pa.Table.from_pylist(rows, span_table.SCHEMA), tmp_path / "x.parquet")
    source = open_source(tmp_path / "x.parquet")
    assert list(source.spans()) == records[2:]
    assert [problem.where.rpartition(" row ")[2] for problem in source.problems] == ["0", "1"]


@given(
    cell=st.sampled_from(["{not json", "[1]", "7", "[{}]", '[{"name": 1}]', "[" * 9000, "\ud800"]),
    column=st.sampled_from(["attributes", "resource", "events", "links", "damaged", "exact"]),
)
def test_a_broken_cell_costs_only_itself(cell: str, column: str) -> None:
    span = SpanRecord("a" * 32, "b" * 16, name="x", start_ns=1, attributes={"k": 1})
    (row,) = _table([span]).to_pylist()
    row[column] = cell.encode("utf-8", "replace").decode()
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([row], span_table.SCHEMA), sink)
    source = SpanFiles([io.BytesIO(sink.getvalue())])
    (back,) = source.spans()
    assert (back.name, back.start_ns) == ("x", 1)
    assert back.attributes == ({} if column == "attributes" else {"k": 1})
    assert [problem.where for problem in source.problems] == ["input row 0"]
    assert f"column {column} is left out: " in source.problems[0].message


def test_attributes_that_are_not_utf8_keep_the_others(tmp_path: Path) -> None:
    cells = pa.array([b'{"a": "\xff", "b": 2}'], pa.binary()).view(pa.string())
    ids = {"trace_id": ["a" * 32], "span_id": ["b" * 16], "start_time_unix_nano": [1]}
    pq.write_table(pa.table({**ids, "attributes": cells}), tmp_path / "x.parquet")
    source = open_source(tmp_path / "x.parquet")
    assert [span.attributes for span in source.spans()] == [{"a": "\ufffd", "b": 2}]
    assert source.problems[-1].message == "column attributes is not UTF-8"


def test_a_damaged_row_group_costs_only_itself(parquet: Path, records: list[SpanRecord]) -> None:
    data = bytearray(parquet.read_bytes())
    group = pq.ParquetFile(parquet).metadata.row_group(0)
    for number in range(group.num_columns):
        column = group.column(number)
        at = column.dictionary_page_offset or column.data_page_offset
        data[at : at + 8] = b"\xff" * 8
    parquet.write_bytes(data)
    source = open_source(parquet)
    assert list(source.spans()) == records[2:]
    assert [problem.where for problem in source.problems] == [f"{parquet} row group 0"]


@pytest.mark.parametrize("size", [4, 100, -1])
def test_a_file_cut_short_is_named_and_the_others_are_read(
    size: int, parquet: Path, records: list[SpanRecord]
) -> None:
    cut = parquet.with_name("a.parquet")
    cut.write_bytes(parquet.read_bytes()[:size])
    with pytest.raises(DecodeError, match=r"a Parquet or Arrow file that cannot be read: Parquet"):
        list(open_source(cut).spans())
    source = open_source(parquet.parent)
    assert list(source.spans()) == records
    assert [str(cut) in problem.message for problem in source.problems] == [True]


def test_another_schema_is_described(tmp_path: Path) -> None:
    pq.write_table(pa.table({"city": ["Rome"], "visitors": [3]}), tmp_path / "x.parquet")
    with pytest.raises(DecodeError, match="a table without a column for the trace: city, visitors"):
        list(open_source(tmp_path / "x.parquet").spans())


@pytest.mark.parametrize("case", ["camel", "snake"])
def test_observations_of_langfuse_are_read(case: str, tmp_path: Path) -> None:
    observations = EXPORTS["Langfuse observations v2"]()["data"]
    rows = [_typed(item, snake=case == "snake") for item in observations]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "observations.parquet")
    (trace,) = load(tmp_path)
    (expected,) = rebuild(SpanFiles([io.BytesIO(json.dumps(observations).encode())]).spans())
    assert trace == expected.trace


def test_without_pyarrow_the_extra_is_named(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"needs pyarrow.*\[arrow\]"):
        list(open_source(parquet).spans())


def test_a_table_for_pandas_and_polars() -> None:
    frame = load(RECORDING).to_arrow().to_pandas()
    traces = list(load(RECORDING))
    assert list(frame.step_id.dropna()) == [
        step.step_id for trace in traces for step in trace.steps
    ]
    table = load(RECORDING).to_arrow("runs")
    assert table.column("trace_id").to_pylist() == [trace.trace_id for trace in traces]


def _table(records: list[SpanRecord]) -> pa.Table:
    return pa.Table.from_batches([span_table.batch_of_spans(records)])


def _typed(observation: dict[str, Any], *, snake: bool) -> dict[str, Any]:
    """Return an observation with the types of Langfuse's Parquet: times, a map and texts."""
    row = dict(observation)
    for name in ("startTime", "endTime"):
        row[name] = datetime.datetime.fromisoformat(row[name].replace("Z", "+00:00"))
    for name in ("input", "output"):
        row[name] = row[name] if isinstance(row[name], str | None) else json.dumps(row[name])
    if not snake:
        return row
    return {
        "".join(f"_{c.lower()}" if c.isupper() else c for c in name): value
        for name, value in row.items()
    }


def test_what_comes_out_of_a_file_has_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = 2000
    cells = pa.DictionaryArray.from_arrays(
        pa.array([0] * rows, pa.int32()), pa.array(['{"a":"' + "x" * 10_000 + '"}'])
    )
    table = pa.table(
        {
            "trace_id": [f"{n:032x}" for n in range(rows)],
            "span_id": [f"{n + 1:016x}" for n in range(rows)],
            "start_time_unix_nano": [1] * rows,
            "attributes": cells,
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    monkeypatch.setenv("AGENTOOL_UNPACK_LIMIT", "10MB")
    source = open_source(tmp_path / "x.parquet")
    assert 0 < len(list(source.spans())) < 1000
    assert "the rest is not read: more than 10,000,000 bytes" in source.problems[0].message


@pytest.mark.parametrize(
    ("size", "rows", "options"),
    [
        (20_000, 800, {}),
        (500_000, 40, {}),
        (2_000, 3_000, {"compression": "zstd", "use_dictionary": False}),
        (9_000, 600, {"use_dictionary": False, "column_encoding": {"input": "DELTA_BYTE_ARRAY"}}),
    ],
)
def test_a_prompt_that_every_row_repeats_is_read_whole(
    size: int,
    rows: int,
    options: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cells = {"input": ["x" * size] * rows, **observations(rows)}
    pq.write_table(pa.table(cells), tmp_path / "x.parquet", **options)
    monkeypatch.setattr(compression, "_SMALL", 3 << 20)
    monkeypatch.setattr(compression, "_RATIO", 1)
    source = open_source(tmp_path / "x.parquet")
    assert sum(1 for _ in source.spans()) == rows
    assert source.problems == []


def test_texts_that_differ_have_the_limit_of_any_packed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = {"input": [f"{n}" + "x" * 10_000 for n in range(2000)], **observations(2000)}
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table(cells), path, compression="zstd")
    monkeypatch.setattr(compression, "_SMALL", 10 << 20)
    monkeypatch.setattr(compression, "_RATIO", 1)
    source = open_source(path)
    assert 0 < sum(1 for _ in source.spans()) < 1200
    (problem,) = source.problems
    assert "the rest is not read: more than 10,485,760 bytes come out of it" in problem.message
    assert "--unpack-limit 20GB, or AGENTOOL_UNPACK_LIMIT, lets more be read" in problem.message


@pytest.mark.parametrize("packing", ["lz4", "zstd"])
@pytest.mark.parametrize("option", [False, True])
def test_a_batch_above_the_limit_is_not_unpacked(
    option: bool, packing: Literal["lz4", "zstd"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = {"input": ["q", "x" * 20_000_000], **observations(2)}
    feather.write_feather(
        pa.table(cells), str(tmp_path / "x.arrow"), compression=packing, chunksize=1
    )
    monkeypatch.setenv("AGENTOOL_UNPACK_LIMIT", "10MB")
    with limited_to(100_000_000) if option else nullcontext():
        source = open_source(tmp_path / "x.arrow")
        assert sum(1 for _ in source.spans()) == (2 if option else 1)
    refused = ["record batch 1: left out: more than 10,000,000 bytes come out of it; hint: "
               "--unpack-limit 20GB, or AGENTOOL_UNPACK_LIMIT, lets more be read"]  # fmt: skip
    assert [str(problem).partition("x.arrow ")[2] for problem in source.problems] == (
        [] if option else refused
    )


def _viewed(number: int, kind: Any) -> pa.Array[Any]:
    return pa.array([number]).view(kind)


cells = st.one_of(
    st.integers(-(2**31), 2**31 - 1).map(lambda n: pa.array([n], pa.int32()).cast(pa.date32())),
    st.integers(-(2**63), 2**63 - 1).flatmap(
        lambda n: st.sampled_from(
            [pa.timestamp("s"), pa.timestamp("us"), pa.duration("s"), pa.time64("us"), pa.date64()]
        ).map(lambda kind: _viewed(n, kind))
    ),
    st.binary(max_size=9).map(lambda data: pa.array([data], pa.binary()).view(pa.string())),
)


_TEXTS = ["first", None, "a text of more than twelve bytes", "first"]
_KINDS: dict[str, Any] = {
    "view": pa.array(_TEXTS, pa.string_view()),
    "large text": pa.array(_TEXTS, pa.large_string()),
    "dictionary": pa.array(_TEXTS).dictionary_encode(),
    "dictionary of large texts": pa.array(_TEXTS, pa.large_string()).dictionary_encode(),
    "dictionary of views": pa.DictionaryArray.from_arrays(
        pa.array([0, None, 1, 0], pa.uint32()), pa.array([_TEXTS[0], _TEXTS[2]], pa.string_view())
    ),
    "dictionary with a null": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 0]), pa.array(_TEXTS[:3], pa.string_view())
    ),
}
_NESTED: dict[str, Callable[[Any], Any]] = {
    "itself": lambda cells: cells,
    "object": lambda cells: pa.StructArray.from_arrays([cells], ["text"]),
    "list": lambda cells: pa.ListArray.from_arrays(pa.array([0, 1, 2, 3, 4], pa.int32()), cells),
    "dictionary": lambda cells: pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), cells),
}


@pytest.mark.parametrize("nested", _NESTED)
@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("file", ["stream", "arrow"])
def test_a_column_of_any_kind_of_text_is_read(file: str, kind: str, nested: str) -> None:
    if nested == "dictionary" and "dictionary" in kind:
        pytest.skip("pyarrow reads no dictionary whose values are of another one")
    cells: Any = _NESTED[nested](_KINDS[kind])
    source = SpanFiles([io.BytesIO(_written(pa.table({**observations(4), "x": cells}), file))])
    extras = [span.attributes.get("langfuse.observation.x") for span in source.spans()]
    texts = SpanFiles([io.BytesIO(_written(_plain_table(nested), file))])
    assert extras == [span.attributes.get("langfuse.observation.x") for span in texts.spans()]
    assert source.problems == []


def _plain_table(nested: str) -> pa.Table:
    cells: Any = pa.array(_TEXTS)
    if nested != "dictionary":
        cells = _NESTED[nested](cells)
    return pa.table({**observations(4), "x": cells})


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("column", ["name", "kind", "attributes", "trace_id"])
def test_a_column_of_spans_may_be_any_kind_of_text(
    column: str, kind: str, records: list[SpanRecord]
) -> None:
    table = _table(records)
    cells: Any = table.column(column).combine_chunks()
    if "dictionary" in kind:
        cells = cells.dictionary_encode()
        cells = pa.DictionaryArray.from_arrays(
            cells.indices, cells.dictionary.cast(_KINDS[kind].type.value_type)
        )
    else:
        cells = cells.cast(_KINDS[kind].type)
    table = table.set_column(table.schema.get_field_index(column), column, cells)
    source = SpanFiles([io.BytesIO(_written(table, "stream"))])
    assert list(source.spans()) == records
    assert source.problems == []


_RUNS: Any = pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["x"]))
_UNREAD: dict[str, Any] = {
    "list view": pa.nulls(2, pa.list_view(pa.string())),
    "runs": _RUNS,
    "object of runs": pa.StructArray.from_arrays([_RUNS], ["a"]),
    "union": pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array(["x", "y"])]),
}


@pytest.mark.parametrize("kind", _UNREAD)
@pytest.mark.parametrize("file", ["stream", "arrow"])
def test_a_column_of_a_kind_that_is_not_read_costs_itself(file: str, kind: str) -> None:
    table = pa.table({**observations(2), "x": _UNREAD[kind]})
    source = SpanFiles([io.BytesIO(_written(table, file))])
    assert sum(1 for _ in source.spans()) == 2
    assert [problem.message for problem in source.problems] == [
        f"column x is {_UNREAD[kind].type}: not read"
    ]


def test_a_column_that_pyarrow_has_no_functions_for_costs_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def without_dates(array: Any) -> int:
        if pa.types.is_date32(array.type):
            raise pa.ArrowNotImplementedError("no kernel")
        return 0

    monkeypatch.setattr(column_types, "dense_size", without_dates)
    table = pa.table({**observations(2), "x": pa.nulls(2, pa.date32())})
    source = SpanFiles([io.BytesIO(_written(table, "stream"))])
    assert sum(1 for _ in source.spans()) == 2
    assert [problem.message for problem in source.problems] == ["column x is date32[day]: not read"]


@given(odd=cells, columnar=st.sampled_from(["parquet", "arrow"]))
def test_an_odd_cell_costs_itself_alone(odd: pa.Array[Any], columnar: str) -> None:
    table = pa.table({"input": odd, **observations(1)})
    sink = io.BytesIO()
    try:
        pq.write_table(table, sink) if columnar == "parquet" else feather.write_feather(table, sink)
    except pa.ArrowInvalid:
        assume(False)
    (span,) = SpanFiles([io.BytesIO(sink.getvalue())]).spans()
    assert span.name == "x"


def test_a_damaged_batch_costs_its_column(tmp_path: Path) -> None:
    texts = {"input": ["a" * 0x1235, "b", "c", "d"], **observations(4)}
    feather.write_feather(
        pa.table(texts), path := str(tmp_path / "x.arrow"), "uncompressed", chunksize=2
    )
    data = Path(path).read_bytes()
    at = data.find(struct.pack("<iii", 0, 0x1235, 0x1236)) + 4
    Path(path).write_bytes(data[:at] + struct.pack("<i", -5) + data[at + 4 :])
    source = open_source(path)
    inputs = [span.attributes.get("langfuse.observation.input") for span in source.spans()]
    assert inputs == [None, None, "c", "d"]
    assert [problem.message for problem in source.problems] == [
        "column input left out: Offset invariant failure: non-monotonic offset at slot 1: -5 < 0"
    ]


_NOTHING = {
    "null texts": pa.nulls(3000, pa.string()),
    "null type": pa.nulls(3000),
    "one text": pa.array(["a" * 32] * 3000).dictionary_encode(),
    "empty texts": pa.array([""] * 3000),
}


@pytest.mark.parametrize("cells", _NOTHING.values(), ids=_NOTHING)
@pytest.mark.parametrize("other", ["span_id", "city"])
@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_rows_that_hold_nothing_end_the_reading(
    kind: str, other: str, cells: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columnar, "_BARREN", 1000)
    monkeypatch.setattr(columnar, "_ROW_BYTES", 1 << 20)
    table = pa.table({"trace_id": cells, other: pa.nulls(3000, pa.string())})
    read: list[int] = []
    monkeypatch.setattr(Slice, "dense", _counted(read))
    source = SpanFiles([io.BytesIO(_written(table, kind))])
    with suppress(DecodeError):
        assert list(source.spans()) == []
    assert sum(read) <= 1024
    assert source.problems[0].message == "the rest is not read: no span in 1,000 rows in a row"


def _counted(read: list[int]) -> Any:
    def dense(rows: Slice) -> pa.RecordBatch:
        read.append(rows.rows.num_rows)
        return plain(rows)

    plain = Slice.dense
    return dense


def test_empty_rows_among_spans_are_counted_once(tmp_path: Path) -> None:
    span = {name: [cells[0]] for name, cells in observations(1).items()}
    rows = {name: [*cells, *[None] * 600, *cells] for name, cells in span.items()}
    pq.write_table(pa.table(rows), tmp_path / "x.parquet")
    source = open_source(tmp_path / "x.parquet")
    assert sum(1 for _ in source.spans()) == 2
    assert [item.message for item in source.problems] == ["left out: 600 rows without any cell"]


def test_a_repeated_row_counts_against_the_limit() -> None:
    rows = 20_000
    cells = {name: [text[0]] * rows for name, text in observations(1).items()}
    source = SpanFiles([io.BytesIO(_written(pa.table(cells), "parquet"))])
    with limited_to(1_000_000):
        assert 0 < sum(1 for _ in source.spans()) <= 1_000_000 // 256
    assert "the rest is not read: more than 1,000,000 bytes" in source.problems[0].message


@pytest.mark.parametrize("size", [1, 2, 300])
def test_a_stream_of_arrow_is_read_whatever_its_name(
    size: int, tmp_path: Path, records: list[SpanRecord]
) -> None:
    table = _table(records)
    with ipc.new_stream(sink := io.BytesIO(), table.schema) as writer:
        writer.write_table(table, max_chunksize=size)
    for name in ("x.jsonl", "x", "x.arrows"):
        (tmp_path / name).write_bytes(sink.getvalue())
        source = open_source(tmp_path / name)
        assert list(source.spans()) == records
        assert source.problems == []
    assert list(SpanFiles([io.BytesIO(gzip.compress(sink.getvalue()))]).spans()) == records


@given(share=st.floats(0, 1))
def test_a_stream_of_arrow_that_is_cut_keeps_its_whole_batches(share: float) -> None:
    table = pa.table(observations(8))
    with ipc.new_stream(sink := io.BytesIO(), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    data = sink.getvalue()[: int(len(sink.getvalue()) * share)]
    source = SpanFiles([io.BytesIO(data)])
    with suppress(DecodeError):
        assert sum(1 for _ in source.spans()) in (0, 2, 4, 6, 8)


_SIZES = st.lists(st.integers(0, 3), min_size=1, max_size=6)


@given(sizes=_SIZES, kind=st.sampled_from(["stream", "arrow"]), packed=st.booleans())
def test_batches_around_an_empty_one_are_read(sizes: list[int], kind: str, packed: bool) -> None:
    assume(rows := sum(sizes))
    texts = pa.array([f"t{n % 3}" for n in range(rows)]).dictionary_encode()
    table = pa.table({**observations(rows), "input": texts})
    options = ipc.IpcWriteOptions(compression="zstd" if packed else None)
    make, sink, at = ipc.new_stream if kind == "stream" else ipc.new_file, io.BytesIO(), 0
    with make(sink, table.schema, options=options) as writer:
        for size in sizes:
            writer.write_batch(table.to_batches()[0].slice(at, size))
            at += size
    source = SpanFiles([io.BytesIO(sink.getvalue())])
    assert sum(1 for _ in source.spans()) == rows
    assert source.problems == []


def test_a_large_batch_of_a_stream_costs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"input": ["q", "x" * 20_000_000, "q"], **observations(3)})
    options = ipc.IpcWriteOptions(compression="zstd")
    with ipc.new_stream(sink := io.BytesIO(), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=1)
    monkeypatch.setenv("AGENTOOL_UNPACK_LIMIT", "10MB")
    source = SpanFiles([io.BytesIO(sink.getvalue())])
    assert sum(1 for _ in source.spans()) == 2
    assert [item.where for item in source.problems] == ["input record batch 1"]


@pytest.mark.parametrize("batch", range(4))
def test_a_batch_of_a_stream_that_cannot_be_unpacked_costs_itself(batch: int) -> None:
    table = pa.table({"input": [f"{n}" * 500 for n in range(4)], **observations(4)})
    options = ipc.IpcWriteOptions(compression="zstd")
    with ipc.new_stream(sink := io.BytesIO(), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=1)
    data, at = bytearray(sink.getvalue()), -1
    for _ in range(batch + 1):
        at = data.index(_ZSTD, data.index(_PACKED_500, at + 1))
    data[at : at + 4] = b"none"
    source = SpanFiles([io.BytesIO(bytes(data))])
    assert sum(1 for _ in source.spans()) == 3
    assert [item.where for item in source.problems] == [f"input record batch {batch}"]


_ZSTD = bytes.fromhex("28b52ffd")
_PACKED_500 = struct.pack("<q", 500)
"""The size of a packed buffer of so many bytes."""


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("depth", [20, 60])
def test_a_column_of_nested_lists_costs_at_most_itself(kind: str, depth: int) -> None:
    cells: Any = pa.array([1, 2])
    for _ in range(depth):
        cells = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), cells)
    table = pa.table({**observations(2), "deep": cells})
    assert sum(1 for _ in SpanFiles([io.BytesIO(_written(table, kind))]).spans()) == 2


def _written(table: pa.Table, kind: str) -> bytes:
    sink = io.BytesIO()
    if kind == "parquet":
        pq.write_table(table, sink)
    elif kind == "arrow":
        feather.write_feather(table, sink)
    else:
        with ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


def observations(count: int) -> dict[str, list[str]]:
    """Return the columns of Langfuse's observations without their content."""
    return {
        "id": [f"observation {n}" for n in range(count)],
        "trace_id": [f"trace {n}" for n in range(count)],
        "type": ["GENERATION"] * count,
        "name": ["x"] * count,
        "start_time": ["2026-01-01T00:00:00Z"] * count,
    }
