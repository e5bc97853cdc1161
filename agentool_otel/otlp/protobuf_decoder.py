"""A span decoded from the request that `encode_span` made of it, but for events and links.

Spec: opentelemetry-proto 1.9, trace/v1/trace.proto and common/v1/common.proto. For the thread that
sends: loading protobuf's classes into the user's program would cost more than all it would read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.otlp.protobuf_encoder import scope_of, span_of
from agentool_otel.otlp.varints import from_bytes

__all__ = ["decode_resource", "decode_span", "scope_name"]

_VARINT, _FIXED64, _SIZED, _FIXED32 = 0, 1, 2, 5
_SPAN_ID, _NAME, _START, _ATTRIBUTE, _TRACE_ID = 2, 5, 7, 9, 1
_TEXT, _BOOL, _INT, _DOUBLE, _ARRAY, _MAP, _BYTES = 1, 2, 3, 4, 5, 6, 7
_fixed64 = struct.Struct("<Q").unpack
_float64 = struct.Struct("<d").unpack


def scope_name(request: bytes) -> str:
    """Return the name of the scope that the span is of."""
    return next((value.decode() for number, value in _fields(scope_of(request)) if number == 1), "")


def decode_resource(resource: bytes) -> Attributes:
    """Return the attributes of a Resource message.

    Raises:
        ValueError, IndexError: it is none of ours.
    """
    return dict(_pair(value) for number, value in _fields(resource) if number == 1)


def decode_span(request: bytes) -> SpanRecord:
    """Return the span with its ids, name, start and attributes; the rest is left out.

    Raises:
        ValueError, IndexError: it is no request of ours.
    """
    span = SpanRecord("", "", scope=scope_name(request), attributes={})
    for number, value in _fields(span_of(request)):
        if number == _ATTRIBUTE:
            key, content = _pair(value)
            span.attributes[key] = content
        elif number == _TRACE_ID:
            span.trace_id = value.hex()
        elif number == _SPAN_ID:
            span.span_id = value.hex()
        elif number == _NAME:
            span.name = value.decode()
        elif number == _START:
            span.start_ns = _fixed64(value)[0] or None
    return span


def _pair(data: bytes) -> tuple[str, Any]:
    key, value = "", None
    for number, field in _fields(data):
        if number == 1:
            key = field.decode()
        else:
            value = _value(field)
    return key, value


def _value(data: bytes) -> Any:
    """Return the value of an AnyValue."""
    for number, value in _fields(data):
        if number == _TEXT:
            return value.decode()
        if number == _ARRAY:
            return [_value(item) for _, item in _fields(value)]
        if number == _MAP:
            return dict(_pair(item) for _, item in _fields(value))
        if number == _BYTES:
            return value
        if number == _DOUBLE:
            return _float64(value)[0]
        integer = from_bytes(value, 0)[0]
        if number == _BOOL:
            return bool(integer)
        return integer - (1 << 64) if integer >> 63 else integer
    return None


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a message: their numbers and encoded values."""
    at, end = 0, len(data)
    while at < end:
        tag, at = from_bytes(data, at)
        wire_type = tag & 7
        if wire_type == _SIZED:
            size, at = from_bytes(data, at)
            last = at + size
        elif wire_type == _VARINT:
            last = from_bytes(data, at)[1]
        else:
            last = at + (8 if wire_type == _FIXED64 else 4)
        yield tag >> 3, data[at:last]
        at = last
