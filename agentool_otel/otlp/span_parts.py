"""Documents of spans that are put together from parts, each of them encoded once.

What surrounds a span is the same for all spans of a resource and scope; its attributes are encoded
as they become known. The documents are those of `json_encoder` and `protobuf_encoder`, byte for
byte, for spans without links, status and trace state whose parent is of the same process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from agentool_otel.model.times import unsigned_ns
from agentool_otel.otlp import json_encoder as json
from agentool_otel.otlp import protobuf_encoder as protobuf
from agentool_otel.otlp.json_encoder import LargeTexts, Line
from agentool_otel.otlp.protobuf_encoder import attribute_fields, with_length

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

__all__ = ["NO_EVENTS", "Events", "JsonParts", "Parts", "ProtobufParts", "Shared"]

_fixed64 = Struct("<Q").pack
_ON_SPAN, _ON_EVENT = b"\x4a", b"\x1a"
"""Tags of attributes."""
_NO_STATUS = b"\x7a\x00\x85\x01\x00\x01\x00\x00"
"""The end of a span without status, whose flags say that its parent is of the same process."""


class Shared(dict[str, Any]):
    """Attributes that many spans, or many events, have in common, encoded once. Nobody changes
    them.
    """

    __slots__ = ("json", "protobuf")

    def __init__(self, attributes: Mapping[str, Any]):
        super().__init__(attributes)
        self.json = b""
        """As pairs of OTLP/JSON, empty before their first use."""
        self.protobuf = b""
        """As fields, likewise: of a span, or of an event."""


class Events(NamedTuple):
    """Numbered events of one name."""

    name: str
    number: str
    """The attribute that has an event's number."""
    events: Sequence[tuple[int, int, Mapping[str, Any]]]
    """Time in nanoseconds, number, and further attributes, at least one."""


NO_EVENTS = Events("", "", ())


class Parts(Protocol):
    """An encoding of the spans of one resource and scope."""

    def __init__(self, resource: Resource, scope: InstrumentationScope | None) -> None: ...

    def beginning(self, span: ReadableSpan) -> bytes:
        """Return what is known of a span when it starts, without attributes."""
        ...

    def attributes(self, *attributes: Mapping[str, Any]) -> list[bytes]:
        """Return the first attributes of a span, in pieces of which large texts are apart."""
        ...

    def ended(
        self,
        beginning: bytes,
        attributes: list[bytes],
        more: Mapping[str, Any],
        events: Events,
        end_ns: int,
    ) -> Line:
        """Return the document of a span that has ended.

        Args:
            beginning: a result of that method.
            attributes: a result of that method.
            more: further attributes.
            events: all of the span's events.
            end_ns: when it ended.
        """
        ...


class JsonParts:
    """Lines of OTLP/JSON."""

    def __init__(self, resource: Resource, scope: InstrumentationScope | None):
        of, of_schema = json.resource_parts(resource)
        by, by_schema = json.scope_parts(scope)
        self._before = (
            b'{"resourceSpans":[{"resource":%b,"scopeSpans":[{"scope":%b,"spans":['
            b'{"traceId":"' % (of, by)
        )
        after = b"]%b}]%b}]}\n" % (by_schema, of_schema)
        self._after_start = b',"flags":256}' + after
        self._after_end = b',"status":{},"flags":256}' + after

    def beginning(self, span: ReadableSpan) -> bytes:
        """Return what is known of a span when it starts, without attributes."""
        context, parent = span._context, span._parent
        assert context is not None  # the SDK types it as optional; a span that runs has one
        start = unsigned_ns(span._start_time)
        return b'%b%032x","spanId":"%016x"%b,"name":%b,"kind":%d%b' % (
            self._before,
            context[0],
            context[1],
            b',"parentSpanId":"%016x"' % parent[1] if parent else b"",
            json.escaped(span._name),
            span._kind.value + 1,  # OTLP keeps 0 for unspecified
            b',"startTimeUnixNano":"%d"' % start if start else b"",
        )

    def attributes(self, *attributes: Mapping[str, Any]) -> list[bytes]:
        """Return the first attributes of a span, in pieces of which large texts are apart."""
        pieces: list[bytes] = []
        for group in attributes:
            if group:
                pieces.append(b"," if pieces else b',"attributes":[')
                if group.__class__ is Shared:
                    pieces.append(group.json or _shared_json(group))
                else:
                    _add_pairs(pieces, group)
        return pieces

    def started(self, beginning: bytes, attributes: list[bytes]) -> Line:
        """Return the document of a span that has started."""
        if not attributes:
            return beginning, self._after_start
        return (beginning, *attributes, b"]", self._after_start)

    def ended(
        self,
        beginning: bytes,
        attributes: list[bytes],
        more: Mapping[str, Any],
        events: Events,
        end_ns: int,
    ) -> Line:
        """Return the document of a span that has ended, see `Parts`."""
        end = unsigned_ns(end_ns)
        pieces = [beginning, b',"endTimeUnixNano":"%d"' % end if end else b"", *attributes]
        if more:
            pieces.append(b"," if attributes else b',"attributes":[')
            _add_pairs(pieces, more)
        if more or attributes:
            pieces.append(b"]")
        if events.events:
            pieces += (b',"events":[', _json_events(events), b"]")
        pieces.append(self._after_end)
        return tuple(pieces)


