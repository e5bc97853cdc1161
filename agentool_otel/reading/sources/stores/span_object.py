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

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from agentool_otel.dialects.kit.cut_json import completed, is_cut_json
from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import Attributes, Damage, SpanEvent, SpanLink, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.log_record import payload
from agentool_otel.reading.sources.stores.nested import flatten
from agentool_otel.reading.sources.stores.store_format import Object

__all__ = [
    "Members",
    "attributes_of",
    "ids_of",
    "members_of",
    "plain",
    "recognises",
    "record",
    "record_with_ids",
    "resource",
]

_TRACE, _SPAN = ("traceid",), ("spanid",)
_CONTEXT = ("context", "spancontext")
_CODE = ("code", "statuscode")
_MESSAGE = ("message", "description")
_EVENT_NAME = ("name", "eventname")
_TIME = ("timeunixnano", "timestamp", "time", "timens", "eventtimestamp")
_DURATIONS_NS = {"durationnano": 1, "durationns": 1, "durationnanos": 1, "durationms": 10**6}
_MICROSECOND = 1000
_MOST_MEMBERS = 256
"""Members of an object whose names are remembered: larger ones are rare, and cost memory."""
_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
_SEPARATORS = re.compile(r"[\W_]+")
_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
"""Spec: W3C Trace Context, version 00."""
_CLOCK = re.compile(r"(\d{1,3}):(\d\d):(\d\d(?:\.\d{1,9})?)")
"""A TimeSpan of .NET."""
_SPELLED = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s)")


class Members(NamedTuple):
    """The members of a span in the order in which they count, without separators and case; or, of
    one object, the names that it has for them."""

    trace: tuple[str, ...] = _TRACE
    span: tuple[str, ...] = (*_SPAN, "id")
    context: tuple[str, ...] = _CONTEXT
    parent: tuple[str, ...] = ("parentspanid", "parentid", "parentspancontext", "parent")
    name: tuple[str, ...] = ("name", "spanname", "operationname", "resourcename")
    kind: tuple[str, ...] = ("kind", "spankind")
    start: tuple[str, ...] = (
        *(
            "starttimeunixnano",
            "starttime",
            "starttimens",
            "starttimestamp",
            "startts",
            "startms",
            "startus",
        ),
        *("startedat", "started", "begintime", "begin", "start", "timestamp", "time"),
    )
    end: tuple[str, ...] = (
        *(
            "endtimeunixnano",
            "endtime",
            "endtimens",
            "endtimestamp",
            "endts",
            "endms",
            "endus",
            "endedat",
        ),
        *("ended", "finishtime", "finishedat", "finished", "finish", "stoptime", "end"),
    )
    duration: tuple[str, ...] = (*_DURATIONS_NS, "duration")
    attributes: tuple[str, ...] = ("attributes", "spanattributes", "custom")
    events: tuple[str, ...] = ("events", "spanevents", "otelevents")
    links: tuple[str, ...] = ("links", "otellinks")
    scope: tuple[str, ...] = ("scope", "instrumentationscope", "instrumentationlibrary",
                              "instrumentationinfo", "scopename", "otelscopename")  # fmt: skip
    resource: tuple[str, ...] = ("resource", "resourceattributes", "otelresourceattributes")
    service: tuple[str, ...] = ("servicename",)
    status: tuple[str, ...] = ("status",)
    status_code: tuple[str, ...] = ("statuscode", "otelstatuscode")
    status_message: tuple[str, ...] = ("statusmessage", "otelstatusmessage")
    failed: tuple[str, ...] = ("error", "haserror")


_ALL = Members()


def recognises(o: Object) -> bool:
    """Return whether an object has ids and something else of a span."""
    names = members_of(o)
    trace_id, span_id = ids_of(o, names)
    if span_id is None:
        return False
    return (
        trace_id is not None
        and v.first(o, *names.name, *names.start, *names.attributes) is not None
    )


def record(o: Object) -> SpanRecord:
    """Return the span of an object.

    Raises:
        ValueError: its ids or its attributes are invalid.
    """
    names = members_of(o)
    trace_id, span_id = ids_of(o, names)
    return record_with_ids(o, names, v.identifier(trace_id, 16), v.identifier(span_id, 8))


def record_with_ids(o: Object, names: Members, trace_id: str, span_id: str) -> SpanRecord:
    """Return the span of an object under ids that may not be its own.

    Raises:
        ValueError: its attributes are invalid.
    """
    attributes = v.first(o, *names.attributes)
    if not isinstance(attributes, (dict, list, str, type(None))):
        raise ValueError(f"expected attributes, got {type(attributes).__name__}")
    start_value = v.first(o, *names.start)
    start = v.named_time_ns(o, *names.start)
    from_javascript = isinstance(start_value, list) or ("id" in o and "timestamp" in o)
    scope = v.first(o, *names.scope)
    code, message = _status(o, names)
    is_cut = False
    if isinstance(attributes, str) and is_cut_json(attributes):
        attributes, is_cut = completed(attributes, partial=""), True
    attributes_of_resource = resource(v.first(o, *names.resource))
    if service := v.text(v.first(o, *names.service)):
        attributes_of_resource.setdefault("service.name", service)
    return SpanRecord(
        trace_id,
        span_id,
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
        attributes_of_resource,
        (Damage("attributes", cut=True),) if is_cut else (),
    )


