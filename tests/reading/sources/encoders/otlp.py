"""OTLP in every spelling and framing, and what stores that keep it give back."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from google.protobuf import json_format  # type: ignore[import-untyped] # no stubs
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from agentool_otel.model.spans import SpanRecord
from tests.reading.sources.encoders.values import KINDS, STATUSES, Json, Spans, pairs


def otlp_span(span: SpanRecord) -> dict[str, Json]:
    results = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id or "",
        "name": span.name,
        "kind": KINDS.index(span.kind) + 1,
        "startTimeUnixNano": str(span.start_ns or 0),
        "endTimeUnixNano": str(span.end_ns or 0),
        "attributes": pairs(span.attributes),
        "status": {"code": STATUSES.index(span.status), "message": span.status_message or ""},
        "events": [
            {
                "name": event.name,
                "timeUnixNano": str(event.time_ns or 0),
                "attributes": pairs(event.attributes),
            }
            for event in span.events
        ],
        "links": [
            {
                "traceId": link.trace_id,
                "spanId": link.span_id,
                "attributes": pairs(link.attributes),
            }
            for link in span.links
        ],
    }
    return {name: value for name, value in results.items() if value not in ("", [], None)}


def group(span: SpanRecord) -> Json:
    return {
        "resource": {"attributes": pairs(span.resource)},
        "scopeSpans": [{"scope": {"name": span.scope}, "spans": [otlp_span(span)]}],
    }


def otlp(spans: Spans) -> Json:
    return {"resourceSpans": [group(span) for span in spans]}


def with_base64_ids(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            key: base64.b64encode(bytes.fromhex(inner)).decode()
            if key in ("traceId", "spanId", "parentSpanId")
            else with_base64_ids(inner)
            for key, inner in value.items()
        }
    return [with_base64_ids(item) for item in value] if isinstance(value, list) else value


def with_names_of_enums(value: Json) -> Json:
    if isinstance(value, dict):
        value = {key: with_names_of_enums(inner) for key, inner in value.items()}
        if isinstance(value.get("kind"), int):
            value["kind"] = "SPAN_KIND_" + KINDS[value["kind"] - 1]
        if isinstance(value.get("code"), int):
            value["code"] = "STATUS_CODE_" + STATUSES[value["code"]]
        return value
    return [with_names_of_enums(item) for item in value] if isinstance(value, list) else value


def with_snake_names(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            "".join("_" + c.lower() if c.isupper() else c for c in key): with_snake_names(inner)
            for key, inner in value.items()
        }
    return [with_snake_names(item) for item in value] if isinstance(value, list) else value


def with_maps(value: Json) -> Json:
    """OTLP whose attributes are objects with plain values, not lists of pairs."""
    if isinstance(value, dict):
        return {
            key: {pair["key"]: plain(pair["value"]) for pair in inner}
            if key == "attributes"
            else with_maps(inner)
            for key, inner in value.items()
        }
    return [with_maps(item) for item in value] if isinstance(value, list) else value


def plain(value: Json) -> Json:
    """Return the plain value of an AnyValue."""
    arm, inner = next(iter(value.items()), ("", None))
    if inner is None:
        return None
    if arm == "arrayValue":
        return [plain(item) for item in inner["values"]]
    if arm == "kvlistValue":
        return {pair["key"]: plain(pair["value"]) for pair in inner["values"]}
    return int(inner) if arm == "intValue" else inner


def snake_fields(value: Json) -> Json:
    """OTLP with maps whose field names are in snake case, and names of attributes as they are."""
    if isinstance(value, dict):
        return {
            "".join("_" + c.lower() if c.isupper() else c for c in key): inner
            if key == "attributes"
            else snake_fields(inner)
            for key, inner in value.items()
        }
    return [snake_fields(item) for item in value] if isinstance(value, list) else value


def every_arm(value: Json) -> Json:
    """Phoenix's OTLP: numbers as numbers, and every arm of a value there, all but one null."""
    if isinstance(value, dict):
        if len(value) == 1 and next(iter(value)).endswith("_value"):
            arms = ["string", "int", "double", "bool", "array", "kvlist", "bytes"]
            empty: dict[str, Json] = {f"{arm}_value": None for arm in arms}
            ((arm, inner),) = value.items()
            return {**empty, arm: int(inner) if arm == "int_value" else every_arm(inner)}
        return {key: every_arm(inner) for key, inner in value.items()}
    return [every_arm(item) for item in value] if isinstance(value, list) else value


def tempo(spans: Spans) -> Json:
    return with_names_of_enums(with_base64_ids({"batches": otlp(spans)["resourceSpans"]}))


def proto(spans: Spans) -> bytes:
    return proto_of(with_base64_ids(otlp(spans)))


def proto_of(document: Json) -> bytes:
    message = TracesData()
    json_format.ParseDict(document, message)
    data: bytes = message.SerializeToString()
    return data


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def each_after_its_length(messages: Sequence[bytes]) -> bytes:
    return b"".join(len(message).to_bytes(4, "big") + message for message in messages)


def protos(spans: Spans) -> list[bytes]:
    return [proto([span]) for span in spans]


def bare(span: SpanRecord) -> Json:
    return {
        **otlp_span(span),
        "resource": {"attributes": pairs(span.resource)},
        "scope": {"name": span.scope},
    }
