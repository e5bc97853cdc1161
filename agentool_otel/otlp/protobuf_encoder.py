"""SDK spans, and log records, to OTLP protobuf, as bytes on the wire.

Spec: opentelemetry-proto 1.9, trace/v1/trace.proto and logs/v1/logs.proto; the numbers below are
their field tags. Bytes are put together directly, because building message objects first takes
eight times as long. A span is one ExportTraceServiceRequest by itself, so that it can be stored and
sent alone; `merged` makes one request of many. Log records are the same: what is around them has
the same tags.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from agentool_otel.model.times import unsigned_ns
from agentool_otel.otlp.varints import from_bytes, to_bytes

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import Link, SpanContext

    from agentool_otel.otlp.log_record import LogRecord

__all__ = [
    "LENGTHS",
    "Shell",
    "WholeRequests",
    "attribute_fields",
    "encode_log",
    "encode_span",
    "integer_template",
    "is_whole",
    "merged",
    "resource_of",
    "resource_parts",
    "scope_of",
    "scope_parts",
    "span_of",
    "text_field",
    "with_attributes",
    "with_length",
    "with_resource",
]

_IS_REMOTE_KNOWN = 0x100
_IS_REMOTE = 0x200
_CACHED = 1000
_fixed64 = struct.Struct("<Q").pack
_fixed32 = struct.Struct("<I").pack
_float64 = struct.Struct("<d").pack


_SHORT = 1 << 12
LENGTHS = _lengths = [
    *(bytes((n,)) for n in range(0x80)),
    *(bytes((n & 0x7F | 0x80, n >> 7)) for n in range(0x80, _SHORT)),
]
"""Small numbers as varints, by number."""


def with_length(data: bytes) -> bytes:
    """Return bytes after their length."""
    size = len(data)
    return (_lengths[size] if size < _SHORT else to_bytes(size)) + data


def encode_span(span: ReadableSpan) -> bytes:
    """Return one ExportTraceServiceRequest with the span.

    Never fails for what a program sets: lone surrogates become U+FFFD, integers above 64 bits their
    digits as a string, objects of other types the name of their type, times `unsigned_ns`.
    """
    return _request(_span(span), span.resource, span.instrumentation_scope)


def encode_log(record: LogRecord) -> bytes:
    """Return one ExportLogsServiceRequest with a log record."""
    return _request(_log(record), record.resource, record.scope)


def _request(item: bytes, of: Resource, by: InstrumentationScope | None) -> bytes:
    resource, resource_schema = resource_parts(of)
    scope, scope_schema = scope_parts(by)
    scoped = b"%b\x12%b%b" % (scope, with_length(item), scope_schema)
    return b"\x0a" + with_length(b"%b\x12%b%b" % (resource, with_length(scoped), resource_schema))


def merged(requests: Iterable[bytes]) -> bytes:
    """Return one request of the spans, or log records, of several that were made here, each
    resource once.

    It is put together in one step: each copy of a request of megabytes takes fresh pages.
    """
    resources: dict[tuple[bytes, bytes], dict[tuple[bytes, bytes], list[bytes]]] = {}
    shell: Shell | None = None
    spans: list[bytes] = []
    for request in requests:
        begin = 0 if shell is None else shell.span_begin(request)
        if shell is not None and begin:
            spans.append(request[begin - 3 : len(request) - shell.behind])  # with tag and length
            continue
        (resource, scoped, resource_schema) = _three(_content_of(request))
        (scope, span, scope_schema) = _three(_content_of(scoped))
        shell = Shell(resource, scope, scope_schema, resource_schema)
        scopes = resources.setdefault((resource, resource_schema), {})
        spans = scopes.setdefault((scope, scope_schema), [])
        spans.append(span)
    pieces: list[bytes] = []
    for (resource, resource_schema), scopes in resources.items():
        fields: list[bytes] = [resource]
        for (scope, scope_schema), spans in scopes.items():
            fields += _field(b"\x12", [scope, *spans, scope_schema])
        fields.append(resource_schema)
        pieces += _field(b"\x0a", fields)
    return b"".join(pieces)


class Shell:
    """The resource and scope around spans, which mostly are those of the request before.

    Requests of less than 4 KB have their lengths at known places, in two bytes each: to compare
    them takes a quarter of the time that reading them does.

    Args:
        resource: the field.
        scope: the field.
        scope_schema: the field behind the span.
        resource_schema: the field behind that.
    """

    __slots__ = ("_at", "_begin", "_behind", "_resource", "_scope", "_scoped", "behind")

    def __init__(self, resource: bytes, scope: bytes, scope_schema: bytes, resource_schema: bytes):
        self._resource, self._scope = resource, scope
        self._behind = scope_schema + resource_schema
        self.behind = len(self._behind)
        self._at = 3 + len(resource) + 3
        self._begin = self._at + len(scope) + 3
        self._scoped = len(scope) + 3 + len(scope_schema)

    @classmethod
    def of(cls, request: bytes) -> Shell:
        """Return what stands around the span of a request that was made here."""
        (resource, scoped, resource_schema) = _three(_content_of(request))
        (scope, _, scope_schema) = _three(_content_of(scoped))
        return cls(resource, scope, scope_schema, resource_schema)

    def span_begin(self, request: bytes) -> int:
        """Return where the span begins, behind its length; 0 if a length stands elsewhere."""
        at, begin, whole = self._at, self._begin, len(request)
        size = whole - begin - self.behind
        if (
            size >= 128
            and whole < _SHORT
            and request[begin - 2 : begin] == _lengths[size]
            and request[at - 2 : at] == _lengths[size + self._scoped]
            and request[1:3] == _lengths[whole - 3]
            and request.startswith(self._resource, 3)
            and request.startswith(self._scope, at)
            and request.endswith(self._behind)
            and request[begin - 3] == request[at - 3] == 0x12
        ):
            return begin
        return 0


def _field(tag: bytes, pieces: list[bytes]) -> list[bytes]:
    """Return the pieces of a length-delimited field with these pieces as its content."""
    return [tag, to_bytes(sum(map(len, pieces))), *pieces]


def is_whole(request: bytes) -> bool:
    """Return whether bytes have the shape that `encode_span` or `encode_log` gives them."""
    try:
        if request[:1] != b"\x0a" or _end(request, 0) != len(request):
            return False
        item = span_of(request)
    except (IndexError, ValueError):  # the latter where a length does not end
        return False
    return _is_item(item, 0)


def _is_item(data: bytes, at: int) -> bool:
    """Return whether a span or log record begins at a position."""
    if data[at : at + 1] == _OBSERVED:
        return len(data) > at + 8
    begins = data[at : at + 2] == b"\x0a\x10" and data[at + 18 : at + 20] == b"\x12\x08"
    return begins and len(data) > at + 28


class WholeRequests:
    """A check of requests, as `is_whole`, that is faster where they are alike."""

    __slots__ = ("_shell",)

    def __init__(self) -> None:
        self._shell: Shell | None = None

    def has(self, request: bytes) -> bool:
        """Return whether bytes have the shape that `encode_span` or `encode_log` gives them."""
        shell = self._shell
        if shell is not None and (at := shell.span_begin(request)):
            return request[:1] == b"\x0a" and _is_item(request, at)
        if not is_whole(request):
            return False
        self._shell = Shell.of(request)
        return True


def span_of(request: bytes) -> bytes:
    """Return the Span or LogRecord message inside a request that was made here."""
    return _content_of(_three(_content_of(_three(_content_of(request))[1]))[1])


def scope_of(request: bytes) -> bytes:
    """Return the InstrumentationScope message inside a request that was made here."""
    return _content_of(_three(_content_of(_three(_content_of(request))[1]))[0])


def resource_of(request: bytes) -> bytes:
    """Return the Resource message inside a request that was made here."""
    return _content_of(_three(_content_of(request))[0])


def with_resource(request: bytes, resource: bytes) -> bytes:
    """Return a request that was made here with another Resource message."""
    _, scoped, resource_schema = _three(_content_of(request))
    field = b"\x0a" + with_length(resource)
    return b"\x0a" + with_length(b"%b%b%b" % (field, scoped, resource_schema))


def with_attributes(request: bytes, attributes: Mapping[str, Any]) -> bytes:
    """Return a request of one span that was made here with more attributes on the span."""
    resource, scoped, resource_schema = _three(_content_of(request))
    scope, span, scope_schema = _three(_content_of(scoped))
    span = with_length(_content_of(span) + attribute_fields(b"\x4a", attributes))
    scoped = with_length(b"%b\x12%b%b" % (scope, span, scope_schema))
    return b"\x0a" + with_length(b"%b\x12%b%b" % (resource, scoped, resource_schema))


def _three(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Split a group of spans into shared members, the spans, and a schema URL."""
    first = _end(data, 0)
    second = _end(data, first)
    return data[:first], data[first:second], data[second:]


