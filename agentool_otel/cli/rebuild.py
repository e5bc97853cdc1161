"""`rebuild`: spans to ReasoningTrace JSON Lines, or to the formats of other tools."""

from __future__ import annotations

import pickle
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click

from agentool_otel.cli import _text
from agentool_otel.cli._data_files import STDOUT, data_files
from agentool_otel.cli._engine import SPARK, engine_option, refuse_others
from agentool_otel.cli._order import Place, newest, place_of
from agentool_otel.cli._output import COST_HELP, report, say
from agentool_otel.cli._reading import Reading
from agentool_otel.cli._selection import last_option
from agentool_otel.cli._unread import NEXT, inventory_of
from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import json_codec
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.formats import (
    Format,
    Loss,
    Writer,
    format_named,
    formats,
    loss_sentences,
)
from agentool_otel.reading.rebuild.cost import Prices
from agentool_otel.reading.rebuild.declared import documents_of
from agentool_otel.reading.rebuild.error_isolation import Report, skip_on_error
from agentool_otel.reading.rebuild.runs import rebuild_groups
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.contents import Contents
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan
from agentool_otel.reading.sources.grouping.complete import complete
from agentool_otel.reading.sources.opening import open_spans
from agentool_otel.reading.sources.source import Source, inputs_of
from agentool_otel.tables import require

if TYPE_CHECKING:
    from agentool_otel.cli._step_table import StepTable

__all__ = ["command"]

_DEFAULT = "reasoning-trace"
_PARQUET = "parquet"
_IN_MEMORY = 64_000_000
"""Bytes of output that wait in memory for the newest runs to be known."""


_format = cache(format_named)


class _Finished(NamedTuple):
    """The output for one trace."""

    trace_id: str
    place: Place | None
    """Sort key of the run; None if the order does not matter."""
    value: bytes
    losses: list[Loss]
    report: dict[str, Any] | None
    results: list[bytes]
    guessed: int
    """Number of spans that were read by the names of their attributes alone."""


def _convert(
    rebuilt: Rebuilt, format_name: str, report: bool, judged: bool, placed: bool
) -> _Finished:
    """Return the output for a trace; called in the process that rebuilds it."""
    losses: list[Loss] = []
    if format_name == _DEFAULT:
        value = rebuilt.to_bytes()
    else:
        converted, losses = _format(format_name).write(rebuilt.trace)
        value = json_codec.dumps(converted).encode()
    results = [result.to_json().encode() + b"\n" for result in rebuilt.results] if judged else []
    place = place_of(rebuilt.trace) if placed else None
    fidelity = None
    if report:
        fidelity = rebuilt.fidelity.to_dict()
        if format_name != _DEFAULT:
            lost = [loss._asdict() for loss in losses]
            fidelity["format"] = {"name": format_name, "losses": lost}
    return _Finished(rebuilt.trace_id, place, value, losses, fidelity, results, rebuilt.guessed)


def _each_finished(
    runs: Iterable[Rebuilt], finish: Callable[[Rebuilt], _Finished], report: Report
) -> Iterator[_Finished]:
    for rebuilt in runs:
        with skip_on_error(rebuilt.trace_id, report):
            yield finish(rebuilt)


