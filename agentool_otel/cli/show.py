"""`show`: the steps of recorded runs, for people."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

import click
from rich.console import Console
from rich.text import Text

from agentool_otel.cli import _text
from agentool_otel.cli._choice import Choice
from agentool_otel.cli._details import NO_DETAILS, Details, details_of
from agentool_otel.cli._listing import lines
from agentool_otel.cli._output import COST_HELP, data_stream, report, say, view
from agentool_otel.cli._runs import Run, Runs, names_a_trace
from agentool_otel.cli._selection import last_option, selecting
from agentool_otel.cli._steps import trace_lines
from agentool_otel.errors import ConfigurationError
from agentool_otel.evaluation.selecting import Selection
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.reading.rebuild.cost import Prices
from agentool_otel.reading.rebuild.frameworks import is_coding_agent
from agentool_otel.reading.rebuild.tree import Node

__all__ = ["command", "print_trace"]


@click.command()
@click.argument("source", required=False)
@click.argument("trace", required=False)
@click.option("--spans", is_flag=True, help="Show the spans as a tree instead of the steps.")
@click.option(
    "--explain", is_flag=True, help="Show how each span was read and where every field came from."
)
@click.option(
    "--calls",
    is_flag=True,
    help="Show the model calls between the steps: model, length, tokens, end.",
)
@click.option("--full", is_flag=True, help="Show contents in full, on as many lines as they take.")
@click.option("--cost", is_flag=True, help=COST_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print the traces as JSON Lines.")
@last_option("that started last, of those that the other options select.")
@selecting
def command(
    source: str | None,
    trace: str | None,
    spans: bool,
    explain: bool,
    calls: bool,
    full: bool,
    cost: bool,
    as_json: bool,
    last: int | None,
    selection: Selection | None,
) -> int:
    """Show the steps of recorded runs.

    Several runs are listed in order of time, those of a session together; with only one, or with
    TRACE (its number in the list, its id or the beginning of it), the run is shown in full, and the
    runs inside it are listed below. Runs keep their numbers where options select some of them. A
    `~` marks a run that is inferred from the calls of a client.
    """
    if trace is None and source is not None and names_a_trace(source):
        source, trace = None, source
    runs = Runs(source, Prices() if cost else None)
    chosen = Choice(runs, trace, selection, last)
    console = view()
    if as_json:
        _print_json(chosen)
    elif spans:
        _print_spans(console, runs, source, chosen)
    elif explain:
        _print_explanations(console, runs, chosen, full)
    elif trace is not None:
        for run in chosen.runs():
            _print_run(console, runs, run, full, calls)
    else:
        _print_all(console, runs, chosen, source, full, calls)
    chosen.agents.say_unknown()
    report(runs.problems)
    return 1 if runs.problems else 0


def print_trace(
    console: Console, trace: ReasoningTrace, full: bool = False, details: Details = NO_DETAILS
) -> None:
    """Print a trace and its steps, with arguments as `trace_lines` has them."""
    for line in trace_lines(trace, full, details):
        _print_line(console, line, full)


def _print_run(console: Console, runs: Runs, run: Run, full: bool, calls: bool) -> None:
    """Print a run and its steps, with its verdicts if its spans are available."""
    details = NO_DETAILS
    if run.rebuilt is not None:
        with runs.skip_on_error(run, "what only its spans tell is not shown"):
            details = details_of(run.rebuilt, _is_recoverable(run), calls)
    elif calls:
        raise ConfigurationError(
            f"{runs.name} has documents; only runs rebuilt from spans have model calls"
        )
    print_trace(console, run.trace, full, details)
    if run.rebuilt is None:
        return
    from agentool_otel.cli._scores import score_lines

    judged: list[Text] = []
    with runs.skip_on_error(run, "its verdicts cannot be shown"):
        judged += score_lines(run.rebuilt, full)
    for line in judged:
        _print_line(console, line, full)


def _is_recoverable(run: Run) -> bool:
    """Return whether `recover` may find the missing spans of a run, which are in its folder: not
    those of a document, nor those of a coding agent, which writes its session files itself."""
    return run.rebuilt is not None and not is_coding_agent(run.rebuilt.framework())


def _print_json(chosen: Choice) -> None:
    stream = data_stream()
    for document in chosen.documents():
        stream.write(document)
    stream.flush()


def _print_explanations(console: Console, runs: Runs, chosen: Choice, full: bool) -> None:
    from agentool_otel.cli._explain import explanation

    for run in chosen.runs():
        if run.rebuilt is None:
            raise ConfigurationError(
                f"{runs.name} has documents; only runs rebuilt from spans can be explained"
            )
        texts: list[Text] = []
        with runs.skip_on_error(run, "it cannot be explained"):
            texts += explanation(run.rebuilt)
        for line in texts:
            _print_line(console, line, full)


def _print_all(
    console: Console, runs: Runs, chosen: Choice, source: str | None, full: bool, calls: bool
) -> None:
    listed = chosen.listed()
    where = f" {quote(source)}" if source is not None else ""
    if not listed:
        if chosen.read:
            say(f"none of the {_text.count(chosen.read, 'run')} of {runs.name} is selected")
        elif runs.spans_read:
            say(f"no agent runs among the {_text.count(runs.spans_read, 'span')} of {runs.name}")
            say(f" hint: agentool-otel show{where} --spans shows the spans")
        else:
            say(f"nothing is recorded in {runs.name}")
        return
    heads = [item for item in listed if item.number == item.head]
    shown = listed
    if len(heads) == 1:
        for run in chosen.of(heads):
            _print_run(console, runs, run, full, calls)
        shown = [item for item in listed if item.number != item.head]
        if not shown:
            return
        console.print()
    for line in lines(shown, console.width):
        _print_line(console, line)
    if console.is_terminal:
        number = (heads[-1] if shown is listed else shown[-1]).number
        say("")
        say(f"agentool-otel show{where} {number}    the steps of run {number}", dim=True)


def _print_line(console: Console, line: Text, full: bool = False) -> None:
    if full:
        console.print(line, soft_wrap=True)
        return
    line.truncate(console.width, overflow="ellipsis")
    console.print(line, no_wrap=True, crop=True)


# -------------------------------------------------------------------------------------- spans


def _print_spans(console: Console, runs: Runs, source: str | None, chosen: Choice) -> None:
    if chosen.all:
        _print_trees(console, runs)
        return
    if source == "-":
        raise ConfigurationError(
            "the spans of some traces are looked for twice, which standard input does not allow"
            "; hint: save it and name the file"
        )
    _print_trees_of(console, list(chosen.runs()), runs)


def _print_trees(console: Console, runs: Runs) -> None:
    from agentool_otel.cli import _spans

    for nodes in runs.trees():
        _print_tree(console, _spans.roots_of(nodes))
    if not runs.spans_read:
        say(f"nothing is recorded in {runs.name}")


def _print_trees_of(console: Console, chosen: Sequence[Run], runs: Runs) -> None:
    """Print the spans of some runs with everything below them, reading the source once more."""
    from agentool_otel.cli import _spans

    ids: set[tuple[str, str]] = set()
    for run in chosen:
        if run.rebuilt is not None:
            with runs.skip_on_error(run, "its spans cannot be shown"):
                ids |= run.rebuilt.span_ids()
    for nodes in runs.trees():
        if tops := _spans.outermost(nodes, ids):
            _print_tree(console, tops)


def _print_tree(console: Console, tops: Sequence[Node]) -> None:
    """Print spans of one OTel trace, under the id that was recorded."""
    from agentool_otel.cli import _spans

    title = f"trace {_text.line(tops[0].span.trace_id)}  {_text.count(_spans.size(tops), 'span')}"
    console.print(_spans.forest(title, tops))
