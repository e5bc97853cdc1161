"""Zipkin JSON v2: a list of spans with microseconds, tags of text and annotations.

    [{"traceId", "id", "parentId", "kind", "name", "timestamp", "duration",
      "localEndpoint": {"serviceName"}, "tags": {}, "annotations": [{"timestamp", "value"}]}]

Spec: zipkin-api zipkin2-api.yaml; what OpenTelemetry makes of a span: opentelemetry-specification,
trace/sdk_exporters/zipkin.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import STATUS_ERROR, SpanEvent, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]

_SCOPE = ("otel.scope.name", "otel.library.name")
_MICROSECOND = 1000


def _recognises(o: Object) -> bool:
    return (
        "traceId" in o
        and "id" in o
        and "attributes" not in o
        and any(name in o for name in ("tags", "localEndpoint", "annotations", "duration"))
        and not isinstance(o.get("tags"), list)
    )


def _record(o: Object) -> SpanRecord:
    attributes = v.attributes(v.obj(o.get("tags")))
    code = v.status(attributes.pop("otel.status_code", None))
    message = attributes.pop("otel.status_description", None)
    if "error" in attributes and code in ("UNSET", STATUS_ERROR):
        code = STATUS_ERROR
        error = attributes.pop("error")
        message = message or (error if error != "true" else None)
    scope = next((attributes[name] for name in _SCOPE if name in attributes), "")
    for name in (*_SCOPE, "otel.scope.version", "otel.library.version"):
        attributes.pop(name, None)
    start = v.time_ns(o.get("timestamp"), _MICROSECOND)
    duration = v.time_ns(o.get("duration"), _MICROSECOND)
    service = v.text(v.obj(o.get("localEndpoint")).get("serviceName"))
    return SpanRecord(
        v.identifier(o.get("traceId"), 16),
        v.identifier(o.get("id"), 8),
        v.parent(o.get("parentId")),
        v.text(o.get("name")),
        v.kind(o.get("kind")),
        start,
        start + duration if start and duration else None,
        attributes,
        _events(o.get("annotations")),
        [],
        code,
        v.text(message) or None,
        v.text(scope),
        {"service.name": service} if service else {},
    )  # fmt: skip


def _events(value: Json) -> list[SpanEvent]:
    """An event with attributes is `{"name": {attributes}}`, or that without its braces."""
    events: list[SpanEvent] = []
    for item in v.array(value):
        annotation = v.obj(item)
        content = v.text(annotation.get("value"))
        time = v.time_ns(annotation.get("timestamp"), _MICROSECOND)
        parsed = v.json_object(content if content.startswith("{") else f"{{{content}}}")
        if len(parsed) == 1 and isinstance(next(iter(parsed.values())), (dict, str)):
            ((name, inner),) = parsed.items()
            if isinstance(inner, str):  # JSON in JSON
                inner = v.json_object(inner)
            events.append(SpanEvent(name, time, v.attributes(inner)))
        else:
            events.append(SpanEvent(content, time, {}))
    return events


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    return each([o], _record, report)


CONTAINER = Container(
    "Zipkin JSON v2",
    '{"traceId", "id", "timestamp", "localEndpoint", "tags"}',
    _recognises,
    _spans,
    (
        "times are rounded to microseconds; a span shorter than that looks unfinished",
        "attribute values are text",
        "the resource is reduced to the name of the service",
        "links are not kept",
    ),
)
