"""Parquet and Arrow files, ours and those of stores: whole, rewritten by others, damaged."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import struct
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentool_otel.errors import DecodeError, MissingDependencyError
from agentool_otel.loading import load, rebuild
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files import compression
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
    rows[0]["attributes"] = "{not json"
    rows[1]["trace_id"] = None
    pq.write_table(pa.Table.from_pylist(rows, span_table.SCHEMA), tmp_path / "x.parquet")
    source = open_source(tmp_path / "x.parquet")
    assert list(source.spans()) == records[2:]
    assert [problem.where.rpartition(" row ")[2] for problem in source.problems] == ["0", "1"]


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
    assert "the rest is not read: more than 10,000,000 bytes" in source.problems[-1].message


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
    cells = {"input": ["x" * size] * rows, **_observations(rows)}
    pq.write_table(pa.table(cells), tmp_path / "x.parquet", **options)
    monkeypatch.setattr(compression, "_SMALL", 3 << 20)
    monkeypatch.setattr(compression, "_RATIO", 1)
    source = open_source(tmp_path / "x.parquet")
    assert sum(1 for _ in source.spans()) == rows
    assert source.problems == []


def test_texts_that_differ_have_the_limit_of_any_packed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = {"input": [f"{n}" + "x" * 10_000 for n in range(2000)], **_observations(2000)}
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
    cells = {"input": ["q", "x" * 20_000_000], **_observations(2)}
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


@given(odd=cells, columnar=st.sampled_from(["parquet", "arrow"]))
def test_an_odd_cell_costs_itself_alone(odd: pa.Array[Any], columnar: str) -> None:
    table = pa.table({"input": odd, **_observations(1)})
    sink = io.BytesIO()
    try:
        pq.write_table(table, sink) if columnar == "parquet" else feather.write_feather(table, sink)
    except pa.ArrowInvalid:
        assume(False)
    (span,) = SpanFiles([io.BytesIO(sink.getvalue())]).spans()
    assert span.name == "x"


def test_a_damaged_batch_costs_its_column(tmp_path: Path) -> None:
    texts = {"input": ["a" * 0x1235, "b", "c", "d"], **_observations(4)}
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


def _observations(count: int) -> dict[str, list[str]]:
    """Return the columns of Langfuse's observations without their content."""
    return {
        "id": [f"observation {n}" for n in range(count)],
        "trace_id": [f"trace {n}" for n in range(count)],
        "type": ["GENERATION"] * count,
        "name": ["x"] * count,
        "start_time": ["2026-01-01T00:00:00Z"] * count,
    }