def _add_pairs(pieces: list[bytes], attributes: Mapping[str, Any]) -> None:
    large = LargeTexts(json.escaped)
    pairs = json.pairs_of(attributes, large)
    if large.texts:
        pieces += large.put_back(pairs)
    else:
        pieces.append(pairs)


def _shared_json(attributes: Shared) -> bytes:
    attributes.json = encoded = json.pairs_of(attributes)
    return encoded


def _json_events(events: Events) -> bytes:
    beginning = b'","name":%b,"attributes":[{"key":%b,"value":{"intValue":"' % (
        json.escaped(events.name),
        json.escaped(events.number),
    )
    pieces: list[bytes] = []
    for time_ns, number, more in events.events:
        shared = more if isinstance(more, Shared) else None
        pairs = json.pairs_of(more) if shared is None else shared.json or _shared_json(shared)
        pieces.append(
            b'{"timeUnixNano":"%d%b%d"}},%b]}' % (unsigned_ns(time_ns), beginning, number, pairs)
        )
    return b",".join(pieces)


class ProtobufParts:
    """Requests of OTLP/protobuf with one span each."""

    def __init__(self, resource: Resource, scope: InstrumentationScope | None):
        self._resource, self._resource_schema = protobuf.resource_parts(resource)
        self._scope, self._scope_schema = protobuf.scope_parts(scope)

    def beginning(self, span: ReadableSpan) -> bytes:
        """Return what is known of a span when it starts, without attributes."""
        context, parent = span._context, span._parent
        assert context is not None  # the SDK types it as optional; a span that runs has one
        start = unsigned_ns(span._start_time)
        return b"\x0a\x10%b\x12\x08%b%b%b\x30%c%b" % (
            context.trace_id.to_bytes(16, "big"),
            context.span_id.to_bytes(8, "big"),
            b"\x22\x08" + parent.span_id.to_bytes(8, "big") if parent else b"",
            protobuf.text_field(b"\x2a", span._name),
            span._kind.value + 1,  # OTLP keeps 0 for unspecified
            b"\x39" + _fixed64(start) if start else b"",
        )

    def attributes(self, *attributes: Mapping[str, Any]) -> list[bytes]:
        """Return the first attributes of a span as its fields."""
        return [
            (group.protobuf or _shared_fields(group, _ON_SPAN))
            if group.__class__ is Shared
            else attribute_fields(_ON_SPAN, group)
            for group in attributes
        ]

    def ended(
        self,
        beginning: bytes,
        attributes: list[bytes],
        more: Mapping[str, Any],
        events: Events,
        end_ns: int,
    ) -> Line:
        """Return the request of a span that has ended, see `Parts`."""
        end = unsigned_ns(end_ns)
        pieces = [
            beginning,
            b"\x41" + _fixed64(end) if end else b"",
            *attributes,
            attribute_fields(_ON_SPAN, more),
        ]
        if events.events:
            pieces += _event_fields(events)
        pieces.append(_NO_STATUS)
        span = with_length(b"".join(pieces))
        scoped = with_length(b"%b\x12%b%b" % (self._scope, span, self._scope_schema))
        of = self._resource
        return (b"\x0a" + with_length(b"%b\x12%b%b" % (of, scoped, self._resource_schema)),)


def _event_fields(events: Events) -> list[bytes]:
    name = protobuf.text_field(b"\x12", events.name)
    key = events.number
    fields: list[bytes] = []
    for time_ns, number, more in events.events:
        if more.__class__ is Shared:
            others = more.protobuf or _shared_fields(more, _ON_EVENT)
        else:
            others = attribute_fields(_ON_EVENT, more)
        numbered = attribute_fields(_ON_EVENT, {key: number})
        event = b"\x09%b%b%b%b" % (_fixed64(unsigned_ns(time_ns)), name, numbered, others)
        fields.append(b"\x5a" + with_length(event))
    return fields


def _shared_fields(attributes: Shared, tag: bytes) -> bytes:
    attributes.protobuf = encoded = attribute_fields(tag, attributes)
    return encoded
