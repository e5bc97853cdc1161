"""Spans in any order to whole traces, in bounded memory.

Spans are held as they are while they fit into a budget. Beyond it all of them go to disk in buckets
by a hash of their trace id (`_spill.py`), and each bucket is then grouped by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec

from agentool_otel.ground import lazy_re as re
from agentool_otel.model.spans import (
    Attributes,
    Damage,
    Deduplicated,
    SpanEvent,
    SpanRecord,
    is_fragment,
)
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan
from agentool_otel.reading.sources.grouping.lone_records import as_spans
from agentool_otel.reading.sources.grouping.span_size import SpanSizes
from agentool_otel.reading.sources.grouping.spill import LEVELS, Spill
from agentool_otel.semconv import gen_ai

__all__ = ["by_trace", "complete_spans", "group_by_trace"]

_MIB = 1 << 20
_START = attrgetter("start_ns", "span_id")
_NO_ID = "0" * 16
_COMPLETED = ("parent_id", "name", "kind", "start_ns", "end_ns", "links", "status",
              "status_message", "scope", "resource")  # fmt: skip
"""Fields of a span that are taken from another record of it where one does not have them."""
_UNKNOWN: tuple[object, ...] = (None, "", "INTERNAL", "UNSET", [], {})
"""Values of such a field that stand for none."""
_OF_EVENT = re.compile(r"events\[(\d+)\]")

_Span = SpanRecord | UndecodedSpan
_Traces = dict[str, list[_Span]]


def by_trace(
    spans: Iterable[SpanRecord | UndecodedSpan],
    budget_bytes: int = 64 * _MIB,
) -> Iterator[list[SpanRecord]]:
    """Yield the spans of one trace after another, sorted by start and span id.

    The outcome does not depend on the order or the repetition of `spans`. Of several copies of a
    span the most complete one is kept, and a trace that had some is a `Deduplicated`; records of
    parts of a span complete each other. Traces come sorted by start as long as all of them fit into
    `budget_bytes`; above it in no particular order. One trace has to fit into memory. Temporary
    files have no name, and are gone when the iterator is exhausted or closed, or the process ends.

    Raises:
        SourceError: the temporary folder is full.
    """
    for trace in group_by_trace(spans, budget_bytes):
        if decoded := complete_spans(trace):
            yield decoded


def group_by_trace(
    spans: Iterable[SpanRecord | UndecodedSpan],
    budget_bytes: int = 64 * _MIB,
) -> Iterator[list[SpanRecord | UndecodedSpan]]:
    """Yield the spans of one trace after another as they came, for `complete_spans`. The rest as
    `by_trace`, which does both.
    """
    traces: _Traces = {}
    size, sizes = 0, SpanSizes()
    spans = iter(spans)
    for span in spans:
        _add(traces, span)
        size += sizes.of(span)
        if isinstance(span, UndecodedSpan) and not span.data:
            size += span.length  # to sort all by start, all would be read once more
        if size > budget_bytes and len(traces) > 1:
            yield from _from_disk(chain(_drain(traces), spans), budget_bytes, 0)
            return
    yield from _take_in_order(traces)


def _from_disk(spans: Iterable[_Span], budget: int, level: int) -> Iterator[list[_Span]]:
    with Spill(budget, level) as spill:
        spill.add(spans)
        for bucket in spill.buckets():
            # One trace cannot be split, nor can traces whose hashes are equal to the last bit.
            if bucket.size > budget and bucket.several and level + 1 < LEVELS:
                yield from _from_disk(bucket.spans(), budget, level + 1)
            else:
                traces: _Traces = {}
                for span in bucket.spans():
                    _add(traces, span)
                for trace_id in sorted(traces):
                    yield traces.pop(trace_id)


def _add(traces: _Traces, span: _Span) -> None:
    trace = traces.get(span.trace_id)
    if trace is None:
        traces[span.trace_id] = [span]
    else:
        trace.append(span)


def _take_in_order(traces: _Traces) -> Iterator[list[_Span]]:
    """Yield the traces in order, letting go of each."""
    starts = {trace_id: min(map(_start_of, spans)) for trace_id, spans in traces.items()}
    for trace_id in sorted(starts, key=lambda key: (starts[key], key)):
        yield traces.pop(trace_id)


def _start_of(span: _Span) -> int:
    if isinstance(span, UndecodedSpan):
        return span.decoder.start_of(span)
    return span.start_ns or 0


def complete_spans(spans: Sequence[SpanRecord | UndecodedSpan]) -> list[SpanRecord]:
    """Return the spans of a trace, decoded, each once, in order of start.

    A parent id of zeros means no parent, unless a span has that id.
    """
    records = [
        span.decoder.decode(span) if isinstance(span, UndecodedSpan) else span for span in spans
    ]
    best = {span.span_id: span for span in records if span is not None}
    if _NO_ID in best or _NO_ID in [span.parent_id for span in best.values()]:
        _settle_zeros([span for span in records if span is not None])
        best = {span.span_id: span for span in records if span is not None}
    copies = 0
    if len(best) < len(records) or None in [span.start_ns for span in best.values()]:
        decoded = [span for span in records if span is not None]
        best = _without_copies(decoded)
        copies = _copies(decoded)
    try:
        ordered = sorted(best.values(), key=_START)
    except TypeError:  # a span without a start
        ordered = sorted(best.values(), key=lambda span: (span.start_ns or 0, span.span_id))
    return Deduplicated(ordered, copies) if copies else ordered


def _settle_zeros(spans: list[SpanRecord]) -> None:
    """Resolve ids of zeros in a trace.

    Different spans without an id get ids made of their content, all but the first one, to which
    parent ids of zeros refer.
    """
    unnamed = [span for span in spans if span.span_id == _NO_ID and not is_fragment(span)]
    unnamed.sort(key=lambda span: (span.start_ns or 0, span.name))
    for span in unnamed:
        if (span.start_ns, span.name) != (unnamed[0].start_ns, unnamed[0].name):
            span.span_id = blake2b(_settled_text(span).encode(), digest_size=8).hexdigest()
    for span in spans:
        if span.parent_id == _NO_ID and (not unnamed or span is unnamed[0]):
            span.parent_id = None


def _copies(spans: list[SpanRecord]) -> int:
    """Count the duplicate spans. Neither a fragment nor a record that completes an earlier one is a
    duplicate, nor is an evaluation, however often it was written.
    """
    span_ids = [
        span.span_id
        for span in spans
        if not (is_fragment(span) or _is_patch(span) or gen_ai.EVALUATION_NAME in span.attributes)
    ]
    return len(span_ids) - len(set(span_ids))


def _is_patch(span: SpanRecord) -> bool:
    """Return whether a record completes an earlier one: it has no start or no name."""
    return span.start_ns is None or not span.name


def _without_copies(spans: list[SpanRecord]) -> dict[str, SpanRecord]:
    """Return each span once, with the log records that belong to it."""
    copies: dict[str, list[SpanRecord]] = {}
    joined: dict[str, list[SpanRecord]] = {}
    for span in spans:
        if span.start_ns is None and span.events and is_fragment(span):
            joined.setdefault(span.span_id, []).append(span)
        copies.setdefault(span.span_id, []).append(span)
    best = {span_id: _completed(records) for span_id, records in copies.items()}
    for span_id, fragments in joined.items():
        span = _with_events(best.pop(span_id), fragments)
        spans = as_spans(span) if is_fragment(span) else [span]
        best.update({span.span_id: span for span in spans})
    return best


def _completed(copies: list[SpanRecord]) -> SpanRecord:
    """Return the most complete of the copies of a span, completed by those that are parts of it."""
    if len(copies) == 1:
        return copies[0]
    best, *others = sorted(copies, key=_completeness, reverse=True)
    parts = [
        other
        for other in others
        if not is_fragment(other) and (_is_part(other) or _is_part(best)) and other != best
    ]
    if not parts or gen_ai.EVALUATION_NAME in best.attributes:
        return best
    attributes: Attributes = {}
    for record in (best, *parts):
        for key, value in record.attributes.items():
            attributes.setdefault(key, value)

    def first(name: str) -> Any:
        values = (getattr(record, name) for record in (best, *parts))
        return next((value for value in values if value not in _UNKNOWN), getattr(best, name))

    merged = msgspec.structs.replace(
        best, attributes=attributes, **{name: first(name) for name in _COMPLETED}
    )
    if any(event not in best.events for part in parts for event in part.events):
        merged = _with_events(merged, parts)
    return best if merged == best else merged


def _is_part(span: SpanRecord) -> bool:
    return span.end_ns is None or _is_patch(span)


def _with_events(span: SpanRecord, fragments: list[SpanRecord]) -> SpanRecord:
    """Return a span with the log records of its fragments, each once, among its own events."""
    if is_fragment(span):
        span = msgspec.structs.replace(span, events=[], damaged=())
    texts = {_settled_text(event) for event in span.events}
    logged = (event for fragment in fragments for event in fragment.events)
    new = {key: event for event in logged if (key := _settled_text(event)) not in texts}
    events = span.events + [new[key] for key in sorted(new)]
    events.sort(key=lambda event: event.time_ns or 0)
    damaged = [damage for record in (span, *fragments) for damage in _damage_among(record, events)]
    return msgspec.structs.replace(span, events=events, damaged=tuple(damaged))


def _damage_among(record: SpanRecord, events: list[SpanEvent]) -> Iterator[Damage]:
    """Yield the damage of a record, by the present positions of its events."""
    for damage in record.damaged:
        of_event = _OF_EVENT.match(damage.where)
        if of_event is None:
            yield damage
            continue
        event = record.events[int(of_event[1])]
        for place, other in enumerate(events):
            if other is event:  # else it is a copy, of which one is enough
                yield Damage(f"events[{place}]{damage.where[of_event.end() :]}", damage.cut)


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


def _drain(traces: _Traces) -> Iterator[_Span]:
    while traces:
        yield from traces.popitem()[1]
