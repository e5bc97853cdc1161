"""Values that are in the spans of a run and that no reader takes.

Such a value is *unread*. *Not captured* means that nothing in the spans has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from agentool_otel.dialects import classify
from agentool_otel.model.operations import Unclassified
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.report.fidelity import Note
from agentool_otel.reading.rebuild.report.gaps import possible_fields
from agentool_otel.reading.rebuild.report.span_notes import OF_COLLECTORS
from agentool_otel.reading.rebuild.tree import Node, is_guessed
from agentool_otel.semconv import core

__all__ = ["unread_events", "unread_keys", "unread_spans", "with_guesses", "with_unread"]

_GUESS = "of no known vocabulary: read by the names of its attributes"
_NO_CONTENT = (".id", "_id", "Id", ".ids", "_ids", "_length")
"""Ends of names whose values are no content."""


def unread_keys(node: Node) -> Iterator[str]:
    """Yield the attributes of a span that no reader took."""
    for key in node.operation.extra:
        if not key.startswith("agentool.") and key not in OF_COLLECTORS:
            yield key


def unread_spans(nodes: list[Node]) -> dict[str, int]:
    """Return how many spans of a known vocabulary nothing was made of, by name.

    A span around others is a part of the tree, and one without attributes has nothing to read.
    """
    return dict(Counter(node.span.name for node in nodes if _is_unread(node)))


def unread_events(nodes: list[Node]) -> dict[str, int]:
    """Return the number of unused events by name: those without which a span of a known vocabulary
    has the same operation."""
    counts: Counter[str] = Counter()
    for node in nodes:
        if node.dialect is not None and node.span.events:
            counts.update(_unread_events_of(node.span))
    return dict(counts)


def _unread_events_of(span: SpanRecord) -> Iterator[str]:
    operation = classify(span)[1]
    names = Counter(event.name for event in span.events)
    for name, count in names.items():
        if name == core.EXCEPTION_EVENT or name.startswith("agentool."):
            continue  # read beside the operation
        others = [event for event in span.events if event.name != name]
        if classify(msgspec.structs.replace(span, events=others))[1] == operation:
            yield from [name] * count


def _is_unread(node: Node) -> bool:
    return (
        isinstance(node.operation, Unclassified)
        and node.dialect is not None
        and not node.children
        and any(True for _ in unread_keys(node))
    )


def with_guesses(notes: list[Note], nodes: list[Node]) -> list[Note]:
    """Return the notes on a trace, `kept` changed to `inferred` for guessed spans."""
    guessed = {node.span.span_id for node in nodes if is_guessed(node)}
    return (
        [
            msgspec.structs.replace(note, outcome="inferred", rule=note.rule or _GUESS)
            if note.outcome == "kept" and note.span_id in guessed
            else note
            for note in notes
        ]
        if guessed
        else notes
    )


def with_unread(notes: list[Note], root: Node | None, nodes: list[Node]) -> list[Note]:
    """Return the notes on a trace, those on members that were not captured changed where an
    attribute that nobody reads may have the member, by its name."""
    by_id = {node.span.span_id: node for node in nodes}
    of_run = [node for node in nodes if node is root or _is_unread(node)]
    return [_settled(note, by_id, of_run) for note in notes]


def _settled(note: Note, by_id: dict[str, Node], of_run: list[Node]) -> Note:
    if note.outcome != "not_captured" or note.attribute is not None:
        return note
    node_of_step = by_id.get(note.span_id or "")
    nodes = of_run if note.step_id is None else [node_of_step] if node_of_step is not None else []
    for node in nodes:
        keys = [key for key in unread_keys(node) if _may_have(node.operation.extra[key], key, note)]
        if keys:
            rule = f"no reader takes {', '.join(keys)} of {node.span.name!r}"
            return msgspec.structs.replace(
                note, outcome="unread", span_id=node.span.span_id, rule=rule
            )
    return note


def _may_have(value: object, key: str, note: Note) -> bool:
    """Return whether the value of an attribute may be the member that a note is about."""
    if not value or not isinstance(value, (str, list, dict)) or key.endswith(_NO_CONTENT):
        return False
    return note.field in possible_fields(key, unread=True)