def _content_of(field: bytes) -> bytes:
    """Return a length-delimited field without its tag and length."""
    return field[_begin(field, 0) :]


def _begin(data: bytes, at: int) -> int:
    """Return where the contents of the length-delimited field at a position begin."""
    return from_bytes(data, at + 1)[1]


def _end(data: bytes, at: int) -> int:
    """Return where the length-delimited field that begins at a position ends."""
    size, begin = from_bytes(data, at + 1)
    return begin + size


# The object is kept beside its encoding: an id is only unique among living objects.
_resources: dict[int, tuple[object, tuple[bytes, bytes]]] = {}
_scopes: dict[int, tuple[object, tuple[bytes, bytes]]] = {}


def resource_parts(resource: Resource) -> tuple[bytes, bytes]:
    """Return a resource and its schema URL as fields of ResourceSpans."""
    cached = _resources.get(id(resource))
    if cached is None or cached[0] is not resource:
        if len(_resources) >= _CACHED:
            _resources.clear()
        encoded = b"\x0a" + with_length(attribute_fields(b"\x0a", resource.attributes))
        cached = (resource, (encoded, text_field(b"\x1a", resource.schema_url)))
        _resources[id(resource)] = cached
    return cached[1]


def scope_parts(scope: InstrumentationScope | None) -> tuple[bytes, bytes]:
    cached = _scopes.get(id(scope))
    if cached is None or cached[0] is not scope:
        if len(_scopes) >= _CACHED:
            _scopes.clear()
        cached = (scope, (b"\x0a\x00", b""))
        if scope is not None:
            name, version = text_field(b"\x0a", scope.name), text_field(b"\x12", scope.version)
            # Scopes have attributes since SDK 1.26.
            attributes = attribute_fields(b"\x1a", getattr(scope, "attributes", None))
            encoded = b"\x0a" + with_length(name + version + attributes)
            cached = (scope, (encoded, text_field(b"\x1a", scope.schema_url)))
        _scopes[id(scope)] = cached
    return cached[1]


