"""The laws of tables: what is written is read back, whatever it holds."""

from __future__ import annotations

import io
import re
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.model.codec import decode
from agentool_otel.model.documents import EvalResult, ReasoningTrace
from agentool_otel.model.spans import Damage, SpanEvent, SpanLink, SpanRecord
from agentool_otel.tables import TABLE, results, runs, spans, trajectories
from agentool_otel.tables.json_cells import cell, value_of
from agentool_otel.tables.parquet_file import ParquetFile, table_of
from tests import strategies

attribute_values = st.recursive(
    strategies.scalars
    | st.binary(max_size=4)
    | st.floats()
    | st.sampled_from(["\ud800", "bytesValue"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=4) | st.sampled_from(["bytesValue", "doubleValue", "kvlistValue"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=6,
)
attributes = st.dictionaries(st.text(max_size=6), attribute_values, max_size=3)
texts = st.text(max_size=5) | st.sampled_from(["\ud800", "a\udc00b"])
times = st.none() | st.integers(-(2**70), 2**70)
ids = st.integers(1, 2**64 - 1)
span_records = st.builds(
    SpanRecord,
    ids.map("{:032x}".format),
    ids.map("{:016x}".format),
    st.none() | ids.map("{:016x}".format),
    texts,
    st.sampled_from(["INTERNAL", "CLIENT"]),
    times,
    times,
    attributes,
    st.lists(st.builds(SpanEvent, texts, times, attributes), max_size=2),
    st.lists(
        st.builds(SpanLink, ids.map("{:032x}".format), ids.map("{:016x}".format), attributes),
        max_size=2,
    ),
    st.sampled_from(["UNSET", "OK", "ERROR"]),
    st.none() | texts,
    texts,
    attributes,
    st.lists(st.builds(Damage, texts, st.booleans()), max_size=2).map(tuple),
    st.booleans(),
    st.booleans(),
)


def _replaced(representation: str) -> str:
    """Return the representation of a value with U+FFFD for lone surrogates, as JSON is read."""
    return re.sub(r"\\ud[89a-f][0-9a-f]{2}", "\ufffd", representation)


@given(attribute_values)
def test_a_cell_has_the_value(value: Any) -> None:
    assert repr(value_of(cell(value))) == _replaced(repr(value))


@given(st.lists(span_records, max_size=4))
def test_spans_come_back(records: list[SpanRecord]) -> None:
    batch = _through_parquet(spans.batch_of_spans(records), spans.SCHEMA)
    read = [*map(_exact, spans.spans_of(batch))]
    assert read == [_replaced(_exact(record)) for record in records]


@given(st.lists(strategies.traces, max_size=4), st.integers(1, 4))
def test_traces_come_back_from_batches_of_any_size(traces: list[Any], size: int) -> None:
    problems: list[tuple[str, str]] = []
    documents = trajectories.Documents(lambda where, what: problems.append((where, what)))
    rows = [row for trace in traces for row in trajectories.step_rows(trace)]
    batch = _through_parquet(
        trajectories.batch_of_rows(rows, trajectories.SCHEMA), trajectories.SCHEMA
    )
    found: list[ReasoningTrace] = []
    for start in range(0, batch.num_rows, size):
        found += documents.add(batch.slice(start, size).select(trajectories.READ), start)
    found += documents.rest()
    expected = [decode(ReasoningTrace, trace) for trace in traces]
    assert [strategies.exact(item.to_dict()) for item in found] == [
        strategies.exact(item.to_dict()) for item in expected
    ]
    assert problems == []


@given(st.lists(strategies.traces, max_size=3))
def test_a_run_is_one_row(traces: list[Any]) -> None:
    table = table_of(map(runs.run_rows, traces), runs.SCHEMA)
    assert table.column("step_count").to_pylist() == [len(trace["steps"]) for trace in traces]


def test_a_result_is_a_row_per_assertion() -> None:
    result = EvalResult.from_dict(
        {
            "case_id": "refund",
            "trace_id": "t1",
            "passed": False,
            "assertion_results": [
                {"assertion_type": "status", "passed": True},
                {"assertion_type": "latency", "passed": None, "reason": "no times"},
            ],
        }
    )
    table = table_of([results.result_rows(result.to_dict())], results.SCHEMA)
    assert table.select(
        ["case_id", "assertion_number", "assertion_passed", "reason"]
    ).to_pylist() == [
        {"case_id": "refund", "assertion_number": 0, "assertion_passed": True, "reason": None},
        {
            "case_id": "refund",
            "assertion_number": 1,
            "assertion_passed": None,
            "reason": "no times",
        },
    ]
    assert EvalResult.from_json(table.column("result")[0].as_py()) == result


@pytest.mark.parametrize("module", [spans, trajectories, runs, results])
def test_a_file_names_its_table_and_version(module: Any) -> None:
    out = io.BytesIO()
    ParquetFile(out, module.SCHEMA).finish()
    assert pq.read_schema(io.BytesIO(out.getvalue())).metadata[TABLE] == module.NAME.encode()


def test_steps_whose_run_is_missing_are_reported_once() -> None:
    problems: list[tuple[str, str]] = []
    documents = trajectories.Documents(lambda where, what: problems.append((where, what)))
    trace = {"trace_id": "t1", "steps": [{"type": "reasoning"}] * 4}
    batch = trajectories.batch_of_rows(trajectories.step_rows(trace), trajectories.SCHEMA)
    lost = batch.select(trajectories.READ)
    assert [*documents.add(lost.slice(1), 1), *documents.rest()] == []
    assert problems == [("row 1", "left out: a step of 't1', whose rows before are not there")]


def _exact(record: SpanRecord) -> str:
    return repr(msgspec.to_builtins(record, builtin_types=(bytes,)))


def _through_parquet(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    out = io.BytesIO()
    file = ParquetFile(out, schema)
    file.add_batch(batch)
    file.finish()
    table = pq.read_table(io.BytesIO(out.getvalue())).combine_chunks()
    return next(iter(table.to_batches()), batch.slice(0, 0))
