"""Spans as SDKs print them or keep them in files of their own."""

from __future__ import annotations

import json

import msgspec

from agentool_otel.model.spans import Attributes, SpanRecord
from tests.reading.sources.encoders.values import KINDS, STATUSES, Json, Spans, iso, nested, rounded


def python_json(span: SpanRecord) -> Json:
    return {
        "name": span.name,
        "context": {
            "trace_id": "0x" + span.trace_id,
            "span_id": "0x" + span.span_id,
            "trace_state": "[]",
        },
        "kind": "SpanKind." + span.kind,
        "parent_id": span.parent_id and "0x" + span.parent_id,
        "start_time": iso(span.start_ns, 6),
        "end_time": iso(span.end_ns, 6),
        "status": {"status_code": span.status}
        | ({"description": span.status_message} if span.status_message else {}),
        "attributes": span.attributes,
        "events": [
            {"name": e.name, "timestamp": iso(e.time_ns, 6), "attributes": e.attributes}
            for e in span.events
        ],
        "links": [
            {
                "context": {"trace_id": "0x" + link.trace_id, "span_id": "0x" + link.span_id},
                "attributes": link.attributes,
            }
            for link in span.links
        ],
        "resource": {"attributes": span.resource, "schema_url": ""},
    }


def python_kept(span: SpanRecord) -> SpanRecord:
    return msgspec.structs.replace(rounded(span, 1000), scope="")


def console(spans: Spans) -> bytes:
    return "".join(f"a line\n{json.dumps(python_json(s), indent=4)}\n" for s in spans).encode()


def hr_time(ns: int | None) -> list[int]:
    return list(divmod(ns or 0, 10**9))


def javascript(span: SpanRecord) -> Json:
    return {
        "name": span.name,
        "kind": KINDS.index(span.kind),
        "spanContext": {"traceId": span.trace_id, "spanId": span.span_id, "traceFlags": 1},
        "parentSpanContext": {"traceId": span.trace_id, "spanId": span.parent_id}
        if span.parent_id
        else None,
        "startTime": hr_time(span.start_ns),
        "endTime": hr_time(span.end_ns),
        "status": {"code": STATUSES.index(span.status)}
        | ({"message": span.status_message} if span.status_message else {}),
        "attributes": span.attributes,
        "events": [
            {"name": e.name, "time": hr_time(e.time_ns), "attributes": e.attributes}
            for e in span.events
        ],
        "links": [
            {
                "context": {"traceId": link.trace_id, "spanId": link.span_id},
                "attributes": link.attributes,
            }
            for link in span.links
        ],
        "resource": {"attributes": span.resource},
        "instrumentationScope": {"name": span.scope, "version": "1"},
    }


def javascript_console(span: SpanRecord) -> Json:
    start = (span.start_ns or 0) // 1000
    return {
        **javascript(span),
        "spanContext": None,
        "traceId": span.trace_id,
        "id": span.span_id,
        "startTime": None,
        "endTime": None,
        "timestamp": start,
        "duration": span.end_ns and span.end_ns // 1000 - start,
    }


def any_agent(span: SpanRecord) -> Json:
    def ids(trace_id: str, span_id: str) -> Json:
        return {"trace_id": int(trace_id, 16), "span_id": int(span_id, 16), "is_remote": False}

    return {
        **python_json(span),
        "kind": span.kind.lower(),
        "context": ids(span.trace_id, span.span_id),
        "parent": ids(span.trace_id, span.parent_id) if span.parent_id else None,
        "parent_id": None,
        "start_time": span.start_ns,
        "end_time": span.end_ns,
        "status": {"status_code": span.status.lower(), "description": span.status_message},
        "events": [
            {"name": e.name, "timestamp": e.time_ns, "attributes": e.attributes}
            for e in span.events
        ],
        "links": [
            {"context": ids(link.trace_id, link.span_id), "attributes": link.attributes}
            for link in span.links
        ],
    }


def strands(span: SpanRecord) -> Json:
    return {
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "parent_span_id": span.parent_id,
        "name": span.name,
        "start_time": span.start_ns,
        "end_time": span.end_ns,
        "attributes": span.attributes,
        "scope": {"name": span.scope, "version": "1"},
        "status": {"code": span.status, "message": span.status_message},
        "span_events": [
            {"event_name": e.name, "timestamp": e.time_ns, "attributes": e.attributes}
            for e in span.events
        ],
    }


def strands_kept(span: SpanRecord) -> SpanRecord:
    return msgspec.structs.replace(span, kind="INTERNAL", resource={}, links=[])


def nested_python(span: SpanRecord) -> Json:
    return python_json(span) | {
        "attributes": nested(span.attributes),
        "resource": {"attributes": nested(span.resource)},
    }


def spread(span: SpanRecord) -> SpanRecord:
    """Return a span with flat names: an object looks the same as a name with more parts."""

    def flat(attributes: Attributes) -> Attributes:
        result: Attributes = {}
        for key, value in attributes.items():
            if isinstance(value, dict) and value:
                result |= flat({f"{key}.{name}": inner for name, inner in value.items()})
            else:
                result[key] = value
        return result

    return msgspec.structs.replace(
        python_kept(span), attributes=flat(span.attributes), resource=flat(span.resource)
    )


_GO_TYPES = {bool: "BOOL", int: "INT64", float: "FLOAT64", str: "STRING"}


def go_value(value: Json) -> Json:
    if isinstance(value, dict):
        return {"Type": "MAP", "Value": go_pairs(value)}
    if isinstance(value, list):
        return {"Type": "SLICE", "Value": [go_value(item) for item in value]}
    return {"Type": _GO_TYPES[type(value)], "Value": value}


def go_pairs(attributes: Attributes) -> Json:
    return [{"Key": key, "Value": go_value(value)} for key, value in attributes.items()]


def go(span: SpanRecord) -> Json:
    """As `stdouttrace` prints it; a slice of one type has its values as they are."""

    def context(span_id: str | None, trace_id: str = span.trace_id) -> Json:
        return {"TraceID": trace_id, "SpanID": span_id or "0" * 16, "TraceFlags": "01"}

    return {
        "Name": span.name,
        "SpanContext": context(span.span_id),
        "Parent": context(span.parent_id),
        "SpanKind": KINDS.index(span.kind) + 1,
        "StartTime": iso(span.start_ns, 9),
        "EndTime": iso(span.end_ns, 9),
        "Attributes": go_pairs(span.attributes),
        "Events": [
            {"Name": e.name, "Attributes": go_pairs(e.attributes), "Time": iso(e.time_ns, 9)}
            for e in span.events
        ]
        or None,
        "Links": [
            {
                "SpanContext": context(link.span_id, link.trace_id),
                "Attributes": go_pairs(link.attributes),
            }
            for link in span.links
        ]
        or None,
        "Status": {
            "Code": span.status.capitalize() if span.status != "OK" else "Ok",
            "Description": span.status_message or "",
        },
        "Resource": go_pairs(span.resource),
        "InstrumentationScope": {"Name": span.scope, "Version": ""},
    }
