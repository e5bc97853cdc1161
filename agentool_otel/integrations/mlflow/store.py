"""MLflow traces: `Trace.to_json`, `traces/get`, and files the UI downloads.

    {"info": {"trace_id", "trace_metadata", "tags"}, "data": {"spans": [...]}}

MLflow keeps every attribute as JSON text. The ones of its own namespace (`mlflow.spanType`,
`mlflow.spanInputs`, `mlflow.spanOutputs`, `mlflow.chat.tokenUsage`, …) stay so, as its OTLP
exporter writes them; foreign ones are decoded. Of the trace's metadata `mlflow.trace.session` and
`mlflow.trace.user` go to every span and other `mlflow.trace.*` to the roots.

Source: mlflow/entities/{span,trace,trace_info}.py v3.17; spans of v2 had a `context` instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.ground import json_codec
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.reading.sources.stores import span_object
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]

_EVERYWHERE = ("mlflow.trace.session", "mlflow.trace.user")


def _recognises(o: Object) -> bool:
    return _is_trace(o) or (
        any(name.startswith("mlflow.") for name in v.obj(o.get("attributes")))
        and span_object.recognises(o)
    )


def _is_trace(o: Object) -> bool:
    data = v.json_object(o.get("data"))
    return isinstance(o.get("info"), dict) and isinstance(data.get("spans"), list)


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    if not _is_trace(o):
        yield from each([o], lambda span: _record(span, {}), report)
        return
    info = o["info"]
    metadata = v.json_object(v.first(info, "trace_metadata", "request_metadata"))
    of_trace = v.attributes({k: x for k, x in metadata.items() if k.startswith("mlflow.trace.")})
    yield from each(
        v.json_object(o.get("data")).get("spans"), lambda span: _record(span, of_trace), report
    )


def _record(o: Object, of_trace: Attributes) -> SpanRecord:
    span = span_object.record(o)
    span.attributes = {
        name: value if name.startswith("mlflow.") else _decode(value)
        for name, value in span.attributes.items()
    }
    for name, value in of_trace.items():
        if span.parent_id is None or name in _EVERYWHERE:
            span.attributes.setdefault(name, value)
    return span


def _decode(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    try:
        return v.bounded_value(json_codec.loads(value))
    except ValueError:
        return value


CONTAINER = Container(
    "an MLflow trace",
    '{"info": {...}, "data": {"spans": [...]}}',
    _recognises,
    _spans,
    ("the kind of the span, its scope and its resource are not kept",),
    members=("trace_metadata",),
)
