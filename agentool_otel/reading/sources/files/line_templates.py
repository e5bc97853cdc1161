"""Read lines of one span each without parsing the whole line.

In most files the text around the span, with scope and resource, is the same on every line. A line
whose start and end equal those of an earlier line has the same scope and resource, so only the JSON
value between them is read.
"""

from __future__ import annotations

from typing import NamedTuple

from agentool_otel.model.spans import Attributes
from agentool_otel.reading.sources.files.bounded_cache import Interned
from agentool_otel.reading.sources.files.trace_ids import FIRST, raw_trace_id
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan

__all__ = ["Framed", "LineTemplates"]


class _Frame(NamedTuple):
    after: bytes
    scope: str
    resource: Attributes


class Framed(NamedTuple):
    """The undecoded span of a line, with the scope and resource of the text that frames it."""

    begin: int
    trace_id: str
    span: bytes
    scope: str
    resource: Attributes


class LineTemplates:
    """The frames of earlier lines, by the text before the span; limited to some thousand."""

    def __init__(self) -> None:
        self._frames = Interned[_Frame]()

    def learn(self, line: bytes, begin: int, end: int, span: UndecodedSpan) -> None:
        """Learn from a line that has exactly one span, between two places."""
        if line.find(FIRST) == begin:
            frame = _Frame(line[end:], span.scope, span.resource)
            self._frames.put(line[:begin], frame)

    def find(self, line: bytes) -> Framed | None:
        """Return the span of a line in a known frame; None if it is another, or not one value."""
        begin = line.find(FIRST)
        if begin < 0 or (frame := self._frames.known.get(line[:begin])) is None:
            return None
        after, scope, resource = frame
        if not line.endswith(after):
            return None
        span = line[begin : len(line) - len(after)]
        try:
            return Framed(begin, raw_trace_id(span), span, scope, resource)
        except (ValueError, RecursionError):
            return None
