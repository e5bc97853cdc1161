"""Differences for people: marks, the smallest pieces that differ, and totals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from agentool_otel.cli import _text
from agentool_otel.cli._steps import body, brief
from agentool_otel.cli._text import or_none
from agentool_otel.evaluation.trace_diff.ignored import Ignoring
from agentool_otel.evaluation.trace_diff.partners import Partners
from agentool_otel.evaluation.trace_diff.records import (
    Change,
    Measure,
    StepChange,
    TraceDiff,
    Unknown,
)
from agentool_otel.ground import json_codec
from agentool_otel.model.documents import UNSET

__all__ = ["DifferenceView"]

_MARKS = {
    "changed": ("~", "yellow"),
    "added": ("+", "green"),
    "lost": ("-", "red"),
    "moved": ("↕", "cyan"),
    "reordered": ("↕", "cyan"),
}
_MOVES = {"moved": "moved: ", "reordered": "reordered, called together: "}
_SAME, _SAME_SO_FAR, _DIFFERENT = ("=", "green"), ("=", "yellow"), ("≠", "red")
_INDENT = 28
"""Columns before what a step does: mark, place and type."""
_DETAIL = 6
"""Columns before what differs in it."""
_LINES = 3
"""That a value takes, unless all of it is wanted."""
_BEFORE = 20
"""Characters of a long value that are shown before the first difference."""
_LISTED = 10
_NAMES = {"tool_calls": "tool calls", "cost_usd": "cost", "duration_ms": "duration"}


class DifferenceView:
    """Prints differences on a console, as wide as it is.

    Args:
        console: where to.
        ignoring: what does not count in texts, which is shown as left out.
        full: values in full, however long.
    """

    def __init__(self, console: Console, ignoring: Ignoring, full: bool = False):
        self._console = console
        self._ignoring = ignoring
        self._full = full

    def print(self, of: Partners, diff: TraceDiff, alone: bool) -> None:
        """Print the differences of two traces; `alone` if they are the only pair."""
        for line in self._lines(of, diff, alone):
            line.rstrip()
            self._console.print(line, soft_wrap=True)

    def _lines(self, of: Partners, diff: TraceDiff, alone: bool) -> Iterator[Text]:
        yield from self._wrapped(_header(of, diff), 2, 2)
        if None in (diff.a, diff.b):
            yield from self._wrapped(Text(f"  {of.by}", "dim"), 2, _LINES)
            return
        for change in diff.changes:
            yield from self._change(change, 2)
        for step in diff.steps:
            yield from self._step(step)
        if not diff.same or alone:
            yield from self._totals(diff)
        yield from self._unknown_values(diff.unknown)

    # -------------------------------------------------------------------------------- steps

    def _step(self, step: StepChange) -> Iterator[Text]:
        mark, style = _MARKS[step.kind]
        kind = _text.line(step.action.step.type)
        head = Text.assemble(
            "  ", (mark, style), (f" {_place(step):>7}", "dim"), "  ", f"{kind:<14} "
        )
        text = Text.assemble((_MOVES.get(step.kind, ""), "dim"), _summary(step))
        lines = 1 if step.changes and not self._full else _LINES
        yield from self._wrapped(head + text, max(_INDENT, head.cell_len), lines)
        for change in step.changes:
            yield from self._change(change, _DETAIL)

    def _change(self, change: Change, indent: int) -> Iterator[Text]:
        """Yield a piece on one line if it fits, else on a line for each side."""
        path = _text.line(change.path)
        values = [self._value(value) for value in (change.a, change.b)]
        room = self._console.width - indent
        one_line = Text.assemble(
            f"{path}: ", (_text.line(values[0]), "red"), " → ", (_text.line(values[1]), "green")
        )
        if max(map(len, values)) < room and one_line.cell_len <= room:
            yield Text(" " * indent) + one_line
            return
        yield Text(f"{' ' * indent}{path}:")
        shown = values if self._full else _excerpts(values[0], values[1], _LINES * (room - 6))
        for (mark, style), text in zip((_MARKS["lost"], _MARKS["added"]), shown, strict=True):
            line = Text.assemble(f"{' ' * (indent + 2)}{mark} ", (_text.clean(text), style))
            yield from self._wrapped(line, indent + 4, _LINES)

    def _value(self, value: Any) -> str:
        if value is UNSET:
            return "(not there)"
        value = self._ignoring.text(value) if isinstance(value, str) else value
        try:
            return json_codec.dumps(value)
        except (TypeError, ValueError):
            return repr(type(value))

    # ------------------------------------------------------------------------------- totals

    def _totals(self, diff: TraceDiff) -> Iterator[Text]:
        counts: Counter[str] = Counter(step.kind for step in diff.steps)
        words = [f"{diff.equal_steps:,} the same"]
        words += (f"{counts[kind]:,} {kind}" for kind in _MARKS if counts[kind])
        yield Text.assemble(("  steps         ", "dim"), " · ".join(words))
        for measure in diff.measures:
            if measure.name != "steps" and (measure.a != measure.b or measure.differs):
                yield _total(measure)

    def _unknown_values(self, unknown: tuple[Unknown, ...]) -> Iterator[Text]:
        if not unknown:
            return
        yield Text("  cannot be told", "bold")
        places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for item in unknown:
            places[_label(item), item.why].append(_of_step(item))
        shown = None if self._full else _LISTED
        for (path, why), steps in [*places.items()][:shown]:
            steps = [step for step in steps if step]
            more = f" and {len(steps) - _LISTED} more" if len(steps) > _LISTED else ""
            noun = "step" if len(steps) == 1 else "steps"
            where = f" ({noun} {', '.join(steps[:_LISTED])}{more})" if steps else ""
            line = Text(f"  ? {_text.line(path)}{where}: {_text.line(why)}")
            yield from self._wrapped(line, 4, _LINES)
        if shown is not None and len(places) > shown:
            yield Text(f"    ... and {len(places) - shown} more; --full shows them", "dim")

    def _wrapped(self, text: Text, indent: int, most: int) -> Iterator[Text]:
        """Yield a text in lines, those after the first indented."""
        width = max(self._console.width, indent + 20)
        if most == 1 and not self._full:
            text.truncate(width, overflow="ellipsis")
            yield text
            return
        first = [*text.wrap(self._console, width, overflow="fold", no_wrap=False)]
        if len(first) > 1:
            remainder = text[len(first[0].plain) :]
            lines = [first[0], *_strip_blanks(remainder).wrap(self._console, width - indent)]
        else:
            lines = first
        cut = None if self._full else most
        for n, line in enumerate(lines[:cut]):
            shown = Text(" " * indent) + line if n else line
            if cut is not None and n + 1 == cut < len(lines):
                shown.rstrip()
                shown.truncate(width - 1)
                shown.append("…")
            yield shown


def _strip_blanks(text: Text) -> Text:
    plain = text.plain
    return text[len(plain) - len(plain.lstrip()) :]


def _header(of: Partners, diff: TraceDiff) -> Text:
    trace = of.a or of.b
    assert trace is not None
    agent = _text.line(or_none(trace.trace.agent_id) or "(agent without a name)")
    if of.a is None or of.b is None:
        kind = "added" if of.a is None else "lost"
        mark, style = _MARKS[kind]
        only = f"  only in {'B' if of.a is None else 'A'}"
        name = _text.short_id(trace.trace.trace_id)
        return Text.assemble((f"{mark} ", style), (agent, "bold"), f"  {name}{only}")
    mark, style = _DIFFERENT if not diff.same else _SAME if diff.certain else _SAME_SO_FAR
    word = "different" if not diff.same else "the same" + _as_far(diff)
    ids = [_text.short_id(side.trace.trace_id) for side in (of.a, of.b)]
    return Text.assemble(
        (f"{mark} ", style), (agent, "bold"), "  ", (word, style),
        (f"  {ids[0]} → {ids[1]}  {_text.line(of.by)}", "dim"),
    )  # fmt: skip


def _as_far(diff: TraceDiff) -> str:
    return "" if diff.certain else " as far as known"


def _place(step: StepChange) -> str:
    places = [side.place for side in (step.a, step.b) if side is not None]
    return "→".join(map(str, dict.fromkeys(places)))


def _summary(step: StepChange) -> Text:
    """Return the summary of a step, or only its identity if the details follow."""
    action, result = step.action, step.action.result
    is_call = or_none(action.step.tool_call) is not None
    if step.changes and not is_call:
        return brief(action.step, {})
    text = body(action.step, {})
    if (step.a is not None and step.b is not None) or not is_call or result is None:
        return text
    if or_none(result.error) is not None:
        return text + Text(f" → ✗ {_text.value(result.error)}")
    return text if result.output is UNSET else text + Text(f" → {_text.value(result.output)}")


def _excerpts(a: str, b: str, room: int) -> tuple[str, str]:
    """Return an excerpt around the first difference of two texts, as much as fits."""
    same = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0)
    start = max(same - _BEFORE, 0) if max(len(a), len(b)) > room else 0
    return _excerpt(a, start, room), _excerpt(b, start, room)


def _excerpt(text: str, start: int, room: int) -> str:
    shown = text[start : start + room]
    before = "…" if start else ""
    if start + room >= len(text):
        return before + shown
    note = f"… ({len(text):,} characters)"
    return before + shown[: max(room - len(note) - 1, _BEFORE)] + note


def _total(measure: Measure) -> Text:
    a, b = (_amount(measure.name, value) for value in (measure.a, measure.b))
    share = ""
    if measure.a and measure.b is not None:
        share = f" ({(measure.b - measure.a) / abs(measure.a):+.1%})"
    mark, style = ("~", "yellow") if measure.differs else (" ", "dim")
    if measure.differs is None:
        mark = "?"
    note = "  beyond the tolerance" if measure.differs else ""
    name = _NAMES.get(measure.name, measure.name.replace("_", " "))
    return Text.assemble((f"{mark} {name:<13} ", style), f"{a} → {b}{share}{note}")


def _amount(name: str, value: float | None) -> str:
    if value is None:
        return "unknown"
    if name == "duration_ms":
        return _text.duration(value)
    return f"${value:,.4f}" if name == "cost_usd" else _text.number(value)


def _label(unknown: Unknown) -> str:
    if unknown.path != "step":
        return unknown.path
    return "only in A" if unknown.b is None else "only in B"


def _of_step(unknown: Unknown) -> str:
    action = unknown.a or unknown.b
    return str(action.place) if action is not None else ""
