"""Braintrust: events of project logs, from its fetch and query APIs and its exports.

    {"id", "span_id", "root_span_id", "span_parents", "span_attributes": {"name", "type"}, "input",
     "output", "error", "metadata", "metrics": {"start", "end", "prompt_tokens", …}}

Each goes to the attribute its OpenTelemetry integration takes it from:

    span_attributes  braintrust.span_attributes     metadata  braintrust.metadata
    input            braintrust.input_json          metrics   braintrust.metrics
    output           braintrust.output_json         tags      braintrust.tags

Source: Braintrust API reference, `ProjectLogsEvent`, v1; its OpenTelemetry integration.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.ground import json_codec
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]

_FIELDS = {"span_attributes": "span_attributes", "input": "input_json", "output": "output_json",
           "metadata": "metadata", "metrics": "metrics", "tags": "tags"}  # fmt: skip


def _recognises(o: Object) -> bool:
    return "root_span_id" in o and "span_id" in o and ("span_parents" in o or "metrics" in o)


def _record(o: Object) -> SpanRecord:
    attributes: Attributes = {}
    for name, attribute in _FIELDS.items():
        value = o.get(name)
        if value is not None:
            encoded = value if isinstance(value, str) and name not in ("input", "output") else None
            text = encoded if encoded is not None else json_codec.dumps(v.bounded_value(value))
            v.put(attributes, f"braintrust.{attribute}", text)
    metrics = v.json_object(o.get("metrics"))
    parents = v.array(o.get("span_parents"))
    return SpanRecord(
        v.identifier(o.get("root_span_id"), 16),
        v.identifier(o.get("span_id"), 8),
        v.parent(parents[0] if parents else None),
        v.text(v.json_object(o.get("span_attributes")).get("name")),
        "INTERNAL",
        v.time_ns(v.first(metrics, "start") or o.get("created")),
        v.time_ns(metrics.get("end")),
        attributes,
        status=STATUS_ERROR if o.get("error") else "UNSET",
        status_message=_error_text(o.get("error")),
    )


def _error_text(error: Json) -> str | None:
    if error is None or isinstance(error, str):
        return error or None
    return json_codec.dumps(v.bounded_value(error))


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    return each([o], _record, report, "span_id")


CONTAINER = Container(
    "Braintrust logs",
    '{"span_id", "root_span_id", "span_parents", "span_attributes", "input", "output"}',
    _recognises,
    _spans,
    (
        "times are rounded to microseconds",
        "the kind of the span, its links, its events, its scope and its resource are not kept",
        "of the status only an error is kept",
    ),
)
