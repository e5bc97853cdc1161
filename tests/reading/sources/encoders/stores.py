"""Spans as stores export them."""

from __future__ import annotations

import json

import msgspec

from agentool_otel.model.spans import Attributes, SpanEvent, SpanLink, SpanRecord
from tests.reading.sources.encoders.otlp import with_base64_ids
from tests.reading.sources.encoders.values import (
    KINDS,
    Json,
    Spans,
    dumps,
    iso,
    no_structure,
    rounded,
    texts,
)


def adot(span: SpanRecord) -> Json:
    return {
        "resource": {"attributes": span.resource},
        "scope": {"name": span.scope, "version": "1"},
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id,
        "flags": 256,
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": span.start_ns,
        "endTimeUnixNano": span.end_ns,
        "attributes": span.attributes,
        "status": {"code": span.status, "message": span.status_message},
        "events": [
            {"name": e.name, "timeUnixNano": e.time_ns, "attributes": e.attributes}
            for e in span.events
        ],
        "links": [
            {"traceId": link.trace_id, "spanId": link.span_id, "attributes": link.attributes}
            for link in span.links
        ],
    }


def cloudwatch_events(spans: Spans) -> bytes:
    events = [{"timestamp": 1, "message": json.dumps(adot(s)), "eventId": "3"} for s in spans]
    return dumps({"events": events, "searchedLogStreams": []})


def cloudwatch_insights(spans: Spans) -> bytes:
    rows = [
        [
            {"field": "@timestamp", "value": "2026-11-21 10:00:00.000"},
            {"field": "@message", "value": json.dumps(adot(span))},
        ]
        for span in spans
    ]
    return dumps({"status": "Complete", "results": rows})


JAEGER_TYPES: dict[type, str] = {bool: "bool", int: "int64", float: "float64", str: "string"}


def tags(attributes: Attributes) -> Json:
    return [
        {"key": key, "type": JAEGER_TYPES[type(value)], "value": value}
        for key, value in no_structure(attributes).items()
    ]


def jaeger(spans: Spans, typed_as_text: bool = False) -> Json:
    def one(span: SpanRecord, process: str) -> Json:
        attributes: Attributes = {**span.attributes, "otel.scope.name": span.scope}
        if span.kind != "INTERNAL":
            attributes["span.kind"] = span.kind.lower()
        if span.status != "UNSET":
            attributes["otel.status_code"] = span.status
        if span.status == "ERROR":
            attributes["error"] = True
        if span.status_message:
            attributes["otel.status_description"] = span.status_message
        start = (span.start_ns or 0) // 1000
        references = [
            {"refType": "CHILD_OF", "traceID": span.trace_id, "spanID": span.parent_id}
        ] * bool(span.parent_id) + [
            {"refType": "FOLLOWS_FROM", "traceID": link.trace_id, "spanID": link.span_id}
            for link in span.links
        ]
        return {
            "traceID": span.trace_id,
            "spanID": span.span_id,
            "operationName": span.name,
            "references": references,
            "startTime": start,
            "duration": span.end_ns and span.end_ns // 1000 - start,
            "tags": tags(attributes),
            "logs": [
                {
                    "timestamp": (event.time_ns or 0) // 1000,
                    "fields": tags({"event": event.name, **event.attributes}),
                }
                for event in span.events
            ],
            "processID": process,
        }

    names = {f"p{number}": span.resource for number, span in enumerate(spans)}
    return {
        "data": [
            {
                "traceID": span.trace_id,
                "spans": [one(span, process)],
                "processes": {
                    process: {
                        "serviceName": resource.get("service.name", ""),
                        "tags": tags({k: v for k, v in resource.items() if k != "service.name"}),
                    }
                },
            }
            for span, (process, resource) in zip(spans, names.items(), strict=True)
        ],
        "errors": None,
    }


def jaeger_kept(span: SpanRecord) -> SpanRecord:
    span = rounded(span, 1000)
    return msgspec.structs.replace(
        span,
        attributes=no_structure(span.attributes),
        events=[SpanEvent(e.name, e.time_ns, no_structure(e.attributes)) for e in span.events],
        links=[SpanLink(link.trace_id, link.span_id) for link in span.links],
        resource=no_structure(span.resource),
    )


def zipkin(span: SpanRecord) -> Json:
    start = (span.start_ns or 0) // 1000
    text = texts({**span.attributes, "otel.scope.name": span.scope})
    if span.status != "UNSET":
        text["otel.status_code"] = span.status
    if span.status == "ERROR":
        text["error"] = span.status_message or "true"
    return {
        "traceId": span.trace_id,
        "id": span.span_id,
        "parentId": span.parent_id,
        "kind": None if span.kind == "INTERNAL" else span.kind,
        "name": span.name,
        "timestamp": start,
        "duration": span.end_ns and span.end_ns // 1000 - start,
        "localEndpoint": {"serviceName": span.resource.get("service.name")},
        "tags": text,
        "annotations": [
            {
                "timestamp": (e.time_ns or 0) // 1000,
                "value": json.dumps({e.name: e.attributes}) if e.attributes else e.name,
            }
            for e in span.events
        ],
    }


def zipkin_kept(span: SpanRecord) -> SpanRecord:
    span = rounded(span, 1000)
    return msgspec.structs.replace(
        span,
        end_ns=span.end_ns if span.end_ns != span.start_ns else None,
        attributes=texts(span.attributes),
        links=[],
        resource={k: v for k, v in span.resource.items() if k == "service.name"},
    )


