"""Flat rows of column stores and data frames: a span a row, its attributes in columns.

    ClickHouse exporter   TraceId, SpanId, SpanAttributes (a map), Timestamp, Duration, Events.Name…
    SigNoz                trace_id, attributes_string, attributes_number, attributes_bool
    VictoriaTraces        trace_id, span_attr:…, resource_attr:…, scope_attr:…, event:0:…, link:0:…
    Phoenix data frame    context.trace_id, attributes.…, span_kind
    Honeycomb             trace.trace_id, trace.span_id, trace.parent_id, duration_ms
    New Relic             trace.id, guid, parent.id, duration.ms
    SigNoz API, Axiom     {"timestamp" or "_time", "data": {the row}}
    OpenSearch            traceId, span.attributes.gen_ai@operation@name, durationInNanos
    any other             ids, times and one column per attribute, by its dotted name

A row becomes a span object. Source: opentelemetry-collector-contrib exporter/clickhouseexporter
v0.164 traces.go; SigNoz signoz_traces v3; VictoriaMetrics/VictoriaTraces v0.13 LogsQL; Honeycomb
documentation, "Trace data with OpenTelemetry"; New Relic documentation, `Span` attributes;
opensearch-project/data-prepper `otel-trace-source`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.stores import any_span, span_object
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.registry import store_of
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report

__all__ = ["CONTAINER"]

_GROUPS = {
    "attributes": "attributes", "span_attributes": "attributes", "span_attr": "attributes",
    "SpanAttributes": "attributes", "resource": "resource", "resource_attributes": "resource",
    "resource_attr": "resource", "ResourceAttributes": "resource", "context": "context",
    "status": "status", "scope": "scope", "instrumentation_scope": "scope", "Events": "Events",
    "Links": "Links", "event": "event", "link": "link",
}  # fmt: skip
"""Prefixes of columns, before a dot or a colon, by the member of a span object they belong to."""
_MAPS = {
    "attributes_string": "attributes", "attributes_number": "attributes",
    "attributes_bool": "attributes", "resources_string": "resource",
    "SpanAttributes": "attributes", "ResourceAttributes": "resource",
}  # fmt: skip
_COLUMNS = {
    "trace.trace_id": "trace_id", "trace.id": "trace_id",
    "trace.span_id": "span_id", "span.id": "span_id",
    "trace.parent_id": "parent_id", "parent.id": "parent_id",
    "duration.ms": "duration_ms", "durationInNanos": "duration_ns",
    "span.kind": "kind", "library.name": "scope", "otel.library.name": "scope",
    "otel.scope.name": "scope", "instrumentationScope.name": "scope",
    "otel.status_code": "status_code", "otel.status_description": "status_message",
    "status.code": "status_code", "status.message": "status_message",
}  # fmt: skip
"""Columns with names of their own, by the member of a span object they are."""
_ATTRIBUTE, _RESOURCE = "span.attributes.", "resource.attributes."
_MAPS_OF_A_SPAN = ("attributes", "span_attributes", "spanAttributes")


def _recognises(o: Object) -> bool:
    o = _inner(o)
    if not any(name in _MAPS or "." in name or ":" in name for name in o):
        return False
    return span_object.recognises(_span(o, read=False))


def _inner(o: Object) -> Object:
    """Return the row inside an object that has its time apart."""
    time = v.first(o, "_time", "timestamp")
    inner = o.get("data")
    return o if time is None or not isinstance(inner, dict) else {"_time": time, **inner}


def _span(row: Object, *, read: bool = True) -> Object:
    """Return the span object of a row.

    Args:
        row: the row.
        read: whether attributes are wanted that are in one cell; those have to be parsed.
    """
    row = _inner(row)
    span, groups, loose = _members(row, read)
    for name, members in groups.items():
        _add_group(span, name, members)
    if loose:
        loose = {column: value for column, value in loose.items() if value is not None}
        named = [name for name in _MAPS_OF_A_SPAN if isinstance(span.get(name), (dict, str))]
        if named:
            loose.update(v.attributes(span.pop(named[0])))
        span["attributes"] = loose
    return span


def _members(row: Object, read: bool) -> tuple[Object, dict[str, Object], Object]:
    """Return the cells of a row as members of a span object, as members of its groups, and those
    that are attributes if it has no others."""
    span: Object = {}
    groups: dict[str, Object] = {}
    loose: Object = {}
    for column, value in row.items():
        kind, target, remainder = _place(column)
        if kind == "member":
            span[target] = value
        elif kind == "named":
            if value is not None:
                span.setdefault(target, value)
        elif kind == "map":
            group = groups.setdefault(target, {})
            if read:
                group.update(v.attributes(value))
        elif kind == "loose":
            loose[target] = value
        elif value is not None or kind == "attribute":  # a data frame has cells for other rows'
            groups.setdefault(target, {})[remainder] = value
    return span, groups, loose


def _add_group(span: Object, name: str, members: Object) -> None:
    if name in ("event", "link"):
        span.setdefault(f"{name}s", _collect_numbered(members))
    elif isinstance(span.get(name), dict):
        span[name] = {**span[name], **members}
    else:
        span[name] = {"attributes": members} if name == "resource" else members


_Place = tuple[Literal["named", "attribute", "map", "in group", "loose", "member"], str, str]


@lru_cache(4096)
def _place(column: str) -> _Place:
    """Return the meaning of a column, the member of a span object that it belongs to, and its name
    there.

    The columns of all rows are the same, mostly.
    """
    if column in _COLUMNS:
        return "named", _COLUMNS[column], ""
    if column.startswith((_ATTRIBUTE, _RESOURCE)):  # OpenSearch has dots for nesting only
        group = "attributes" if column.startswith(_ATTRIBUTE) else "resource"
        name = column.removeprefix(_ATTRIBUTE).removeprefix(_RESOURCE).replace("@", ".")
        return "attribute", group, name
    if column in _MAPS:
        return "map", _MAPS[column], ""
    prefix, mark, remainder = _split(column)
    if mark and remainder and prefix in _GROUPS:
        return "in group", _GROUPS[prefix], remainder
    return ("loose" if "." in column else "member"), column, ""


def _split(column: str) -> tuple[str, str, str]:
    dot, colon = column.find("."), column.find(":")
    if colon >= 0 and (dot < 0 or colon < dot):
        return column.partition(":")
    return column.partition(".")


def _collect_numbered(members: Object) -> list[Json]:
    """Return `0:event_name`, `0:event_attr:x`, … as a list of objects."""
    numbered: dict[str, Object] = {}
    for name, value in members.items():
        number, _, field = name.partition(":")
        item = numbered.setdefault(number, {"attributes": {}})
        prefix, mark, attribute = field.partition(":")
        if mark and prefix.endswith("attr"):
            item["attributes"][attribute] = value
        else:
            item[field.removeprefix("event_")] = value
    return [numbered[number] for number in sorted(numbered, key=lambda n: (len(n), n))]


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    span = _span(o)
    store = store_of(span)  # some write rows of their own span objects
    return any_span.spans(span, report) if store is None else store.spans(span, report)


CONTAINER = Container(
    "rows of a column store",
    '{"TraceId", "SpanId", "SpanAttributes"} or {"trace_id", "span_id", "gen_ai.…", …}',
    _recognises,
    _spans,
    ("most column stores keep attribute values as text, and of the scope only its name",),
)
