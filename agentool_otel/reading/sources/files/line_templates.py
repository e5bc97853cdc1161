"""Lines of one span each: the text around the span is the same for most of a file.

A line that begins and ends as one before it, with one JSON value between, means what that one
meant. So the value is all that has to be looked at.
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
    """The span of a line, with its scope and resource."""

    begin: int
    trace_id: str
    span: bytes
    scope: str
    resource: Attributes


class LineTemplates:
    """Templates of lines by the text before the span, some thousand of them."""

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
