"""Offsets of the spans in a line, so that they can be cut out of it undecoded."""

from __future__ import annotations

import msgspec

from agentool_otel.reading.sources.files.trace_ids import HEAD

__all__ = ["LARGE_LINE", "locate"]

LARGE_LINE = 16 << 20
"""Bytes above which a line is not held in memory as a whole."""
_BRACE = ord("{")


def locate(spans: list[msgspec.Raw], line: bytes, at: int) -> tuple[list[int], int]:
    """Return the offsets of adjacent spans in a line, and the end of the last one.

    Args:
        spans: in their order.
        line: which they were decoded from.
        at: from where on to look.
    """
    starts: list[int] = []
    for span in spans:
        at += 1
        # What follows a span and one byte, a comma then, is the next one; the first is sought.
        if not starts or line[at] != _BRACE:
            at = _start_of(span, line, at)
        starts.append(at)
        at += len(span)
    return starts, at


def _start_of(span: msgspec.Raw, line: bytes, at: int) -> int:
    """Return the offset of a span, from a place on. Only its beginning is searched for, which is
    faster than all of it.
    """
    beginning = bytes(span)[: 2 * HEAD]
    while True:
        at = line.index(beginning, at)
        if line.startswith(span, at):
            return at
        at += 1
