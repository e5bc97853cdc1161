"""Find the parts of a trace that are marks instead of values: masked, shortened, not encodable.

The marks of our own spans are in `semconv.marks`, those of other systems in `semconv.redaction`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentool_otel.ground.json_codec import loads
from agentool_otel.reading.rebuild.report.fidelity import Note
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import json_or
from agentool_otel.semconv import agentool
from agentool_otel.semconv.marks import MARK_TRUNCATED, MARK_UNENCODABLE, MASK
from agentool_otel.semconv.redaction import cut_end, has_marker, is_marker, without_media

__all__ = ["REPLACED", "marks_in", "marks_on", "redacted_on", "shortened_on"]

REPLACED = "changed or left out by a `redact` hook"
"""The rule of a note on a value that a hook of the user's has changed, nobody knows where."""


def marks_in(document: dict[str, Any]) -> Iterator[Note]:
    """Yield a note for each mark in a trace document, by the step it is in."""
    for field in ("input", "output", "metadata"):
        yield from marks_on(document.get(field), field, None)
    for step in document.get("steps", ()):
        for field, value in step.items():
            yield from marks_on(value, field, step.get("step_id"))


def shortened_on(node: Node) -> Iterator[Note]:
    """Yield a note for each attribute that was shortened on a span and is not stored anywhere."""
    shortened = node.span.attributes.get(agentool.CONTENT_SHORTENED)
    try:
        notes = loads(shortened) if isinstance(shortened, str) else {}
    except ValueError:
        return
    for name, note in notes.items() if isinstance(notes, dict) else ():
        size = note.get("bytes") if isinstance(note, dict) else None
        rule = "recorded in part" if size is None else f"shortened from {size} bytes to fit"
        yield Note("truncated", name, None, node.span.span_id, name, rule)


def redacted_on(node: Node) -> Iterator[Note]:
    """Yield a note for each attribute of a span that a `redact` hook has changed or left out."""
    names = node.span.attributes.get(agentool.CONTENT_REDACTED)
    if isinstance(names, str):
        names = json_or(names, [names])
    for name in names if isinstance(names, (list, tuple)) else ():
        yield Note("redacted", str(name), None, node.span.span_id, str(name), REPLACED)


def marks_on(root: Any, field: str, step_id: str | None) -> Iterator[Note]:
    """Yield a note for each mark in a value, which is a member of a trace or of a step."""
    pending = [(field, root)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            if (note := _note_on(value, path, step_id)) is not None:
                yield note
        elif isinstance(value, dict):
            if MARK_UNENCODABLE in value:
                rule = f"not encodable: {value[MARK_UNENCODABLE]}"
                yield Note("lost", path, step_id, rule=rule)
            if MARK_TRUNCATED in value:
                rule = f"over the limit of {value[MARK_TRUNCATED]}"
                yield Note("truncated", path, step_id, rule=rule)
            for key, inner in value.items():
                if has_marker(key):
                    yield Note("redacted", path, step_id, rule=f"a member is named {key!r}")
                pending.append((f"{path}.{key}", inner))
        elif isinstance(value, list):
            pending += ((f"{path}[{at}]", inner) for at, inner in enumerate(value))


def _note_on(text: str, path: str, step_id: str | None) -> Note | None:
    """Return a note on a text that is not whole; None for any other text."""
    if MASK in text:
        return Note("redacted", path, step_id, rule="masked as a credential")
    if (unmarked := without_media(text)) is not text and not has_marker(unmarked):
        return Note("lost", path, step_id, rule="media: type, size and hash are recorded")
    if has_marker(text):
        rule = f"it is {text.strip()!r}" if is_marker(text) else "a redaction marker is in it"
        return Note("redacted", path, step_id, rule=rule)
    if (end := cut_end(text)) is not None:
        return Note("truncated", path, step_id, rule=f"it ends in {end!r}")
    return None