def attributes_of(o: Object) -> Attributes | None:
    """Return the attributes of an object, None if it has no member for them."""
    value = v.first(o, *members_of(o).attributes)
    return None if value is None else v.attributes(value)


def members_of(o: Object) -> Members:
    """Return the names that an object has for the members of a span."""
    names = tuple(o)
    return _members(names) if len(names) <= _MOST_MEMBERS else _members.__wrapped__(names)


@lru_cache(1024)
def _members(names: tuple[str, ...]) -> Members:
    """Return the names that the members of a span have among some names: the spans of one store
    have the same."""
    return Members(*(_named(names, members) for members in _ALL))


def _named(names: Iterable[str], members: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of some names that are among members, in the order of the members."""
    places = {member: place for place, member in enumerate(members)}
    placed = [(places[word], name) for name in names if (word := plain(name)) in places]
    return tuple(name for _, name in sorted(placed, key=lambda item: item[0]))


@lru_cache(4096)
def plain(name: str) -> str:
    """Return a name without separators and case: `startTime`, `start_time` and `Start-Time` are
    one name."""
    return _SEPARATORS.sub("", name).lower()


def _first(o: Object, members: tuple[str, ...]) -> Json:
    """Return the first of several members that an object has, however it spells their names."""
    return v.first(o, *_named(o, members))


def ids_of(o: Object, names: Members) -> tuple[Json, Json]:
    """Return the id of the trace and of the span, as they are; None for one that is not there."""
    context = v.first(o, *names.context)
    if isinstance(context, dict) and (span_id := _first(context, _SPAN)) is not None:
        return _first(context, _TRACE), span_id
    trace_id, span_id = v.first(o, *names.trace), v.first(o, *names.span)
    if trace_id is None and isinstance(span_id, str):
        traceparent = _TRACEPARENT.fullmatch(span_id)  # the Id of .NET's Activity
        if traceparent is not None:
            return traceparent[1], traceparent[2]
    return trace_id, span_id


def _parent(value: Json) -> str | None:
    if isinstance(value, dict):
        value = _first(value, _SPAN)
    elif isinstance(value, str) and (traceparent := _TRACEPARENT.fullmatch(value)):
        value = traceparent[2]
    return v.parent(value)


def _end(o: Object, start: int | None, from_javascript: bool, names: Members) -> int | None:
    end = v.named_time_ns(o, *names.end)
    if end is not None or start is None:
        return end
    for name in names.duration:
        duration = o[name]
        if duration is None:
            continue
        if (unit_ns := _DURATIONS_NS.get(plain(name))) is not None:
            return _later(start, duration, unit_ns)
        if isinstance(duration, str) and (spelled := _SPELLED.fullmatch(duration)):
            return _later(start, spelled[1], _UNITS[spelled[2]])
        if isinstance(duration, str) and (clock := _CLOCK.fullmatch(duration)):
            seconds = int(clock[1]) * 3600 + int(clock[2]) * 60 + float(clock[3])
            return start + int(seconds * 10**9)
        return _later(start, duration, _MICROSECOND if from_javascript else 1)
    return None


def _later(start: int, duration: Json, unit_ns: int) -> int | None:
    if duration in (0, "0"):
        return start
    ns = v.time_ns(duration, unit_ns)
    return None if ns is None else start + ns


def _status(o: Object, names: Members) -> tuple[str, str | None]:
    value = v.first(o, *names.status)
    message: Json = None
    if isinstance(value, dict):
        message = _first(value, _MESSAGE)
        value = _first(value, _CODE)
    if value is None:
        value = v.first(o, *names.status_code)
    failed = v.first(o, *names.failed)
    if value is None and (failed is True or (isinstance(failed, str) and failed)):
        value = "ERROR"
    if message is None:
        message = v.first(o, *names.status_message)
    if message is None and isinstance(failed, str):
        message = failed
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
            v.text(_first(event, _EVENT_NAME))
            or v.text(v.obj(event.get("attributes")).get("event.name")),
            v.named_time_ns(event, *_named(event, _TIME)),
            payload(_first(event, _ALL.attributes), event.get("body")),
        )
        for event in _objects(value, "Timestamp")
    ]


def _links(value: Json) -> list[SpanLink]:
    links: list[SpanLink] = []
    for link in _objects(value, "TraceId"):
        trace_id, span_id = ids_of(link, members_of(link))
        with suppress(ValueError):
            links.append(
                SpanLink(
                    v.identifier(trace_id, 16),
                    v.identifier(span_id, 8),
                    v.attributes(_first(link, _ALL.attributes)),
                )
            )
    return links


def _objects(value: Json, column: str) -> Iterator[Object]:
    """Yield the objects of a list, of JSON texts in a list, or of columns of equal length."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json_codec.loads_exactly(value)
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
