"""Rebuilding and evaluation on Spark: a local cluster of one and of two workers with one core each,
against one process. Needs pyspark, pyarrow and Java; takes some twenty minutes and 12 GB of disk.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

from benchmarks._child import in_child, rss_of_children
from benchmarks._sizes import Size
from benchmarks._table import Row
from benchmarks.data import BATCH
from benchmarks.evaluation import ASSERTIONS
from benchmarks.scale import by_the_clock, write

__all__ = ["rows"]

_PATIENCE_S = 7200
_STEPS = 4
"""Steps of a run that is evaluated from Parquet."""


class OnSpark(NamedTuple):
    """One job."""

    per_s: float
    """Rows that were read, per second of the clock, without the start of Spark."""
    peaks_mb: dict[str, float]
    """The most memory of one process of a kind: `executor` in Java, `worker` in Python."""
    megabytes: float = 0
    """Read from storage."""


def rows(size: Size) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder, "shuffled.jsonl")
        spans: int = in_child(write, str(lines), size.shuffled[-1], BATCH, patience_s=_PATIENCE_S)
        parquet = Path(folder, "spans.parquet")
        one = in_child(by_the_clock, str(lines), spans, patience_s=_PATIENCE_S)
        made = OnSpark(
            *in_child(to_parquet, str(lines), str(parquet), spans, patience_s=_PATIENCE_S)
        )
        yield Row(
            what=f"{spans:,} spans of lines into Parquet on two workers",
            unit="spans/s",
            ours=made.per_s,
        )
        for workers in (1, 2):
            for path, kind in ((parquet, "Parquet"), (lines, "lines")):
                arguments = (str(path), spans, workers)
                done = OnSpark(*in_child(rebuilt, *arguments, patience_s=_PATIENCE_S))
                yield Row(
                    what=f"rebuild {spans:,} spans of {kind}, {workers} workers, "
                    "against one process",
                    unit="spans/s",
                    ours=done.per_s,
                    reference=one,
                    ratio=done.per_s / one,
                )
                yield from _memory(done)
        runs = size.evaluated_runs * 50
        table = Path(folder, "trajectories.parquet")
        in_child(write_runs, str(table), runs, patience_s=_PATIENCE_S)
        for workers in (1, 2):
            done = OnSpark(*in_child(evaluated, str(table), runs, workers, patience_s=_PATIENCE_S))
            yield Row(
                what=f"{runs:,} runs of {_STEPS} steps against {len(ASSERTIONS)} assertions, "
                f"{workers} workers, {done.megabytes:,.0f} MB read",
                unit="runs/s",
                ours=done.per_s,
            )
            yield from _memory(done)


def _memory(done: OnSpark) -> Iterator[Row]:
    for kind, peak in done.peaks_mb.items():
        yield Row(what=f"most memory of one {kind}", unit="MB", ours=peak)


def to_parquet(lines: str, parquet: str, spans: int) -> OnSpark:
    """Write the spans of lines as Parquet, in the order of the lines."""
    from agentool_otel.spark import spans as spans_of

    def work(spark: Any) -> None:
        frame = spans_of(spark.read.text(lines)).drop("problem")
        frame.write.option("compression", "zstd").parquet(parquet)

    return _measured(2, spans, lines, work)


def rebuilt(path: str, spans: int, workers: int) -> OnSpark:
    """Rebuild a file; the trajectories are written to nowhere."""
    from agentool_otel.spark import trajectories

    def work(spark: Any) -> None:
        _drop(trajectories(_read(spark, path)))

    return _measured(workers, spans, path, work)


def evaluated(path: str, runs: int, workers: int) -> OnSpark:
    """Hold trajectories against the assertions; the results are written to nowhere."""
    from agentool_otel.spark import results

    def work(spark: Any) -> None:
        _drop(results(_read(spark, path), ASSERTIONS))

    return _measured(workers, runs, path, work)


def write_runs(path: str, runs: int) -> None:
    """Write runs as a table of trajectories."""
    import pyarrow.parquet as pq

    from agentool_otel.tables.trajectories import SCHEMA, batch_of_rows, step_rows

    Path(path).mkdir()
    files = 16
    for number in range(files):
        with pq.ParquetWriter(f"{path}/{number:02}.parquet", SCHEMA, compression="zstd") as out:
            waiting: list[tuple[Any, ...]] = []
            for run in range(number, runs, files):
                waiting += step_rows(_run(run))
                if len(waiting) > 50_000:
                    out.write_batch(batch_of_rows(waiting, SCHEMA))
                    waiting = []
            out.write_batch(batch_of_rows(waiting, SCHEMA))


def _run(number: int) -> dict[str, Any]:
    """Return a run of four steps: a thought, a call, its result and an answer."""
    steps: list[dict[str, Any]] = [
        {"step_id": "step_001", "type": "thought", "content": "look at the weather first"},
        {
            "step_id": "step_002",
            "type": "tool_call",
            "tool_call": {
                "id": f"call_{number}",
                "name": "search_weather",
                "arguments": {"query": f"weather in city {number}", "limit": 5},
            },
        },
        {
            "step_id": "step_003",
            "type": "tool_result",
            "tool_result": {"call_id": f"call_{number}", "output": {"temperature": number % 40}},
        },
        {"step_id": "step_004", "type": "final_answer", "content": f"It is {number % 40} degrees"},
    ]
    return {
        "trace_id": f"{number * 0x9E3779B97F4A7C15 % 2**128:032x}",
        "agent_id": "weather",
        "input": f"weather in city {number}",
        "output": f"The weather: {number % 40} degrees",
        "status": "success",
        "started_at": "2026-11-01T10:00:00Z",
        "finished_at": "2026-11-01T10:00:02Z",
        "steps": steps,
        "metrics": {"total_tokens": 900, "total_duration_ms": 2000.0, "total_cost_usd": 0.01},
    }


def _read(spark: Any, path: str) -> Any:
    return spark.read.text(path) if path.endswith(".jsonl") else spark.read.parquet(path)


def _drop(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _measured(workers: int, count: int, path: str, work: Any) -> OnSpark:
    """Run a job on a cluster of so many workers, once Spark and its Python workers are there."""
    from agentool_otel.spark.session import spark_session

    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local-cluster[{workers},1,1024] pyspark-shell"
    done = Event()
    peaks: dict[str, float] = {}
    watch = Thread(target=_watch, args=(peaks, done))
    with spark_session("the benchmark") as spark:
        spark.range(workers).repartition(workers).mapInArrow(_same, "id long").count()
        watch.start()
        start = time.perf_counter()
        work(spark)
        seconds = time.perf_counter() - start
        done.set()
        watch.join()
    return OnSpark(count / seconds, peaks, _bytes_read(Path(path)) / 1e6)


def _same(batches: Any) -> Any:
    yield from batches


def _bytes_read(path: Path) -> int:
    """Return the compressed bytes of the columns that are read: Spark's own count leaves out most
    of Parquet."""
    import pyarrow.parquet as pq

    from agentool_otel.tables import spans, trajectories

    if path.is_file():
        return path.stat().st_size
    columns = {*spans.READ, *trajectories.READ, "session_id"}
    total = 0
    for file in path.glob("*.parquet"):
        metadata = pq.read_metadata(file)
        for group in range(metadata.num_row_groups):
            for at in range(metadata.num_columns):
                column = metadata.row_group(group).column(at)
                total += column.total_compressed_size * (column.path_in_schema in columns)
    return total


def _watch(peaks: dict[str, float], done: Event) -> None:
    while not done.wait(0.3):
        for command, megabytes in rss_of_children():
            if "CoarseGrainedExecutorBackend" in command:
                peaks["executor"] = max(peaks.get("executor", 0), megabytes)
            elif "pyspark.daemon" in command:
                peaks["worker"] = max(peaks.get("worker", 0), megabytes)
