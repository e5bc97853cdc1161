"""One span as one JSON object, in the spellings of the SDKs and of stores that follow them.

    OTLP span                 {"traceId", "spanId", "startTimeUnixNano", "attributes": [{"key"...}]}
    Python `to_json`, console {"context": {"trace_id": "0x…"}, "parent_id", "start_time": ISO}
    JavaScript ReadableSpan   {"spanContext", "startTime": [s, ns], "kind" counted from 0}
    JavaScript console        {"traceId", "id", "timestamp" and "duration" in µs}
    any-agent                 integer ids, nanoseconds
    strands-evals, ADOT       {"trace_id", "span_id", "span_events", "scope"}, or OTLP with maps
    Datadog APM               {"trace_id", "span_id", "resource_name", "custom"}
    Logfire                   {"trace_id", "span_name", "otel_scope_name", "otel_events"}

Source: opentelemetry-python sdk/trace `ReadableSpan.to_json` v1.36; opentelemetry-js
sdk-trace-base `ReadableSpan`, `ConsoleSpanExporter` v2.0; mozilla-ai/any-agent `AgentSpan`.
A span that was printed when it started has no end; grouping prefers the finished copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import Attributes, SpanEvent, SpanLink, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.log_record import payload
from agentool_otel.reading.sources.stores.nested import flatten
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER", "recognises", "record", "resource"]

_TRACE = ("traceId", "trace_id", "traceID", "TraceId")
_SPAN = ("spanId", "span_id", "spanID", "SpanId")
_CONTEXT = ("context", "spanContext", "_spanContext", "span_context")
_PARENT = ("parentSpanId", "parent_span_id", "parentSpanID", "ParentSpanId", "parent_id",
           "parentId", "parentSpanContext", "parent")  # fmt: skip
_NAME = ("name", "spanName", "span_name", "SpanName", "resource_name")
_KIND = ("kind", "spanKind", "span_kind", "SpanKind")
_START = ("startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time", "start_time_ns",
          "start_timestamp", "startTimestamp", "timestamp", "Timestamp", "@timestamp",
          "_time")  # fmt: skip
_END = ("endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time", "end_time_ns",
        "end_timestamp", "endTimestamp")  # fmt: skip
_DURATION_NS = {"durationNano": 1, "duration_nano": 1, "duration_ns": 1, "durationNs": 1,
                "Duration": 1, "durationMs": 10**6, "duration_ms": 10**6}  # fmt: skip
_ATTRIBUTES = ("attributes", "span_attributes", "SpanAttributes", "spanAttributes", "custom")
_EVENTS = ("events", "span_events", "Events", "otel_events")
_LINKS = ("links", "Links", "otel_links")
_SCOPE = ("scope", "instrumentationScope", "instrumentation_scope", "instrumentationLibrary",
          "instrumentation_info", "scopeName", "scope_name", "ScopeName",
          "otel_scope_name")  # fmt: skip
_RESOURCE = ("resource", "resourceAttributes", "resource_attributes", "ResourceAttributes",
             "otel_resource_attributes")  # fmt: skip
_STATUS = ("status_code", "statusCode", "StatusCode", "otel_status_code")
_STATUS_MESSAGE = ("status_message", "statusMessage", "StatusMessage", "otel_status_message")
_TIME = ("timeUnixNano", "time_unix_nano", "timestamp", "time", "Timestamp", "time_ns",
         "event_timestamp")  # fmt: skip
_MICROSECOND = 1000
_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
_SPELLED = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s)")


def recognises(o: Object) -> bool:
    trace_id, span_id = _ids(o)
    return (
        trace_id is not None
        and span_id is not None
        and (v.first(o, *_NAME, *_START, *_ATTRIBUTES) is not None)
    )


def record(o: Object) -> SpanRecord:
    """Return the span of an object.

    Raises:
        ValueError: its ids or its attributes are invalid.
    """
    trace_id, span_id = _ids(o)
    names = _names_among(tuple(o))
    attributes = v.first(o, *names.attributes)
    if not isinstance(attributes, (dict, list, str, type(None))):
        raise ValueError(f"expected attributes, got {type(attributes).__name__}")
    start_value = v.first(o, *names.start)
    start = v.named_time_ns(o, *names.start)
    from_javascript = isinstance(start_value, list) or ("id" in o and "timestamp" in o)
    scope = v.first(o, *names.scope)
    code, message = _status(o, names)
    return SpanRecord(
        v.identifier(trace_id, 16),
        v.identifier(span_id, 8),
        _parent(v.first(o, *names.parent)),
        v.text(v.first(o, *names.name)),
        v.kind(v.first(o, *names.kind), 0 if from_javascript else 1),
        start,
        _end(o, start, from_javascript, names),
        flatten(v.attributes(attributes)),
        _events(v.first(o, *names.events)),
        _links(v.first(o, *names.links)),
        code,
        message,
        v.text(v.obj(scope).get("name") if isinstance(scope, dict) else scope),
        resource(v.first(o, *names.resource)),
    )


class _Names(NamedTuple):
    """The names of members, those that count first."""

    attributes: tuple[str, ...] = _ATTRIBUTES
    start: tuple[str, ...] = _START
    scope: tuple[str, ...] = _SCOPE
    parent: tuple[str, ...] = _PARENT
    name: tuple[str, ...] = _NAME
    kind: tuple[str, ...] = _KIND
    end: tuple[str, ...] = _END
    duration: tuple[str, ...] = tuple(_DURATION_NS)
    events: tuple[str, ...] = _EVENTS
    links: tuple[str, ...] = _LINKS
    resource: tuple[str, ...] = _RESOURCE
    status: tuple[str, ...] = _STATUS
    status_message: tuple[str, ...] = _STATUS_MESSAGE


@lru_cache(1024)
def _names_among(members: tuple[str, ...]) -> _Names:
    """Return the names that are among some members: the spans of one store have the same."""
    return _Names(*(tuple(name for name in names if name in members) for names in _Names()))


def _ids(o: Object) -> tuple[Json, Json]:
    context = v.first(o, *_CONTEXT)
    if isinstance(context, dict) and (span_id := v.first(context, *_SPAN)) is not None:
        return v.first(context, *_TRACE), span_id
    return v.first(o, *_TRACE), v.first(o, *_SPAN, "id")


def _parent(value: Json) -> str | None:
    return v.parent(v.first(value, *_SPAN) if isinstance(value, dict) else value)


def _end(o: Object, start: int | None, from_javascript: bool, names: _Names) -> int | None:
    end = v.named_time_ns(o, *names.end)
    if end is not None or start is None:
        return end
    for name in names.duration:
        if (duration := o[name]) is not None:
            return _later(start, duration, _DURATION_NS[name])
    duration = o.get("duration")
    if isinstance(duration, str) and (spelled := _SPELLED.fullmatch(duration)):
        return _later(start, spelled[1], _UNITS[spelled[2]])
    return _later(start, duration, _MICROSECOND if from_javascript else 1)


def _later(start: int, duration: Json, unit_ns: int) -> int | None:
    if duration in (0, "0"):
        return start
    ns = v.time_ns(duration, unit_ns)
    return None if ns is None else start + ns


def _status(o: Object, names: _Names) -> tuple[str, str | None]:
    value = o.get("status")
    message: Json = None
    if isinstance(value, dict):
        message = v.first(value, "message", "description")
        value = v.first(value, "code", "status_code", "statusCode")
    if value is None:
        value = v.first(o, *names.status)
    if value is None and v.first(o, "error", "has_error") is True:
        value = "ERROR"
    if message is None:
        message = v.first(o, *names.status_message)
    return v.status(value), v.text(message) or None


def resource(value: Json) -> Attributes:
    """Return the attributes of a resource, given inside it or as the resource itself."""
    if isinstance(value, dict):
        inner = v.first(value, "attributes", "_rawAttributes", "_attributes")
        if isinstance(inner, (dict, list)):
            value = inner
    return flatten(v.attributes(value))


def _events(value: Json) -> list[SpanEvent]:
    return [
        SpanEvent(
            v.text(v.first(event, "name", "Name", "event_name"))
            or v.text(v.obj(event.get("attributes")).get("event.name")),
            v.named_time_ns(event, *_TIME),
            payload(v.first(event, "attributes", "Attributes"), event.get("body")),
        )
        for event in _objects(value, "Timestamp")
    ]


def _links(value: Json) -> list[SpanLink]:
    links: list[SpanLink] = []
    for link in _objects(value, "TraceId"):
        trace_id, span_id = _ids(link)
        with suppress(ValueError):
            links.append(
                SpanLink(
                    v.identifier(trace_id, 16),
                    v.identifier(span_id, 8),
                    v.attributes(v.first(link, "attributes", "Attributes")),
                )
            )
    return links


def _objects(value: Json, column: str) -> Iterator[Object]:
    """Yield the objects of a list, of JSON texts in a list, or of columns of equal length."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json_codec.loads(value)
        except ValueError:
            return
    if isinstance(value, dict) and isinstance(rows := value.get(column), list):
        for number in range(len(rows)):
            yield {
                name: items[number]
                for name, items in value.items()
                if isinstance(items, list) and number < len(items)
            }
    elif isinstance(value, list):
        for item in value:
            if item := v.json_object(item):
                yield item


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    return each([o], record, report)


CONTAINER = Container(
    "a span object",
    "{trace id, span id, name, start, attributes}",
    recognises,
    _spans,
)