def _span(span: ReadableSpan) -> bytes:
    context = span.get_span_context()
    assert context is not None  # the SDK types it as optional; a span that ran has one
    parent = span.parent
    start, end = unsigned_ns(span.start_time), unsigned_ns(span.end_time)
    return b"".join(
        (
            b"\x0a\x10",
            context.trace_id.to_bytes(16, "big"),
            b"\x12\x08",
            context.span_id.to_bytes(8, "big"),
            _trace_state(b"\x1a", context),
            b"\x22\x08" + parent.span_id.to_bytes(8, "big") if parent else b"",
            text_field(b"\x2a", span.name),
            b"\x30%c" % (span.kind.value + 1),  # OTLP keeps 0 for unspecified
            b"\x39" + _fixed64(start) if start else b"",
            b"\x41" + _fixed64(end) if end else b"",
            attribute_fields(b"\x4a", span.attributes),
            _count(b"\x50", span.dropped_attributes),
            *[b"\x5a" + with_length(_event(event)) for event in span.events],
            _count(b"\x60", span.dropped_events),
            *[b"\x6a" + with_length(_link(link)) for link in span.links],
            _count(b"\x70", span.dropped_links),
            b"\x7a" + with_length(_status(span)),
            b"\x85\x01" + _fixed32(_flags(parent)),
        )
    )


_OBSERVED = b"\x59"
"""Tag of the time a record was observed, which stands first here: no span begins with it."""


def _log(record: LogRecord) -> bytes:
    number, body = record.severity_number, record.body
    return b"".join(
        (
            _OBSERVED + _fixed64(record.observed_ns),
            b"\x09" + _fixed64(record.time_ns) if record.time_ns else b"",
            b"\x10" + to_bytes(number) if number else b"",
            text_field(b"\x1a", record.severity_text),
            b"\x2a" + with_length(_value(body)) if body is not None else b"",
            attribute_fields(b"\x32", record.attributes),
            b"\x45" + _fixed32(record.flags) if record.flags else b"",
            b"\x4a\x10" + record.trace_id.to_bytes(16, "big") if record.trace_id else b"",
            b"\x52\x08" + record.span_id.to_bytes(8, "big") if record.span_id else b"",
            text_field(b"\x62", record.event_name),
        )
    )


def _status(span: ReadableSpan) -> bytes:
    status = span.status
    code = status.status_code.value
    return text_field(b"\x12", status.description) + b"\x18%c" % code if code else b""


def _event(event: Event) -> bytes:
    return b"\x09%b%b%b%b" % (
        _fixed64(unsigned_ns(event.timestamp)),
        text_field(b"\x12", event.name),
        attribute_fields(b"\x1a", event.attributes),
        _count(b"\x20", event.dropped_attributes),
    )


def _link(link: Link) -> bytes:
    return b"\x0a\x10%b\x12\x08%b%b%b%b\x35%b" % (
        link.context.trace_id.to_bytes(16, "big"),
        link.context.span_id.to_bytes(8, "big"),
        _trace_state(b"\x1a", link.context),
        attribute_fields(b"\x22", link.attributes),
        _count(b"\x28", link.dropped_attributes),
        _fixed32(_flags(link.context)),
    )


def _trace_state(tag: bytes, context: SpanContext) -> bytes:
    state = context.trace_state
    return text_field(tag, state.to_header()) if state else b""


