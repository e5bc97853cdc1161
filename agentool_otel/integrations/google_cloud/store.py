"""Google Cloud Trace: the answers of its API v1, and spans in the shape of its API v2.

    v1    {"traces": [{"traceId", "spans": [{"spanId" decimal, "parentSpanId", "name", "startTime",
          "labels": {…}}]}]}
    v2    {"name": "projects/p/traces/…/spans/…", "spanId", "displayName": {"value"},
          "attributes": {"attributeMap": {…: {"stringValue": {"value"}}}}, "timeEvents", "status"}

Source: Cloud Trace API reference, v1 `Trace` and v2 `Span`.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanEvent, SpanLink, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]


def _recognises(o: Object) -> bool:
    return _is_trace(o) or _is_span(o)


def _is_trace(o: Object) -> bool:
    spans = v.array(o.get("spans"))
    return "traceId" in o and any(
        "spanId" in v.obj(span) and "labels" in v.obj(span) for span in spans
    )


def _is_span(o: Object) -> bool:
    return "spanId" in o and isinstance(o.get("displayName"), dict) and "/traces/" in str(
        o.get("name")
    )  # fmt: skip


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    if _is_span(o):
        return each([o], _second, report)
    return each(o["spans"], lambda span: _first(span, o["traceId"]), report)


def _first(span: Object, trace_id: Json) -> SpanRecord:
    attributes = v.attributes(span.get("labels"))
    return SpanRecord(
        v.identifier(trace_id, 16),
        v.identifier(span.get("spanId"), 8, decimal=True),
        v.parent(span.get("parentSpanId"), decimal=True),
        v.text(span.get("name")),
        {"RPC_SERVER": "SERVER", "RPC_CLIENT": "CLIENT"}.get(v.text(span.get("kind")), "INTERNAL"),
        v.time_ns(span.get("startTime")),
        v.time_ns(span.get("endTime")),
        attributes,
        status=STATUS_ERROR if "/error/message" in attributes else "UNSET",
        status_message=v.text(attributes.pop("/error/message", None)) or None,
    )


def _second(span: Object) -> SpanRecord:
    status = v.obj(span.get("status"))  # a code of gRPC
    resource: Attributes = {}
    attributes = _attributes(span.get("attributes"))
    for name in [name for name in attributes if name.startswith("g.co/r/")]:
        resource[name] = attributes.pop(name)
    return SpanRecord(
        v.identifier(v.text(span.get("name")).partition("/traces/")[2].partition("/")[0], 16),
        v.identifier(span.get("spanId"), 8),
        v.parent(span.get("parentSpanId")),
        _text_of(span.get("displayName")),
        v.kind(span.get("spanKind")),
        v.time_ns(span.get("startTime")),
        v.time_ns(span.get("endTime")),
        attributes,
        [
            SpanEvent(_text_of(note.get("description")), time, _attributes(note.get("attributes")))
            for event in v.array(v.obj(span.get("timeEvents")).get("timeEvent"))
            for note in (v.obj(v.obj(event).get("annotation")),)
            for time in (v.time_ns(v.obj(event).get("time")),)
            if note
        ],
        [
            SpanLink(v.identifier(link.get("traceId"), 16), v.identifier(link.get("spanId"), 8),
                     _attributes(link.get("attributes")))
            for link in map(v.obj, v.array(v.obj(span.get("links")).get("link")))
        ],
        STATUS_ERROR if status.get("code") not in (None, 0) else "UNSET",
        v.text(status.get("message")) or None,
        v.text(attributes.pop("otel.scope.name", None)),
        resource,
    )  # fmt: skip


def _attributes(value: Json) -> Attributes:
    attributes: Attributes = {}
    for name, wrapped in v.obj(v.obj(value).get("attributeMap")).items():
        any_value = v.obj(wrapped)
        if "stringValue" in any_value:
            attributes[name] = _text_of(any_value["stringValue"])
        elif "intValue" in any_value:
            attributes.update(
                v.attributes([{"key": name, "value": {"intValue": any_value["intValue"]}}])
            )
        elif "boolValue" in any_value:
            attributes[name] = bool(any_value["boolValue"])
    return attributes


def _text_of(value: Json) -> str:
    return v.text(v.obj(value).get("value"))


CONTAINER = Container(
    "Google Cloud Trace",
    '{"traceId", "spans": [{"spanId", "labels"}]} or {"name", "displayName", "attributes"}',
    _recognises,
    _spans,
    (
        "attributes have no arrays and no fractions, and those of API v1 are text",
        "texts are cut at 256 bytes, or at 64 KiB by newer exporters",
        "API v1 has no events, no links and no status",
    ),
)
