"""`diff`: compare the runs of two sources."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, cast

import click

from agentool_otel.cli import _text
from agentool_otel.cli._choice import Choice
from agentool_otel.cli._data_files import STDOUT, data_files
from agentool_otel.cli._differences import DifferenceView
from agentool_otel.cli._output import COST_HELP, report, say, view
from agentool_otel.cli._runs import Run, Runs, names_a_trace
from agentool_otel.cli._selection import last_option
from agentool_otel.errors import ConfigurationError
from agentool_otel.evaluation import TraceView
from agentool_otel.evaluation.trace_diff.actions import PARTS, Part
from agentool_otel.evaluation.trace_diff.diffing import Diffing
from agentool_otel.evaluation.trace_diff.ignored import IDS, TIMES
from agentool_otel.evaluation.trace_diff.partners import Partners, partners
from agentool_otel.evaluation.trace_diff.records import TraceDiff
from agentool_otel.ground import json_codec
from agentool_otel.reading.rebuild.cost import Prices

__all__ = ["command"]


class _Side:
    """The run that the user named as A or B."""

    def __init__(self, text: str, prices: Prices | None, last: int | None):
        self.place, self.wanted = _parse(text)
        self.runs = Runs(self.place, prices)
        self._last = last if self.wanted is None else None

    def traces(self) -> list[TraceView]:
        choice = Choice(self.runs, self.wanted, None, self._last)
        return [_view_of(run) for run in choice.runs()]


class _Outcome:
    """Writes differences to a file and to the screen, and counts them."""

    def __init__(self, output: BinaryIO | None, shown: DifferenceView | None, alone: bool):
        self._output = output
        self._shown = shown
        self._alone = alone
        self.counts: Counter[str] = Counter()

    def add(self, of: Partners, difference: TraceDiff) -> None:
        self.counts[_word(difference)] += 1
        if not difference.certain:
            self.counts["not certain"] += 1
        if self._output is not None:
            line = {
                **difference.to_dict(),
                "by" if None not in (difference.a, difference.b) else "why": of.by,
            }
            self._output.write(json_codec.dumps(line).encode() + b"\n")
        if self._shown is not None and (
            self._alone or not (difference.same and difference.certain)
        ):
            self._shown.print(of, difference, self._alone)


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--ignore",
    multiple=True,
    metavar="PATTERN",
    help="Regular expression; its matches inside texts count as equal. Repeatable.",
)
@click.option("--ignore-ids", is_flag=True, help="Ignore UUIDs and the like inside texts.")
@click.option("--ignore-times", is_flag=True, help="Ignore dates and times inside texts.")
@click.option(
    "--skip",
    multiple=True,
    metavar="PART",
    help=f"Parts to ignore: {', '.join(PARTS)}. Repeatable, or with commas.",
)
@click.option(
    "--tolerance",
    multiple=True,
    metavar="TOTAL=AMOUNT",
    help="Let a total count: how far B may be from A, as tokens=10%, cost=0.01, tool_calls=0, or "
    "duration=+2s where less is fine. Repeatable, or with commas; by default totals are shown and "
    "do not count.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["different", "any", "never"]),
    default="different",
    show_default=True,
    help="What makes the exit code 1: a difference; also an unknown value; nothing.",
)
@last_option("that started last, of A and of B; of a side that names one trace, that one.")
@click.option("--full", is_flag=True, help="Show values in full, on as many lines as they take.")
@click.option("--cost", is_flag=True, help=COST_HELP)
@click.option(
    "--json/--text",
    "as_json",
    default=None,
    help="JSON Lines, or text for people.  [default: text on a terminal, JSON Lines elsewhere]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for the differences, as JSON Lines.",
)
def command(
    a: str,
    b: str,
    ignore: tuple[str, ...],
    ignore_ids: bool,
    ignore_times: bool,
    skip: tuple[str, ...],
    tolerance: tuple[str, ...],
    fail_on: str,
    last: int | None,
    full: bool,
    cost: bool,
    as_json: bool | None,
    output: Path | None,
) -> int:
    """Compare the runs of A with those of B, step by step.

    A and B are a SOURCE each, or one trace of it: SOURCE#TRACE, by its number in `show SOURCE`, its
    id or the beginning of it; TRACE alone is one of the default source. Two single traces are
    compared. Of several, traces of the same case are compared, else those with the same input,
    else, where the input is unknown, those of the same agent.

    Steps belong together by call and content, not by their place. Ids and times of steps and traces
    do not count. Masked, truncated or uncaptured content is unknown, and no difference. With
    `--skip content,output` only calls count, whatever the agent's answers are.
    """
    patterns = [*ignore, *(IDS if ignore_ids else ()), *(TIMES if ignore_times else ())]
    diffing = Diffing(patterns, _parts(skip), _tolerances(tolerance))
    prices = Prices() if cost else None
    sides = [_Side(text, prices, last) for text in (a, b)]
    if sides[0].place == sides[1].place == "-":
        raise ConfigurationError("A and B cannot both be read from standard input")
    for_people = not as_json if as_json is not None else sys.stdout.isatty()
    target = output or (None if for_people else STDOUT)
    inputs = [file for side in sides for file in side.runs.files]
    with data_files({"--output": target}, inputs) as data:
        ours, theirs = (side.traces() for side in sides)
        shown = DifferenceView(view(), diffing.ignoring, full) if for_people else None
        outcome = _Outcome(data.get("--output"), shown, len(ours) == len(theirs) == 1)
        for of in partners(ours, theirs, diffing.ignoring):
            outcome.add(of, _difference(diffing, of))
    problems = [problem for side in sides for problem in side.runs.problems]
    report(problems)
    _say_totals(outcome.counts, len(problems), sides)
    return _exit_code(outcome.counts, fail_on, bool(problems))


def _difference(diffing: Diffing, of: Partners) -> TraceDiff:
    if of.a is not None and of.b is not None:
        return diffing.compare(of.a, of.b)
    a, b = (side.trace.trace_id if side is not None else None for side in (of.a, of.b))
    return TraceDiff(a=a, b=b)


def _view_of(run: Run) -> TraceView:
    return TraceView(run.rebuilt if run.rebuilt is not None else run.trace)


def _parse(text: str) -> tuple[str | None, str | None]:
    """Return the source and the trace that an argument names, None for the default and for all."""
    if names_a_trace(text):
        return None, text
    source, mark, trace = text.rpartition("#")
    if not mark or os.path.exists(text):
        return text, None
    if not trace:
        raise ConfigurationError(
            f"{text!r} names no trace; hint: its number, its id or the beginning of it after the #"
        )
    return source or None, trace


def _parts(skip: Iterable[str]) -> list[Part]:
    return cast("list[Part]", [part.strip() for parts in skip for part in parts.split(",")])


def _tolerances(options: Iterable[str]) -> dict[str, str]:
    tolerances: dict[str, str] = {}
    for text in (part for several in options for part in several.split(",")):
        name, equals, amount = text.partition("=")
        if not equals:
            raise ConfigurationError(
                f"--tolerance {text!r} has no amount; hint: --tolerance {text}=10%"
            )
        tolerances[name.strip()] = amount
    return tolerances


def _word(difference: TraceDiff) -> str:
    if difference.a is None or difference.b is None:
        return "added" if difference.a is None else "lost"
    return "same" if difference.same else "different"


def _say_totals(counts: Counter[str], problems: int, sides: list[_Side]) -> None:
    for side in sides:
        if not side.runs.problems and not sum(counts.values()):
            say(f"no agent runs in {side.runs.name}")
    words = [f"{counts['same']:,} the same", f"{counts['different']:,} different"]
    words += (f"{counts[kind]:,} {kind}" for kind in ("lost", "added") if counts[kind])
    if counts["not certain"]:
        words.append(f"{counts['not certain']:,} not all of which can be told")
    if problems:
        words.append(_text.count(problems, "problem"))
    say(", ".join(words))


def _exit_code(counts: Counter[str], fail_on: str, problems: bool) -> int:
    if fail_on == "never":
        return 0
    if fail_on == "any" and counts["not certain"]:
        return 1
    differ = counts["different"] or counts["lost"] or counts["added"]
    return 1 if differ or problems or not counts else 0