def _flags(context: SpanContext | None) -> int:
    return _IS_REMOTE_KNOWN | _IS_REMOTE if context and context.is_remote else _IS_REMOTE_KNOWN


def _count(tag: bytes, dropped: int) -> bytes:
    return tag + to_bytes(dropped) if dropped else b""


def attribute_fields(tag: bytes, attributes: Mapping[str, Any] | None) -> bytes:
    if not attributes:
        return b""
    # A view of the SDK's mapping calls Python for each item; its copy is a dict.
    plain: Mapping[str, Any] = getattr(attributes, "copy", lambda: attributes)()
    key_of = _keys.get
    fields: list[bytes] = []
    add = fields.append
    for key, value in plain.items():
        name = key_of(key) or _key(key)
        if value.__class__ is str:  # most are, and calls would double the time
            try:
                text = value.encode()
            except UnicodeEncodeError:
                text = _utf8(value)
            size = len(text)
            if size < _SHORT - 200 and len(name) < 128:
                # Lengths from the inside out: of the text, of AnyValue, of KeyValue.
                inner = _lengths[size]
                size += 1 + len(inner)
                outer = _lengths[size]
                size += len(name) + len(outer)
                add(b"%b%b%b%b\x0a%b%b" % (tag, _lengths[size], name, outer, inner, text))
                continue
        elif value.__class__ is int and len(name) < 128 and 0 <= value < 1 << 63:
            number = _lengths[value] if value < _SHORT else to_bytes(value)
            size = len(number) + 1
            length = len(name) + size + 1
            add(b"%b%b%b%c\x18%b" % (tag, _lengths[length], name, size, number))
            continue
        elif value.__class__ is list and len(value) == 1 and value[0].__class__ is str:
            # Reasons to finish and the like: few, and always the same.
            add(_one_text.get((tag, key, value[0])) or _text_alone(tag, key, value[0]))
            continue
        add(tag + with_length(name + with_length(_value(value))))
    return b"".join(fields)


_one_text: dict[tuple[bytes, str, str], bytes] = {}


def _text_alone(tag: bytes, key: str, text: str) -> bytes:
    """Return an attribute that is a list of one text; short ones are remembered."""
    name = _keys.get(key) or _key(key)
    encoded = tag + with_length(name + with_length(_value((text,))))
    if len(text) <= _SHORT_TEXT:
        if len(_one_text) >= _CACHED:
            _one_text.clear()
        _one_text[tag, key, text] = encoded
    return encoded


_SHORT_TEXT = 64


@cache
def integer_template(tag: bytes, key: str) -> Callable[[int], bytes]:
    """Return a function that encodes an attribute whose values are integers, most of them small."""
    small = [attribute_fields(tag, {key: number}) for number in range(_SMALL)]

    def encoded(number: int) -> bytes:
        is_small = 0 <= number < _SMALL
        return small[number] if is_small else attribute_fields(tag, {key: number})

    return encoded


_SMALL = 256
_keys: dict[str, bytes] = {}


def _key(key: str) -> bytes:
    """Return the key as a field of KeyValue, and the tag of the value that follows."""
    if len(_keys) >= _CACHED:
        _keys.clear()
    # Proto3 leaves out an empty string.
    encoded = _keys[key] = text_field(b"\x0a", str(key)) + b"\x12"
    return encoded


def _string(value: str) -> bytes:
    """Return a string as an AnyValue."""
    return b"\x0a" + with_length(_utf8(value))


def _value(value: Any) -> bytes:
    """Return anything as an AnyValue."""
    if isinstance(value, bool):
        return b"\x10\x01" if value else b"\x10\x00"
    if isinstance(value, int):
        return _integer(int(value))
    if value is None:
        return b""
    if isinstance(value, str):
        return _string(str.__str__(value))
    if isinstance(value, float):
        return b"\x21" + _float64(float(value))
    if isinstance(value, bytes):
        return b"\x3a" + with_length(value)
    if isinstance(value, Mapping):
        return b"\x32" + with_length(attribute_fields(b"\x0a", cast("Mapping[str, Any]", value)))
    if isinstance(value, Sequence):
        items = [b"\x0a" + with_length(_value(item)) for item in value]
        return b"\x2a" + with_length(b"".join(items))
    return _string(f"<{type(value).__qualname__}>")


def _integer(value: int) -> bytes:
    if -(1 << 63) <= value < 1 << 63:
        return b"\x18" + to_bytes(value & 0xFFFF_FFFF_FFFF_FFFF)
    return _string(str(value))


def text_field(tag: bytes, text: str | None) -> bytes:
    return tag + with_length(_utf8(text)) if text else b""


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # lone surrogates, which UTF-8 has no form for
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
