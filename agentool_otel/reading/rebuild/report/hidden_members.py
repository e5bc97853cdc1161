"""Members of a trace whose value is truncated or masked.

An attribute that a store has cut or a Collector has masked hides the members that are read from it.
Which ones those are is found by reading the span once more with something else in its place, so
that it holds for every vocabulary. Such a member is truncated or redacted, and nothing else: it was
captured, and it was not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from agentool_otel.dialects import classify
from agentool_otel.reading.rebuild.report.fidelity import Note
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import agentool

__all__ = ["with_hidden_members"]

_OUTCOMES = frozenset({"truncated", "redacted"})
_SETTLED = frozenset({"kept", "inferred", "not_captured"})
_MEMBERS = {
    "input": "input",
    "output": "output",
    "tool_call": "arguments",
    "tool_call.arguments": "arguments",
    "tool_result": "result",
    "tool_result.output": "result",
}
"""Members of a trace and of its steps, by the member of an operation that they are read from."""
_STATED = {agentool.INPUT: "input", agentool.OUTPUT: "output"}
"""Attributes of ours that state a member of the trace, whatever the operation."""
_OF_RUN = frozenset({"input", "output"})
"""Those that may be of any span of the run, where the one that is noted does not have them."""
_INSTEAD = ('[{"role":"user","parts":[{"type":"text","content":"x"}]}]', '{"x":"x"}', "x")


def with_hidden_members(notes: list[Note], nodes: Iterable[Node]) -> list[Note]:
    """Return the notes on a trace, those on members of which a part is hidden changed.

    Args:
        notes: those on members and on attributes.
        nodes: the spans that they are on.
    """
    by_id = {node.span.span_id: node for node in nodes}
    hidden: dict[tuple[str, str], Note] = {}
    for note in notes:
        node = by_id.get(note.span_id or "")
        if node is None or note.attribute is None or note.step_id is not None:
            continue
        if note.outcome in _OUTCOMES:
            for member in _read_from(node, note.attribute):
                hidden.setdefault((node.span.span_id, member), note)
    return [_settled(note, hidden) for note in notes] if hidden else notes


def _settled(note: Note, hidden: dict[tuple[str, str], Note]) -> Note:
    member = _MEMBERS.get(note.field)
    if member is None or note.outcome not in _SETTLED:
        return note
    why = hidden.get((note.span_id or "", member))
    if why is None and note.step_id is None and note.outcome == "not_captured":
        others = (value for (_, name), value in hidden.items() if name == member in _OF_RUN)
        why = next(others, None)
    if why is None:
        return note
    rule = "; ".join(filter(None, (f"{why.attribute}: {why.rule}", note.rule)))
    return Note(why.outcome, note.field, note.step_id, why.span_id, None, rule)


def _read_from(node: Node, attribute: str) -> set[str]:
    """Return the members of an operation that are read from an attribute of its span, or that would
    be if it were there."""
    if attribute in _STATED:
        return {_STATED[attribute]}
    attributes = node.span.attributes
    read = {name: repr(getattr(node.operation, name, None)) for name in _MEMBERS.values()}
    others = [{key: value for key, value in attributes.items() if key != attribute}]
    others += [{**attributes, attribute: text} for text in _instead_of(attributes.get(attribute))]
    return {
        name
        for changed in others
        for name in read
        if repr(getattr(classify(replace(node.span, attributes=changed))[1], name, None))
        != read[name]
    }


def _instead_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield _closed(value)
    yield from _INSTEAD


def _closed(text: str) -> str:
    """Return cut JSON with everything closed that is open at its end."""
    closers: list[str] = []
    in_text = escaped = False
    for character in text:
        if in_text:
            in_text = escaped or character != '"'
            escaped = not escaped and character == "\\"
        elif character == '"':
            in_text = True
        elif character in "{[":
            closers.append("}" if character == "{" else "]")
        elif character in "}]" and closers:
            closers.pop()
    return text + '"' * in_text + "".join(reversed(closers))
