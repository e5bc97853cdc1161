"""Comet Opik: traces and spans from its REST API, its SDK and its exports.

    span     {"id", "trace_id", "parent_span_id", "name", "type", "input", "output", "usage",
             "model", "provider", "error_info", "total_estimated_cost"}
    trace    {"id", "project_id", "name", "thread_id", "input", "output"}: the root of its spans

They become attributes `opik.<name>`; of them `opik.span.type`, `opik.input`, `opik.output` and
`opik.thread_id` are names of its own OpenTelemetry integration too.

Source: Opik REST API reference, `Span_Public`, `Trace_Public`, v1.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]

_FIELDS = {"type": "span.type", "input": "input", "output": "output", "model": "model",
           "provider": "provider", "usage": "usage", "thread_id": "thread_id",
           "total_estimated_cost": "total_estimated_cost", "metadata": "metadata",
           "tags": "tags"}  # fmt: skip
_TYPES = ("general", "llm", "tool", "guardrail")
_OF_A_SPAN = ("input", "output", "parent_span_id", "usage", "start_time")
_OF_A_TRACE = ("thread_id", "span_count", "llm_span_count", "project_id", "project_name")


def _recognises(o: Object) -> bool:
    return _is_span(o) or _is_trace(o)


def _is_span(o: Object) -> bool:
    typed = o.get("type") in _TYPES and any(name in o for name in _OF_A_SPAN)
    return "id" in o and "trace_id" in o and typed


def _is_trace(o: Object) -> bool:
    return (
        "id" in o
        and "trace_id" not in o
        and "start_time" in o
        and ("input" in o or "output" in o)
        and any(name in o for name in _OF_A_TRACE)
    )


def _record(o: Object) -> SpanRecord:
    trace_id = o["trace_id"] if _is_span(o) else o["id"]
    root = v.identifier(trace_id, 8)
    attributes: Attributes = {}
    for name, attribute in _FIELDS.items():
        v.put(attributes, f"opik.{attribute}", o.get(name))
    if not _is_span(o):
        attributes.pop("opik.usage", None)  # the sum of its spans', as is the cost
        attributes.pop("opik.total_estimated_cost", None)
        attributes["opik.span.type"] = "trace"
    error = v.obj(o.get("error_info"))
    v.put(attributes, "error.type", error.get("exception_type"))
    return SpanRecord(
        v.identifier(trace_id, 16),
        v.identifier(o.get("id"), 8),
        (v.parent(o.get("parent_span_id")) or root) if _is_span(o) else None,
        v.text(o.get("name")),
        "INTERNAL",
        v.time_ns(o.get("start_time")),
        v.time_ns(o.get("end_time")),
        attributes,
        status=STATUS_ERROR if error else "UNSET",
        status_message=v.text(error.get("message")) or None,
    )


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    return each([o], _record, report)


CONTAINER = Container(
    "Opik traces and spans",
    '{"id", "trace_id", "parent_span_id", "type", "input", "output"}',
    _recognises,
    _spans,
    (
        "the kind of the span, its links, its events, its scope and its resource are not kept",
        "of the status only an error is kept",
    ),
)