@click.command()
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="File for the traces."
)
@click.option(
    "--fidelity",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for the fidelity reports: where each field came from, a JSON line per trace.",
)
@click.option(
    "--results",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for the EvalResults that are in the traces, as JSON Lines.",
)
@click.option(
    "--documents",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for ToolSpecs, registries, EvalCases and results without their run that are in the "
    "spans, as JSON Lines.",
)
@click.option(
    "--format",
    "format_name",
    default=_DEFAULT,
    show_default=True,
    metavar="FORMAT",
    help=f"Shape of the traces: {', '.join([*formats(), _PARQUET])}; the last, a row per step, "
    "with the extra `arrow`.",
)
@last_option("runs that started last.")
@click.option("--cost", is_flag=True, help=COST_HELP)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Further processes for rebuilding. The result is the same.",
)
@engine_option
def command(
    sources: tuple[str, ...],
    output: Path | None,
    fidelity: Path | None,
    results: Path | None,
    documents: Path | None,
    format_name: str,
    last: int | None,
    cost: bool,
    jobs: int,
    engine: str,
) -> int:
    """Turn spans and trace documents into ReasoningTrace JSON Lines, or into a table of steps.

    Several sources are read as one, so that a run that is spread over them comes out whole. Data
    that another format cannot represent is listed on stderr, and per trace in the fidelity reports.
    """
    if engine == SPARK:
        return _on_spark(sources, output, format_name)
    if format_name == _PARQUET:
        require("--format parquet")
        if output is None and sys.stdout.isatty():
            raise ConfigurationError("Parquet is not for a terminal; hint: name a file with -o")
    written_as = _DEFAULT if format_name == _PARQUET else format_name
    chosen = format_named(written_as)
    prices = Prices() if cost else None
    source = open_spans(sources)
    to_terminal = output is None and sys.stdout.isatty()
    with ExitStack() as open_files:
        places = {"--output": output or STDOUT, "--fidelity": fidelity, "--results": results}
        places["--documents"] = documents
        data = open_files.enter_context(data_files(places, inputs_of(source)))
        reading = open_files.enter_context(Reading(source, bar=not to_terminal))
        output_files = _Output(_writer(data["--output"], format_name, chosen), data, source)
        runs = (
            output_files if last is None else open_files.enter_context(_Newest(output_files, last))
        )
        contents = Contents(source)
        finish = partial(
            _convert,
            format_name=written_as,
            report=fidelity is not None,
            judged=results is not None,
            placed=last is not None,
        )
        finished: Iterator[_Finished]
        groups: Iterable[list[SpanRecord | UndecodedSpan]] = reading.groups(contents)
        others = _Documents(data.get("--documents"))
        groups = others.write_and_pass(groups)

        def noted(problem: Problem) -> None:
            source.problems.append(problem)

        if jobs > 1:
            from agentool_otel.reading.parallel import rebuild_in_processes

            finished = rebuild_in_processes(groups, jobs, finish, noted, cost=cost)
        else:
            finished = _each_finished(
                rebuild_groups(groups, complete, prices, noted), finish, noted
            )
        for item in contents.merged(finished, lambda item: (item.trace_id,)):
            if isinstance(item, ReasoningTrace):
                runs.document(item)
            else:
                runs.rebuilt(item)
        runs.finish()
    for sentence in loss_sentences(output_files.losses):
        say(f"{format_name}: {_text.line(sentence)}")
    report(source.problems)
    if others.count:
        say(f"{_text.count(others.count, 'other document')} in {documents}")
    failed = bool(source.problems)
    _say_totals(source, output_files.traces, reading, output, documents=others.count)
    if +output_files.outcomes:
        listed = (
            f"{n:,} {name.replace('_', ' ')}"
            for name, n in output_files.outcomes.most_common()
            if n
        )
        say(f"fields: {', '.join(listed)}")
    if reading.count + reading.records and not output_files.traces and not others.count:
        _say_unread(source, shlex.join(["agentool-otel", "show", *sources, "--spans"]))
    elif output_files.guessed:
        number = _text.count(output_files.guessed, "span")
        say(f"{number} of no known vocabulary, read by the names of attributes alone")
        say(f" hint: --fidelity FILE has what was inferred and what was not read; {NEXT}")
    return 1 if failed else 0


def _on_spark(sources: tuple[str, ...], output: Path | None, format_name: str) -> int:
    refuse_others(("sources", "output", "format_name"))
    if format_name not in (_DEFAULT, _PARQUET):
        raise click.UsageError(f"--format {format_name} is not supported with --engine {SPARK}")
    from agentool_otel.cli import _spark

    return _spark.rebuild(sources, output, parquet=format_name == _PARQUET)


def _writer(out: BinaryIO, format_name: str, format: Format) -> Writer | StepTable:
    if format_name != _PARQUET:
        return Writer(out, format)
    from agentool_otel.cli._step_table import StepTable

    return StepTable(out)


