"""Finished SDK spans, and log records, to OTLP/JSON documents.

Spec: opentelemetry-proto 1.9, docs/specification.md#json-protobuf-encoding: ids in hex, enums as
numbers, 64-bit integers as strings. Bytes are put together from templates, because building message
objects or dicts first takes three to ten times as long.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import orjson

from agentool_otel.model.times import unsigned_ns

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import Link, SpanContext

    from agentool_otel.otlp.log_record import LogRecord

__all__ = [
    "LargeTexts",
    "Line",
    "encode_log",
    "encode_span",
    "encode_spans",
    "escaped",
    "pairs_of",
    "resource_parts",
    "scope_parts",
    "span_line",
    "started_line",
]

_IS_REMOTE_KNOWN = 0x100
_IS_REMOTE = 0x200
_CACHED = 1000
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
"""Integers that OTLP has."""
_dumps = orjson.dumps

Line = tuple[bytes, ...]
"""A document and a line break, in pieces: what is large stands alone. Of a text of a megabyte each
copy costs as much as all the rest of a span."""
_LARGE = 1 << 14
_APART = b"\0"
"""Stands in a document for a text that is apart; JSON has no such byte."""

_Resources = dict[tuple[bytes, bytes], dict[tuple[bytes, bytes], list[bytes]]]
"""Encoded spans by resource and scope, each of which is its encoding and that of its schema URL."""


def encode_spans(spans: Sequence[ReadableSpan]) -> bytes:
    """Return one ExportTraceServiceRequest without a line break, grouped by resource and scope.

    Never fails for what a program sets: lone surrogates become U+FFFD, integers above 64 bits their
    digits as a string, objects of other types the name of their type, times `unsigned_ns`.
    """
    resources: _Resources = {}
    for span in spans:
        scopes = resources.setdefault(resource_parts(span.resource), {})
        scopes.setdefault(scope_parts(span.instrumentation_scope), []).append(_span(span))
    return b"".join(_document(resources))


def encode_span(span: ReadableSpan) -> bytes:
    """Return `encode_spans([span])`, in half the time."""
    return _document_of(span, _span(span))


def span_line(span: ReadableSpan) -> Line:
    """Return `encode_span` as a line; texts that `started_line` kept are not escaped again."""
    separate = LargeTexts(_take)
    return separate.line(_document_of(span, _span(span, separate)))


_STARTED = (
    b'{"traceId":"%032x","spanId":"%016x"%b,"name":%b,"kind":%d,"startTimeUnixNano":"%d"%b,'
    b'"flags":%d}'
)


def started_line(span: ReadableSpan, keep: bool = False) -> Line:
    """Return the same of a span that has just started: nothing has happened on it yet.

    Args:
        span: the span.
        keep: its end will be a `span_line` of the same process.
    """
    context = span.get_span_context()
    assert context is not None  # the SDK types it as optional; a span that runs has one
    separate = LargeTexts(_keep if keep else escaped)
    if span.links or span.start_time is None:
        return separate.line(_document_of(span, _span(span, separate)))
    parent = span.parent
    started = _STARTED % (
        context.trace_id,
        context.span_id,
        b',"parentSpanId":"%016x"' % parent.span_id if parent else b"",
        escaped(span.name),
        span.kind.value + 1,  # OTLP keeps 0 for unspecified
        unsigned_ns(span.start_time),
        _attributes(span.attributes, separate),
        _flags(parent),
    )
    return separate.line(_document_of(span, started))


class LargeTexts:
    """The large texts of a document that is being made.

    Args:
        escape: a text to a JSON string.
    """

    __slots__ = ("_escape", "texts")

    def __init__(self, escape: Callable[[str], bytes]):
        self._escape = escape
        self.texts: list[bytes] = []

    def put(self, text: str) -> bytes:
        """Take a text out of the document; return its placeholder there."""
        self.texts.append(self._escape(text))
        return _APART

    def clear(self) -> None:
        self.texts.clear()

    def put_back(self, document: bytes) -> list[bytes]:
        """Return the pieces of a document, or of a part of one, the texts among them."""
        if not self.texts:
            return [document]
        before, *others = document.split(_APART)
        pieces = [before]
        for text, after in zip(self.texts, others, strict=True):
            pieces += (text, after)
        return pieces

    def line(self, document: bytes) -> Line:
        if not self.texts:
            return (document + b"\n",)
        return (*self.put_back(document), b"\n")


# The text is kept beside its escape: an id is only unique among living objects.
_kept: dict[int, tuple[str, bytes]] = {}
_MOST_KEPT = 8
"""Such texts, so that what is never ended takes some megabytes at most."""


def _keep(text: str) -> bytes:
    encoded = escaped(text)
    if len(_kept) >= _MOST_KEPT:
        _kept.clear()  # of spans that may never end
    _kept[id(text)] = text, encoded
    return encoded


def _take(text: str) -> bytes:
    cached = _kept.pop(id(text), None)
    return cached[1] if cached is not None and cached[0] is text else escaped(text)


def _document_of(span: ReadableSpan, encoded: bytes) -> bytes:
    resource, resource_schema = resource_parts(span.resource)
    scope, scope_schema = scope_parts(span.instrumentation_scope)
    return b'{"resourceSpans":[{"resource":%b,"scopeSpans":[{"scope":%b,"spans":[%b]%b}]%b}]}' % (
        resource,
        scope,
        encoded,
        scope_schema,
        resource_schema,
    )


def encode_log(record: LogRecord) -> bytes:
    """Return one ExportLogsServiceRequest with a log record, without a line break."""
    resource, resource_schema = resource_parts(record.resource)
    scope, scope_schema = scope_parts(record.scope)
    scoped = b'{"scope":%b,"logRecords":[%b]%b}' % (scope, _log(record), scope_schema)
    return b'{"resourceLogs":[{"resource":%b,"scopeLogs":[%b]%b}]}' % (
        resource,
        scoped,
        resource_schema,
    )


def _log(record: LogRecord) -> bytes:
    number = record.severity_number
    return b'{"observedTimeUnixNano":"%d"%b%b%b%b%b%b%b%b%b}' % (
        record.observed_ns,
        b',"timeUnixNano":"%d"' % record.time_ns if record.time_ns else b"",
        b',"severityNumber":%d' % number if number else b"",
        b',"severityText":%b' % escaped(record.severity_text) if record.severity_text else b"",
        b',"body":%b' % _value(record.body) if record.body is not None else b"",
        _attributes(record.attributes),
        b',"flags":%d' % record.flags if record.flags else b"",
        b',"traceId":"%032x"' % record.trace_id if record.trace_id else b"",
        b',"spanId":"%016x"' % record.span_id if record.span_id else b"",
        b',"eventName":%b' % escaped(record.event_name) if record.event_name else b"",
    )


def _document(resources: _Resources) -> Iterator[bytes]:
    """Yield the pieces of the document, so that megabytes are put together only once."""
    before = b'{"resourceSpans":[{"resource":'
    for (resource, resource_schema), scopes in resources.items():
        yield before + resource
        before = b',"scopeSpans":[{"scope":'
        for (scope, scope_schema), members in scopes.items():
            yield before + scope + b',"spans":['
            yield b",".join(members)
            yield b"]" + scope_schema
            before = b'},{"scope":'
        yield b"}]" + resource_schema
        before = b'},{"resource":'
    yield b"}]}" if resources else b'{"resourceSpans":[]}'


# The object is kept beside its encoding: an id is only unique among living objects.
_resources: dict[int, tuple[object, tuple[bytes, bytes]]] = {}
_scopes: dict[int, tuple[object, tuple[bytes, bytes]]] = {}


def resource_parts(resource: Resource) -> tuple[bytes, bytes]:
    """Return a resource and its schema URL, encoded once: hashing a Resource takes longer."""
    cached = _resources.get(id(resource))
    if cached is None or cached[0] is not resource:
        if len(_resources) >= _CACHED:
            _resources.clear()
        attributes = _attributes(resource.attributes)
        cached = (resource, (b"{%b}" % attributes[1:], _schema(resource.schema_url)))
        _resources[id(resource)] = cached
    return cached[1]


def scope_parts(scope: InstrumentationScope | None) -> tuple[bytes, bytes]:
    cached = _scopes.get(id(scope))
    if cached is None or cached[0] is not scope:
        if len(_scopes) >= _CACHED:
            _scopes.clear()
        cached = (scope, (b"{}", b""))
        if scope is not None:
            version = b',"version":%b' % escaped(scope.version) if scope.version else b""
            # Scopes have attributes since SDK 1.26.
            attributes = _attributes(getattr(scope, "attributes", None))
            encoded = b'{"name":%b%b%b}' % (escaped(scope.name), version, attributes)
            cached = (scope, (encoded, _schema(scope.schema_url)))
        _scopes[id(scope)] = cached
    return cached[1]


def _schema(url: str | None) -> bytes:
    return b',"schemaUrl":%b' % escaped(url) if url else b""


def _span(span: ReadableSpan, separate: LargeTexts | None = None) -> bytes:
    context = span.get_span_context()
    assert context is not None  # the SDK types it as optional; a span that ran has one
    parent = span.parent
    start, end = unsigned_ns(span.start_time), unsigned_ns(span.end_time)
    return b'{"traceId":"%032x","spanId":"%016x"%b%b,"name":%b,"kind":%d%b%b%b%b%b%b%b%b%b}' % (
        context.trace_id,
        context.span_id,
        _trace_state(context),
        b',"parentSpanId":"%016x"' % parent.span_id if parent else b"",
        escaped(span.name),
        span.kind.value + 1,  # OTLP keeps 0 for unspecified
        b',"startTimeUnixNano":"%d"' % start if start else b"",
        b',"endTimeUnixNano":"%d"' % end if end else b"",
        _attributes(span.attributes, separate),
        _count(b"Attributes", span.dropped_attributes),
        _list(b"events", [_event(event) for event in span.events]),
        _count(b"Events", span.dropped_events),
        _list(b"links", [_link(link) for link in span.links]),
        _count(b"Links", span.dropped_links),
        b'%b,"flags":%d' % (_status(span), _flags(parent)),
    )


def _status(span: ReadableSpan) -> bytes:
    status = span.status
    code = status.status_code.value
    if not code:
        return b',"status":{}'
    if not status.description:
        return b',"status":{"code":%d}' % code
    return b',"status":{"code":%d,"message":%b}' % (code, escaped(status.description))


def _event(event: Event) -> bytes:
    return b'{"timeUnixNano":"%d","name":%b%b%b}' % (
        unsigned_ns(event.timestamp),
        escaped(event.name),
        _attributes(event.attributes),
        _count(b"Attributes", event.dropped_attributes),
    )


def _link(link: Link) -> bytes:
    return b'{"traceId":"%032x","spanId":"%016x"%b%b%b,"flags":%d}' % (
        link.context.trace_id,
        link.context.span_id,
        _trace_state(link.context),
        _attributes(link.attributes),
        _count(b"Attributes", link.dropped_attributes),
        _flags(link.context),
    )


def _trace_state(context: SpanContext) -> bytes:
    state = context.trace_state
    return b',"traceState":%b' % escaped(state.to_header()) if state else b""


def _flags(context: SpanContext | None) -> int:
    return _IS_REMOTE_KNOWN | _IS_REMOTE if context and context.is_remote else _IS_REMOTE_KNOWN


def _count(member: bytes, dropped: int) -> bytes:
    return b',"dropped%bCount":%d' % (member, dropped) if dropped else b""


def _list(name: bytes, items: list[bytes]) -> bytes:
    return b',"%b":[%b]' % (name, b",".join(items)) if items else b""


def _attributes(attributes: Mapping[str, Any] | None, separate: LargeTexts | None = None) -> bytes:
    if not attributes:
        return b""
    # A view of the SDK's mapping calls Python for each item; its copy is a dict.
    plain: Mapping[str, Any] = getattr(attributes, "copy", lambda: attributes)()
    return b',"attributes":[%b]' % pairs_of(plain, separate)


def pairs_of(attributes: Mapping[str, Any], separate: LargeTexts | None = None) -> bytes:
    texts, integers = _text_keys, _integer_keys
    large = _LARGE if separate is not None else sys.maxsize
    put: Callable[[str], bytes] = escaped if separate is None else separate.put
    try:
        return b",".join(
            [
                b"%b%b}}"
                % (
                    texts.get(key) or _key(key, texts),
                    _dumps(value) if len(value) < large else put(value),
                )
                if value.__class__ is str  # most are, and calls would double the time
                else b'%b%d"}}' % (integers.get(key) or _key(key, integers), value)
                if value.__class__ is int and _LEAST <= value <= _MOST
                else b"%b%b}" % (_keys.get(key) or _key(key, _keys), _value(value))
                for key, value in attributes.items()
            ]
        )
    except TypeError:  # a lone surrogate somewhere
        if separate is not None:
            separate.clear()
        pairs = [(_key(key, _keys), _value(value)) for key, value in attributes.items()]
        return b",".join([b"%b%b}" % pair for pair in pairs])


_keys: dict[str, bytes] = {}
"""By the name of an attribute, the beginning of its pair. Likewise with that of a text, and of an
integer."""
_text_keys: dict[str, bytes] = {}
_integer_keys: dict[str, bytes] = {}


def _key(key: str, kind: dict[str, bytes]) -> bytes:
    """Return the beginning of a pair, and remember it among those of its kind."""
    if len(kind) >= _CACHED:
        kind.clear()
    before = b'{"key":%b,"value":' % escaped(str(key))
    if kind is _text_keys:
        before += b'{"stringValue":'
    elif kind is _integer_keys:
        before += b'{"intValue":"'
    kind[key] = before
    return before


def _value(value: Any) -> bytes:
    kind = value.__class__
    if kind is str:
        return b'{"stringValue":%b}' % escaped(value)
    if kind is bool:
        return b'{"boolValue":true}' if value else b'{"boolValue":false}'
    if kind is int:
        return _integer(value)
    if kind is tuple or kind is list:
        return _array(value)
    return _other_value(value)


def _array(values: Sequence[Any]) -> bytes:
    return b'{"arrayValue":{"values":[%b]}}' % b",".join([_value(value) for value in values])


def _other_value(value: Any) -> bytes:
    if value is None:
        return b"{}"
    if isinstance(value, str):
        return b'{"stringValue":%b}' % escaped(str.__str__(value))
    if isinstance(value, int):
        return _integer(int(value))
    if isinstance(value, float):
        return b'{"doubleValue":%b}' % _double(float(value))
    if isinstance(value, bytes):
        return b'{"bytesValue":"%b"}' % base64.b64encode(value)
    if isinstance(value, Mapping):
        return b'{"kvlistValue":{"values":[%b]}}' % pairs_of(cast("Mapping[str, Any]", value))
    if isinstance(value, Sequence):
        return _array(value)  # pyright: ignore[reportUnknownArgumentType] # Any
    return b'{"stringValue":%b}' % escaped(f"<{type(value).__qualname__}>")


def _integer(value: int) -> bytes:
    if _LEAST <= value <= _MOST:
        return b'{"intValue":"%d"}' % value
    return b'{"stringValue":"%d"}' % value


def _double(value: float) -> bytes:
    if value != value:
        return b'"NaN"'
    if value in (float("inf"), float("-inf")):
        return b'"Infinity"' if value > 0 else b'"-Infinity"'
    return orjson.dumps(value)


def escaped(text: str) -> bytes:
    try:
        return orjson.dumps(text)
    except TypeError:  # lone surrogates, which UTF-8 has no form for
        return orjson.dumps(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
