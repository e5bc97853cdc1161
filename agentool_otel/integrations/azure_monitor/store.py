"""Azure Monitor: rows of Application Insights and of its Log Analytics workspace.

    dependencies, requests        {"id", "operation_Id", "operation_ParentId", "name", "timestamp",
                                  "duration" in ms, "success", "customDimensions": JSON text}
    AppDependencies, AppRequests  {"Id", "OperationId", "ParentId", "Name", "TimeGenerated",
                                  "DurationMs", "Success", "Properties": JSON text}
    traces, AppTraces             log records: {"message", "operation_ParentId", …} without an id
    exceptions, AppExceptions     the exception events of spans

Source: Azure Monitor documentation, Application Insights telemetry data model; azure-sdk-for-python
sdk/monitor/azure-monitor-opentelemetry-exporter `_exporter.py` for what becomes of a span.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanEvent, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]

_TRACE, _PARENT = ("operation_Id", "OperationId"), ("operation_ParentId", "ParentId")
_ATTRIBUTES = ("customDimensions", "Properties")
_TIME = ("timestamp", "TimeGenerated")
_MILLISECOND = 10**6


def _recognises(o: Object) -> bool:
    return (
        v.first(o, *_TRACE) is not None
        and v.first(o, *_TIME) is not None
        and (v.first(o, *_ATTRIBUTES) is not None or v.first(o, *_PARENT) is not None)
    )


def _record(o: Object) -> SpanRecord:
    trace_id = v.identifier(v.first(o, *_TRACE), 16)
    attributes = v.attributes(v.first(o, *_ATTRIBUTES))
    start = v.time_ns(v.first(o, *_TIME))
    parent = v.first(o, *_PARENT)
    own_id = v.first(o, "id", "Id")
    if own_id is None:
        event = _event(o, start, attributes)
        return SpanRecord(trace_id, v.identifier(parent, 8), events=[event])
    duration = v.first(o, "duration", "DurationMs")
    elapsed = 0 if duration in (0, "0") else v.time_ns(duration, _MILLISECOND)
    is_request = v.first(o, "itemType", "Type") in ("request", "AppRequests")
    inner = v.first(o, "type", "DependencyType") == "InProc"
    service = v.text(v.first(o, "cloud_RoleName", "AppRoleName"))
    return SpanRecord(
        trace_id,
        v.identifier(own_id, 8),
        None if parent == v.first(o, *_TRACE) else v.parent(parent),  # a root names its trace
        v.text(v.first(o, "name", "Name")),
        "SERVER" if is_request else "INTERNAL" if inner else "CLIENT",
        start,
        start + elapsed if start is not None and elapsed is not None else None,
        attributes,
        [],
        [],
        STATUS_ERROR if str(v.first(o, "success", "Success")).lower() == "false" else "UNSET",
        None,
        "",
        {"service.name": service} if service else {},
    )  # fmt: skip


def _event(o: Object, time: int | None, attributes: Attributes) -> SpanEvent:
    raised = v.text(v.first(o, "exceptionType", "ExceptionType", "problemId"))
    message = v.first(o, "message", "Message", "outerMessage", "OuterMessage")
    if raised or v.first(o, "itemType", "Type") in ("exception", "AppExceptions"):
        v.put(attributes, "exception.type", raised or v.text(v.first(o, "type")))
        v.put(attributes, "exception.message", message)
        return SpanEvent("exception", time, attributes)
    for name, value in v.json_object(message).items():
        attributes.setdefault(name, value)
    return SpanEvent(v.text(attributes.get("event.name")), time, attributes)


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    return each([o], _record, report)


CONTAINER = Container(
    "rows of Azure Monitor",
    '{"operation_Id", "id", "customDimensions"} or {"OperationId", "Id", "Properties"}',
    _recognises,
    _spans,
    (
        "attribute values are text, cut at 8192 characters",
        "the kind of the span, its scope, its links and the words of its status are not kept",
        "of the resource only the name of the service is kept",
    ),
)
