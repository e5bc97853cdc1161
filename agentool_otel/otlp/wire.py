"""Protobuf bytes field by field, where the library refuses a whole message for one text in it.

Spec: protobuf.dev/programming-guides/encoding. Groups, which OTLP has none of, are not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from agentool_otel.ground.invalid_utf8 import MARKING
from agentool_otel.otlp import varints

__all__ = ["LENGTH_DELIMITED", "Field", "fields", "with_marks_in_texts"]

VARINT, FIXED64, LENGTH_DELIMITED, FIXED32 = 0, 1, 2, 5
_FIXED = {FIXED64: 8, FIXED32: 4}
_TEXT, _MESSAGE = 9, 11
"""Types of fields in a descriptor: `FieldDescriptor.TYPE_STRING`, `TYPE_MESSAGE`."""


class Field(NamedTuple):
    number: int
    wire_type: int
    value: bytes
    """The content without its length; a number as it is encoded."""
    encoded: bytes
    """All of it."""


def fields(data: bytes, *, cut_short: bool = False) -> Iterator[Field]:
    """Yield the fields of a message in their order.

    Args:
        data: the message.
        cut_short: whether the last one may lack its end.

    Raises:
        ValueError: from some place on it is no message.
    """
    at = 0
    while at < len(data):
        start = at
        tag, at = varints.from_bytes(data, at)
        wire_type = tag & 7
        if wire_type == LENGTH_DELIMITED:
            size, at = varints.from_bytes(data, at)
            end = at + size
        elif wire_type == VARINT:
            _, end = varints.from_bytes(data, at)
        elif wire_type in _FIXED:
            end = at + _FIXED[wire_type]
        else:
            raise ValueError(f"no field begins at byte {start}")
        if end > len(data) and not cut_short:
            raise ValueError(f"the field at byte {start} ends behind the message")
        yield Field(tag >> 3, wire_type, data[at:end], data[start:end])
        at = end


def with_marks_in_texts(data: bytes, descriptor: Any) -> bytes:
    """Return a message with marks in place of invalid UTF-8 in its texts, at any depth.

    Args:
        data: the message.
        descriptor: of its type: which fields are texts, and which are messages.

    Raises:
        ValueError: it, or a message in it, is no message.
        RecursionError: it is nested more deeply than the interpreter's stack allows.
    """
    parts: list[bytes] = []
    for number, wire_type, value, encoded in fields(data):
        field = descriptor.fields_by_number.get(number)
        marked = value
        if field is not None and wire_type == LENGTH_DELIMITED:
            if field.type == _TEXT:
                marked = value.decode("utf-8", MARKING).encode()
            elif field.type == _MESSAGE:
                marked = with_marks_in_texts(value, field.message_type)
        if marked == value:
            parts.append(encoded)
        else:
            parts += (
                varints.to_bytes(number << 3 | wire_type),
                varints.to_bytes(len(marked)),
                marked,
            )
    return b"".join(parts)
