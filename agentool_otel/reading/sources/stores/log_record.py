"""Log records: content and events that an SDK writes as logs in addition to its spans.

Spec: opentelemetry-proto 1.9 logs/v1 (names in either case), and the same record as one object with
plain attributes, as ADOT writes it to CloudWatch.

- A record that names its span becomes a fragment: a SpanRecord with ids and one event and nothing
  else. Grouping adds the events of fragments to the span, whichever comes first.
- A record without a span that has an event name (Claude Code, Codex, Gemini CLI) is a span of its
  own, in the trace it names, or else in one made of the session it names, or of itself.
- Any other record is an ordinary log line and passed over.

Members of a structured body become attributes, a text stays under `body`. The name of the scope,
which an event has no place for, is its attribute `otel.scope.name`.
"""

from __future__ import annotations

from hashlib import blake2b

from agentool_otel.ground import json_codec
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import Attributes, SpanEvent, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Object

__all__ = ["payload", "recognises", "record"]

_NAMES = ("event.name", "otel.event.name", "event_name")
_SESSIONS = ("session.id", "conversation.id", "gen_ai.conversation.id", "thread.id", "sessionKey",
             "session_id")  # fmt: skip


def recognises(o: Object) -> bool:
    """Distinguish a record from a span: a time or a body, and no start, end or name."""
    return (
        ("body" in o or "timeUnixNano" in o or "time_unix_nano" in o)
        and v.first(o, "attributes", "body", "eventName", "event_name") is not None
        and v.first(o, "observedTimeUnixNano", "observed_time_unix_nano", "timeUnixNano",
                    "time_unix_nano", "severityNumber", "severity_number") is not None
        and v.first(o, "name", "startTimeUnixNano", "start_time_unix_nano") is None
    )  # fmt: skip


def record(o: Object, scope: str = "", resource: Attributes | None = None) -> SpanRecord | None:
    """Return a record as a fragment or as a span; None for an ordinary log line."""
    attributes = payload(o.get("attributes"), o.get("body"))
    time = v.named_time_ns(o, "timeUnixNano", "time_unix_nano") or v.named_time_ns(
        o, "observedTimeUnixNano", "observed_time_unix_nano"
    )
    # Rust's tracing has the position in the source as the name of the record.
    own_name = v.text(v.first(o, "eventName", "event_name"))
    name = next((text for key in _NAMES if (text := v.text(attributes.get(key)))), own_name)
    trace_id = _or_none(v.first(o, "traceId", "trace_id"), 16)
    span_id = _or_none(v.first(o, "spanId", "span_id"), 8)
    if trace_id and span_id:
        if scope:
            attributes.setdefault("otel.scope.name", scope)
        return SpanRecord(
            trace_id, span_id, events=[SpanEvent(name, time, attributes)], resource=resource or {}
        )
    if not name:
        return None
    own_id = _digest([name, time, attributes], 8)
    if trace_id is None:
        named = (v.text(v.first({**(resource or {}), **attributes}, key)) for key in _SESSIONS)
        session = next(filter(None, named), None)
        trace_id = _digest([own_id if session is None else session], 16)
    return SpanRecord(
        trace_id, own_id, name=name, start_ns=time, end_ns=time, attributes=attributes, scope=scope,
        resource=resource or {},
    )  # fmt: skip


def payload(attributes: Json, body: Json) -> Attributes:
    """Return attributes and body as one: a name that both have is kept under `body.`."""
    merged = v.attributes(attributes)
    if body is None:
        return merged
    body = v.attributes([{"key": "body", "value": body}])["body"]
    if not isinstance(body, dict):
        if body not in (None, ""):
            merged.setdefault("body", body)
        return merged
    for key, value in body.items():
        if key in merged and merged[key] != value:
            key = f"body.{key}"
        merged.setdefault(key, value)
    return merged


def _or_none(value: Json, size: int) -> str | None:
    """Return an id; None for zeros, which stand for none in a log record."""
    try:
        identifier = v.identifier(value, size)
    except ValueError:
        return None
    return str(identifier) if identifier.strip("0") else None


def _digest(value: list[Json], size: int) -> str:
    try:
        data = json_codec.canonical(value).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError):  # bytes, or infinite numbers
        data = repr(value).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=size).hexdigest()
