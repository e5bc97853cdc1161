"""OTLP protobuf bytes to spans, one ResourceSpans at a time so that size does not matter.

Spec: opentelemetry-proto 1.9, trace/v1/trace.proto. TracesData and ExportTraceServiceRequest are
the same on the wire: a list of ResourceSpans under field 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BufferedReader, BytesIO
from sys import intern
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from agentool_otel.model.spans import Attributes, SpanEvent, SpanLink, SpanRecord
from agentool_otel.otlp import varints
from agentool_otel.otlp.json_decoder import KINDS, STATUSES
from agentool_otel.otlp.trace_response import holds_trace, partial_in_protobuf
from agentool_otel.otlp.wire import with_marks_in_texts
from agentool_otel.reading.sources.files.compression import ZSTD, Feed, unzstd
from agentool_otel.reading.sources.files.damage import mend
from agentool_otel.reading.sources.files.otlp_json import JsonReader
from agentool_otel.reading.sources.files.undecoded import Batches, Report
from agentool_otel.reading.sources.stores import log_record
from agentool_otel.reading.sources.stores.values import hashed

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs
    from opentelemetry.proto.metrics.v1.metrics_pb2 import ResourceMetrics
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

    _Message = TypeVar("_Message", ResourceSpans, ResourceLogs, ResourceMetrics)

__all__ = ["ProtoReader"]

_RESOURCE_SPANS = b"\x0a"  # field 1, length-delimited
_CHUNK = 1 << 24
_TRACE_ID, _SPAN_ID = 16, 8
"""Bytes of ids."""
_TRACE_IDS = (_TRACE_ID, 8)
"""Bytes of trace ids, with those of 64 bits."""
_LONGEST_LENGTH = 5
"""Bytes that the length of a message takes at most: 32 bits."""


class ProtoReader:
    """Reads one message, or the Collector's sequence of messages with their lengths."""

    recognised = False
    skipped = 0
    """Log lines and metrics that were skipped."""

    def __init__(self, report: Report):
        self._report = report

    def message(self, stream: BinaryIO, where: str = "") -> Iterator[list[SpanRecord]]:
        """Yield the spans of each ResourceSpans of one message, as such or in an answer of Tempo's
        second API."""
        for number, data in enumerate(self._parts(stream, where), 1):
            place = f"{where} ResourceSpans {number}".lstrip()
            try:
                spans = self._part(data, place)
            except (ValueError, RecursionError) as error:
                self._report(place, f"left out, no valid protobuf: {error}")
                continue
            self.recognised = bool(self.recognised or spans or self.skipped or not data)
            yield spans

    def _part(self, data: bytes, where: str) -> list[SpanRecord]:
        """Return the spans of a ResourceSpans, or of a ResourceLogs, which looks much like one.

        A ResourceMetrics looks like either, and is skipped.

        Raises:
            ValueError: it is none of them.
        """
        from opentelemetry.proto.logs.v1.logs_pb2 import ResourceLogs
        from opentelemetry.proto.metrics.v1.metrics_pb2 import ResourceMetrics
        from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

        group = _parse(ResourceSpans, data)
        if group is None or not _have_times(group):
            metrics = _parse(ResourceMetrics, data)
            if metrics is not None and (count := _number_of_metrics(metrics)):
                self.skipped += count
                return []
        if group is not None and _are_spans(group):
            return list(self._spans(group, where))
        logs = _parse(ResourceLogs, data)
        if logs is not None and (group is not None or _are_logs(logs)):
            return list(self._logs(logs))
        # One text in it that is no UTF-8 is enough for either to be refused.
        group = _parse(ResourceSpans, data, marked=True)
        if group is not None and _are_spans(group):
            return list(map(mend, self._spans(group, where)))
        logs = _parse(ResourceLogs, data, marked=True)
        if logs is not None and _are_logs(logs):
            return list(self._logs(logs))
        raise ValueError("neither spans nor log records")

    def framed(self, stream: BinaryIO, json: JsonReader) -> Batches:
        """Yield the spans of messages which each follow their length as `uint32` big-endian: JSON
        or protobuf, each by itself in zstd if the exporter compresses.

        Raises:
            MissingDependencyError: they are zstd, which this Python cannot read by itself.
        """
        number = 0
        while header := stream.read(4):
            number += 1
            size = int.from_bytes(header, "big")
            data = _take(stream, size)
            yield from self._framed(data, f"message {number}", json) if data else ([],)
            if len(header) < 4 or len(data) < size:
                self._report(
                    f"message {number}", f"cut short: {len(data)} of {size} bytes are there"
                )

    def _framed(self, data: bytes, where: str, json: JsonReader) -> Batches:
        message: BinaryIO = BytesIO(data)
        if data.startswith(ZSTD):
            feed = Feed(unzstd(message).read1, lambda: len(data))
            message = BufferedReader(feed, _CHUNK)
            start = message.peek(1)[:1]
            if feed.error:
                self._report(where, f"left out: {feed.error}")
        else:
            start = data[:1]
        yield from json.batches(message) if start == b"{" else self.message(message, where)

    def delimited(self, stream: BinaryIO) -> Iterator[list[SpanRecord]]:
        """Yield the spans of messages which each follow their length as a varint."""
        number = 0
        while stream.peek(1):  # type: ignore[attr-defined] # always a BufferedReader
            number += 1
            size = varints.from_stream(stream, _LONGEST_LENGTH) or 0
            data = _take(stream, size)
            yield from self.message(BytesIO(data), f"message {number}") if data else ([],)
            if len(data) < size:
                self._report(
                    f"message {number}", f"cut short: {len(data)} of {size} bytes are there"
                )

    def _parts(self, stream: BinaryIO, where: str, *, cut: bool = False) -> Iterator[bytes]:
        """Yield the values of a message's fields 1.

        Args:
            stream: the message.
            where: the place of it.
            cut: whether the missing end has been reported already.
        """
        in_answer = False
        while tag := stream.read(1):
            if in_answer and tag != _RESOURCE_SPANS:
                self._report_partial(tag + stream.read(_CHUNK), where)
                return
            size = varints.from_stream(stream, _LONGEST_LENGTH) if tag == _RESOURCE_SPANS else None
            if size is None:
                self._report(where, f"not readable as OTLP protobuf from byte {tag.hex()} on")
                return
            data = _take(stream, size)
            if len(data) < size and not cut:
                self._report(
                    where, f"cut short: {len(data)} of {size} bytes of a ResourceSpans are there"
                )
            if holds_trace(data):
                in_answer = True
                yield from self._parts(BytesIO(data), where, cut=len(data) < size)
            elif len(data) == size:
                in_answer = not data  # the trace of an answer that has none
                yield data
            else:
                return

    def _report_partial(self, fields: bytes, where: str) -> None:
        """Report a trace that Tempo has marked as partial after its spans."""
        try:
            partial = partial_in_protobuf(fields)
        except ValueError as error:
            partial = f"the data after a trace is not readable as OTLP protobuf: {error}"
        if partial is not None:
            self._report(where, partial)

    def _logs(self, group: ResourceLogs) -> Iterator[SpanRecord]:
        resource = _attributes(group.resource.attributes)
        for scoped in group.scope_logs:
            for record in scoped.log_records:
                span = log_record.record(_log(record), scoped.scope.name, resource)
                if span is None:
                    self.skipped += 1
                else:
                    yield mend(span)

    def _spans(self, group: ResourceSpans, where: str) -> Iterator[SpanRecord]:
        resource = _attributes(group.resource.attributes)
        for scoped in group.scope_spans:
            scope = intern(scoped.scope.name)
            for span in scoped.spans:
                try:
                    yield _record(span, scope, resource)
                except ValueError as error:
                    self._report(where, f"span {span.name!r} left out: {error}")


