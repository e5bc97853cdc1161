"""One span of OTLP/JSON to a record: typed structs, which cost little more than parsing.

Spec: opentelemetry-proto 1.9, docs/specification.md#json-protobuf-encoding.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from sys import intern
from typing import Any

import msgspec
from msgspec import Struct

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import Attributes, SpanEvent, SpanLink, SpanRecord
from agentool_otel.otlp import base64_text

__all__ = [
    "KINDS",
    "STATUSES",
    "Attributed",
    "Named",
    "Span",
    "hex_id",
    "plain",
    "plain_resource",
    "record",
    "span_record",
    "trace_id_of",
]


def _spellings(prefix: str, names: Iterable[str], first: int = 0) -> dict[int | str, str]:
    return {
        spelling: name
        for number, name in enumerate(names, first)
        for spelling in (number, str(number), name, name.capitalize(), prefix + name)
    }


KINDS = _spellings("SPAN_KIND_", ("INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"), first=1)
"""Kinds by every spelling met. What is not here, unspecified (0) too, is taken as INTERNAL."""
STATUSES = _spellings("STATUS_CODE_", ("UNSET", "OK", "ERROR"))
"""Status codes by every spelling met."""

_HEX = re.compile(r"[0-9a-fA-F]+")
_Int = int | str  # 64-bit integers are strings in OTLP/JSON; plain numbers are accepted


class _AnyValue(Struct, gc=False, rename="camel"):
    string_value: str | None = None
    int_value: _Int | None = None
    double_value: float | str | None = None
    bool_value: bool | None = None
    array_value: _ArrayValue | None = None
    kvlist_value: _KvList | None = None
    bytes_value: str | None = None


class _ArrayValue(Struct, gc=False):
    values: list[_AnyValue] = []


class _KeyValue(Struct, gc=False):
    key: str
    value: _AnyValue | None = None


class _KvList(Struct, gc=False):
    values: list[_KeyValue] = []


class _Event(Struct, gc=False, rename="camel"):
    name: str = ""
    time_unix_nano: _Int = 0
    attributes: list[_KeyValue] = []


class _Link(Struct, gc=False, rename="camel"):
    trace_id: str
    span_id: str
    attributes: list[_KeyValue] = []


class _Status(Struct, gc=False):
    code: _Int = 0
    message: str = ""


class Span(Struct, gc=False, rename="camel"):
    trace_id: str  # required, as are the lists above it: a missing name means another spelling
    span_id: str
    parent_span_id: str = ""
    name: str = ""
    kind: _Int = 0
    start_time_unix_nano: _Int = 0
    end_time_unix_nano: _Int = 0
    attributes: list[_KeyValue] = []
    events: list[_Event] = []
    links: list[_Link] = []
    status: _Status | None = None


class Named(Struct, gc=False):
    name: str = ""


class Attributed(Struct, gc=False):
    attributes: list[_KeyValue] = []


def span_record(span: Json, scope: str, resource: Attributes) -> SpanRecord:
    """Return the record of a span of OTLP/JSON with normal keys.

    Raises:
        ValueError: a field, an id or a number of it is invalid.
    """
    return record(msgspec.convert(span, Span), scope, resource)


def plain_resource(resource: Json) -> Attributes:
    """Return the attributes of a resource of OTLP/JSON.

    Raises:
        ValueError: they are none.
    """
    return plain(msgspec.convert(resource, Attributed).attributes)


def record(span: Span, scope: str, resource: Attributes, trace_id: str | None = None) -> SpanRecord:
    """Return the record of a decoded span, with its trace id if that is known already.

    Raises:
        ValueError: an id or a number is invalid.
    """
    status = span.status
    return SpanRecord(
        trace_id or trace_id_of(span.trace_id),
        hex_id(span.span_id, 8),
        _parent(span.parent_span_id) if span.parent_span_id else None,
        span.name,
        KINDS.get(span.kind, "INTERNAL"),
        int(span.start_time_unix_nano) or None,
        int(span.end_time_unix_nano) or None,
        plain(span.attributes),
        [_event(event) for event in span.events] if span.events else [],
        [_link(link) for link in span.links] if span.links else [],
        STATUSES.get(status.code, "UNSET") if status else "UNSET",
        (status.message or None) if status else None,
        scope,
        resource,
    )


def _event(event: _Event) -> SpanEvent:
    return SpanEvent(event.name, int(event.time_unix_nano) or None, plain(event.attributes))


def _link(link: _Link) -> SpanLink:
    return SpanLink(trace_id_of(link.trace_id), hex_id(link.span_id, 8), plain(link.attributes))


def plain(attributes: list[_KeyValue]) -> Attributes:
    return {
        intern(pair.key): text
        if (value := pair.value) is not None and (text := value.string_value) is not None
        else _value(value)
        for pair in attributes
    }


def _value(value: _AnyValue | None) -> Any:
    if value is None:
        return None
    if value.string_value is not None:
        return value.string_value
    if value.int_value is not None:
        return int(value.int_value)
    if value.double_value is not None:
        return float(value.double_value)
    if value.bool_value is not None:
        return value.bool_value
    if value.array_value is not None:
        return [_value(item) for item in value.array_value.values]
    if value.kvlist_value is not None:
        return plain(value.kvlist_value.values)
    if value.bytes_value is not None:
        return base64_text.decoded(value.bytes_value)
    return None


def hex_id(text: str, size: int) -> str:
    """Return an id as lower-case hex of `size` bytes; 64-bit trace ids are filled up with zeros.

    Raises:
        ValueError: it is neither hexadecimal nor the base64 of so many bytes.
    """
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    if len(raw) == size and len(text) == 2 * size:
        return raw.hex()
    if _HEX.fullmatch(text):
        raw = raw.rjust(size, b"\0") if len(text) == size == 16 else b""
    else:
        raw = base64_text.id_bytes(text, size) or b""
    if len(raw) != size:
        raise ValueError(f"expected an id of {2 * size} hexadecimal digits, got {text!r}")
    return raw.hex()


@lru_cache(maxsize=4096)  # spans of one trace lie close together; so they share one string, too
def trace_id_of(text: str) -> str:
    return hex_id(text, 16)


@lru_cache(maxsize=4096)
def _parent(text: str) -> str:
    return hex_id(text, 8)
