"""`rebuild` and `eval` with `--engine spark`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from agentool_otel.cli import _text
from agentool_otel.cli._data_files import STDOUT, data_files
from agentool_otel.cli._output import report, say
from agentool_otel.cli._spark_source import SparkSource
from agentool_otel.cli._verdicts import Summary
from agentool_otel.errors import AgentoolError, ConfigurationError, SourceError
from agentool_otel.evaluation.reports import Subject
from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.untrusted_text import count_text
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import EvalResult
from agentool_otel.model.problems import Problem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from agentool_otel.spark.kernel import Checks

__all__ = ["Evaluated", "Problems", "evaluate", "rebuild"]

_PURPOSE = "--engine spark"
_URL = re.compile(r"([A-Za-z][\w+.-]+):/(?!/)")
"""Beginning of a URL. Normalized as a path, it has one slash instead of two."""


class Problems:
    """Problems as they come: their number, and the first ones, of which those are shown."""

    _KEPT = 20

    def __init__(self, first: Sequence[Problem] = ()) -> None:
        self.count = len(first)
        self._first = [*first]

    def add(self, trace_id: str | None, text: str) -> None:
        """Add the problem of a row."""
        self.count += 1
        if len(self._first) < self._KEPT:
            where = "spans" if trace_id is None else f"trace {trace_id}"
            self._first.append(Problem(where, text))

    def report(self) -> None:
        """Print them on stderr."""
        report(self._first)
        if self.count > len(self._first):
            say(f"... and {count_text(self.count - len(self._first), 'more problem')}")


def rebuild(sources: Sequence[str], output: Path | None, *, parquet: bool) -> int:
    """Rebuild sources on Spark, and return the exit code.

    Args:
        sources: places that Spark reads; the folder of recordings if there is none.
        output: the file, or the folder for Parquet; None for stdout.
        parquet: whether the output is a folder of Parquet.

    Raises:
        AgentoolError: Spark is not there or does not start, or a place cannot be read or written.
    """
    if parquet and output is None:
        raise ConfigurationError(f"{_PURPOSE} --format parquet needs a folder; hint: add -o FOLDER")
    problems = Problems()
    with _source(sources) as source:
        from agentool_otel.spark import frames

        keyed, spans = source.counted(frames.keyed(source.frame(), "session"))
        rows = source.kept(frames.rebuilt(keyed, "session"))
        if parquet:
            traces = _write_folder(rows, str(output))
            _each(rows, ("trace_id", "problem"), problems.add)
        else:
            with data_files({"--output": output or STDOUT}, source.files) as data:
                traces = _write_lines(rows, data["--output"], problems)
        read = spans()
    problems.report()
    where = f" in {output}" if output is not None else ""
    found = count_text(problems.count, "problem") if problems.count else "no problems"
    say(f"{count_text(traces, 'trace')}, {count_text(read, 'span')}, {found}{where}")
    return 1 if problems.count else 0


def _write_lines(rows: DataFrame, out: BinaryIO, problems: Problems) -> int:
    """Write the runs of a frame as lines of JSON, and return how many there are."""
    from agentool_otel.tables.json_cells import value_of

    run: dict[str, Any] | None = None
    traces = 0

    def finish() -> None:
        nonlocal run
        if run is not None:
            out.write(json_codec.dumps(run).encode() + b"\n")
        run = None

    columns = rows.select("trace_id", "run", "step", "problem")
    for trace_id, first, step, problem in columns.toLocalIterator(prefetchPartitions=True):
        if problem is not None:
            problems.add(trace_id, problem)
            continue
        if first is not None:
            finish()
            run = value_of(first)
            traces += 1
        if step is not None and run is not None:
            run["steps"].append(value_of(step))
    finish()
    return traces


def _write_folder(rows: DataFrame, folder: str) -> int:
    """Write the runs of a frame as a folder of Parquet, and return how many there are."""
    from pyspark.sql import functions as f

    steps = rows.where(f.col("problem").isNull()).drop("problem")
    steps.write.option("compression", "zstd").parquet(_URL.sub(r"\1://", folder, count=1))
    return steps.where(f.col("run").isNotNull()).count()


def _each(rows: DataFrame, columns: Sequence[str], add: Callable[..., None]) -> None:
    """Call a function with the columns of each problem."""
    from pyspark.sql import functions as f

    chosen = rows.where(f.col("problem").isNotNull()).select(*columns)
    for row in chosen.toLocalIterator(prefetchPartitions=True):
        add(*row)


class Evaluated:
    """The outcome of an evaluation on Spark, with the members that `eval` prints."""

    unselected = older = 0
    names: Sequence[Any] = ()

    def __init__(self, name: str, output: BinaryIO | None, problems: Problems):
        self.name = name
        """The source, for messages."""
        self.summary = Summary("assertion")
        self.problems = problems
        self.traces = 0
        self.spans = 0
        self.untried = 0
        self.unmatched: list[tuple[str, str]] = []
        self.unmatched_count = 0
        self._output = output
        self._last: str | None = None

    def add(self, result: EvalResult) -> None:
        """Add a result. Those of one trace follow each other."""
        if isinstance(result.trace_id, str) and result.trace_id != self._last:
            self._last = result.trace_id
            self.traces += 1
        self.summary.add(result, Subject(None))
        if self._output is not None:
            self._output.write(result.to_json().encode() + b"\n")

    def add_unmatched(self, trace_id: str, why: str) -> None:
        """Add a run that is a try of no case."""
        self.traces += 1
        self.unmatched_count += 1
        if len(self.unmatched) < 3:
            self.unmatched.append((trace_id, why))


def evaluate(
    source: str | None, checks: Checks, output: BinaryIO | None, problems: Problems
) -> Evaluated:
    """Evaluate a source on Spark.

    Args:
        source: a place that Spark reads; None for the folder of recordings.
        checks: what runs are held against.
        output: takes the results as lines of JSON; None if they are not wanted.
        problems: takes what could not be read or joined.

    Raises:
        AgentoolError: Spark is not there or does not start, or the source cannot be read.
    """
    tried: set[str] = set()
    with _source([source] if source is not None else []) as opened:
        from agentool_otel.spark import frames

        keyed, spans = opened.counted(frames.keyed(opened.frame(), "session"))
        outcome = Evaluated(opened.name, output, problems)
        rows = opened.kept(frames.evaluated(keyed, checks, "session"))
        for result in _results(rows, outcome):
            tried.add(result.case_id)
            outcome.add(result)
        for document in frames.untried_results(checks, tried):
            outcome.untried += 1
            outcome.add(decode(EvalResult, document))
        outcome.spans = spans()
    return outcome


def _results(rows: DataFrame, outcome: Evaluated) -> Iterator[EvalResult]:
    from pyspark.sql import functions as f

    from agentool_otel.spark.kernel import UNMATCHED
    from agentool_otel.tables.json_cells import value_of

    wanted = rows.where(f.col("result").isNotNull() | f.col("problem").isNotNull())
    columns = wanted.select("trace_id", "result", "problem")
    for trace_id, result, problem in columns.toLocalIterator(prefetchPartitions=True):
        if problem is None:
            yield decode(EvalResult, value_of(result))
        elif problem.startswith(UNMATCHED):
            outcome.add_unmatched(trace_id, problem.removeprefix(UNMATCHED))
        else:
            outcome.problems.add(trace_id, problem)


@contextmanager
def _source(places: Sequence[str]) -> Generator[SparkSource]:
    """Start Spark and open places; its errors become ours."""
    from agentool_otel.spark.session import spark_session

    with spark_session(_PURPOSE) as session:
        from pyspark.errors import PySparkException

        try:
            yield SparkSource(session, places)
        except AgentoolError:
            raise
        except PySparkException as error:
            first = _text.line(str(error).strip().partition("\n")[0], 300)
            raise SourceError(f"Spark: {first}; hint: --debug shows all of it") from error
