"""DataFrames in, DataFrames out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agentool_otel.errors import DecodeError, EvaluationError
from agentool_otel.evaluation import evaluate
from agentool_otel.loading import rebuild
from agentool_otel.spark import results, spans, trajectories
from agentool_otel.tables.json_cells import value_of
from tests.spark.spans import (
    agents,
    canonical_lines,
    loops,
    shuffled,
    with_session,
    write_lines,
    write_parquet,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.backends, pytest.mark.filterwarnings("ignore")]

CHECKS = [{"type": "no_tool_error"}, {"type": "contains_tool_call", "tool_name": "search_web"}]
INPUT = shuffled([*agents(84), *with_session(loops(30), "s1")])


@pytest.fixture(scope="module")
def parquet(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = tmp_path_factory.mktemp("spark") / "spans.parquet"
    write_parquet(path, INPUT)
    frame: DataFrame = spark.read.parquet(str(path))
    return frame


def documents(frame: DataFrame) -> list[str]:
    """Return the documents of trajectories."""
    found: list[Any] = []
    for row in frame.collect():
        if row.run is not None:
            found.append(value_of(row.run))
        if row.step is not None:
            found[-1]["steps"].append(value_of(row.step))
    return canonical_lines(iter(found))


def verdicts(frame: DataFrame) -> list[str]:
    """Return results without the time of the evaluation."""
    rows = frame.where("result is not null").collect()
    return canonical_lines(_timeless(value_of(row.result)) for row in rows)


def _timeless(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name != "evaluated_at"}


def problems(frame: DataFrame) -> list[tuple[str | None, str]]:
    rows = frame.where("problem is not null").collect()
    return [(row.trace_id, row.problem) for row in rows]


def test_trajectories_are_those_of_one_process(parquet: DataFrame) -> None:
    frame = trajectories(parquet)
    assert documents(frame) == canonical_lines(item.document for item in rebuild(INPUT))
    assert problems(frame) == []


def test_verdicts_are_those_of_one_process(parquet: DataFrame) -> None:
    expected = evaluate(CHECKS, rebuild(INPUT))
    found = verdicts(results(parquet, CHECKS))
    assert found == canonical_lines(_timeless(item.to_dict()) for item in expected)


def test_trajectories_can_be_evaluated(parquet: DataFrame) -> None:
    expected = evaluate(CHECKS, [item.trace for item in rebuild(INPUT)])
    found = verdicts(results(trajectories(parquet), CHECKS))
    assert found == canonical_lines(_timeless(item.to_dict()) for item in expected)


def test_lines_are_read(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    write_lines(path, INPUT)
    with path.open("ab") as file:
        file.write(b'{"resourceSpans": [{"scopeSpans"\n\xff\xfe\n')
    frame = trajectories(spark.read.text(str(path)))
    assert documents(frame) == canonical_lines(item.document for item in rebuild(INPUT))
    assert len(problems(frame)) == 1
    assert spans(spark.read.text(str(path))).where("span_id is not null").count() == len(INPUT)


def test_without_sessions_calls_are_not_joined(parquet: DataFrame) -> None:
    of_loops = problems(trajectories(parquet, join="trace"))
    assert len(of_loops) == 3 * 9
    assert all(text.startswith("not joined: ") for _, text in of_loops)


@pytest.mark.parametrize("partitions", [1, 7])
def test_the_number_of_partitions_does_not_matter(
    spark: SparkSession, tmp_path: Path, partitions: int
) -> None:
    path = tmp_path / "spans.parquet"
    write_parquet(path, loops(30))
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    try:
        frame = trajectories(spark.read.parquet(str(path)))
        assert len(documents(frame)) == 30
        assert len(problems(frame)) == 3 * 9
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", str(before))


def test_a_case_without_a_run_has_one_result(parquet: DataFrame) -> None:
    (question,) = {item.trace.input for item in rebuild(agents(28))}
    cases = [
        {"case_id": name, "input": text, "assertions": CHECKS}
        for name, text in (("tried", question), ("untried", "nobody asked this"))
    ]
    frame = results(parquet, cases)
    rows = frame.where("result is not null").select("case_id", "trace_id").collect()
    assert [row.case_id for row in rows if row.trace_id is None] == ["untried"]
    assert "tried" in {row.case_id for row in rows if row.trace_id is not None}


def test_a_broken_row_costs_itself_alone(spark: SparkSession, parquet: DataFrame) -> None:
    from pyspark.sql import functions as f

    first = INPUT[0].span_id
    broken = parquet.withColumn(
        "attributes", f.when(f.col("span_id") == first, "{").otherwise(f.col("attributes"))
    )
    found = problems(trajectories(broken))
    assert {trace_id for trace_id, _ in found} >= {INPUT[0].trace_id}
    assert all("left out" in text or "not joined" in text for _, text in found)


def test_times_of_microseconds_are_refused(parquet: DataFrame) -> None:
    from pyspark.sql import functions as f

    column = (f.col("start_time_unix_nano") / 1e9).cast("timestamp")
    frame = parquet.withColumn("start_time_unix_nano", column)
    with pytest.raises(DecodeError, match="nanoseconds, got one of timestamp"):
        trajectories(frame)


def test_other_rows_are_refused(spark: SparkSession) -> None:
    with pytest.raises(DecodeError, match="rows of spans"):
        trajectories(spark.range(3))


def test_sessions_are_evaluated_only_where_they_are_joined(parquet: DataFrame) -> None:
    with pytest.raises(EvaluationError, match="join='session'"):
        results(parquet, CHECKS, scope="session", join="trace")
