"""Parquet and Arrow files, ours and those of stores: whole, rewritten by others, damaged."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from agentool_otel.errors import DecodeError, MissingDependencyError
from agentool_otel.loading import load, rebuild
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
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
