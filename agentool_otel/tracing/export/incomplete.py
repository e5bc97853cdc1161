"""Closing spans for a program that could not: what is known of them, marked as incomplete.

Spec: `semconv/agentool.py`; the rebuild reads these marks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from opentelemetry.sdk.trace import ReadableSpan

from agentool_otel.semconv import agentool, gen_ai

__all__ = ["as_protobuf", "close_document", "close_span", "span_id_in"]


def close_span(span: ReadableSpan, end_ns: int) -> ReadableSpan:
    """Return a copy of an open span that ended now, with everything set on it so far."""
    attributes = dict(span.attributes or {})
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes={**attributes, **_marks(attributes)},
        events=span.events,
        links=span.links,
        kind=span.kind,
        instrumentation_scope=span.instrumentation_scope,
        status=span.status,
        start_time=span.start_time,
        end_time=end_ns,
    )


def close_document(document: bytes, end_ns: int) -> bytes:
    """Return an OTLP/JSON document of one open span with the span closed.

    Raises:
        ValueError: it is no such document.
    """
    try:
        request = orjson.loads(document)
        span = _span_in(request)
        pairs: list[Any] = span.setdefault("attributes", [])
        values = {pair["key"]: pair["value"].get("stringValue") for pair in pairs}
        span["endTimeUnixNano"] = str(max(end_ns, int(span["startTimeUnixNano"])))
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"no span in {document[:40]!r}") from error
    for key, value in _marks(values).items():
        kind = "boolValue" if value is True else "stringValue"
        pairs.append({"key": key, "value": {kind: value}})
    return orjson.dumps(request)


def span_id_in(document: bytes) -> str:
    """Return the id of the span in an OTLP/JSON document of one span.

    Raises:
        ValueError: it is no such document.
    """
    try:
        return str(_span_in(orjson.loads(document))["spanId"])
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"no span in {document[:40]!r}") from error


def as_protobuf(document: bytes) -> bytes:
    """Return an OTLP/JSON document of ours as the same request in protobuf.

    Raises:
        ValueError: it is no such document.
    """
    # What is closed for a dead program is rare: the official message classes are fast enough.
    from google.protobuf import json_format  # type: ignore[import-untyped] # no stubs
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest()
    try:
        json_format.ParseDict(_with_base64_ids(orjson.loads(document)), request)
    except json_format.ParseError as error:
        raise ValueError(str(error)) from error
    encoded: bytes = request.SerializeToString()
    return encoded


def _marks(attributes: Mapping[str, Any]) -> dict[str, Any]:
    marks: dict[str, Any] = {agentool.INCOMPLETE: True}
    operation = str(attributes.get(gen_ai.OPERATION_NAME))
    if operation.startswith("invoke_"):
        marks[agentool.STATUS] = "incomplete"
    elif operation == "execute_tool":
        marks[agentool.TOOL_INCOMPLETE] = "call_only"
    return marks


def _span_in(request: Any) -> dict[str, Any]:
    span: dict[str, Any] = request["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    return span


def _with_base64_ids(value: Any) -> Any:
    """Write ids as protobuf's own JSON reader wants them; OTLP has them in hex."""
    import base64

    if value.__class__ is list:
        return [_with_base64_ids(item) for item in value]
    if value.__class__ is dict:
        return {
            key: base64.b64encode(bytes.fromhex(item)).decode()
            if key in ("traceId", "spanId", "parentSpanId")
            else _with_base64_ids(item)
            for key, item in value.items()
        }
    return value
