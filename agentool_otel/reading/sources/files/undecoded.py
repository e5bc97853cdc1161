"""An encoded span of a file, to be decoded when its trace is complete.

Grouping has to hold spans until the last one of their trace has passed. Undecoded they take half
the memory, go to disk as they are, and are decoded where they are used, while they are in cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import msgspec

from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.reading.sources.source import Source

__all__ = ["Batches", "Decoder", "Report", "UndecodedSpan", "undecoded_spans"]


Report = Callable[[str, str], None]
"""Takes where (`line 17`, or nothing for the whole file) and what is wrong."""


class Decoder(Protocol):
    """Decodes the spans that it yielded undecoded."""

    report: Report
    """Takes the reasons why spans turn out to be unreadable."""
    read: Callable[[int, int], bytes]
    """Reads the data of a span again, by offset and length; fewer bytes where that fails."""

    def decode(self, span: UndecodedSpan) -> SpanRecord | None:
        """Return the span; None, with a report, if it turns out to be invalid."""
        ...

    def start_of(self, span: UndecodedSpan) -> int:
        """Return when it starts, in nanoseconds, 0 if that is not known."""
        ...


class UndecodedSpan(msgspec.Struct, gc=False):
    """A span of which only the trace is known yet."""

    trace_id: str
    data: bytes
    """As JSON; see `json`."""
    scope: str
    resource: Attributes
    line: int
    """The line of the file that it is on, or that its document begins on."""
    decoder: Decoder
    at: int = -1
    """Offset of its data in the file, in bytes, if the decoder can read them again. Then `data` may
    be empty.
    """
    length: int = 0
    """Length of its data, in bytes."""

    def json(self) -> bytes:
        return self.data or self.decoder.read(self.at, self.length)

    def decode(self) -> SpanRecord | None:
        return self.decoder.decode(self)


Batches = Iterator[Sequence[SpanRecord | UndecodedSpan]]
"""The spans of one document after another."""


def undecoded_spans(source: Source) -> Iterator[SpanRecord | UndecodedSpan]:
    """Yield the spans of a source for grouping, undecoded where it can give them so."""
    spans: Iterator[SpanRecord | UndecodedSpan] = getattr(source, "undecoded", source.spans)()
    return spans
