"""A span as it was collected: the one shape every source yields and every dialect reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

__all__ = [
    "STATUS_ERROR",
    "Attributes",
    "Damage",
    "Deduplicated",
    "SpanEvent",
    "SpanLink",
    "SpanRecord",
    "copies_of",
    "is_fragment",
]

Attributes = dict[str, Any]
"""Attribute values as JSON values; `bytes` stay bytes. Order is the order of the source."""

STATUS_ERROR = "ERROR"


class SpanEvent(msgspec.Struct, gc=False):
    """A timed event on a span, or a log record that was joined to it."""

    name: str
    time_ns: int | None = None
    attributes: Attributes = {}


class SpanLink(msgspec.Struct, gc=False):
    """A reference to another span. Ids are lower-case hex."""

    trace_id: str
    span_id: str
    attributes: Attributes = {}


class Damage(msgspec.Struct, frozen=True, gc=False):
    """A value whose bytes were not all UTF-8; U+FFFD replaces the others."""

    where: str
    """Such as `name`, `attributes.KEY`, `events[0].attributes.KEY` or `resource.KEY`."""
    cut: bool
    """Whether the data ended there: anything after it may be missing too."""


class SpanRecord(msgspec.Struct, gc=False, repr_omit_defaults=True):
    """One collected span.

    Ids are lower-case hex (32 and 16 characters). Times are nanoseconds since the Unix epoch, UTC.
    `None` is unknown: a span without `end_ns` was never seen finished.
    """

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    kind: str = "INTERNAL"
    """INTERNAL, CLIENT, SERVER, PRODUCER or CONSUMER."""
    start_ns: int | None = None
    end_ns: int | None = None
    attributes: Attributes = {}
    events: list[SpanEvent] = []
    links: list[SpanLink] = []
    status: str = "UNSET"
    """UNSET, OK or ERROR."""
    status_message: str | None = None
    scope: str = ""
    """Name of the instrumentation scope."""
    resource: Attributes = {}
    damaged: tuple[Damage, ...] = ()
    """Values that are not what they were; of each, where the first damage is."""
    made_ids: bool = False
    """Whether an id is made of content, because it had none."""
    hashed_ids: bool = False
    """Whether an id is a hash: the id that it had has another size than OpenTelemetry's."""


def is_fragment(span: SpanRecord) -> bool:
    """Return whether a record stands for log records of a span, not for the span itself."""
    return span.start_ns is None and span.end_ns is None and not span.name and not span.attributes


class Deduplicated(list[SpanRecord]):
    """The spans of a trace of which there were several copies of some."""

    def __init__(self, spans: Iterable[SpanRecord], copies: int):
        super().__init__(spans)
        self.copies = copies
        """Number of copies that were left out."""


def copies_of(spans: list[SpanRecord]) -> int:
    """Return how many copies of the spans were left out."""
    return spans.copies if isinstance(spans, Deduplicated) else 0
