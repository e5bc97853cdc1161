"""Entries of a coding agent's session: what one record has of one event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Literal, NamedTuple, Protocol

from msgspec.structs import replace

from agentool_otel.dialects.kit.dialect import TraceLinks
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["DENIED", "Channel", "Entry", "Kind", "SessionDialect", "begun", "flat", "ids",
           "paired", "session_links", "text_or_none"]  # fmt: skip

Kind = Literal["turn", "agent", "model", "tool"]

DENIED = "permission_denied"
"""Error type of a tool call that the user, a rule or a hook did not allow."""
_SCOPE = "otel.scope.name"
_NEAR_NS = 2 * 10**9
"""Longest time between the records of one event."""
_LATEST = 8
"""Events with the same content that a record may be of, the latest."""
_MS = 1_000_000


class Channel(IntEnum):
    """Origin of a record. The lowest channel with a record of an event supplies the ids."""

    SPAN = 0
    FILE = 1
    """The session file."""
    LOG = 2


class Entry(NamedTuple):
    """One record of an event of a session."""

    kind: Kind
    operation: Operation
    span: SpanRecord
    """The record. Its times are those of the event; no end means that it has none here."""
    channel: Channel
    keys: tuple[str, ...] = ()
    """Ids of the event. Entries of one kind with one in common are of the same event."""
    agent: str | None = None
    """Key of the sub-agent that the event is part of; None for the session's own."""
    turn: str | None = None
    """Key of the turn that the event is part of; None if unknown."""
    started_by: str | None = None
    """Of a sub-agent: key of the tool call that started it."""
    partial: frozenset[str] = frozenset()
    """Incomplete fields of the operation, used only if every record has them incomplete."""
    is_internal: bool = False
    """Whether a model call neither answers the prompt nor ends its turn: the agent asks for itself,
    such as for a title, or sends the request again."""


class SessionDialect(Protocol):
    """A dialect that can assign its records to the events of a session."""

    @property
    def values_from(self) -> tuple[Channel, ...]:
        """The channels by the worth of their values, the best first."""
        ...

    def owns(self, span: SpanRecord) -> bool:
        """Return whether a record is one of this agent's."""
        ...

    def entries(self, records: Sequence[SpanRecord]) -> tuple[list[Entry], list[SpanRecord]]:
        """Return the entries that records are, and the records that this dialect does not know."""
        ...


def session_links(
    spans: Sequence[SpanRecord], dialect: SessionDialect, *names: str
) -> TraceLinks | None:
    """Return the sessions that a trace has records of; None if it has none of the agent's.

    Args:
        spans: those of one trace.
        dialect: knows the records of the agent.
        names: attributes with the id of a session, besides that of the conventions.
    """
    owned = [span for span in spans if dialect.owns(span)]
    if not owned:
        return None
    keys = (*names, gen_ai.CONVERSATION_ID)
    sessions = dict.fromkeys(
        value
        for span in owned
        for attributes in (span.attributes, *(event.attributes for event in span.events))
        for key in keys
        if isinstance(value := attributes.get(key), str)
    )
    return TraceLinks(offered=[*sessions], needed=[*sessions])


def flat(span: SpanRecord) -> Iterator[SpanRecord]:
    """Yield a span without the log records that were joined to it, and each of these."""
    logged = [event for event in span.events if _SCOPE in event.attributes]
    if not logged:
        yield span
        return
    yield replace(span, events=[event for event in span.events if _SCOPE not in event.attributes])
    for number, event in enumerate(logged):
        attributes = dict(event.attributes)
        yield SpanRecord(
            span.trace_id,
            f"{span.span_id}/{number}",
            span.span_id,
            event.name,
            start_ns=event.time_ns,
            end_ns=event.time_ns,
            attributes=attributes,
            scope=str(attributes.pop(_SCOPE)),
            resource=span.resource,
        )


def paired(entries: Iterable[Entry], key: Callable[[Entry], str | None]) -> Iterator[Entry]:
    """Yield entries with one more key where they have no id in one of the channels: those of
    different channels with the same content, and nearly the same time, are of the same event.

    Args:
        entries: the entries, in any order.
        key: returns the content; None for an entry without.
    """
    events: dict[tuple[str | None, str], list[_Pair]] = defaultdict(list)
    for entry in sorted(entries, key=_time):
        content = key(entry)
        if content is None:
            yield entry
            continue
        pairs = events[entry.agent, content]
        near = [
            (distance_ns, pair)
            for pair in pairs[-_LATEST:]
            if entry.channel not in pair.channels
            and (distance_ns := abs(_time(entry) - pair.at_ns)) <= _NEAR_NS
        ]
        if near:
            pair = min(near, key=lambda item: item[0])[1]
            pair.channels.add(entry.channel)
        else:
            pair = _Pair(f"{entry.agent or ''}\0{content}\0{len(pairs)}", _time(entry))
            pair.channels.add(entry.channel)
            pairs.append(pair)
        yield entry._replace(keys=(*entry.keys, pair.key))


class _Pair:
    """An event without an id, and the channels that have a record of it."""

    def __init__(self, key: str, at_ns: int):
        self.key = key
        self.at_ns = at_ns
        self.channels: set[Channel] = set()


def _time(entry: Entry) -> int:
    return entry.span.end_ns or entry.span.start_ns or 0


def begun(record: SpanRecord) -> SpanRecord:
    """Return a log record with the time of its event, which it is written at the end of."""
    took, end_ns = record.attributes.get("duration_ms"), record.end_ns
    try:
        before = int(float(took) * _MS) if isinstance(took, (str, int, float)) else 0
    except (ValueError, OverflowError):
        return record
    if end_ns is None or not 0 < before < end_ns:
        return record
    return replace(record, start_ns=end_ns - before)


def ids(*values: object) -> tuple[str, ...]:
    """Return the values that are ids."""
    return tuple(item for item in values if isinstance(item, str) and item)


def text_or_none(value: object) -> str | None:
    """Return a value that is a text and not empty."""
    return value if isinstance(value, str) and value else None
