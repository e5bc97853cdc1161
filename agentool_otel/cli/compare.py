"""`compare`: the same questions in several frameworks, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import click
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from agentool_otel.cli import _text
from agentool_otel.cli._choice import Choice
from agentool_otel.cli._data_files import data_files
from agentool_otel.cli._output import report, say, view
from agentool_otel.cli._runs import Runs
from agentool_otel.cli._selection import last_option, selecting
from agentool_otel.cli._unknown_names import AgentNames
from agentool_otel.errors import ConfigurationError
from agentool_otel.evaluation.cases.files import read_cases
from agentool_otel.evaluation.comparison import BY, Comparison, Group
from agentool_otel.evaluation.running import Evaluation, TraceResults
from agentool_otel.evaluation.selecting import Selection
from agentool_otel.ground import json_codec
from agentool_otel.model.documents import Assertion, EvalCase
from agentool_otel.model.problems import Problem

__all__ = ["command"]

_FILE = click.Path(path_type=Path, dir_okay=False)
_HEADINGS = (
    *("runs", "correct", "median", "p95", "mean ± sd"),
    *("tokens", "tool calls", "tool errors", "errors"),
)
_NONE = "-"
_WIDEST = 1_000


@click.command()
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@click.option(
    "--by",
    type=click.Choice(BY),
    default=BY[0],
    show_default=True,
    help="Group the runs by this field.",
)
@click.option("--cases", metavar="FILE", help="Cases to match the runs with.", type=_FILE)
@click.option(
    "--match",
    metavar="RULE",
    help="Rule for matching runs that name no case and have the input of none, as in eval.",
)
@click.option("-o", "--output", type=_FILE, help="File for the figures, as JSON Lines.")
@selecting
@last_option("that started last, of each SOURCE, of those that the other options select.")
def command(
    sources: tuple[str, ...],
    by: str,
    cases: Path | None,
    match: str | None,
    output: Path | None,
    last: int | None,
    selection: Selection | None,
) -> int:
    """Compare recorded runs of the same task: how many are correct, how long they take, their
    tokens, tool calls and errors, for each framework. Data that a framework's spans lack is named.

    A run with all runs inside it counts once. Latencies are those of outermost runs; tokens and
    tool calls are means per run, over the runs that have them.
    """
    if match is not None and cases is None:
        raise ConfigurationError("--match needs cases; hint: --cases FILE")
    documents: list[EvalCase | Assertion] = []
    problems: list[Problem] = []
    with ExitStack() as stack:
        comparison = Comparison(by)
        evaluation = None
        if cases is not None:
            documents, problems = read_cases(cases)
            evaluation = stack.enter_context(closing(Evaluation(documents, match=match)))
        every = [Runs(source) for source in sources] or [Runs(None)]
        inputs = [*(file for runs in every for file in runs.files), *([cases] if cases else [])]
        data = stack.enter_context(data_files({"--output": output}, inputs))
        agents = AgentNames(selection)
        unselected = 0
        for runs in every:
            choice = Choice(runs, None, selection, last, agents)
            unselected += _add(choice, comparison, evaluation)
        problems = [*problems, *(problem for runs in every for problem in runs.problems)]
        groups = comparison.groups()
        if (lines := data.get("--output")) is not None:
            for group in groups:
                lines.write(json_codec.dumps(group.to_dict(by)).encode() + b"\n")
    _print(groups, by, _cases_in(documents))
    report(problems)
    if not groups:
        _say_nothing(every, unselected)
    elif cases is not None:
        _say_unmatched(groups, cases, match)
    agents.say_unknown()
    return 1 if problems else 0


def _add(choice: Choice, comparison: Comparison, evaluation: Evaluation | None) -> int:
    """Add the runs of a source that are selected; return how many are not."""
    added = 0
    for run in choice.runs():
        added += 1
        comparison.add(run.trace, run.rebuilt)
        if evaluation is not None:
            _add_results(comparison, evaluation.put(run.rebuilt or run.trace))
    if evaluation is not None:
        _add_results(comparison, evaluation.rest())
    return 0 if choice.all else choice.read - added


def _add_results(comparison: Comparison, outcomes: Iterable[TraceResults]) -> None:
    for outcome in outcomes:
        if outcome.judged is not None:
            comparison.add_results(outcome.judged.trace.trace_id, outcome.results)


def _cases_in(documents: Iterable[EvalCase | Assertion]) -> int:
    """Return how many cases there are; assertions alone are about every run."""
    return len({document.case_id for document in documents if isinstance(document, EvalCase)})


def _say_nothing(every: list[Runs], unselected: int) -> None:
    """Print why there is nothing to compare."""
    spans = sum(runs.spans_read for runs in every)
    if unselected:
        say(f"no runs to compare: {_text.count(unselected, 'run')} not selected")
        return
    say(f"no runs to compare among {_text.count(spans, 'span')}")
    if spans:
        say(" hint: no span is an agent run or a model call; agentool-otel show --spans shows them")


def _say_unmatched(groups: list[Group], cases: Path, match: str | None) -> None:
    """Print how runs are matched with cases, if some match none."""
    if any(group.caseless for group in groups) and match is None:
        say(
            f" hint: a run is a try of a case of {_text.line(str(cases))} if it has its input;"
            " if agents get a longer input, use --match contains"
        )


def _print(groups: list[Group], by: str, cases: int) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(by, no_wrap=True)
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for group in groups:
        table.add_row(_text.line(group.name), *_cells(group))
    console = view()
    if groups:
        # A figure that is cut says nothing; a line that is too long is broken by the terminal.
        wide = console.options.update(max_width=_WIDEST)
        console.width = max(console.width, Measurement.get(console, wide, table).maximum)
        console.print(table)
    for line in (line for group in groups for line in _unsaid(group, cases)):
        console.print(Text(_text.line(line), "dim"), soft_wrap=True)


def _unsaid(group: Group, cases: int) -> Iterator[str]:
    """Yield the unknown figures of a group.

    Args:
        group: its figures.
        cases: how many its runs may be tries of; 0 where none were given.
    """
    runs = _text.count(group.runs, "run")
    if group.caseless:
        yield f"{group.name}: no case for {group.caseless:,} of {runs}"
    if group.cases is not None and (untried := cases - len(group.cases)) > 0:
        yield f"{group.name}: no run for {untried:,} of {_text.count(cases, 'case')}"
    for figure, count in group.unsaid.items():
        yield f"{group.name}: {figure} not said by {count:,} of {runs}"
    if group.not_evaluated:
        yield f"{group.name}: {_text.count(group.not_evaluated, 'result')} not evaluated"


def _cells(group: Group) -> list[str]:
    latency = group.latency
    times = [_NONE] * 3
    if latency is not None:
        spread = "" if latency.sd_s is None else f" ± {latency.sd_s:.3f}"
        times = [
            f"{latency.median_s:.3f} s",
            f"{latency.p95_s:.3f} s",
            f"{latency.mean_s:.3f}{spread} s",
        ]
    evaluated = group.passed + group.failed
    correct = f"{group.passed}/{evaluated}" if evaluated else _NONE
    means = [
        _NONE if value is None else f"{value:,.1f}" for value in (group.tokens, group.tool_calls)
    ]
    return [f"{group.runs:,}", correct, *times, *means, str(group.tool_errors), str(group.errors)]