def _parse(kind: type[_Message], data: bytes, *, marked: bool = False) -> _Message | None:
    """Return a message, with marks for invalid UTF-8 if `marked`; None for no message."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # no stubs

    try:
        if marked:
            data = with_marks_in_texts(data, kind.DESCRIPTOR)
        message: _Message = kind.FromString(data)
        return message
    except (DecodeError, ValueError):
        return None


def _are_spans(group: ResourceSpans) -> bool:
    """Logs have the same shape one level up; in place of a trace id they have a time, which reads
    as a span without one, if it reads at all."""
    return any(span.trace_id for scoped in group.scope_spans for span in scoped.spans) or not any(
        scoped.spans for scoped in group.scope_spans
    )


def _have_times(group: ResourceSpans) -> bool:
    """Return whether a span of a group starts; a metric or a log record read as a span does not."""
    return any(span.start_time_unix_nano for scoped in group.scope_spans for span in scoped.spans)


def _number_of_metrics(group: ResourceMetrics) -> int:
    return sum(
        1
        for scoped in group.scope_metrics
        for metric in scoped.metrics
        if metric.name and metric.WhichOneof("data") is not None
    )


def _are_logs(group: ResourceLogs) -> bool:
    """Spans read as logs have no time: their ids are in its place."""
    return any(
        record.time_unix_nano or record.observed_time_unix_nano
        for scoped in group.scope_logs
        for record in scoped.log_records
    )


def _log(record: LogRecord) -> dict[str, Any]:
    """Return a log record as a dict with the names of OTLP/JSON and unwrapped values."""
    return {
        "traceId": _id(record.trace_id, _TRACE_ID) if record.trace_id else "",
        "spanId": _id(record.span_id, _SPAN_ID) if record.span_id else "",
        "timeUnixNano": record.time_unix_nano,
        "observedTimeUnixNano": record.observed_time_unix_nano,
        "eventName": getattr(record, "event_name", ""),  # since opentelemetry-proto 1.5
        "body": _value(record.body),
        "attributes": _attributes(record.attributes),
    }


def _record(span: Span, scope: str, resource: Attributes) -> SpanRecord:
    return SpanRecord(
        trace_id=_id(span.trace_id, _TRACE_ID),
        span_id=_id(span.span_id, _SPAN_ID),
        parent_id=_id(span.parent_span_id, _SPAN_ID) if span.parent_span_id else None,
        name=span.name,
        kind=KINDS.get(span.kind, "INTERNAL"),
        start_ns=span.start_time_unix_nano or None,
        end_ns=span.end_time_unix_nano or None,
        attributes=_attributes(span.attributes),
        events=[
            SpanEvent(event.name, event.time_unix_nano or None, _attributes(event.attributes))
            for event in span.events
        ],
        links=[
            SpanLink(
                _id(link.trace_id, _TRACE_ID),
                _id(link.span_id, _SPAN_ID),
                _attributes(link.attributes),
            )
            for link in span.links
            if link.trace_id and link.span_id
        ],
        status=STATUSES.get(span.status.code, "UNSET"),
        status_message=span.status.message or None,
        scope=scope,
        resource=resource,
        hashed_ids=len(span.trace_id) not in _TRACE_IDS or len(span.span_id) != _SPAN_ID,
    )


def _id(raw: bytes, size: int) -> str:
    """Return an id as lower-case hex.

    A trace id of 64 bits is filled up with zeros, as in JSON; any other size is hashed.
    """
    if not raw:
        raise ValueError("expected an id, got none")
    if len(raw) == size:
        return raw.hex()
    is_short_trace = size == _TRACE_ID and len(raw) in _TRACE_IDS
    return raw.rjust(size, b"\0").hex() if is_short_trace else hashed(raw, size)


def _attributes(pairs: Iterable[KeyValue]) -> Attributes:
    return {intern(pair.key): _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    return getattr(value, kind)


def _take(stream: BinaryIO, size: int) -> bytes:
    """Return `size` bytes, or the rest; a damaged length costs no memory."""
    chunks: list[bytes] = []
    while size and (chunk := stream.read(min(size, _CHUNK))):
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)
