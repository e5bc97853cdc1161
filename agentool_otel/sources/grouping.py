"""Spans in any order to whole traces, in bounded memory.

Spans are held as they are while they fit into a budget. Beyond it all of them go to files on disk
by a hash of their trace id, and each file is then grouped by itself.
"""

from __future__ import annotations

import errno
import pickle
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from operator import attrgetter
from pathlib import Path
from sys import getsizeof
from typing import Any, BinaryIO
from zlib import crc32

import msgspec

from agentool_otel.errors import SourceError
from agentool_otel.model.spans import Attributes, SpanEvent, SpanLink, SpanRecord
from agentool_otel.sources._undecoded import Decoder, UndecodedSpan
from agentool_otel.sources.census import SLOTS, Census
from agentool_otel.sources.containers.log_record import is_fragment

__all__ = ["Deduplicated", "by_trace", "grouped", "whole"]

_BITS = 6  # of the hash for each level of splitting, so 64 files open at once
_LEVELS = 5
_MIB = 1 << 20
_START = attrgetter("start_ns", "span_id")

_Row = tuple[
    str, str, str | None, str, str, int | None, int | None, Attributes, list[SpanEvent],
    list[SpanLink], str, str | None, str, msgspec.Raw,
]  # fmt: skip
"""A span on disk: the fields of SpanRecord, the last one, the resource, encoded by itself."""

