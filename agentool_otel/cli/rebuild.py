"""`rebuild`: spans to ReasoningTrace JSON Lines, or to the formats of other tools."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import click

from agentool_otel.cli import _text
from agentool_otel.cli._data_files import STDOUT, data_files
from agentool_otel.cli._output import COST_HELP, report, say
from agentool_otel.cli._reading import Reading
from agentool_otel.formats import Loss, Writer, format_named, words
from agentool_otel.ground import json_codec
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reconstruction.containment import Report, at_own_cost
from agentool_otel.reconstruction.cost import Prices
from agentool_otel.reconstruction.declared import documents_of
from agentool_otel.reconstruction.runs import rebuild_groups
from agentool_otel.reconstruction.trace import Rebuilt
from agentool_otel.sources.contents import Contents
from agentool_otel.sources.files.undecoded import UndecodedSpan
from agentool_otel.sources.grouping.by_trace import whole
from agentool_otel.sources.opening import open_spans
from agentool_otel.sources.source import Source, files_of

__all__ = ["command"]

_DEFAULT = "reasoning-trace"


_format = cache(format_named)


class _Finished(NamedTuple):
    """The output for one trace."""

    trace_id: str
    value: bytes
    losses: list[Loss]
    report: dict[str, Any] | None
    results: list[bytes]


def _finished(rebuilt: Rebuilt, format_name: str, report: bool, judged: bool) -> _Finished:
    """Return the output for a trace; called in the process that rebuilds it."""
    losses: list[Loss] = []
    if format_name == _DEFAULT:
        value = rebuilt.to_bytes()
    else:
        converted, losses = _format(format_name).write(rebuilt.trace)
        value = json_codec.dumps(converted).encode()
    results = [it.to_json().encode() + b"\n" for it in rebuilt.results] if judged else []
    if not report:
        return _Finished(rebuilt.trace_id, value, losses, None, results)
    fidelity = rebuilt.fidelity.to_dict()
    if format_name != _DEFAULT:
        lost = [loss._asdict() for loss in losses]
        fidelity["format"] = {"name": format_name, "losses": lost}
    return _Finished(rebuilt.trace_id, value, losses, fidelity, results)


def _each_finished(
    runs: Iterable[Rebuilt], finish: Callable[[Rebuilt], _Finished], report: Report
) -> Iterator[_Finished]:
    for rebuilt in runs:
        with at_own_cost(rebuilt.trace_id, report):
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
    help="Shape of the traces: reasoning-trace, atif, openai-messages, adk-evalset or inspect.",
)
@click.option("--cost", is_flag=True, help=COST_HELP)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that rebuild, beside the one that reads. The outcome is the same.",
)
def command(
    sources: tuple[str, ...],
    output: Path | None,
    fidelity: Path | None,
    results: Path | None,
    documents: Path | None,
    format_name: str,
    cost: bool,
    jobs: int,
) -> int:
    """Turn spans, and documents of traces beside them, into ReasoningTrace JSON Lines.

    Several sources are read as one, so that a run that is spread over them comes out whole. What
    another format cannot say is listed on stderr, and per trace in the fidelity reports.
    """
    chosen = format_named(format_name)
    prices = Prices() if cost else None
    source = open_spans(sources)
    to_terminal = output is None and sys.stdout.isatty()
    traces = 0
    with ExitStack() as open_files:
        places = {"--output": output or STDOUT, "--fidelity": fidelity, "--results": results}
        places["--documents"] = documents
        data = open_files.enter_context(data_files(places, files_of(source)))
        reading = open_files.enter_context(Reading(source, bar=not to_terminal))
        reports, judged = data.get("--fidelity"), data.get("--results")
        writer = Writer(data["--output"], chosen)
        contents = Contents(source)
        for trace in contents.leading():
            writer.write(trace)
            traces += 1
        finish = partial(
            _finished,
            format_name=format_name,
            report=reports is not None,
            judged=judged is not None,
        )
        finished: Iterator[_Finished]
        groups: Iterable[list[SpanRecord | UndecodedSpan]] = reading.groups(contents)
        others = _Documents(data.get("--documents"))
        groups = others.beside(groups)

        def noted(problem: Problem) -> None:
            source.problems.append(problem)

        if jobs > 1:
            from agentool_otel.reconstruction.parallel import rebuild_in_processes

            finished = rebuild_in_processes(groups, jobs, finish, noted, cost=cost)
        else:
            finished = _each_finished(rebuild_groups(groups, prices, noted), finish, noted)
        for trace_id, value, losses, fidelity_report, verdicts in finished:
            if not contents.is_new(trace_id):
                continue
            writer.put(value, losses)
            if judged is not None:
                judged.writelines(verdicts)
            if reports is not None and fidelity_report is not None:
                fidelity_report["store_loses"] = list(source.loses)
                reports.write(json_codec.dumps(fidelity_report).encode() + b"\n")
            traces += 1
        for trace in contents.documents():
            writer.write(trace)
            traces += 1
        writer.finish()
    for sentence in words(writer.kinds):
        say(f"{format_name}: {_text.line(sentence)}")
    report(source.problems)
    if others.count:
        say(f"{_text.count(others.count, 'other document')} in {documents}")
    _say_totals(source, traces, reading.count, output, documents=others.count)
    return 1 if source.problems else 0


class _Documents:
    """Writes the documents of traces that have no run.

    Args:
        output: the file; None for none.
    """

    def __init__(self, output: BinaryIO | None):
        self._output = output
        self.count = 0

    def beside(
        self, groups: Iterable[list[SpanRecord | UndecodedSpan]]
    ) -> Iterator[list[SpanRecord | UndecodedSpan]]:
        """Pass on traces, and write the documents in them."""
        for group in groups:
            if self._output is not None:
                for document in documents_of(whole(group)):
                    self._output.write(document.to_json().encode() + b"\n")
                    self.count += 1
            yield group


def _say_totals(
    source: Source, traces: int, spans: int, output: Path | None, documents: int
) -> None:
    problems = source.problems
    counts = [_text.count(traces, "trace"), _text.count(spans, "span")]
    counts.append(_text.count(len(problems), "problem") if problems else "no problems")
    where = f" in {output}" if output is not None else ""
    say(f"{', '.join(counts)}{where}")
    if spans and not traces and not documents:
        say(" hint: no span is an agent run or a model call; agentool-otel show --spans shows them")
    elif not traces and source.skipped:
        say(" hint: there are only metrics or log lines in it, no spans")
