"""`eval`: verdicts on collected traces."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, BinaryIO

import click
from rich.console import Console

from agentool_otel.cli import _text
from agentool_otel.cli._data_files import STDOUT, data_files
from agentool_otel.cli._engine import SPARK, engine_option, refuse_others
from agentool_otel.cli._judge import judge_options, judging_shown, say_judging
from agentool_otel.cli._output import COST_HELP, report, say, view
from agentool_otel.cli._reading import Reading
from agentool_otel.cli._reports import Reports, report_options
from agentool_otel.cli._selection import last_option, selecting
from agentool_otel.cli._unknown_names import AgentNames, ToolNames
from agentool_otel.cli._verdicts import Summary, print_line
from agentool_otel.cli._write_back import WriteBack, WriteBackOptions, takes_write_back
from agentool_otel.errors import AgentoolError, ConfigurationError, DecodeError, SourceError
from agentool_otel.evaluation.cases.files import read_cases
from agentool_otel.evaluation.cases.old_words import note_on_old_words
from agentool_otel.evaluation.reports import Subject
from agentool_otel.evaluation.reports.assertion_names import AssertionNames
from agentool_otel.evaluation.reports.slices import BY
from agentool_otel.evaluation.running import Evaluation, TraceResults
from agentool_otel.evaluation.scopes import SCOPES, Scope
from agentool_otel.evaluation.selecting import Selection
from agentool_otel.model.documents import Assertion, EvalCase, EvalResult, ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.reading.rebuild.cost import Prices
from agentool_otel.reading.rebuild.error_isolation import skip_on_error
from agentool_otel.reading.rebuild.runs import rebuild_groups
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.contents import Contents
from agentool_otel.reading.sources.grouping.complete import complete
from agentool_otel.reading.sources.opening import open_spans
from agentool_otel.reading.sources.source import Source, inputs_of

if TYPE_CHECKING:
    from agentool_otel.cli._spark import Evaluated
    from agentool_otel.evaluation.judges.openai import OpenAIJudge
    from agentool_otel.spark.kernel import Checks

__all__ = ["command"]

_EXAMPLES = 3
_LARGE = 32 << 20
"""Bytes above which a file is not looked into for an error message."""
_FILE = click.Path(path_type=Path, dir_okay=False)
_ON_SPARK = (
    "cases", "source", "as_json", "output", "min_evaluated", "fail_on", "match", "scope",
)  # fmt: skip
"""Parameters that `--engine spark` takes."""


class _Outcome:
    """Writes results to files, and counts them in the summary."""

    def __init__(
        self,
        evaluation: Evaluation,
        summary: Summary,
        output: BinaryIO | None,
        reports: Reports,
    ):
        self._evaluation = evaluation
        self._output = output
        self._reports = reports
        self.summary = summary
        self.write_back: WriteBack | None = None
        self.show: Callable[[], None] = lambda: None
        """Shows how far the judge is."""
        self.traces = 0
        self.untried = 0
        self.names: list[AgentNames | ToolNames] = []
        """Note the names in the runs that are read."""
        self.unmatched: list[tuple[str, str]] = []
        self.unmatched_count = 0

    def judge(self, source: ReasoningTrace | Rebuilt) -> None:
        """Evaluate a run by its cases. Results may come later: other runs may belong to it, or a
        judge may have to answer.
        """
        trace = source.trace if isinstance(source, Rebuilt) else source
        for names in self.names:
            names.see(trace)
        for outcome in self._evaluation.put(source):
            self._take(outcome)

    def finish(self) -> None:
        """Wait for the judge, add the cases without a trace, and write reports of all results."""
        for outcome in self._evaluation.rest():
            self._take(outcome)
        for outcome in self._evaluation.untried():
            self.untried += 1
            self._take(outcome)
        self._reports.finish()

    def _take(self, outcome: TraceResults) -> None:
        source = outcome.source
        rebuilt = source if isinstance(source, Rebuilt) else None
        trace = source.trace if isinstance(source, Rebuilt) else source
        self.traces += source is not None
        subject = Subject(trace, rebuilt, outcome.judged)
        for result in outcome.results:
            self._put(result, subject)
        if outcome.why_none is not None and trace is not None:
            self.unmatched_count += 1
            if len(self.unmatched) < _EXAMPLES:
                self.unmatched.append((trace.trace_id, outcome.why_none))
        self.show()

    @property
    def unselected(self) -> int:
        return self._evaluation.unselected

    @property
    def older(self) -> int:
        return self._evaluation.older

    def _put(self, result: EvalResult, subject: Subject) -> None:
        self.summary.add(result, subject)
        if self._output is not None:
            self._output.write(result.to_json().encode() + b"\n")
        self._reports.add(result, subject)
        if self.write_back is not None:
            self.write_back.add(result, subject.trace, subject.rebuilt)


@click.command()
@click.argument("cases", metavar="CASES")
@click.argument("source", required=False)
@click.option(
    "--json/--summary",
    "as_json",
    default=None,
    help="JSON Lines, or a summary for people.  [default: the summary on a terminal, JSON Lines "
    "elsewhere]",
)
@click.option("-o", "--output", type=_FILE, help="File for the results, as JSON Lines.")
@click.option(
    "--by",
    type=click.Choice(BY),
    help="What the table groups results by; `assertion` counts those of each assertion.  "
    "[default: agent]",
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
@click.option(
    "--match",
    metavar="RULE",
    help="Which case a run is a try of, where it names none and has the input of none: `contains`, "
    "or a member of the trace and one of the case, as metadata.ticket=context.ticket.",
)
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default=SCOPES[0],
    show_default=True,
    help="What a result is about: a run with the runs inside it, each run by itself, or all runs "
    "of a session.",
)
@selecting
@last_option("that started last, of those that the other options select.")
@report_options
@click.option("--cost", is_flag=True, help=COST_HELP)
@judge_options
@takes_write_back
@engine_option
def command(
    cases: str,
    source: str | None,
    as_json: bool | None,
    output: Path | None,
    by: str | None,
    min_evaluated: float,
    fail_on: str,
    match: str | None,
    scope: Scope,
    cost: bool,
    last: int | None,
    selection: Selection | None,
    judge: OpenAIJudge | None,
    write_back: WriteBackOptions,
    engine: str,
    **reports: Path | None,
) -> int:
    """Check recorded runs against CASES: passed, failed, and not evaluated.

    CASES is a file of EvalCases in JSON, JSON Lines or YAML, or an ADK eval set. A run is a try of
    the case that it names (AGENTOOL_EVAL_CASE), else of those with its input. Assertions alone
    apply to every run, or to those that --agent, --model, --tag, --status, --since and --until
    name. What needs a judge is not evaluated unless one is named.

    A run is checked together with the runs inside it, and its result names it. A run inside another
    one has a result of its own only with --scope run, or where --agent names it.
    """
    if cases == "-" and source == "-":
        raise ConfigurationError("cases and spans cannot both be read from standard input")
    place = None if cases == "-" else Path(cases)
    documents, problems = _cases(place, source)
    if (note := note_on_old_words(documents)) is not None:
        say(note, label="note:")
    for_people = not as_json if as_json is not None else sys.stdout.isatty()
    if engine == SPARK:
        refuse_others(_ON_SPARK)
        from agentool_otel.spark.frames import checks_of

        checks = checks_of(documents, min_evaluated, match, scope)
        target = output or (None if for_people else STDOUT)
        on_spark = _on_spark(place, source, checks, target, problems)
        _print(on_spark, for_people, by_named=False)
        on_spark.problems.report()
        count = on_spark.problems.count
        _say_totals(on_spark, on_spark.name, on_spark.spans, count, is_limited=True)
        return _exit_code(on_spark, fail_on, bool(count))
    evaluation = Evaluation(documents, min_evaluated, judge, match, scope, selection, last)
    prices = Prices() if cost else None
    spans = open_spans([source] if source is not None else [])
    with ExitStack() as open_files:
        target = output or (None if for_people else STDOUT)
        inputs = [*inputs_of(spans), *([place] if place is not None else [])]
        places = {"--output": target, **{f"--{name}": place for name, place in reports.items()}}
        data = open_files.enter_context(data_files(places, inputs))
        open_files.enter_context(closing(evaluation))
        by_what = by or "agent"
        outcome = _Outcome(
            evaluation,
            Summary(by_what, AssertionNames(documents)),
            data.get("--output"),
            Reports(data, by_what),
        )
        agents = AgentNames(selection)
        outcome.names = [agents, ToolNames(documents)]
        outcome.write_back = open_files.enter_context(write_back.open(spans, source))
        reading = open_files.enter_context(Reading(spans))
        outcome.show = judging_shown(judge, reading)
        _judge_all(spans, reading, prices, outcome.judge)
        outcome.finish()
    _print(outcome, for_people, by_named=by is not None)
    problems = [*problems, *spans.problems]
    report(problems)
    say_judging(judge)
    _say_totals(outcome, spans.name, reading.count, len(problems), is_limited=last is not None)
    if outcome.write_back is not None and not outcome.write_back.finish():
        return 1
    return _exit_code(outcome, fail_on, bool(problems))


def _on_spark(
    place: Path | None,
    source: str | None,
    checks: Checks,
    target: Path | None,
    problems: list[Problem],
) -> Evaluated:
    """Evaluate a source on Spark, and write the results."""
    from agentool_otel.cli import _spark

    inputs = [Path(name) for name in (place, source) if name is not None]
    with data_files({"--output": target}, inputs) as data:
        noted = _spark.Problems(problems)
        return _spark.evaluate(source, checks, data.get("--output"), noted)


def _cases(
    place: Path | None, source: str | None
) -> tuple[list[EvalCase | Assertion], list[Problem]]:
    """Return the cases of a file; see `read_cases`.

    Raises:
        SourceError: the file has none, and the source has: the two are in the wrong order.
    """
    try:
        return read_cases(place)
    except DecodeError as error:
        if place is None or source is None or not _has_cases(Path(source)):
            raise
        raise SourceError(
            f"{place} has no cases, and {source} has: the file of cases is named first"
            f"; hint: agentool-otel eval {quote(source)} {quote(str(place))}"
        ) from error


def _has_cases(place: Path) -> bool:
    try:
        return place.is_file() and place.stat().st_size <= _LARGE and bool(read_cases(place)[0])
    except (AgentoolError, OSError, ValueError):
        return False


def _judge_all(
    source: Source,
    reading: Reading,
    prices: Prices | None,
    judge: Callable[[ReasoningTrace | Rebuilt], None],
) -> None:
    def noted(problem: Problem) -> None:
        source.problems.append(problem)

    contents = Contents(source)
    rebuilt = rebuild_groups(reading.groups(contents), complete, prices, noted)
    for item in contents.merged(rebuilt, lambda item: (item.trace_id,)):
        if isinstance(item, Rebuilt):
            sound: list[ReasoningTrace] = []
            with skip_on_error(item.trace_id, noted):
                sound.append(item.trace)
            if not sound:
                continue
        judge(item)


def _print(outcome: _Outcome | Evaluated, for_people: bool, by_named: bool) -> None:
    if not for_people and not by_named:
        return
    console = view() if for_people else Console(stderr=True, highlight=False, markup=False)
    for line in outcome.summary.lines():
        print_line(console, line)
    if outcome.summary.outcomes:
        console.print(outcome.summary.table())


def _say_totals(
    outcome: _Outcome | Evaluated, name: str, spans: int, problems: int, is_limited: bool
) -> None:
    for trace_id, why in outcome.unmatched:
        say(f"not evaluated: trace {_text.line(trace_id)}: {_text.line(why)}")
    if outcome.unmatched_count > len(outcome.unmatched):
        say(
            f"... and {_text.count(outcome.unmatched_count - len(outcome.unmatched), 'more trace')}"
        )
    if outcome.unselected:
        say(f"{_text.count(outcome.unselected, 'trace')} not selected")
    if outcome.older:
        say(f"{_text.count(outcome.older, 'older trace')} not selected")
    if outcome.untried:
        say(f"{_text.count(outcome.untried, 'case')} without a trace")
    outcomes = outcome.summary.outcomes
    words = [
        f"{outcomes[True]:,} passed",
        f"{outcomes[False]:,} failed",
        f"{outcomes[None]:,} not evaluated",
    ]
    every = outcome.traces + outcome.unselected + outcome.older
    of = _text.count(outcome.traces, "trace")
    if every > outcome.traces:
        of = f"{outcome.traces:,} of {_text.count(every, 'trace')}"
    problem_text = f", {_text.count(problems, 'problem')}" if problems else ""
    say(f"{', '.join(words)}; {of}{problem_text}")
    if outcome.traces > 1 and not is_limited:
        say(f" hint: all {outcome.traces:,} traces were checked; --last 1 checks the newest alone")
    if not spans and not outcome.traces and not outcome.unselected and not problems:
        say(f" hint: nothing is recorded in {name}")
    for names in outcome.names:
        names.say_unknown()
    if spans and not outcome.traces and not outcome.unselected:
        say(" hint: no span is an agent run or a model call; agentool-otel show --spans shows them")


def _exit_code(outcome: _Outcome | Evaluated, fail_on: str, problems: bool) -> int:
    outcomes = outcome.summary.outcomes
    if fail_on == "never":
        return 0
    if fail_on == "failed":
        return 1 if outcomes[False] else 0
    return 1 if outcomes[False] or outcomes[None] or problems or not outcomes else 0