class _Output:
    """Writes traces, their fidelity reports and the results that are in them."""

    def __init__(self, writer: Writer | StepTable, files: Mapping[str, BinaryIO], source: Source):
        self._writer = writer
        self._reports = files.get("--fidelity")
        self._results = files.get("--results")
        self._source = source
        self.losses = writer.kinds
        """Kinds of data that the format cannot represent."""
        self.traces = 0
        self.outcomes = Counter[str]()
        """Number of fields with each outcome, and of spans and events that were not used."""
        self.guessed = 0
        """Number of spans that were read by the names of their attributes alone."""

    def document(self, trace: ReasoningTrace) -> None:
        self._writer.write(trace)
        self.traces += 1

    def rebuilt(self, finished: _Finished) -> None:
        self.guessed += finished.guessed
        self._writer.put(finished.value, finished.losses)
        if self._results is not None:
            self._results.writelines(finished.results)
        if self._reports is not None and finished.report is not None:
            self.outcomes.update(finished.report["summary"])
            for name in ("unread_spans", "unread_events"):
                self.outcomes[name.replace("_", " ")] += sum(finished.report[name].values())
            report = {**finished.report, "store_loses": list(self._source.loses)}
            self._reports.write(json_codec.dumps(report).encode() + b"\n")
        self.traces += 1

    def finish(self) -> None:
        self._writer.finish()


class _Newest:
    """Keeps output in a temporary file until the newest runs are known.

    A context manager.
    """

    def __init__(self, output: _Output, count: int):
        self._output = output
        self._count = count
        self._places: list[Place] = []
        self._starts: list[int] = []
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - see `__exit__`

    def __enter__(self) -> _Newest:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def document(self, trace: ReasoningTrace) -> None:
        self._keep(place_of(trace), trace)

    def rebuilt(self, finished: _Finished) -> None:
        assert finished.place is not None
        self._keep(finished.place, finished)

    def _keep(self, place: Place, run: ReasoningTrace | _Finished) -> None:
        self._places.append(place)
        self._starts.append(self._file.tell())
        pickle.dump(run, self._file, pickle.HIGHEST_PROTOCOL)

    def finish(self) -> None:
        """Write the newest runs."""
        for position in newest(self._places, self._count):
            self._file.seek(self._starts[position])
            # Nobody else can write to this file, which has no name.
            run: ReasoningTrace | _Finished = pickle.load(self._file)
            if isinstance(run, ReasoningTrace):
                self._output.document(run)
            else:
                self._output.rebuilt(run)
        self._output.finish()


class _Documents:
    """Writes the documents of traces that have no run.

    Args:
        output: the file; None for none.
    """

    def __init__(self, output: BinaryIO | None):
        self._output = output
        self.count = 0

    def write_and_pass(
        self, groups: Iterable[list[SpanRecord | UndecodedSpan]]
    ) -> Iterator[list[SpanRecord | UndecodedSpan]]:
        """Pass on traces, and write the documents in them."""
        for group in groups:
            if self._output is not None:
                for document in documents_of(complete(group)):
                    self._output.write(document.to_json().encode() + b"\n")
                    self.count += 1
            yield group


def _say_totals(
    source: Source, traces: int, reading: Reading, output: Path | None, documents: int
) -> None:
    problems = source.problems
    counts = [_text.count(traces, "trace"), _text.count(reading.count, "span")]
    if reading.records:
        counts.append(_text.count(reading.records, "log record"))
    counts.append(_text.count(len(problems), "problem") if problems else "no problems")
    where = f" in {output}" if output is not None else ""
    say(f"{', '.join(counts)}{where}")
    read = reading.count + reading.records
    if source.skipped and not traces and (documents or not read):
        say(" hint: there are only metrics or log lines in it, no spans")


def _say_unread(source: Source, command: str) -> None:
    """Print the names in spans that no run is made of, and `command`, which shows the spans."""
    say("no span is an agent run, a model call or a tool call")
    inventory = inventory_of(source)
    for line in inventory.lines() if inventory is not None else ():
        say(f"  {line}")
    say(f" hint: {command} shows the spans; {NEXT}")
