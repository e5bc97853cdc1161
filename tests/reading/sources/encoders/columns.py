"""Spans as rows of column stores."""

from __future__ import annotations

import json

import msgspec

from agentool_otel.model.spans import SpanEvent, SpanLink, SpanRecord
from tests.reading.sources.encoders.values import (
    KINDS,
    STATUSES,
    Json,
    as_text,
    iso,
    no_structure,
    texts,
)


def clickhouse(span: SpanRecord) -> Json:
    def stamp(ns: int | None) -> str:
        text = iso(ns) or ""
        return text.replace("T", " ").removesuffix("Z")

    return {
        "Timestamp": stamp(span.start_ns),
        "TraceId": span.trace_id,
        "SpanId": span.span_id,
        "ParentSpanId": span.parent_id or "",
        "TraceState": "",
        "SpanName": span.name,
        "SpanKind": span.kind.capitalize(),
        "ServiceName": span.resource.get("service.name", ""),
        "ResourceAttributes": texts(span.resource),
        "ScopeName": span.scope,
        "ScopeVersion": "1",
        "SpanAttributes": texts(span.attributes),
        "Duration": str((span.end_ns or 0) - (span.start_ns or 0)),
        "StatusCode": span.status.capitalize(),
        "StatusMessage": span.status_message or "",
        "Events.Timestamp": [stamp(e.time_ns) for e in span.events],
        "Events.Name": [e.name for e in span.events],
        "Events.Attributes": [texts(e.attributes) for e in span.events],
        "Links.TraceId": [link.trace_id for link in span.links],
        "Links.SpanId": [link.span_id for link in span.links],
        "Links.Attributes": [texts(link.attributes) for link in span.links],
    }


def clickhouse_kept(span: SpanRecord) -> SpanRecord:
    return msgspec.structs.replace(
        span,
        attributes=texts(span.attributes),
        resource=texts(span.resource),
        events=[SpanEvent(e.name, e.time_ns, texts(e.attributes)) for e in span.events],
        links=[
            SpanLink(link.trace_id, link.span_id, texts(link.attributes)) for link in span.links
        ],
    )


def victoria(span: SpanRecord) -> Json:
    row = {
        "_time": iso(span.start_ns),
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "parent_span_id": span.parent_id or "",
        "name": span.name,
        "kind": str(KINDS.index(span.kind) + 1),
        "start_time_unix_nano": str(span.start_ns),
        "end_time_unix_nano": str(span.end_ns or 0),
        "duration": str((span.end_ns or 0) - (span.start_ns or 0)),
        "status_code": str(STATUSES.index(span.status)),
        "status_message": span.status_message or "",
        "scope_name": span.scope,
    }
    row |= {f"span_attr:{key}": as_text(value) for key, value in span.attributes.items()}
    row |= {f"resource_attr:{key}": as_text(value) for key, value in span.resource.items()}
    for number, event in enumerate(span.events):
        row[f"event:{number}:event_name"] = event.name
        row[f"event:{number}:event_time_unix_nano"] = str(event.time_ns)
        for key, value in event.attributes.items():
            row[f"event:{number}:event_attr:{key}"] = as_text(value)
    return row


def victoria_kept(span: SpanRecord) -> SpanRecord:
    return msgspec.structs.replace(clickhouse_kept(span), links=[])


def signoz(span: SpanRecord) -> Json:
    structure = no_structure(span.attributes)
    return {
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "parent_span_id": span.parent_id or "",
        "name": span.name,
        "kind": KINDS.index(span.kind) + 1,
        "timestamp": iso(span.start_ns),
        "duration_nano": (span.end_ns or 0) - (span.start_ns or 0),
        "status_code": STATUSES.index(span.status),
        "status_message": span.status_message or "",
        "attributes_string": {k: v for k, v in structure.items() if isinstance(v, str)},
        "attributes_bool": {k: v for k, v in structure.items() if isinstance(v, bool)},
        "attributes_number": {k: v for k, v in structure.items() if not isinstance(v, (str, bool))},
        "resources_string": texts(span.resource),
        "events": [
            json.dumps({"name": e.name, "timeUnixNano": e.time_ns, "attributes": e.attributes})
            for e in span.events
        ],
    }


def signoz_kept(span: SpanRecord) -> SpanRecord:
    return msgspec.structs.replace(
        span,
        attributes=no_structure(span.attributes),
        resource=texts(span.resource),
        scope="",
        links=[],
    )


def columns(span: SpanRecord) -> Json:
    return {
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "parent_id": span.parent_id,
        "name": span.name,
        "kind": span.kind,
        "start_time": span.start_ns,
        "end_time": span.end_ns,
        "status_code": span.status,
        "status_message": span.status_message,
        "scope.name": span.scope,
        **{f"resource.{key}": value for key, value in span.resource.items()},
        **span.attributes,
    }


def columns_kept(span: SpanRecord) -> SpanRecord:
    values = {key: value for key, value in span.attributes.items() if value is not None}
    return msgspec.structs.replace(span, attributes=values, events=[], links=[])
