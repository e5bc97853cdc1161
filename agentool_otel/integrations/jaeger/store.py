"""Jaeger's own JSON, from downloads of the UI, `/api/traces` and Elasticsearch.

    {"data": [{"traceID", "spans": [...], "processes": {"p1": {"serviceName", "tags"}}}]}

Source: jaegertracing/jaeger internal/uimodel `Span`; the tags that OpenTelemetry data is folded
into: opentelemetry-specification, trace/sdk_exporters/jaeger.md. Those are unfolded here.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanEvent, SpanLink, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]

_SCOPE = ("otel.scope.name", "otel.library.name")
_MICROSECOND = 1000


def _recognises(o: Object) -> bool:
    if isinstance(o.get("spans"), list) and isinstance(o.get("processes"), dict):
        return True
    return "traceID" in o and "spanID" in o and "operationName" in o


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    if "spans" not in o:  # a span by itself, with its process in it
        process = _process(o.get("process"))
        yield from each([o], lambda span: _record(span, process), report, "operationName")
        return
    processes = {key: _process(value) for key, value in v.obj(o.get("processes")).items()}

    def record(span: Object) -> SpanRecord:
        inline = span.get("process")
        named = processes.get(v.text(span.get("processID")), {})
        return _record(span, _process(inline) if isinstance(inline, dict) else named)

    yield from each(o["spans"], record, report, "operationName")


def _record(span: Object, resource: Attributes) -> SpanRecord:
    attributes = _tags(v.first(span, "tags", "tag"))
    parent, links = _references(span)
    code = v.status(attributes.pop("otel.status_code", None))
    if code == "UNSET" and str(attributes.get("error")).lower() == "true":
        code = STATUS_ERROR
    if code == STATUS_ERROR:
        attributes.pop("error", None)
    message = attributes.pop("otel.status_description", None)
    scope = next((attributes[name] for name in _SCOPE if name in attributes), "")
    for name in (*_SCOPE, "otel.scope.version", "otel.library.version", "internal.span.format"):
        attributes.pop(name, None)
    start = v.time_ns(span.get("startTime"), _MICROSECOND)
    duration = span.get("duration")
    return SpanRecord(
        v.identifier(span.get("traceID"), 16),
        v.identifier(span.get("spanID"), 8),
        parent or v.parent(span.get("parentSpanID")),
        v.text(span.get("operationName")),
        v.kind(attributes.pop("span.kind", None)),
        start,
        _end(start, duration),
        attributes,
        [_event(log) for log in _objects(span.get("logs"))],
        links,
        code,
        v.text(message) or None,
        v.text(scope),
        resource,
    )


def _end(start: int | None, duration: Json) -> int | None:
    if start is None or duration is None:
        return None
    return start + (v.time_ns(duration, _MICROSECOND) or 0)


def _references(span: Object) -> tuple[str | None, list[SpanLink]]:
    """A span has one parent, the first CHILD_OF of its own trace; all others are links."""
    parent: str | None = None
    links: list[SpanLink] = []
    trace_id = v.identifier(span.get("traceID"), 16)
    for reference in _objects(span.get("references")):
        if reference.get("spanID") in (None, ""):
            continue
        other = v.identifier(reference.get("traceID"), 16)
        span_id = v.identifier(reference.get("spanID"), 8)
        if parent is None and reference.get("refType") == "CHILD_OF" and other == trace_id:
            parent = str(span_id)
        else:
            links.append(SpanLink(other, span_id))
    return parent, links


def _event(log: Object) -> SpanEvent:
    fields = _tags(log.get("fields"))
    name = v.text(fields.pop("event", None))
    return SpanEvent(name, v.time_ns(log.get("timestamp"), _MICROSECOND), fields)


def _process(value: Json) -> Attributes:
    process = v.obj(value)
    resource = _tags(v.first(process, "tags", "tag"))
    if name := v.text(process.get("serviceName")):
        resource.setdefault("service.name", name)
    return resource


def _tags(value: Json) -> Attributes:
    """Elasticsearch may keep tags as an object, with `@` in place of the dots of a name."""
    if isinstance(value, dict):
        return {name.replace("@", "."): item for name, item in v.attributes(value).items()}
    return {
        tag["key"]: _typed_value(tag) for tag in _objects(value) if isinstance(tag.get("key"), str)
    }


def _typed_value(tag: Object) -> Any:
    value = v.bounded_value(tag.get("value"))
    sort = tag.get("type")
    if not isinstance(value, str) or sort in (None, "string"):
        return float(value) if sort == "float64" and type(value) is int else value
    try:  # Elasticsearch keeps every value as text
        if sort == "int64":
            return int(value[:40])
        if sort == "float64":
            return float(value)
        if sort == "binary":
            return base64.b64decode(value, validate=True)
    except ValueError:
        return value
    return value == "true" if sort == "bool" else value


def _objects(value: Json) -> Iterator[Object]:
    return (
        (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
    )


CONTAINER = Container(
    "Jaeger JSON",
    '{"data": [{"traceID", "spans", "processes"}]}',
    _recognises,
    _spans,
    (
        "times are rounded to microseconds",
        "array attributes are JSON text",
        "attributes of links and of the scope are not kept",
    ),
)
