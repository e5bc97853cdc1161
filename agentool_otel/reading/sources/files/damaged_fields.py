"""Fields of OTLP/JSON that are no text: times, numbers, links. A damaged one is not known any more.

The ids of a span are not among them: without one, its place in the trace is unknown.
"""

from __future__ import annotations

from itertools import compress
from operator import not_
from typing import Any, NamedTuple

from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import Damage
from agentool_otel.reading.sources.files.damage import is_marked, stand_in

__all__ = ["Whole", "has_damaged_names", "with_numbers_as_text", "without_damaged"]

_Object = dict[str, Any]
_FIELDS = {"startTimeUnixNano": "start_ns", "endTimeUnixNano": "end_ns", "kind": "kind"}
"""To what they are in a record."""
_NUMBERS = ("intValue", "doubleValue", "bytesValue")


class Whole(NamedTuple):
    """A span without its damaged fields, and a note on each."""

    span: _Object
    lost: tuple[Damage, ...]


def has_damaged_names(span: _Object) -> bool:
    """Return whether the name of a span's kind or status is damaged, rather than merely unknown."""
    return is_marked(span.get("kind")) or is_marked(_object(span.get("status")).get("code"))


def without_damaged(span: _Object) -> Whole:
    """Return a span with normal keys without the fields that are damaged.

    Numbers among its attributes become text, as which they show what is left of them.
    """
    lost: list[Damage] = []
    mended_span = dict(span)
    for name, field in _FIELDS.items():
        if is_marked(mended_span.get(name)):
            del mended_span[name]
            lost.append(Damage(field, cut=False))
    if is_marked(parent := mended_span.get("parentSpanId")):
        mended_span["parentSpanId"] = stand_in(str(parent))  # without one it would pass for a run
        lost.append(Damage("parent_id", cut=False))
    status = _object(span.get("status"))
    if is_marked(status.get("code")):
        mended_span["status"] = {name: value for name, value in status.items() if name != "code"}
        lost.append(Damage("status", cut=False))
    events, links = _objects(span.get("events")), _objects(span.get("links"))
    for number, event in enumerate(events):
        if is_marked(event.get("timeUnixNano")):
            events[number] = {**event, "timeUnixNano": 0}
            lost.append(Damage(f"events[{number}].time_ns", cut=False))
    damaged = [is_marked(link.get("traceId")) or is_marked(link.get("spanId")) for link in links]
    lost += (Damage(f"links[{n}]", cut=False) for n, is_damaged in enumerate(damaged) if is_damaged)
    mended_span["events"] = events
    mended_span["links"] = list(compress(links, map(not_, damaged)))
    return Whole(with_numbers_as_text(mended_span), tuple(lost))


def with_numbers_as_text(value: Json) -> Json:
    """Return OTLP/JSON with damaged numbers of attributes as text.

    Raises:
        RecursionError: it is nested more deeply than the interpreter's stack allows.
    """
    if value.__class__ is list:
        return [with_numbers_as_text(item) for item in value]
    if value.__class__ is not dict:
        return value
    for name in _NUMBERS:
        if is_marked(value.get(name)):
            return {"stringValue": value[name]}
    return {name: with_numbers_as_text(inner) for name, inner in value.items()}


def _object(value: Json) -> _Object:
    return value if isinstance(value, dict) else {}


def _objects(value: Json) -> list[_Object]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
