"""Offsets of the spans in a file, noted while they are counted.

Reading them is then cutting lines into pieces, without looking for the pieces again.
"""

from __future__ import annotations

import tempfile
import weakref
from array import array
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import msgspec

from agentool_otel.reading.sources.files.bounded_cache import MANY, MANY_BYTES
from agentool_otel.reading.sources.files.trace_ids import HEAD, TraceIds

__all__ = ["LARGE_LINE", "Group", "Layout", "Line", "locate"]

LARGE_LINE = 16 << 20
"""Bytes above which a line is not held in memory as a whole."""

_SPOOL = 1 << 22
_WIDTH = array("L").itemsize
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


class Group(NamedTuple):
    """Spans of one resource and scope, adjacent in a line."""

    resource: bytes
    scope: str
    ends: array[int]
    """Start and end of each span in turn, in bytes from the start of the line."""


class Line(NamedTuple):
    size: int
    groups: list[Group]


class Layout:
    """Offsets of the spans in one file, line by line: 16 bytes per span, on disk if many."""

    def __init__(self) -> None:
        self._file: Any = tempfile.SpooledTemporaryFile(_SPOOL)  # noqa: SIM115
        self.close = weakref.finalize(self, self._file.close)
        """Release the notes; called when they will not be read."""
        self._resources: dict[bytes, int] = {}
        self._scopes: dict[str, int] = {}
        self._held = 0
        """Bytes of the resources."""
        self._ids = TraceIds()
        self.spans = 0
        self._row = array("L")
        self._at = 0

    @property
    def traces(self) -> int:
        """Return the number of traces while there are few; larger numbers are not kept."""
        return len(self._ids)

    def begin(self, size: int) -> None:
        """Begin a line of `size` bytes."""
        self._row = array("L", (0, size))
        self._at = 0

    def add(self, line: bytes, resource: bytes, scope: str, spans: list[msgspec.Raw]) -> list[str]:
        """Add spans of the line, in their order, and return their trace ids in lower case.

        Raises:
            ValueError: there are too many resources or scopes, or an id is invalid.
        """
        resources, scopes = self._resources, self._scopes
        if resource not in resources:
            self._held += len(resource)
        if max(len(resources), len(scopes)) > MANY or self._held > MANY_BYTES:
            raise ValueError("more resources or scopes than are kept in memory")
        self.spans += len(spans)
        row, at = self._row, self._at
        row.append(resources.setdefault(resource, len(resources)))
        row.append(scopes.setdefault(scope, len(scopes)))
        row.append(2 * len(spans))
        id_of = self._ids.of
        trace_ids: list[str] = []
        starts, at = locate(spans, line, at)
        for span, start in zip(spans, starts, strict=True):
            trace_ids.append(id_of(line[start : start + HEAD], span))
            row.append(start)
            row.append(start + len(span))
        self._at = at
        return trace_ids

    def end(self) -> None:
        """End the line."""
        row = self._row
        row[0] = len(row) - 1
        self._file.write(row)

    def lines(self) -> Iterator[Line]:
        """Yield the lines in order, once."""
        resources, scopes = list(self._resources), list(self._scopes)
        with closing(self):
            file = self._file
            file.seek(0)
            while head := file.read(_WIDTH):
                (length,) = array("L", head)
                row = array("L", file.read(length * _WIDTH))
                groups: list[Group] = []
                at = 1
                while at < length:
                    end = at + 3 + row[at + 2]
                    groups.append(Group(resources[row[at]], scopes[row[at + 1]], row[at + 3 : end]))
                    at = end
                yield Line(row[0], groups)
