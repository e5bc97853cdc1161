"""Documents of spans that are put together from parts, each of them encoded once.

What surrounds a span is the same for all spans of a resource and scope; its attributes are encoded
as they become known. The documents are those of `json_encoder`, byte for byte, for spans without
links, status and trace state whose parent is of the same process. `protobuf_parts` does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from agentool_otel.model.times import unsigned_ns
from agentool_otel.otlp import json_encoder as json
from agentool_otel.otlp.json_encoder import LargeTexts, Line

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind

__all__ = [
    "NO_EVENTS",
    "Encoded",
    "Events",
    "JsonParts",
    "LineTemplates",
    "Parts",
    "Request",
    "Shared",
    "events_json",
    "shared_json",
    "template",
]

_CACHED = 1000
_LATEST = (1 << 63) - 1
"""A time that needs no look at it, in nanoseconds."""


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


Request = Callable[
    ["SpanContext", int, int, int, Sequence[Shared], Mapping[str, Any], Events], bytes
]
"""Encodes a span that has ended: its context, the id of its parent or 0, its start and its end,
both above 0, its attributes, first those that others have, too, and its events."""

Encoded = bytes | list[bytes]
"""Attributes; in pieces if a text in them is large, so that nobody copies it."""


class Parts(Protocol):
    """An encoding of the spans of one resource and scope."""

    def __init__(self, resource: Resource, scope: InstrumentationScope | None) -> None: ...

    def requests(self, name: str, kind: SpanKind) -> Request | None:
        """Return what encodes the spans of a name and a kind at once; None where `templates` do."""
        ...

    def beginning(self, span: ReadableSpan) -> bytes:
        """Return what is known of a span when it starts, without attributes."""
        ...

    def attributes(
        self, shared: Sequence[Shared], own: Mapping[str, Any], pairs: bytes = b""
    ) -> Encoded:
        """Return the first attributes of a span: those that others have, too, and its own.

        Args:
            shared: what others have, too.
            own: its own.
            pairs: the same as pairs of OTLP/JSON, if the caller has them.
        """
        ...

    def ended(
        self,
        beginning: bytes,
        first: Encoded,
        more: Mapping[str, Any],
        events: Events,
        end_ns: int,
        pairs: bytes = b"",
    ) -> Line:
        """Return the document of a span that has ended.

        Args:
            beginning: a result of that method.
            first: a result of `attributes`.
            more: further attributes.
            events: all of the span's events.
            end_ns: when it ended.
            pairs: `more` as pairs of OTLP/JSON, if the caller has them.
        """
        ...


class LineTemplates(NamedTuple):
    """Templates for `%` of lines of OTLP/JSON.

    `started` and `ended` put together what is known of a span when it starts, when it ended, and
    its attributes, which are at least one.
    """

    root: bytes
    """Beginning of a span without parent: its ids and its start."""
    child: bytes
    """Beginning of others: their ids, that of the parent, and their start."""
    started: bytes
    """Takes the beginning and the attributes."""
    ended: bytes
    """Takes the beginning, the end, the attributes of the start, further ones behind a comma, and
    the events, as `events_json` encodes them."""


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
        self._named: dict[tuple[str, Any], bytes] = {}
        """By name and kind of spans, what stands behind the parent."""
        self._after_start = b',"flags":256}' + after
        self._after_end = b',"status":{},"flags":256}' + after

    def beginning(self, span: ReadableSpan) -> bytes:
        """Return what is known of a span when it starts, without attributes."""
        context, parent = span._context, span._parent
        assert context is not None  # the SDK types it as optional; a span that runs has one
        start = span._start_time
        if type(start) is not int or not 0 <= start <= _LATEST:
            start = unsigned_ns(start)
        return b'%b%032x","spanId":"%016x"%b%b%b' % (
            self._before,
            context[0],
            context[1],
            b',"parentSpanId":"%016x"' % parent[1] if parent else b"",
            self._named.get((span._name, span._kind)) or self._name(span._name, span._kind),
            b',"startTimeUnixNano":"%d"' % start if start else b"",
        )

    def _name(self, name: str, kind: SpanKind) -> bytes:
        if len(self._named) >= _CACHED:
            self._named.clear()
        encoded = b',"name":%b,"kind":%d' % (
            json.escaped(name),
            kind.value + 1,  # OTLP keeps 0 for unspecified
        )
        self._named[name, kind] = encoded
        return encoded

    def requests(self, name: str, kind: SpanKind) -> None:
        return None

    def templates(self, name: str, kind: SpanKind) -> LineTemplates:
        """Return templates of the documents of spans with a name and a kind."""
        before, named = (
            part.replace(b"%", b"%%") for part in (self._before, self._name(name, kind))
        )
        start = b'%b%%032x","spanId":"%%016x"%b%b,"startTimeUnixNano":"%%d"'
        attributes = b'%b,"attributes":[%b]'
        ended = b'%b,"endTimeUnixNano":"%d","attributes":[%b%b]%b'
        return LineTemplates(
            root=start % (before, b"", named),
            child=start % (before, b',"parentSpanId":"%016x"', named),
            started=attributes + self._after_start.replace(b"%", b"%%"),
            ended=ended + self._after_end.replace(b"%", b"%%"),
        )

    def attributes(
        self, shared: Sequence[Shared], own: Mapping[str, Any], pairs: bytes = b""
    ) -> Encoded:
        """Return the first attributes of a span, see `Parts`."""
        groups: list[bytes] = []
        for group in shared:
            if group:
                groups.append(group.json or shared_json(group))
        if pairs:
            groups.append(pairs)
            return b",".join(groups)
        large = LargeTexts(json.escaped)
        if own:
            groups.append(json.pairs_of(own, large))
        encoded = b",".join(groups)
        return large.put_back(encoded) if large.texts else encoded

    def started(self, beginning: bytes, first: Encoded) -> Line:
        """Return the document of a span that has started."""
        after = self._after_start
        if isinstance(first, bytes):
            attributes = b',"attributes":[%b]' % first if first else b""
            return (b"%b%b%b" % (beginning, attributes, after),)
        return (beginning, b',"attributes":[', *first, b"]", after)

    def ended(
        self,
        beginning: bytes,
        first: Encoded,
        more: Mapping[str, Any],
        events: Events,
        end_ns: int,
        pairs: bytes = b"",
    ) -> Line:
        """Return the document of a span that has ended, see `Parts`."""
        end = end_ns
        if type(end) is not int or not 0 <= end <= _LATEST:
            end = unsigned_ns(end_ns)
        ended = b',"endTimeUnixNano":"%d"' % end if end else b""
        happened = events_json(events)
        large = None if pairs else LargeTexts(json.escaped)
        last = pairs or (json.pairs_of(more, large) if more else b"")
        if isinstance(first, bytes) and (large is None or not large.texts):
            between = b"," if first and last else b""
            attributes = b',"attributes":[%b%b%b]' % (first, between, last)
            if not (first or last):
                attributes = b""
            return (b"%b%b%b%b%b" % (beginning, ended, attributes, happened, self._after_end),)
        pieces = [beginning, ended, b',"attributes":[']
        pieces += [first] if isinstance(first, bytes) else first
        pieces += (b"," if first and last else b"", *(large.put_back(last) if large else (last,)))
        pieces += (b"]", happened, self._after_end)
        return tuple(pieces)


def shared_json(attributes: Shared) -> bytes:
    """Encode attributes for the first time."""
    attributes.json = encoded = json.pairs_of(attributes)
    return encoded


def events_json(events: Events) -> bytes:
    """Return events as they stand in a line, b"" for none."""
    if not events.events:
        return b""
    beginning = b'","name":%b,"attributes":[{"key":%b,"value":{"intValue":"' % (
        json.escaped(events.name),
        json.escaped(events.number),
    )
    pieces: list[bytes] = []
    for time_ns, number, more in events.events:
        shared = more if isinstance(more, Shared) else None
        pairs = json.pairs_of(more) if shared is None else shared.json or shared_json(shared)
        pieces.append(
            b'{"timeUnixNano":"%d%b%d"}},%b]}' % (unsigned_ns(time_ns), beginning, number, pairs)
        )
    return b',"events":[%b]' % b",".join(pieces)


def template(*attributes: tuple[str, str]) -> bytes:
    """Return a template of pairs of OTLP/JSON, for `%`.

    Args:
        attributes: name of each, and what is put in its place: `%d` an integer, `%016x` an integer
            as text, `%b` a text as `escaped` returns it.
    """
    pairs: list[bytes] = []
    for key, place in attributes:
        name = json.escaped(key).replace(b"%", b"%%")
        of = b'{"key":%b,"value":' % name
        if place == "%d":
            pairs.append(of + b'{"intValue":"%d"}}')
        elif place == "%b":
            pairs.append(of + b'{"stringValue":%b}}')
        else:
            pairs.append(of + b'{"stringValue":"' + place.encode() + b'"}}')
    return b",".join(pairs)