_UndecodedRow = tuple[str, bytes, str, msgspec.Raw, str, int]
"""The same for UndecodedSpan: its fields, the resource and the number of the decoder last."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Row).decode
_decode_shallow = msgspec.msgpack.Decoder(_UndecodedRow).decode
_PLAIN, _UNDECODED, _PICKLED = b"s", b"p", b"o"
"""What kind of row follows."""

_Span = SpanRecord | UndecodedSpan
_Traces = dict[str, list[_Span]]


def by_trace(
    spans: Iterable[SpanRecord | UndecodedSpan],
    budget_bytes: int = 64 * _MIB,
    census: Census | None = None,
) -> Iterator[list[SpanRecord]]:
    """Yield the spans of one trace after another, sorted by start and span id.

    The outcome does not depend on the order or the repetition of `spans`; of several copies of a
    span the most complete one is kept, and a trace that had some is a `Deduplicated`. Traces come
    sorted by start as long as all of them fit into `budget_bytes`; above it in an order that says
    nothing. One trace has to fit into memory. Temporary files are removed when the
    iterator is exhausted or closed.

    With a `census` of the same spans, traces come as they complete.

    Raises:
        SourceError: the temporary folder cannot take the spans.
    """
    for trace in grouped(spans, budget_bytes, census):
        if found := whole(trace):
            yield found


def grouped(
    spans: Iterable[SpanRecord | UndecodedSpan],
    budget_bytes: int = 64 * _MIB,
    census: Census | None = None,
) -> Iterator[list[SpanRecord | UndecodedSpan]]:
    """Yield the spans of one trace after another as they came, for `whole`. The rest as `by_trace`,
    which does both.
    """
    traces: _Traces = {}
    size = 0
    spans = iter(spans)
    if census is not None:
        yield from _counted(spans, census, budget_bytes, traces)
        size = sum(_size(span) for trace in traces.values() for span in trace)
    for span in spans:
        _add(traces, span)
        size += _size(span)
        if size > budget_bytes and len(traces) > 1:
            yield from _from_disk(chain(_drained(traces), spans), budget_bytes, 0, {})
            return
    yield from _settled(traces)


def _counted(
    spans: Iterator[_Span], census: Census, budget: int, traces: _Traces
) -> Iterator[list[_Span]]:
    """Yield traces as their last span passes; leave the others in `traces` when the spans end or
    those that are open outgrow the budget."""
    slots: dict[int, list[_Span]] = {}
    sizes: dict[int, int] = {}
    counts = census.counts
    held = 0
    for span in spans:
        size = _size(span)
        held += size
        slot = hash(span.trace_id) % SLOTS
        here = slots.get(slot)
        if here is None:
            here = slots[slot] = []
            sizes[slot] = 0
        here.append(span)
        sizes[slot] += size
        if len(here) == counts[slot]:
            del slots[slot]
            held -= sizes.pop(slot)
            yield from _apart(here)
        elif held > budget:
            break
    for here in slots.values():
        for span in here:
            _add(traces, span)


def _apart(spans: list[_Span]) -> Iterable[list[_Span]]:
    """Return the traces among spans that share a slot; mostly there is one."""
    if len({span.trace_id for span in spans}) == 1:
        return [spans]
    traces: _Traces = {}
    for span in spans:
        _add(traces, span)
    return traces.values()


def _from_disk(
    spans: Iterable[_Span], budget: int, level: int, decoders: dict[Decoder, int]
) -> Iterator[list[_Span]]:
    with tempfile.TemporaryDirectory(prefix="agentool-") as folder:
        for bucket in _spill(spans, Path(folder), level, decoders):
            # One trace cannot be split, nor can traces whose hashes are equal to the last bit.
            if bucket.size > budget and bucket.several and level + 1 < _LEVELS:
                yield from _from_disk(bucket.spans(decoders), budget, level + 1, decoders)
            else:
                traces: _Traces = {}
                for span in bucket.spans(decoders):
                    _add(traces, span)
                for trace_id in sorted(traces):
                    yield traces.pop(trace_id)
            bucket.path.unlink(missing_ok=True)


def _add(traces: _Traces, span: _Span) -> None:
    trace = traces.get(span.trace_id)
    if trace is None:
        traces[span.trace_id] = [span]
    else:
        trace.append(span)


def _settled(traces: _Traces) -> Iterator[list[_Span]]:
    """Yield the traces in order, letting go of each."""
    starts = {trace_id: min(map(_start_of, spans)) for trace_id, spans in traces.items()}
    for trace_id in sorted(starts, key=lambda key: (starts[key], key)):
        yield traces.pop(trace_id)


def _start_of(span: _Span) -> int:
    if isinstance(span, UndecodedSpan):
        return span.decoder.start_of(span)
    return span.start_ns or 0


def whole(spans: list[SpanRecord | UndecodedSpan]) -> list[SpanRecord]:
    """Return the spans of a trace, decoded, each once, in order of start."""
    records = [
        span.decoder.decode(span) if isinstance(span, UndecodedSpan) else span for span in spans
    ]
    best = {span.span_id: span for span in records if span is not None}
    copies = 0
    if len(best) < len(records) or any(span.start_ns is None for span in best.values()):
        known = [span for span in records if span is not None]
        best = _without_copies(known)
        copies = _copies(known)
    try:
        whole = sorted(best.values(), key=_START)
    except TypeError:  # a span without a start
        whole = sorted(best.values(), key=lambda span: (span.start_ns or 0, span.span_id))
    return Deduplicated(whole, copies) if copies else whole


class Deduplicated(list[SpanRecord]):
    """The spans of a trace of which there were several copies of some."""

    def __init__(self, spans: Iterable[SpanRecord], copies: int):
        super().__init__(spans)
        self.copies = copies
        """How many were left out."""


def _copies(spans: list[SpanRecord]) -> int:
    """Count the spans that are there again; a fragment is joined, and not a copy."""
    whole = [span.span_id for span in spans if not is_fragment(span)]
    return len(whole) - len(set(whole))


def _without_copies(spans: list[SpanRecord]) -> dict[str, SpanRecord]:
    """Return the most complete copy of each span, with the log records that belong to it."""
    best: dict[str, SpanRecord] = {}
    joined: dict[str, list[SpanEvent]] = {}
    for span in spans:
        if span.start_ns is None and span.events and is_fragment(span):
            joined.setdefault(span.span_id, []).extend(span.events)
        other = best.setdefault(span.span_id, span)
        if other is not span and _completeness(span) > _completeness(other):
            best[span.span_id] = span
    for span_id, events in joined.items():
        best[span_id] = _with_events(best[span_id], events)
    return best


def _with_events(span: SpanRecord, events: list[SpanEvent]) -> SpanRecord:
    """Return a span with the log records of its fragments, each once, among its own events."""
    if is_fragment(span):
        span = msgspec.structs.replace(span, events=[])
    own = {_settled_text(event) for event in span.events}
    new = {key: event for event in events if (key := _settled_text(event)) not in own}
    events = span.events + [new[key] for key in sorted(new)]
    return msgspec.structs.replace(
        span, events=sorted(events, key=lambda event: event.time_ns or 0)
    )


def _settled_text(value: SpanRecord | SpanEvent) -> str:
    return repr(msgspec.to_builtins(value, order="sorted", builtin_types=(bytes,)))


def _completeness(span: SpanRecord) -> tuple[bool, bool, int, int, str]:
    return (
        span.end_ns is not None,
        span.start_ns is not None,
        len(span.attributes) + len(span.events),
        span.end_ns or 0,
        # Nothing is better about one of them any more, but the choice has to be the same each time.
        _settled_text(span),
    )


def _size(span: _Span) -> int:
    """Estimate the memory that a span takes, in a tenth of the time that reading it took."""
    if isinstance(span, UndecodedSpan):
        return 300 + len(span.data)
    size = 1000 + 100 * len(span.attributes)
    for value in span.attributes.values():
        kind = value.__class__
        if kind is str:
            length = len(value)
            size += length if length < 256 or value.isascii() else getsizeof(value)
        elif kind is list or kind is dict:
            size += _nested(value)
    for event in span.events:
        size += 300 + _nested(event.attributes)
    return size + 500 * len(span.links)


def _nested(value: Any) -> int:
    size = 0
    for item in value.values() if value.__class__ is dict else value:
        size += 100 + getsizeof(item)
        if item.__class__ is list or item.__class__ is dict:
            size += _nested(item)
    return size


def _drained(traces: _Traces) -> Iterator[_Span]:
    while traces:
        yield from traces.popitem()[1]


class _Bucket:
    """A file of spans, each row after its length."""

    def __init__(self, path: Path, file: BinaryIO):
        self.path = path
        self.size = 0  # in memory, about
        self.several = False
        """Whether there are spans of more than one trace."""
        self._write = file.write
        self._trace_id: str | None = None

    def add(self, trace_id: str, kind: bytes, row: bytes) -> None:
        self._write(b"%b%b%b" % (kind, len(row).to_bytes(4, "big"), row))
        self.size += 2 * len(row) + 1000
        if trace_id != self._trace_id:
            self.several = self._trace_id is not None
            self._trace_id = trace_id

    def spans(self, decoders: dict[Decoder, int]) -> Iterator[_Span]:
        resources: dict[bytes, Attributes] = {}
        numbered = list(decoders)

        def resource(raw: msgspec.Raw) -> Attributes:
            key = bytes(raw)
            if key not in resources:
                resources[key] = msgspec.msgpack.decode(key)
            return resources[key]

        with self.path.open("rb", _MIB) as file:
            while header := file.read(5):
                row = file.read(int.from_bytes(header[1:], "big"))
                if header[:1] == _PICKLED:
                    yield pickle.loads(row)  # written by ourselves into a folder that is ours alone
                elif header[:1] == _UNDECODED:
                    trace_id, data, scope, raw, place, number = _decode_shallow(row)
                    where = resource(raw)
                    yield UndecodedSpan(trace_id, data, scope, where, place, numbered[number])
                else:
                    fields: list[Any] = list(_decode(row))
                    fields.append(resource(fields.pop()))
                    yield SpanRecord(*fields)


def _spill(
    spans: Iterable[_Span], folder: Path, level: int, decoders: dict[Decoder, int]
) -> list[_Bucket]:
    """Write every span to the bucket of its trace and return the buckets that have any."""
    paths = [folder / f"{number:02}" for number in range(1 << _BITS)]
    try:
        with ExitStack() as files:
            buckets = [
                _Bucket(path, files.enter_context(path.open("wb", _MIB // 8))) for path in paths
            ]
            _distribute(spans, buckets, level * _BITS, decoders)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise SourceError(
            f"no space left in {folder.parent} to sort the spans; hint: set TMPDIR to a larger disk"
        ) from error
    return [bucket for bucket in buckets if bucket.size]


def _distribute(
    spans: Iterable[_Span], buckets: list[_Bucket], shift: int, decoders: dict[Decoder, int]
) -> None:
    resource: Attributes | None = None
    packed = msgspec.Raw()
    mask = len(buckets) - 1
    for span in spans:
        kind = _PLAIN
        try:
            if span.resource is not resource:  # one object for all the spans of a batch
                packed = msgspec.Raw(_encode(span.resource))
                resource = span.resource
            if isinstance(span, UndecodedSpan):
                kind = _UNDECODED
                number = decoders.setdefault(span.decoder, len(decoders))
                row = _encode((span.trace_id, span.data, span.scope, packed, span.place, number))
            else:
                row = _encode((*msgspec.structs.astuple(span)[:-1], packed))
        except (TypeError, ValueError, OverflowError):  # 65-bit integers, lone surrogates
            record = span.decode() if isinstance(span, UndecodedSpan) else span
            if record is None:
                continue
            kind, row = _PICKLED, pickle.dumps(record)
        key = crc32(span.trace_id.encode("utf-8", "replace")) >> shift
        buckets[key & mask].add(span.trace_id, kind, row)
