"""The fidelity report of a trace, for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from agentool_otel.cli import _text
from agentool_otel.reading.rebuild.report.fidelity import Fidelity, Note
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = ["explanation"]

_SPANS = 6
"""Most span names that are listed per kind."""
_ID = 8
"""Digits of a span id that are enough to find it."""


def explanation(rebuilt: Rebuilt) -> Iterator[Text]:
    """Yield the origin of each field of a trace, line by line."""
    fidelity = rebuilt.fidelity
    yield Text(f"trace {_text.line(fidelity.trace_id)}", "bold")
    dialects = ", ".join(fidelity.dialects) or "none recognised"
    yield Text(f"  {_text.count(fidelity.spans, 'span')}, dialects: {_text.line(dialects)}")
    counts = ", ".join(f"{n:,} {_word(name)}" for name, n in fidelity.summary().items())
    yield Text(f"  fields: {counts or 'none'}")
    yield from _readings(fidelity)
    types = {step.step_id: step.type for step in rebuilt.trace.steps}
    for step_id, notes in _by_step(fidelity).items():
        kind = types.get(step_id, "") if step_id is not None else ""
        step = f"{_text.line(step_id or '')}  {_text.line(kind)}"
        yield Text(f"  {'the trace itself' if step_id is None else step}", "bold")
        for note in notes:
            yield _line(note)
    if fidelity.unread:
        yield Text("  attributes that were not used", "bold")
        for name, times in sorted(fidelity.unread.items(), key=lambda item: (-item[1], item[0])):
            yield Text(f"    {_text.line(name)}  on {_text.count(times, 'span')}")
    for title, names in (("spans", fidelity.unread_spans), ("events", fidelity.unread_events)):
        if names:
            yield Text(f"  {title} that were not used", "bold")
        for name, times in sorted(names.items(), key=lambda item: (-item[1], item[0])):
            yield Text(f"    {_text.line(name)}  {times:,} times")
    yield Text()


def _readings(fidelity: Fidelity) -> Iterator[Text]:
    """One line per dialect and reason: spans of one SDK are all read alike."""
    kinds: dict[tuple[str | None, float, str], list[str]] = {}
    for reading in fidelity.readings:
        kind = (reading.dialect, reading.confidence, reading.why)
        kinds.setdefault(kind, []).append(f"{reading.name} ({reading.span_id[:_ID]})")
    if kinds:
        yield Text("  how the spans were read", "bold")
    for (dialect, level, why), spans in sorted(kinds.items(), key=lambda kind: -len(kind[1])):
        if dialect is None:
            reading_text = "by no dialect"
        else:
            reading_text = f"as {dialect}, {level:.0%} sure" + (f": {why}" if why else "")
        yield Text(f"    {_text.count(len(spans), 'span')} {_text.line(reading_text)}")
        more = f", and {len(spans) - _SPANS:,} more" if len(spans) > _SPANS else ""
        yield Text(f"      {_text.line(', '.join(spans[:_SPANS]))}{more}", "dim")


def _by_step(fidelity: Fidelity) -> dict[str | None, list[Note]]:
    grouped: dict[str | None, list[Note]] = {}
    for note in fidelity.notes:
        grouped.setdefault(note.step_id, []).append(note)
    return grouped


def _line(note: Note) -> Text:
    origin = " ".join(
        part
        for part in (
            note.attribute if note.attribute != note.field else None,
            f"({note.rule})" if note.rule else None,
        )
        if part
    )
    is_kept = note.outcome == "kept"
    return Text.assemble(
        f"    {_text.line(note.field):<22} ",
        (f"{' ' if is_kept else '!'} {_word(note.outcome):<13}", "" if is_kept else "yellow"),
        (f"{f'span {note.span_id[:_ID]}' if note.span_id else '':<14}  ", "dim"),
        _text.line(origin),
    )


def _word(outcome: str) -> str:
    return outcome.replace("_", " ")
