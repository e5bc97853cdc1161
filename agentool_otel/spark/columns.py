"""The columns that a kernel reads, spread over partitions by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agentool_otel.errors import DecodeError
from agentool_otel.ground.optional import library
from agentool_otel.spark.grouping import KEY, PROBLEM
from agentool_otel.spark.lines import LINE
from agentool_otel.tables import spans as span_table
from agentool_otel.tables import trajectories as step_table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

__all__ = ["is_lines", "is_trajectories", "keyed_spans", "keyed_trajectories"]

_SESSION = "session_id"
_OF_TRACE = "_trace"
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "string": ("string", ("string", "void")),
    "int64": ("bigint", (*_WHOLE, "float", "double", "void")),
    "int32": ("int", (*_WHOLE, "void")),
    "bool": ("boolean", ("boolean", "void")),
}
"""By type of Arrow, that of Spark, and those that it can be cast from without a change of meaning:
a timestamp of Spark has microseconds, and would become seconds."""


def is_lines(frame: DataFrame) -> bool:
    """Return whether a frame has lines of text."""
    return LINE in frame.columns and "trace_id" not in frame.columns


def is_trajectories(frame: DataFrame) -> bool:
    """Return whether a frame has trajectories."""
    return "step_number" in frame.columns


def keyed_spans(frame: DataFrame, join: str, *, is_computed: bool = False) -> DataFrame:
    """Return spans, those of a key in one partition and those of a trace in a row.

    The columns that are not read are left out before the shuffle.

    Args:
        frame: rows of `spans/1`.
        join: `session` or `trace`.
        is_computed: whether rows cost more to make than to shuffle, as those of lines do. They are
            shuffled twice then; otherwise two columns are read twice.

    Raises:
        DecodeError: a column is missing, or has another type.
    """
    f = _functions()
    by_session = join == "session" and _SESSION in frame.columns
    columns = _chosen(frame, span_table.SCHEMA, span_table.READ, ("trace_id", "span_id"), "spans")
    chosen = frame.select(*columns)
    if not by_session:
        keyed = chosen.withColumn(KEY, f.col("trace_id"))
    elif is_computed:
        of_trace = library("pyspark.sql.window", "a DataFrame", "spark").Window.partitionBy(
            "trace_id"
        )
        session = f.min(_SESSION).over(of_trace)
        keyed = frame.select(*columns, _SESSION).withColumn(KEY, f.coalesce(session, "trace_id"))
        keyed = keyed.drop(_SESSION)
    else:
        of_trace = f.col("trace_id").alias(_OF_TRACE)
        named = frame.where(f.col(_SESSION).isNotNull()).select(of_trace, _SESSION)
        sessions = named.groupBy(_OF_TRACE).agg(f.min(_SESSION).alias(KEY))
        joined = chosen.join(sessions, f.col("trace_id") == f.col(_OF_TRACE), "left")
        keyed = joined.drop(_OF_TRACE).withColumn(KEY, f.coalesce(KEY, "trace_id"))
    return keyed.repartition(KEY).sortWithinPartitions(
        KEY, "trace_id", "start_time_unix_nano", "span_id"
    )


def keyed_trajectories(frame: DataFrame, join: str) -> DataFrame:
    """Return trajectories, those of a key in one partition and the steps of a run in a row.

    Args:
        frame: rows of `trajectories/1`.
        join: `session` or `trace`.

    Raises:
        DecodeError: a column is missing, or has another type.
    """
    f = _functions()
    columns = _chosen(frame, step_table.SCHEMA, step_table.READ, step_table.READ, "trajectories")
    of_trace = f.split_part("trace_id", f.lit(":"), f.lit(1))  # runs of one trace have its id
    chosen = frame.select(*columns).withColumn(KEY, of_trace)
    if join == "session" and _SESSION in frame.columns:
        named = frame.where(f.col(_SESSION).isNotNull())
        sessions = named.groupBy(of_trace.alias(_OF_TRACE)).agg(f.min(_SESSION).alias(_SESSION))
        joined = chosen.join(sessions, f.col(KEY) == f.col(_OF_TRACE), "left")
        chosen = joined.withColumn(KEY, f.coalesce(_SESSION, KEY)).drop(_OF_TRACE, _SESSION)
    return chosen.repartition(KEY).sortWithinPartitions(
        KEY, "trace_id", f.col("step_number").asc_nulls_first()
    )


def _chosen(
    frame: DataFrame,
    schema: pa.Schema,
    names: Sequence[str],
    needed: Sequence[str],
    what: str,
) -> list[Column]:
    """Return the columns that are read, with the types that they are read with."""
    f = _functions()
    kinds = dict(frame.dtypes)
    if missing := [name for name in needed if name not in kinds]:
        raise DecodeError(
            f"rows of {what}",
            f"columns without {', '.join(missing)}: {', '.join(frame.columns)}",
            hint="agentool-otel export SOURCE --format parquet writes spans as they are read",
        )
    chosen: list[Column] = []
    for name in names:
        kind, readable = _KINDS[str(schema.field(name).type)]
        if name not in kinds:
            chosen.append(f.lit(None).cast(kind).alias(name))
        elif kinds[name] in readable:
            chosen.append(f.col(name).cast(kind).alias(name))
        else:
            nanoseconds = " of nanoseconds" if name.endswith("nano") else ""
            raise DecodeError(f"a column {name} of {kind}{nanoseconds}", f"one of {kinds[name]}")
    if PROBLEM in kinds:
        chosen.append(f.col(PROBLEM).cast("string").alias(PROBLEM))
    return chosen


def _functions() -> Any:
    return library("pyspark.sql.functions", "a DataFrame", extra="spark", distribution="pyspark")
