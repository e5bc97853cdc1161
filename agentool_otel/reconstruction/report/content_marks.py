"""Find the parts of a trace that are marks instead of values: masked, shortened, not encodable.

The marks of our own spans are in `semconv.marks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agentool_otel.ground.json_codec import loads
from agentool_otel.reconstruction.report.fidelity import Note
from agentool_otel.reconstruction.tree import Node
from agentool_otel.semconv import agentool
from agentool_otel.semconv.marks import MARK_TRUNCATED, MARK_UNENCODABLE, MASK, TRUNCATED_TEXT

__all__ = ["marks_in", "marks_on", "shortened_on"]

_SHORTENED = re.compile(re.escape(TRUNCATED_TEXT).replace(r"\{\}", r"\d+") + r"\Z")


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
        rule = f"shortened from {size} bytes to fit"
        yield Note("truncated", name, None, node.span.span_id, name, rule)


def marks_on(root: Any, field: str, step_id: str | None) -> Iterator[Note]:
    """Yield a note for each mark in a value, which is a member of a trace or of a step."""
    pending = [(field, root)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            if MASK in value:
                yield Note("redacted", path, step_id, rule="masked as a credential")
            elif value[-1:] == "]" and _SHORTENED.search(value):
                yield Note("truncated", path, step_id, rule="text shortened")
        elif isinstance(value, dict):
            if MARK_UNENCODABLE in value:
                rule = f"not encodable: {value[MARK_UNENCODABLE]}"
                yield Note("lost", path, step_id, rule=rule)
            if MARK_TRUNCATED in value:
                rule = f"over the limit of {value[MARK_TRUNCATED]}"
                yield Note("truncated", path, step_id, rule=rule)
            pending += ((f"{path}.{key}", inner) for key, inner in value.items())
        elif isinstance(value, list):
            pending += ((f"{path}[{at}]", inner) for at, inner in enumerate(value))
