"""The members of a rebuilt trace that may have lost data, and why.

The fidelity report has a note for each attribute that is not whole. A gap is the same for a member
of the trace or of a step, found by the words in the name of the attribute.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, TypeAlias

from agentool_otel.ground import lazy_re as re
from agentool_otel.reading.rebuild.metrics import CALLS, TOTAL_COST, TOTAL_TOKENS
from agentool_otel.reading.rebuild.report.content_marks import REPLACED
from agentool_otel.reading.rebuild.report.fidelity import Fidelity, Note
from agentool_otel.semconv import agentool

__all__ = [
    "ARGUMENTS",
    "CALLS",
    "HIDDEN",
    "HIDING",
    "NAME",
    "RESULT",
    "TOTAL_COST",
    "TOTAL_TOKENS",
    "TO_AGENT",
    "Gaps",
    "everything_in",
    "gaps_of",
    "hidden_in",
    "with_hidden",
]

ARGUMENTS = "tool_call.arguments"
RESULT = "tool_result.output"
NAME = "tool_call.name"
TO_AGENT = "to_agent"
HIDDEN = "hidden"
"""Member of a trace's metadata: a list of the members that may not be what they were, each with
`member`, `why` and, if it is of a step, `step_id`."""
HIDING = {
    "redacted": "is redacted",
    "truncated": "is truncated",
    "damaged": "is damaged",
    "lost": "is lost",
    "not_captured": "was not captured",
    "unread": "was not read",
}
"""The outcomes that hide a value, in words."""
_OF_TRACE = frozenset({"input", "output", CALLS, TOTAL_TOKENS, TOTAL_COST})
"""The members of a trace that checks look at, beside its steps."""
_ANSWERS = {"output", ARGUMENTS}
"""The members that a model's answers hold, and so its calls."""
_CONTENT = ("input", "output", ARGUMENTS, RESULT, "content")

Gaps: TypeAlias = dict[tuple[str | None, str], str]
"""Why a member may not be what it was, by the id of its step, None for the trace, and its name."""


def gaps_of(fidelity: Fidelity) -> Gaps:
    """Return the gaps that the notes of a fidelity report show."""
    gaps: Gaps = {}
    owners: defaultdict[str | None, dict[str | None, None]] = defaultdict(dict)
    for note in fidelity.notes:
        if note.step_id is not None or note.field in ("input", "output"):
            owners[note.span_id][note.step_id] = None
    for note in fidelity.notes:
        if note.outcome not in HIDING:
            continue
        why = _words(note)
        if note.field in _CONTENT:
            if note.span_id is None and note.outcome != "not_captured":
                continue  # a mark in the value, which checks find
            gaps.setdefault((note.step_id, note.field), why)
            if REPLACED in why:  # of all reasons the one that counts most
                gaps[note.step_id, note.field] = why
        elif note.attribute is not None:
            fields = possible_fields(note.attribute, note.attribute in fidelity.unread)
            for owner in owners[note.span_id]:
                for field in fields:
                    gaps.setdefault((owner, field), why)
            # What hides content is no reason to think that calls had no spans of their own.
            if {*fields} >= _ANSWERS and note.outcome in ("truncated", "damaged"):
                gaps.setdefault((None, CALLS), f"{note.attribute} {why}")
    return gaps


def everything_in(document: dict[str, Any]) -> Gaps:
    """Return gaps for all members of a trace: its spans may hide something unknown."""
    why = "may be incomplete: its spans cannot be explained"
    gaps: Gaps = {(None, member): why for member in sorted(_OF_TRACE)}
    for step in document["steps"]:
        gaps |= {(step["step_id"], member): why for member in (*_CONTENT, NAME, TO_AGENT, "error")}
    return gaps


def with_hidden(metadata: dict[str, Any] | None, gaps: Gaps) -> dict[str, Any] | None:
    """Return the metadata of a trace with gaps added to those that it has."""
    known = hidden_in(metadata or {})
    hidden = {
        (step_id, member): why
        for (step_id, member), why in gaps.items()
        if (step_id is not None or member in _OF_TRACE) and (step_id, member) not in known
    }
    if not hidden:
        return metadata
    return {**(metadata or {}), HIDDEN: [*map(_entry, (known | hidden).items())]}


def _entry(gap: tuple[tuple[str | None, str], str]) -> dict[str, str]:
    (step_id, member), why = gap
    entry = {"member": member, "why": why}
    return entry if step_id is None else {"step_id": step_id, **entry}


def hidden_in(metadata: dict[str, Any]) -> Gaps:
    """Return the gaps in the metadata of a trace; entries of another form are left out."""
    gaps: Gaps = {}
    hidden = metadata.get(HIDDEN)
    for item in hidden if isinstance(hidden, list) else ():
        if isinstance(item, dict) and isinstance(item.get("member"), str):
            step_id, why = item.get("step_id"), item.get("why")
            gaps[step_id if isinstance(step_id, str) else None, item["member"]] = (
                why if isinstance(why, str) else "is not whole"
            )
    return gaps


def _words(note: Note) -> str:
    return HIDING[note.outcome] + (f": {note.rule}" if note.rule else "")


_OUR_FIELDS = {agentool.INPUT: ("input",), agentool.OUTPUT: ("output",)}
"""The members that attributes of ours hold, and no others: an output among them shows no calls."""
_NONE: tuple[str, ...] = ()
"""What an agent is told beforehand is no member of a trace."""
_FIELDS_BY_NAME = tuple(
    (re.compile(pattern), fields)
    for pattern, fields in (
        ("(tool|function|agent).*(description|definition)|system.*instruction", _NONE),
        ("argument", (ARGUMENTS,)),
        ("(tool|function).*name", (NAME,)),
        (r"agent[._](name|id)\b|transfer.*target", (TO_AGENT,)),
        ("(?=.*tool).*error", ("error",)),
        ("(?=.*tool).*(result|output|response)", (RESULT,)),
        ("(?=.*message).*(input|prompt|request)", ("input", RESULT)),
        ("input|prompt|request", ("input", RESULT, ARGUMENTS)),
        ("output|completion|response", ("output", RESULT, ARGUMENTS, "content")),
    )
)
"""The members that an attribute may belong to, by words in its name; the first that fits counts."""


def possible_fields(attribute: str, unread: bool) -> tuple[str, ...]:
    """Return the members that an attribute may belong to, by the words that vocabularies use.

    If none of the words fits, it may be any of them, or none if no dialect reads the attribute.
    """
    if attribute in _OUR_FIELDS:
        return _OUR_FIELDS[attribute]
    for pattern, fields in _FIELDS_BY_NAME:
        if pattern.search(attribute.lower().removeprefix("agentool.")):
            return fields
    return () if unread else _CONTENT
