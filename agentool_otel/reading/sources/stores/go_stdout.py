"""Output of Go's `stdouttrace` and `stdoutlog`: a span or a record as one object with Go's names.

    {"Name", "SpanContext": {"TraceID", "SpanID"}, "Parent", "SpanKind", "StartTime",
     "Attributes": [{"Key", "Value": {"Type": "INT64", "Value": 12}}], "InstrumentationScope"}
    {"EventName", "Body": {"Type": "MAP", "Value": [{"Key", "Value"}]}, "TraceID", "Scope"}

Source: opentelemetry-go v1.47 `sdk/trace/tracetest/span.go`, `attribute/encoder.go`,
`exporters/stdout/stdoutlog/record.go`. A record is put into OTLP's names, so that it is read as
any other.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.stores import span_object
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER", "log_record"]

_NO_TIME = "0001-01-01T00:00:00Z"
_NO_PARENT = "0" * 16


def _recognises(o: Object) -> bool:
    context = o.get("SpanContext")
    return isinstance(context, dict) and "SpanID" in context and "StartTime" in o


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    return each([o], _record, report)


def _record(o: Object) -> SpanRecord:
    status = v.obj(o.get("Status"))
    scope = v.first(o, "InstrumentationScope", "InstrumentationLibrary")
    parent = v.obj(o.get("Parent")).get("SpanID")
    return span_object.record({
        **_ids(o.get("SpanContext")),
        "parentSpanId": None if parent == _NO_PARENT else parent,
        "name": o.get("Name"),
        "kind": o.get("SpanKind"),
        "startTime": o.get("StartTime"),
        "endTime": o.get("EndTime"),
        "attributes": _map(o.get("Attributes")),
        "events": [
            {
                "name": event.get("Name"),
                "time": event.get("Time"),
                "attributes": _map(event.get("Attributes")),
            }
            for event in map(v.obj, v.array(o.get("Events")))
        ],
        "links": [
            {**_ids(link.get("SpanContext")), "attributes": _map(link.get("Attributes"))}
            for link in map(v.obj, v.array(o.get("Links")))
        ],
        "status": {"code": status.get("Code"), "description": status.get("Description")},
        "scope": v.obj(scope).get("Name"),
        "resource": _map(o.get("Resource")),
    })  # fmt: skip


def log_record(o: Object) -> Object | None:
    """Return a printed log record under the names of OTLP, None for any other object."""
    if "ObservedTimestamp" not in o or "SeverityText" not in o or "Scope" not in o:
        return None
    time = o.get("Timestamp")
    if time == _NO_TIME:
        time = o.get("ObservedTimestamp")
    return {
        "traceId": o.get("TraceID"),
        "spanId": o.get("SpanID"),
        "timeUnixNano": v.time_ns(time),
        "eventName": o.get("EventName"),
        "severityNumber": o.get("Severity"),
        "body": _value(o.get("Body")),
        "attributes": _map(o.get("Attributes")),
        "scope": {"name": v.obj(o.get("Scope")).get("Name")},
        "resource": {"attributes": _map(o.get("Resource"))},
    }


def _ids(context: Json) -> Object:
    fields = v.obj(context)
    return {"traceId": fields.get("TraceID"), "spanId": fields.get("SpanID")}


def _map(pairs: Json) -> Object:
    return {
        str(pair["Key"]): _value(pair.get("Value"))
        for pair in v.array(pairs)
        if isinstance(pair, dict) and "Key" in pair
    }


def _value(typed: Json) -> Json:
    """The value of an object that names its type: `{"Type": "STRINGSLICE", "Value": ["stop"]}`."""
    if not isinstance(typed, dict):
        return typed
    inner = typed.get("Value")
    if not isinstance(inner, list):
        return inner
    return (
        _map(inner) if str(typed.get("Type")).upper() == "MAP" else [_value(item) for item in inner]
    )


CONTAINER = Container(
    "Go's stdouttrace",
    '{"SpanContext": {"TraceID", "SpanID"}, "Name", "StartTime", "Attributes": [{"Key", "Value"}]}',
    _recognises,
    _spans,
)
