"""From DataFrame to DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from agentool_otel.errors import DecodeError, EvaluationError
from agentool_otel.evaluation.running import EVERY_TRACE, Evaluation
from agentool_otel.evaluation.scopes import Scope
from agentool_otel.ground.optional import library
from agentool_otel.model.documents import Assertion, EvalCase
from agentool_otel.tables import require

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from agentool_otel.evaluation.cases.matching import MatchRule
    from agentool_otel.spark.kernel import Checks

__all__ = [
    "Join",
    "checks_of",
    "evaluated",
    "keyed",
    "rebuilt",
    "results",
    "spans",
    "trajectories",
    "untried_results",
]

Join: TypeAlias = Literal["session", "trace"]
_JOINS: tuple[Join, ...] = ("session", "trace")
_Case: TypeAlias = "EvalCase | Assertion | Mapping[str, Any]"
_Kernel: TypeAlias = "Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]"


def spans(lines: DataFrame) -> DataFrame:
    """Return the spans in lines of OTLP/JSON: `spans/1`, and a `problem`.

    A row with nothing but a problem has a place that could not be read and the reason.

    Args:
        lines: a column `value` with text or bytes, as `spark.read.text(path)` returns; columns
            `file` and `start`, with the offset of the part of the file, are for messages.

    Raises:
        DecodeError: these are no lines.
    """
    require("agentool_otel.spark")
    from agentool_otel.spark import columns
    from agentool_otel.spark import lines as kernel

    functions = library("pyspark.sql.functions", "spans", extra="spark", distribution="pyspark")
    if not columns.is_lines(lines):
        raise DecodeError("a column 'value' of lines", f"the columns {', '.join(lines.columns)}")
    chosen = [functions.col(kernel.LINE).cast("binary").alias(kernel.LINE)]
    for name, kind in ((kernel.FILE, "string"), (kernel.START, "bigint")):
        if name in lines.columns:
            chosen.append(functions.col(name).cast(kind).alias(name))
    return _mapped(lines.select(*chosen), kernel.span_rows, kernel.SPANS)


def trajectories(spans: DataFrame, *, join: Join = "session") -> DataFrame:
    """Return the trajectories of spans: `trajectories/1`, a row per step, and a `problem`.

    The rows of a run follow each other in a partition. A row with nothing but a `problem` and,
    where it is known, a `trace_id` has what could not be read, or was not joined: a model call, or
    a part of a run, that continues one with another key. Conversations whose turns refer to each
    other by their texts alone are not noticed.

    Args:
        spans: rows of `spans/1`, in any order, or lines of OTLP/JSON, as `spans` takes them.
        join: what is joined where it spans several traces: `session`, those of one session, by the
            column `session_id`; `trace`, nothing, which saves finding out the session of each.

    Raises:
        DecodeError: these are neither spans nor lines, or times are no nanoseconds.
        ValueError: `join` is neither.
    """
    return rebuilt(keyed(spans, join), join)


def keyed(frame: DataFrame, join: Join) -> DataFrame:
    """Return spans, lines or trajectories as the kernels take them: read, shuffled and sorted.

    Raises: as `results`.
    """
    require("agentool_otel.spark")
    from agentool_otel.spark import columns
    from agentool_otel.spark.grouping import PROBLEM

    if join not in _JOINS:
        raise ValueError(f"join is one of {', '.join(_JOINS)}, not {join!r}")
    if columns.is_trajectories(frame):
        return columns.keyed_trajectories(frame, join)
    if columns.is_lines(frame):
        return columns.keyed_spans(spans(frame), join, is_computed=True)
    return columns.keyed_spans(frame, join, is_computed=PROBLEM in frame.columns)


def rebuilt(keyed: DataFrame, join: Join) -> DataFrame:
    """Return the trajectories of spans as `keyed` returns them."""
    from agentool_otel.spark import kernel

    run = partial(kernel.trajectories, by_session=join == "session")
    return _mapped(keyed, run, kernel.TRAJECTORIES)


def results(
    frame: DataFrame,
    checks: str | PathLike[str] | _Case | Iterable[_Case],
    *,
    min_evaluated: float = 1.0,
    match: MatchRule | None = None,
    scope: Scope = "tree",
    join: Join = "session",
) -> DataFrame:
    """Return the results of checks: `results/1`, a row per assertion, and a `problem`.

    Verdicts are those of `agentool_otel.evaluate` without a judge. A row with nothing but a
    `problem` and a `trace_id` has what could not be read or joined, as `trajectories` has it, or a
    run that is a try of no case. A case without a run has one result, whose rows have no trace.

    Args:
        frame: spans or lines, as `trajectories` takes them, or trajectories. Spans also
            have what is hidden in them, which trajectories do not.
        checks: cases, or assertions that hold for every run, as `agentool_otel.evaluate` takes
            them; or the path of a file of them on the driver.
        min_evaluated, match, scope: as `agentool_otel.evaluate` has them.
        join: as `trajectories` has it. Runs inside others, and runs of a session, are evaluated
            together where they are joined.

    Raises:
        EvaluationError, CasesError: as `agentool_otel.evaluate`; or the scope is `session`, and
            sessions are not joined.
        DecodeError, ValueError: as `trajectories`.
        SourceError: the file cannot be read.
    """
    prepared = checks_of(checks, min_evaluated, match, scope)
    outcome = evaluated(keyed(frame, join), prepared, join)
    untried = _untried(outcome.sparkSession, prepared)
    return outcome if untried is None else _with_untried(outcome, untried)


def checks_of(
    checks: str | PathLike[str] | _Case | Iterable[_Case],
    min_evaluated: float,
    match: MatchRule | None,
    scope: Scope,
) -> Checks:
    """Return the checks of `results` as they are sent to workers.

    Raises: as `results`.
    """
    require("agentool_otel.spark")
    from agentool_otel.spark.kernel import Checks

    if isinstance(checks, (str, PathLike)):
        from agentool_otel.evaluation.cases.files import read_cases

        checks = read_cases(Path(checks))[0]
    if isinstance(checks, (EvalCase, Assertion, Mapping)):
        checks = cast("list[_Case]", [checks])
    objects: list[Mapping[str, Any]] = [
        item if isinstance(item, Mapping) else item.to_dict() for item in checks
    ]
    prepared = Checks(objects, min_evaluated, match, scope)
    prepared.evaluation().close()  # what is wrong with them is an error here, not in a worker
    return prepared


def evaluated(keyed: DataFrame, checks: Checks, join: Join) -> DataFrame:
    """Return the results of spans or trajectories as `keyed` returns them, without those of the
    cases that have no run.

    Raises:
        EvaluationError: the scope is `session`, and sessions are not joined.
    """
    from agentool_otel.spark import kernel

    if checks.scope == "session" and join == "trace":
        raise EvaluationError("scope 'session' needs join='session'")
    run = partial(kernel.results, checks=checks, by_session=join == "session")
    return _mapped(keyed, run, kernel.RESULTS)


def untried_results(checks: Checks, tried: Iterable[str | None] = ()) -> list[dict[str, Any]]:
    """Return the results of the cases that have no run, as JSON objects.

    Args:
        checks: the cases.
        tried: ids of those that have one.
    """
    evaluation: Evaluation = checks.evaluation()
    known = frozenset(tried)
    try:
        of_all = [result for outcome in evaluation.untried() for result in outcome.results]
    finally:
        evaluation.close()
    return [
        result.to_dict()
        for result in of_all
        if result.case_id not in known and result.case_id != EVERY_TRACE
    ]


def _mapped(frame: DataFrame, kernel: _Kernel, schema: pa.Schema) -> DataFrame:
    """Return the rows that a function makes of the batches of each partition."""
    return frame.mapInArrow(kernel, ", ".join(map(_ddl, schema)))


_KINDS = {
    "string": "string",
    "int64": "bigint",
    "int32": "int",
    "double": "double",
    "bool": "boolean",
}


def _ddl(field: pa.Field[Any]) -> str:
    return f"{field.name} {_KINDS[str(field.type)]}"


def _untried(spark: Any, checks: Checks) -> DataFrame | None:
    """Return the results of all cases as if none had a run; None if there are no cases."""
    from agentool_otel.spark.kernel import RESULTS
    from agentool_otel.tables.results import result_rows

    rows = [(*row, None) for result in untried_results(checks) for row in result_rows(result)]
    if not rows:
        return None
    frame: DataFrame = spark.createDataFrame(rows, ", ".join(map(_ddl, RESULTS)))
    return frame


def _with_untried(outcome: DataFrame, untried: DataFrame) -> DataFrame:
    """Return results, and those of the cases that are in no result. One shuffle, of the results."""
    from agentool_otel.spark.kernel import RESULTS

    functions = library("pyspark.sql.functions", "results", extra="spark", distribution="pyspark")
    every = outcome.union(untried).repartition("case_id")
    is_untried = functions.col("trace_id").isNull()
    ordered = every.sortWithinPartitions(
        "case_id", is_untried, "trace_id", functions.col("assertion_number").asc_nulls_first()
    )
    return _mapped(ordered, _without_tried, RESULTS)


def _without_tried(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield results that are sorted by case, without those of no trace where there are others."""
    import pyarrow as pa

    tried: Any = None
    for batch in batches:
        keep: list[bool] = []
        cells = (batch.column(name).to_pylist() for name in ("case_id", "trace_id", "problem"))
        for case_id, trace_id, problem in zip(*cells, strict=True):
            if trace_id is not None:
                tried = case_id
            keep.append(trace_id is not None or problem is not None or case_id != tried)
        yield batch if all(keep) else batch.filter(pa.array(keep))
