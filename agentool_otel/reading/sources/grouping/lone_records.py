"""Log records whose span is not in the input: each stands for itself.

Agents that log their steps (Claude Code, Codex, Gemini CLI) name the span of each record, also
where spans are sent elsewhere or nowhere. Events of the GenAI conventions describe their span, so
they stay on it.
"""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from agentool_otel.model.spans import Damage, SpanEvent, SpanRecord

__all__ = ["as_spans"]

_CONVENTIONS = "gen_ai."
_SCOPE = "otel.scope.name"


def as_spans(fragment: SpanRecord) -> list[SpanRecord]:
    """Return a span for each named event of a fragment, and the fragment if others are left."""
    stay = [event for event in fragment.events if _describes_span(event)]
    if len(stay) == len(fragment.events):
        return [fragment]
    spans = [
        _span_of(event, number, fragment)
        for number, event in enumerate(fragment.events)
        if not _describes_span(event)
    ]
    if stay:
        spans.append(msgspec.structs.replace(fragment, events=stay, damaged=()))
    return spans


def _describes_span(event: SpanEvent) -> bool:
    return not event.name or event.name.startswith(_CONVENTIONS)


def _span_of(event: SpanEvent, number: int, fragment: SpanRecord) -> SpanRecord:
    place = f"events[{number}]."
    attributes = dict(event.attributes)
    scope = attributes.pop(_SCOPE, "")
    content = repr(
        (event.name, event.time_ns, sorted(attributes.items(), key=lambda item: item[0]))
    )
    return SpanRecord(
        fragment.trace_id,
        blake2b(content.encode("utf-8", "replace"), digest_size=8).hexdigest(),
        name=event.name,
        start_ns=event.time_ns,
        end_ns=event.time_ns,
        attributes=attributes,
        scope=scope if isinstance(scope, str) else "",
        resource=fragment.resource,
        damaged=tuple(
            Damage(damage.where.removeprefix(place), damage.cut)
            for damage in fragment.damaged
            if damage.where.startswith(place)
        ),
    )
