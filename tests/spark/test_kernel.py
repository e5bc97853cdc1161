"""Batches of sorted rows in, trajectories and results out; no Spark is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.evaluation import evaluate
from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.spark import kernel
from agentool_otel.spark.kernel import Checks
from agentool_otel.tables.json_cells import value_of
from agentool_otel.tables.trajectories import Documents
from tests.spark.spans import agents, batches, canonical_lines, loops, shuffled, with_session

CHECKS = [{"type": "no_tool_error"}, {"type": "contains_tool_call", "tool_name": "search_web"}]


def documents(rows: Iterable[pa.RecordBatch]) -> list[str]:
    """Return the documents in the output of the kernel."""
    wrong: list[str] = []
    reader = Documents(lambda where, reason: wrong.append(reason))
    found: list[Any] = []
    for batch in rows:
        steps = batch.filter(batch.column("problem").is_null())
        found += reader.add(steps)
    found += reader.rest()
    assert wrong == []
    return canonical_lines(document.to_dict() for document in found)


def problems(rows: Iterable[pa.RecordBatch]) -> list[tuple[str | None, str]]:
    """Return the trace and the text of each problem."""
    found: list[tuple[str | None, str]] = []
    for batch in rows:
        cells = (batch.column(name).to_pylist() for name in ("trace_id", "problem"))
        found += ((trace, text) for trace, text in zip(*cells, strict=True) if text is not None)
    return found


def verdicts(rows: Iterable[pa.RecordBatch]) -> list[str]:
    """Return the results in the output of the kernel, without the time of the evaluation."""
    texts = [text for batch in rows for text in batch.column("result").to_pylist() if text]
    return canonical_lines(_timeless(value_of(text)) for text in texts)


def _timeless(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name != "evaluated_at"}


@cache
def mixed() -> tuple[SpanRecord, ...]:
    return (*agents(56), *with_session(loops(20), "s1"))


@cache
def expected() -> tuple[str, ...]:
    return tuple(canonical_lines(item.document for item in rebuild(mixed())))


def keyed(spans: Sequence[SpanRecord], sizes: Sequence[int]) -> list[pa.RecordBatch]:
    """Return the agents, each trace by itself, and the calls of the session after them."""
    of_session = [span for span in spans if "session.id" in span.attributes]
    others = [span for span in spans if "session.id" not in span.attributes]
    return [*batches(others, sizes), *batches(of_session, sizes, "s1")]


@pytest.mark.parametrize("size", [1, 2, 3, 27, 28, 29, 1000])
def test_a_trace_may_straddle_batches(size: int) -> None:
    rows = [*kernel.trajectories(keyed(mixed(), [size]))]
    assert documents(rows) == [*expected()]
    assert problems(rows) == []


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(0, 3))
@settings(max_examples=15, deadline=None)
def test_any_split_and_any_copies_give_the_same(sizes: list[int], seed: int) -> None:
    spans = shuffled(mixed(), seed)
    rows = kernel.trajectories(keyed(spans, sizes))
    assert documents(rows) == canonical_lines(item.document for item in rebuild(spans))


def test_rows_of_a_run_follow_each_other() -> None:
    ids = [
        trace_id
        for batch in kernel.trajectories(keyed(mixed(), [100]))
        for trace_id in batch.column("trace_id").to_pylist()
    ]
    changes = sum(one != other for one, other in pairwise(ids))
    assert changes == len(set(ids)) - 1


def test_verdicts_are_those_of_one_process() -> None:
    rows = [*kernel.results(keyed(mixed(), [10]), Checks(CHECKS))]
    results = evaluate(CHECKS, rebuild(mixed()))
    assert verdicts(rows) == canonical_lines(_timeless(item.to_dict()) for item in results)
    assert problems(rows) == []


def test_trajectories_are_evaluated_as_documents() -> None:
    rows = [*kernel.trajectories(keyed(mixed(), [1000]))]
    small = [batch.slice(at, 7) for batch in rows for at in range(0, batch.num_rows, 7)]
    traces = [item.trace for item in rebuild(mixed())]
    found = verdicts(kernel.results(small, Checks(CHECKS)))
    expected = canonical_lines(_timeless(item.to_dict()) for item in evaluate(CHECKS, traces))
    assert found == expected


def test_a_session_is_evaluated_as_one() -> None:
    spans = with_session(agents(56), "s1")
    rows = kernel.results(batches(spans, [9], "s1"), Checks(CHECKS, scope="session"))
    results = evaluate(CHECKS, rebuild(spans), scope="session")
    assert verdicts(rows) == canonical_lines(_timeless(item.to_dict()) for item in results)


def test_calls_of_other_keys_are_reported() -> None:
    spans = loops(10)
    rows = [*kernel.trajectories(batches(spans))]
    first = min(spans, key=lambda span: span.start_ns or 0)
    found = problems(rows)
    assert sorted(trace for trace, _ in found if trace) == sorted(
        span.trace_id for span in spans if span is not first
    )
    assert found[0][1].startswith("not joined: it continues a call that is not among the spans")
    assert len(documents(rows)) == 10


def test_which_keys_share_a_partition_does_not_matter() -> None:
    apart = [*kernel.trajectories(batches(loops(10), [1]))]
    assert documents(apart) == documents(
        batch for span in loops(10) for batch in kernel.trajectories(batches([span]))
    )


def broken_rows(cells: dict[str, Any]) -> list[pa.RecordBatch]:
    """Return two runs, of which one span has other cells."""
    (rows,) = batches(agents(56))
    values = rows.to_pylist()
    values[3] |= cells
    return [pa.RecordBatch.from_pylist(values, schema=rows.schema)]


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"attributes": "{"}, "column attributes is left out"),
        ({"attributes": "[1]"}, "column attributes is left out: it is no JSON object"),
        ({"events": "[1]"}, "column events is left out: it is no JSON list of objects"),
        ({"span_id": None}, "it has no span_id"),
    ],
)
def test_a_broken_row_costs_itself_alone(cells: dict[str, Any], reason: str) -> None:
    rows = [*kernel.trajectories(broken_rows(cells))]
    ((trace_id, problem),) = problems(rows)
    assert reason in problem
    assert trace_id in {span.trace_id for span in agents(56)}
    assert len(documents(rows)) == 2


@pytest.mark.parametrize("column", ["name", "status_message", "scope_name"])
def test_text_that_is_not_utf8_costs_its_cell(column: str) -> None:
    (batch,) = batches(agents(56))
    cells = [
        b"a" if value is None else value.encode() for value in batch.column(column).to_pylist()
    ]
    cells[3] = b"\xff!"
    place = batch.schema.get_field_index(column)
    odd = pa.array(cells, pa.binary()).view(pa.string())
    rows = [*kernel.trajectories([batch.set_column(place, batch.schema.field(column), odd)])]
    ((_, problem),) = problems(rows)
    assert problem.startswith(f"a span whose column {column} is not UTF-8")
    assert len(documents(rows)) == 2


@pytest.mark.parametrize("column", ["trace_id", "span_id"])
def test_an_id_that_is_not_utf8_leaves_the_others(column: str) -> None:
    (batch,) = batches(agents(56))
    cells = [str(value).encode() for value in batch.column(column).to_pylist()]
    cells[3] = b"\xff!"
    place = batch.schema.get_field_index(column)
    odd = pa.array(cells, pa.binary()).view(pa.string())
    rows = [*kernel.trajectories([batch.set_column(place, batch.schema.field(column), odd)])]
    assert len(documents(rows)) >= 2
    assert any(f"column {column} is not UTF-8" in problem for _, problem in problems(rows))


def test_a_row_without_a_trace_is_reported() -> None:
    ((trace_id, problem),) = problems(kernel.trajectories(broken_rows({"trace_id": None})))
    assert trace_id is None
    assert problem.startswith("a span left out: it has no trace_id (span_id ")


def test_problems_in_the_input_are_passed_on() -> None:
    (rows,) = batches(agents(28))
    texts = pa.array([None] * rows.num_rows, pa.string())
    rows = rows.append_column("problem", texts)
    nothing = dict.fromkeys(rows.schema.names)
    wrong = pa.RecordBatch.from_pylist([{**nothing, "problem": "no JSON"}], schema=rows.schema)
    output = [*kernel.trajectories([wrong, rows, wrong])]
    assert problems(output) == [(None, "no JSON"), (None, "no JSON")]
    assert len(documents(output)) == 1


def test_a_run_of_no_case_is_a_problem() -> None:
    case = {"case_id": "a", "assertions": CHECKS}
    rows = [*kernel.results(batches(agents(28)), Checks([case]))]
    assert verdicts(rows) == []
    ((_, problem),) = problems(rows)
    assert problem.startswith("not evaluated: ")


def test_an_empty_partition_has_no_rows() -> None:
    none: Iterator[pa.RecordBatch] = iter(())
    assert [*kernel.trajectories(none)] == []
    assert [*kernel.results(none, Checks(CHECKS))] == []
