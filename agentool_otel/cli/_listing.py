"""Several runs as a list, a line each: by time, and the runs of one session together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import UNSET
from rich.text import Text

from agentool_otel.cli import _text
from agentool_otel.cli._list_columns import COLUMNS, UNKNOWN, row, widths_of
from agentool_otel.cli._order import Place, in_order, outermost_of, place_of, start_key
from agentool_otel.cli._steps import body, names_every_call, outside_runs, status_text
from agentool_otel.cli._text import or_none
from agentool_otel.evaluation.facets import FACETS
from agentool_otel.model.amounts import possible
from agentool_otel.model.documents import ReasoningTrace, TraceMetrics
from agentool_otel.reading.rebuild.endings import ending_of
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = ["Entry", "Numbered", "entry_of", "lines", "newest", "number_runs"]

_LONGEST = 400
"""Characters of an input that are kept: more fit no terminal."""
_NO_INPUT = "(not captured)"
_INFERRED = "~ "
"""Mark of a run that no span of its own reports; the run itself has the words."""


class Entry(NamedTuple):
    """The columns of one run in the list; the run itself is not kept."""

    place: Place
    session_id: str | None
    selected: bool
    ending: str | None
    cells: tuple[str, ...]
    """The texts of the list but for the number, the status and the input."""
    about: str
    """Its input, or what it does where it has none."""
    said: bool
    """Whether the text is the input of the run."""


class Numbered(NamedTuple):
    """A run that is selected."""

    number: int
    """Its number among all, from 1."""
    position: int
    """Its place among all as they are read, from 0."""
    entry: Entry
    head: int
    """Number of the outermost selected run around it, which may be its own."""


def entry_of(trace: ReasoningTrace, rebuilt: Rebuilt | None, selected: bool) -> Entry:
    metrics = or_none(trace.metrics) or TraceMetrics()
    place = place_of(trace)
    about = _about(trace)
    return Entry(
        place,
        or_none(trace.session_id),
        selected,
        ending_of(trace),
        (
            _text.short_id(trace.trace_id),
            _text.clock(place.started_ns),
            ("└ " if place.parent_id is not None else "") + _agent(trace, rebuilt),
            _model(trace, rebuilt),
            str(len(trace.steps)),
            _tool_count(trace),
            _text.number(possible(metrics.total_tokens)),
            _text.duration(possible(metrics.total_duration_ms)),
        ),
        about[:_LONGEST],
        trace.input is not UNSET,
    )


def _agent(trace: ReasoningTrace, rebuilt: Rebuilt | None) -> str:
    agent = _text.line(or_none(trace.agent_id) or UNKNOWN)
    return f"{_INFERRED}{agent}" if rebuilt is not None and rebuilt.is_inferred else agent


def _model(trace: ReasoningTrace, rebuilt: Rebuilt | None) -> str:
    """Return the model that was called most often, and how many others were."""
    models = [name for name in FACETS["model"](trace, rebuilt) if isinstance(name, str)]
    if not models:
        return UNKNOWN
    others = f" +{len(models) - 1}" if len(models) > 1 else ""
    return f"{_text.line(models[0])}{others}"


def _tool_count(trace: ReasoningTrace) -> str:
    count = len(trace.tool_calls())
    if names_every_call(trace):
        return str(count)
    return f"{count}+" if count else _text.number(None)


def _about(trace: ReasoningTrace) -> str:
    if trace.input is not UNSET:
        return _text.value(trace.input)
    if outside_runs(trace):
        names = {call.id: call.name for call in trace.tool_calls()}
        return body(trace.steps[0], names).plain
    return _NO_INPUT


def number_runs(entries: Sequence[Entry]) -> list[Numbered]:
    """Return the selected runs with their numbers among all, in order of these."""
    places = [entry.place for entry in entries]
    order = in_order(places)
    numbers = {position: n for n, position in enumerate(order, 1)}
    heads = outermost_of(places, [entry.selected for entry in entries])
    return [
        Numbered(numbers[position], position, entries[position], numbers[head])
        for position in order
        if entries[position].selected and (head := heads[position]) is not None
    ]


def newest(runs: Sequence[Numbered], count: int | None) -> list[Numbered]:
    """Return the last runs, with all that is inside them; all runs where no count is given."""
    if count is None:
        return list(runs)
    heads = [run for run in runs if run.head == run.number]
    # In the list a run inside another one follows that, even where only the inner one is selected.
    heads.sort(key=lambda run: (start_key(run.entry.place), run.position))
    newest_heads = {run.head for run in heads[-count:]}
    return [run for run in runs if run.head in newest_heads]


def lines(runs: Sequence[Numbered], width: int) -> Iterator[Text]:
    """Yield the list line by line. Sessions are ordered by their last run, so that the newest run
    is in the last lines. A list may have runs without their parent.
    """
    groups = _groups(runs)
    widths = widths_of(map(_cells, runs), width)
    yield row([*map(Text, COLUMNS), Text("input")], widths, "bold")
    space = False
    for session_id, group in groups:
        heads = sum(run.head == run.number for run in group)
        together = session_id is not None and heads > 1
        if together or space:
            yield Text()
        if together:
            title = f"session {_text.line(session_id or '')}  {_text.count(heads, 'run')}"
            yield Text(title, "dim")
        space = together
        for run in group:
            yield row(_cells(run), widths)


def _groups(runs: Sequence[Numbered]) -> list[tuple[str | None, list[Numbered]]]:
    """Return the runs of one session after another; a run without one is a group of its own."""
    sessions = {run.number: run.entry.session_id for run in runs}
    groups: dict[str | int, list[Numbered]] = {}
    last: dict[str | int, int] = {}
    for run in runs:
        session_id = sessions.get(run.head)
        key = run.head if session_id is None else session_id
        groups.setdefault(key, []).append(run)
        last[key] = run.number
    ordered = sorted(groups, key=last.__getitem__)
    return [(key if isinstance(key, str) else None, groups[key]) for key in ordered]


def _cells(run: Numbered) -> list[Text]:
    """Return the cells of a run under `COLUMNS`, and its input."""
    trace, started, agent, model, *numbers = run.entry.cells
    return [
        Text(str(run.number), "dim"),
        Text(trace),
        Text(started, "dim"),
        Text(agent, "bold"),
        Text(model),
        status_text(run.entry.ending),
        *map(Text, numbers),
        Text(run.entry.about, "" if run.entry.said else "dim"),
    ]
