"""`eval`: verdicts on collected traces."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import click
from rich.console import Console

from agentool_otel.cli import _text
from agentool_otel.cli._cases import read_cases
from agentool_otel.cli._data_files import STDOUT, data_files
from agentool_otel.cli._output import COST_HELP, Reading, report, say, view
from agentool_otel.cli._reading import files_of, open_spans
from agentool_otel.cli._verdicts import SLICES, Summary
from agentool_otel.cli._write_back import Asked, WriteBack, takes_write_back
from agentool_otel.errors import ConfigurationError
from agentool_otel.evaluation.junit import JUnit
from agentool_otel.evaluation.running import Evaluation
from agentool_otel.model.documents import EvalResult, ReasoningTrace
from agentool_otel.rebuild import Prices, Rebuilt
from agentool_otel.rebuild.runs import rebuild_groups
from agentool_otel.sources import Source
from agentool_otel.sources.grouping import whole

__all__ = ["command"]

_EXAMPLES = 3
_FILE = click.Path(path_type=Path, dir_okay=False)


class _Outcome:
    """Results on their way out: to the files that are written, and into the summary."""

    def __init__(self, evaluation: Evaluation, summary: Summary, output: BinaryIO | None):
        self._evaluation = evaluation
        self._output = output
        self.summary = summary
        self.junit: JUnit | None = None
        self.write_back: WriteBack | None = None
        self.traces = 0
        self.untried = 0
        self.unmatched: list[tuple[str, str]] = []
        self.left_out = 0

    def judge(self, source: ReasoningTrace | Rebuilt) -> None:
        """Hold a trace against its cases."""
        self.traces += 1
        rebuilt = source if isinstance(source, Rebuilt) else None
        trace = source.trace if isinstance(source, Rebuilt) else source
        results, why_none = self._evaluation.of(source)
        for result in results:
            self._put(result, trace, rebuilt)
        if why_none is not None:
            self.left_out += 1
            if len(self.unmatched) < _EXAMPLES:
                self.unmatched.append((trace.trace_id, why_none))

    def finish(self, junit: BinaryIO | None) -> None:
        """Add the cases without a trace, and write what needs all results."""
        for result in self._evaluation.untried():
            self.untried += 1
            self._put(result, None, None)
        if junit is not None and self.junit is not None:
            junit.write(self.junit.to_bytes())

    def _put(
        self, result: EvalResult, trace: ReasoningTrace | None, rebuilt: Rebuilt | None
    ) -> None:
        self.summary.add(result, trace, rebuilt)
        if self._output is not None:
            self._output.write(result.to_json().encode() + b"\n")
        if self.junit is not None:
            self.junit.add(result)
        if self.write_back is not None:
            self.write_back.add(result, trace, rebuilt)


@click.command()
@click.argument("cases", metavar="CASES")
@click.argument("source", required=False)
@click.option("-o", "--output", type=_FILE, help="File for the results, as JSON Lines.")
@click.option(
    "--by",
    type=click.Choice(list(SLICES)),
    help="What the table tells results apart by.  [default: agent]",
)
@click.option(
    "--min-evaluated",
    type=click.FloatRange(0, 1),
    default=1.0,
    show_default=True,
    metavar="SHARE",
    help="Share of a case's assertions that has to be evaluated for it to pass, 0 to 1.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["failed", "any", "never"]),
    default="any",
    show_default=True,
    help="What makes the exit code 1: a failed assertion; anything but a pass; nothing.",
)
@click.option("--junit", type=_FILE, help="File for a JUnit XML report.")
@click.option("--cost", is_flag=True, help=COST_HELP)
@takes_write_back
def command(
    cases: str,
    source: str | None,
    output: Path | None,
    by: str | None,
    min_evaluated: float,
    fail_on: str,
    junit: Path | None,
    cost: bool,
    write_back: Asked,
) -> int:
    """Hold recorded runs against CASES, and say what holds, what does not and what nobody can tell.

    CASES is a file of EvalCases, JSON or JSON Lines. A run is a try of the case that it names, else
    of those with its input. Assertions alone apply to every run. What needs a judge is not
    evaluated.
    """
    if cases == "-" and source == "-":
        raise ConfigurationError("cases and spans cannot both be read from standard input")
    place = None if cases == "-" else Path(cases)
    documents, problems = read_cases(place)
    evaluation = Evaluation(documents, min_evaluated)
    prices = Prices() if cost else None
    spans = open_spans([source] if source is not None else [])
    for_people = sys.stdout.isatty()
    with ExitStack() as open_files:
        target = output or (None if for_people else STDOUT)
        inputs = [*files_of(spans), *([place] if place is not None else [])]
        data = open_files.enter_context(data_files({"--output": target, "--junit": junit}, inputs))
        outcome = _Outcome(evaluation, Summary(by or "agent"), data.get("--output"))
        outcome.junit = JUnit() if junit is not None else None
        outcome.write_back = open_files.enter_context(write_back.opened(spans, source))
        reading = open_files.enter_context(Reading(spans))
        _judge_all(spans, reading, prices, outcome.judge)
        outcome.finish(data.get("--junit"))
    _print(outcome, for_people, asked=by is not None)
    problems = [*problems, *spans.problems]
    report(problems)
    _say_totals(outcome, reading.count, len(problems))
    if outcome.write_back is not None and not outcome.write_back.finish():
        return 1
    return _exit_code(outcome, fail_on, bool(problems))


def _judge_all(
    source: Source,
    reading: Reading,
    prices: Prices | None,
    judge: Callable[[ReasoningTrace | Rebuilt], None],
) -> None:
    source.document = judge
    for rebuilt in rebuild_groups(map(whole, reading.groups()), prices):
        judge(rebuilt)


def _print(outcome: _Outcome, for_people: bool, asked: bool) -> None:
    if not for_people and not asked:
        return
    console = view() if for_people else Console(stderr=True, highlight=False, markup=False)
    for line in outcome.summary.lines():
        console.print(line, soft_wrap=True)
    if outcome.summary.outcomes:
        console.print(outcome.summary.table())


def _say_totals(outcome: _Outcome, spans: int, problems: int) -> None:
    for trace_id, why in outcome.unmatched:
        say(f"not evaluated: trace {_text.clean(trace_id)}: {_text.clean(why)}")
    if outcome.left_out > len(outcome.unmatched):
        say(f"... and {_text.count(outcome.left_out - len(outcome.unmatched), 'more trace')}")
    if outcome.untried:
        say(f"{_text.count(outcome.untried, 'case')} without a trace")
    found = outcome.summary.outcomes
    words = [
        f"{found[True]:,} passed",
        f"{found[False]:,} failed",
        f"{found[None]:,} not evaluated",
    ]
    of = f"{_text.count(outcome.traces, 'trace')}"
    said = f", {_text.count(problems, 'problem')}" if problems else ""
    say(f"{', '.join(words)}; {of}{said}")
    if spans and not outcome.traces:
        say(" hint: no span is an agent run or a model call; agentool-otel show --spans shows them")


def _exit_code(outcome: _Outcome, fail_on: str, problems: bool) -> int:
    found = outcome.summary.outcomes
    if fail_on == "never":
        return 0
    if fail_on == "failed":
        return 1 if found[False] else 0
    return 1 if found[False] or found[None] or problems or not found else 0
