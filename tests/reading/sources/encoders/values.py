"""Shared parts of the encoders: values, lines, times, and the losses of stores."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from agentool_otel.model.spans import Attributes, SpanEvent, SpanRecord
from agentool_otel.model.times import from_ns

Json = Any

Spans = Sequence[SpanRecord]

KINDS = ["INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]

STATUSES = ["UNSET", "OK", "ERROR"]


class Encoder(NamedTuple):
    name: str
    encode: Callable[[Spans], bytes]
    kept: Callable[[SpanRecord], SpanRecord]


def unchanged(span: SpanRecord) -> SpanRecord:
    return span


def dumps(value: Json) -> bytes:
    return json.dumps(value).encode()


def lines(values: Sequence[Json]) -> bytes:
    return b"".join(dumps(value) + b"\n" for value in values)


def zstd(data: bytes) -> bytes:
    try:
        from compression.zstd import compress  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        from backports.zstd import compress
    packed: bytes = compress(data)
    return packed


def value_of(value: Json) -> Json:
    if value is None:
        return {}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [value_of(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    return {"stringValue": value}


def pairs(attributes: Attributes) -> Json:
    return [{"key": key, "value": value_of(value)} for key, value in attributes.items()]


def without_resource(span: SpanRecord) -> SpanRecord:
    return msgspec.structs.replace(span, resource={}, scope="")


def iso(ns: int | None, digits: int = 9) -> str | None:
    if ns is None:
        return None
    seconds, fraction = divmod(ns, 10**9)
    return from_ns(seconds * 10**9).removesuffix("Z") + f".{fraction:09}"[: digits + 1] + "Z"


def rounded(span: SpanRecord, unit: int) -> SpanRecord:
    def down(ns: int | None) -> int | None:
        return ns and ns - ns % unit

    return msgspec.structs.replace(
        span,
        start_ns=down(span.start_ns),
        end_ns=down(span.end_ns),
        events=[SpanEvent(e.name, down(e.time_ns), e.attributes) for e in span.events],
    )


def as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def no_structure(attributes: Attributes) -> Attributes:
    return {
        key: as_text(value) if isinstance(value, (list, dict)) or value is None else value
        for key, value in attributes.items()
    }


def texts(attributes: Attributes) -> Attributes:
    return {key: as_text(value) for key, value in attributes.items()}


def nested(attributes: Attributes) -> Json:
    tree: dict[str, Json] = {}
    for key, value in attributes.items():
        *path, last = key.split(".")
        node = tree
        for name in path:
            node = node.setdefault(name, {})
        node[last] = value
    return tree