def phoenix(span: SpanRecord) -> Json:
    return {
        "id": "U3Bhbjox",
        "name": span.name,
        "context": {"trace_id": span.trace_id, "span_id": span.span_id},
        "span_kind": "CHAIN",
        "parent_id": span.parent_id,
        "start_time": iso(span.start_ns, 6),
        "end_time": iso(span.end_ns, 6),
        "status_code": span.status,
        "status_message": span.status_message or "",
        "attributes": span.attributes,
        "events": [
            {"name": e.name, "timestamp": iso(e.time_ns, 6), "attributes": e.attributes}
            for e in span.events
        ],
    }


def phoenix_row(span: SpanRecord) -> Json:
    flat = phoenix(span)
    for group_name in ("context", "attributes"):
        for key, value in flat.pop(group_name).items():
            flat[f"{group_name}.{key}"] = value
    return {**flat, "attributes.of.another.row": None}


def phoenix_kept(span: SpanRecord) -> SpanRecord:
    return msgspec.structs.replace(
        rounded(span, 1000),
        attributes={**span.attributes, "openinference.span.kind": "CHAIN"},
        kind="INTERNAL",
        scope="",
        resource={},
        links=[],
    )


def phoenix_row_kept(span: SpanRecord) -> SpanRecord:
    span = phoenix_kept(span)
    values = {key: value for key, value in span.attributes.items() if value is not None}
    return msgspec.structs.replace(span, attributes=values)


def langfuse(spans: Spans) -> Json:
    return {
        "trace": {"id": spans[0].trace_id, "sessionId": "s1", "tags": []},
        "observations": [
            {
                "id": span.span_id,
                "traceId": span.trace_id,
                "parentObservationId": span.parent_id,
                "type": "SPAN",
                "name": span.name,
                "startTime": iso(span.start_ns, 3),
                "endTime": iso(span.end_ns, 3),
                "level": "ERROR" if span.status == "ERROR" else "DEFAULT",
                "statusMessage": span.status_message,
                "metadata": json.dumps(
                    {
                        "attributes": span.attributes,
                        "resourceAttributes": span.resource,
                        "scope": {"name": span.scope},
                    }
                ),
            }
            for span in spans
        ],
    }


def langfuse_kept(span: SpanRecord) -> SpanRecord:
    messages = {
        "langfuse.observation.type": "span",
        "langfuse.observation.level": "ERROR" if span.status == "ERROR" else "DEFAULT",
        "session.id": "s1",
    }
    if span.status_message:
        messages["langfuse.observation.status_message"] = span.status_message
    return msgspec.structs.replace(
        rounded(span, 10**6),
        attributes={**messages, **span.attributes},
        kind="INTERNAL",
        events=[],
        links=[],
        status="ERROR" if span.status == "ERROR" else "UNSET",
    )


def mlflow(spans: Spans) -> Json:
    return {
        "info": {"trace_id": "tr-" + spans[0].trace_id, "state": "OK"},
        "data": {
            "spans": [
                with_base64_ids({
                    "traceId": span.trace_id, "spanId": span.span_id,
                    **({"parentSpanId": span.parent_id} if span.parent_id else {}),
                })
                | {
                    "name": span.name,
                    "start_time_unix_nano": span.start_ns,
                    "end_time_unix_nano": span.end_ns,
                    "status": {
                        "code": "STATUS_CODE_" + span.status,
                        "message": span.status_message,
                    },
                    "attributes": {
                        "mlflow.spanType": '"CHAIN"',
                        **{key: json.dumps(value) for key, value in span.attributes.items()},
                    },
                    "events": [
                        {"name": e.name, "time_unix_nano": e.time_ns, "attributes": e.attributes}
                        for e in span.events
                    ],
                    "links": [
                        {
                            "trace_id": "tr-" + link.trace_id,
                            "span_id": link.span_id,
                            "attributes": link.attributes,
                        }
                        for link in span.links
                    ],
                }
                for span in spans
            ]
        },
    }  # fmt: skip


def mlflow_kept(span: SpanRecord) -> SpanRecord:
    return msgspec.structs.replace(
        span,
        attributes={"mlflow.spanType": '"CHAIN"', **span.attributes},
        kind="INTERNAL",
        scope="",
        resource={},
    )


def trulens(span: SpanRecord) -> Json:
    def decimal(hexadecimal: str | None) -> str:
        return str(int(hexadecimal, 16)) if hexadecimal else ""

    def local(ns: int | None) -> str | None:
        text = iso(ns, 6)
        return text and text.replace("T", " ").removesuffix("Z")

    return {
        "event_id": decimal(span.span_id),
        "record": {
            "kind": KINDS.index(span.kind) + 1,
            "name": span.name,
            "parent_span_id": decimal(span.parent_id),
            "status": "STATUS_CODE_" + span.status,
        },
        "record_attributes": span.attributes,
        "record_type": "SPAN",
        "resource_attributes": span.resource,
        "start_timestamp": local(span.start_ns),
        "timestamp": local(span.end_ns),
        "trace": {
            "parent_id": decimal(span.parent_id),
            "span_id": decimal(span.span_id),
            "trace_id": decimal(span.trace_id),
        },
    }


def trulens_kept(span: SpanRecord) -> SpanRecord:
    return msgspec.structs.replace(
        rounded(span, 1000), scope="", events=[], links=[], status_message=None
    )
