"""Requests of spans that are put together from parts, as `span_parts` does it for OTLP/JSON.

They are those of `protobuf_encoder`, byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Any

from agentool_otel.model.times import unsigned_ns
from agentool_otel.otlp import protobuf_encoder as protobuf
from agentool_otel.otlp.json_encoder import Line
from agentool_otel.otlp.protobuf_encoder import attribute_fields, with_length
from agentool_otel.otlp.span_parts import Encoded, Events, Request, Shared
from agentool_otel.otlp.varints import to_bytes

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind

__all__ = ["ProtobufParts"]

_fixed64 = Struct("<Q").pack
_lengths = protobuf.LENGTHS
_SHORT = len(_lengths)
_CACHED = 1000
_ON_SPAN, _ON_EVENT = b"\x4a", b"\x1a"
"""Tags of attributes."""
_NO_STATUS = b"\x7a\x00\x85\x01\x00\x01\x00\x00"
"""The end of a span without status, whose flags say that its parent is of the same process."""


class ProtobufParts:
    """Requests of OTLP/protobuf with one span each."""

    def __init__(self, resource: Resource, scope: InstrumentationScope | None):
        self._resource, self._resource_schema = protobuf.resource_parts(resource)
        self._scope, self._scope_schema = protobuf.scope_parts(scope)
        self._named: dict[tuple[str, SpanKind], bytes] = {}
        """Fields of the name and the kind of spans."""

    def beginning(self, span: ReadableSpan) -> bytes:
        """Return what is known of a span when it starts, without attributes."""
        context, parent = span._context, span._parent
        assert context is not None  # the SDK types it as optional; a span that runs has one
        start = unsigned_ns(span._start_time)
        return b"\x0a\x10%b\x12\x08%b%b%b%b" % (
            context.trace_id.to_bytes(16, "big"),
            context.span_id.to_bytes(8, "big"),
            b"\x22\x08" + parent.span_id.to_bytes(8, "big") if parent else b"",
            self._named.get((span._name, span._kind)) or self._name(span._name, span._kind),
            b"\x39" + _fixed64(start) if start else b"",
        )

    def _name(self, name: str, kind: SpanKind) -> bytes:
        if len(self._named) >= _CACHED:
            self._named.clear()
        # OTLP keeps 0 for an unspecified kind.
        encoded = b"%b\x30%c" % (protobuf.text_field(b"\x2a", name), kind.value + 1)
        self._named[name, kind] = encoded
        return encoded

    def requests(self, name: str, kind: SpanKind) -> Request:
        """Return what encodes the spans of a name and a kind, see `Parts`."""
        of, of_schema = self._resource, self._resource_schema
        by, by_schema = self._scope, self._scope_schema
        named = self._named.get((name, kind)) or self._name(name, kind)
        size_of, size_by = (
            len(one) + 1 + len(two) for one, two in ((of, of_schema), (by, by_schema))
        )
        size = len(named) + 46 + len(_NO_STATUS)

        def request(
            context: SpanContext,
            parent_id: int,
            start_ns: int,
            end_ns: int,
            groups: Sequence[Shared],
            attributes: Mapping[str, Any],
            events: Events,
        ) -> bytes:
            shared = b""
            for group in groups:
                shared += group.protobuf or _shared_fields(group, _ON_SPAN)
            fields = attribute_fields(_ON_SPAN, attributes)
            if events.events:
                fields += b"".join(_event_fields(events))
            above = b"\x22\x08" + parent_id.to_bytes(8, "big") if parent_id else b""
            length = size + len(above) + len(shared) + len(fields)
            span = _lengths[length] if length < _SHORT else to_bytes(length)
            length += size_by + len(span)
            scoped = _lengths[length] if length < _SHORT else to_bytes(length)
            length += size_of + len(scoped)
            resource = _lengths[length] if length < _SHORT else to_bytes(length)
            return b"\x0a%b%b\x12%b%b\x12%b\x0a\x10%b\x12\x08%b%b%b\x39%b\x41%b%b%b%b%b%b" % (
                *(resource, of, scoped, by, span),
                *(context[0].to_bytes(16, "big"), context[1].to_bytes(8, "big"), above, named),
                *(_fixed64(start_ns), _fixed64(end_ns), shared, fields, _NO_STATUS),
                *(by_schema, of_schema),
            )

        return request

    def attributes(
        self, shared: Sequence[Shared], own: Mapping[str, Any], pairs: bytes = b""
    ) -> Encoded:
        """Return the first attributes of a span as its fields, see `Parts`."""
        fields = [group.protobuf or _shared_fields(group, _ON_SPAN) for group in shared]
        fields.append(attribute_fields(_ON_SPAN, own))
        return fields

    def ended(
        self,
        beginning: bytes,
        first: Encoded,
        more: Mapping[str, Any],
        events: Events,
        end_ns: int,
        pairs: bytes = b"",
    ) -> Line:
        """Return the request of a span that has ended, see `Parts`."""
        end = unsigned_ns(end_ns)
        pieces = [beginning, b"\x41" + _fixed64(end) if end else b""]
        pieces += [first] if isinstance(first, bytes) else first
        if more:
            pieces.append(attribute_fields(_ON_SPAN, more))
        if events.events:
            pieces += _event_fields(events)
        pieces.append(_NO_STATUS)
        span = with_length(b"".join(pieces))
        scoped = with_length(b"%b\x12%b%b" % (self._scope, span, self._scope_schema))
        of = self._resource
        return (b"\x0a" + with_length(b"%b\x12%b%b" % (of, scoped, self._resource_schema)),)


def _event_fields(events: Events) -> list[bytes]:
    name = protobuf.text_field(b"\x12", events.name)
    numbered = protobuf.integer_template(_ON_EVENT, events.number)
    fields: list[bytes] = []
    for time_ns, number, more in events.events:
        if isinstance(more, Shared):
            others = more.protobuf or _shared_fields(more, _ON_EVENT)
        else:
            others = attribute_fields(_ON_EVENT, more)
        event = b"\x09%b%b%b%b" % (_fixed64(unsigned_ns(time_ns)), name, numbered(number), others)
        fields.append(b"\x5a" + with_length(event))
    return fields


def _shared_fields(attributes: Shared, tag: bytes) -> bytes:
    attributes.protobuf = encoded = attribute_fields(tag, attributes)
    return encoded
