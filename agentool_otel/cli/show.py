"""`show`: the steps of recorded runs, for people."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import chain

import click
from rich.console import Console
from rich.text import Text

from agentool_otel.cli import _spans, _text
from agentool_otel.cli._explain import explanation
from agentool_otel.cli._output import COST_HELP, report, say, view
from agentool_otel.cli._runs import Run, Runs, names_a_trace, selected
from agentool_otel.cli._scores import score_lines
from agentool_otel.cli._steps import row, row_header, trace_lines
from agentool_otel.errors import ConfigurationError
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.reconstruction.cost import Prices
from agentool_otel.reconstruction.trace import Rebuilt
from agentool_otel.reconstruction.tree import Node
from agentool_otel.semconv import agentool

__all__ = ["command", "print_trace"]


@click.command()
@click.argument("source", required=False)
@click.argument("trace", required=False)
@click.option("--spans", is_flag=True, help="Show the spans as a tree instead of the steps.")
@click.option(
    "--explain", is_flag=True, help="Show how each span was read and where every field came from."
)
@click.option("--full", is_flag=True, help="Show contents in full, on as many lines as they take.")
@click.option("--cost", is_flag=True, help=COST_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print the traces as JSON Lines.")
def command(
    source: str | None,
    trace: str | None,
    spans: bool,
    explain: bool,
    full: bool,
    cost: bool,
    as_json: bool,
) -> int:
    """Show the steps of recorded runs.

    Several runs are listed; with only one, or with TRACE (its number in the list, its id or the
    beginning of it), the run is shown in full.
    """
    if trace is None and source is not None and names_a_trace(source):
        source, trace = None, source
    runs = Runs(source, Prices() if cost else None)
    console = view()
    if as_json:
        _print_json(selected(runs, trace))
    elif spans:
        _print_spans(console, runs, source, trace)
    elif explain:
        _print_explanations(console, runs, trace, full)
    elif trace is not None:
        for run in selected(runs, trace):
            print_trace(console, run.trace, full, run.rebuilt)
    else:
        _print_all(console, runs, source, full)
    report(runs.problems)
    return 1 if runs.problems else 0


def print_trace(
    console: Console, trace: ReasoningTrace, full: bool = False, rebuilt: Rebuilt | None = None
) -> None:
    """Print a trace and its steps, with its verdicts if its spans are available."""
    judged = score_lines(rebuilt, full) if rebuilt is not None else ()
    for line in chain(trace_lines(trace, full), judged):
        _print_line(console, line, full)


def _print_json(runs: Iterable[Run]) -> None:
    for run in runs:
        sys.stdout.buffer.write(run.trace.to_json().encode() + b"\n")
    sys.stdout.buffer.flush()


def _print_explanations(console: Console, runs: Runs, trace: str | None, full: bool) -> None:
    for run in selected(runs, trace):
        if run.rebuilt is None:
            raise ConfigurationError(
                f"{runs.name} holds documents: only what is rebuilt from spans can be explained"
            )
        for line in explanation(run.rebuilt):
            _print_line(console, line, full)


def _print_all(console: Console, runs: Runs, source: str | None, full: bool) -> None:
    runs_in_order = runs.runs()
    first, second = next(runs_in_order, None), next(runs_in_order, None)
    if first is None:
        if runs.spans_read:
            where = f" {source}" if source is not None else ""
            say(f"no agent runs among the {_text.count(runs.spans_read, 'span')} of {runs.name}")
            say(f" hint: agentool-otel show{where} --spans shows the spans")
        else:
            say(f"nothing is recorded in {runs.name}")
        return
    if second is None:
        print_trace(console, first.trace, full, first.rebuilt)
        return
    _print_line(console, row_header(console.width))
    n = 0
    for some in ([first, second], runs_in_order):
        for run in some:
            n += 1
            _print_line(console, row(n, run.trace, console.width))
    if console.is_terminal:
        where = f" {source}" if source is not None else ""
        say(f"\nagentool-otel show{where} 1    the steps of run 1", dim=True)


def _print_line(console: Console, line: Text, full: bool = False) -> None:
    if full:
        console.print(line, soft_wrap=True)
        return
    line.truncate(console.width, overflow="ellipsis")
    console.print(line, no_wrap=True, crop=True)


# -------------------------------------------------------------------------------------- spans


def _print_spans(console: Console, runs: Runs, source: str | None, trace: str | None) -> None:
    if trace is None:
        _print_trees(console, runs)
        return
    if source == "-":
        raise ConfigurationError(
            "the spans of one trace are looked for twice, which standard input does not allow"
            "; hint: save it and name the file"
        )
    for run in selected(runs, trace):
        _print_tree_of(console, run, runs)


def _print_trees(console: Console, runs: Runs) -> None:
    for nodes in runs.trees():
        title = f"trace {_text.clean(nodes[0].span.trace_id)}  {_text.count(len(nodes), 'span')}"
        console.print(_spans.forest(title, _spans.roots_of(nodes)))
    if not runs.spans_read:
        say(f"nothing is recorded in {runs.name}")


def _print_tree_of(console: Console, run: Run, runs: Runs) -> None:
    """Print the spans of one run with everything below them, reading the source once more."""
    ids: set[str | None] = set()
    if run.rebuilt is not None:
        ids = {note.span_id for note in run.rebuilt.fidelity.notes}
    for nodes in runs.trees():
        tops = [
            node
            for node in nodes
            if node.span.span_id in ids
            and not any(above.span.span_id in ids for above in node.ancestors())
        ]
        if tops and _of_run(run.trace.trace_id, tops):
            console.print(_spans.forest(f"trace {_text.clean(run.trace.trace_id)}", tops))


def _of_run(trace_id: str, tops: list[Node]) -> bool:
    """Tell equal span ids of different traces apart; bare calls of several may be one run."""
    if not any(node.is_run for node in tops):
        return True
    trace_ids = {node.span.attributes.get(agentool.TRACE_ID) for node in tops}
    return trace_id in trace_ids or trace_id.partition(":")[0] == tops[0].span.trace_id
