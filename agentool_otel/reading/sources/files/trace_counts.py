"""Count the spans of each trace before they are read.

With the count a trace is known to be complete when its last span has passed, so that of a large
file only the traces open at one place are held, instead of sorting the whole file through a
temporary one. Counting also notes where each span lies (`_layout`), so that reading need not look
for it again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType

from agentool_otel.ground import lazy_re as re
from agentool_otel.reading.sources.files.span_offsets import LARGE_LINE, Layout

__all__ = ["SLOTS", "Census", "take"]

SLOTS = 1 << 20
_SAMPLE = 2048
"""Spans after which it is seen whether a trace's lie together: then some of them have come twice,
or they are alone because they have no parent."""
_PARENT, _NO_PARENT = b'"parentSpanId":"', b'"parentSpanId":""'
_BUFFER = 1 << 21  # more than a line: piecing one together costs as much as reading it


class Census:
    """Spans per trace, in a table of fixed size: traces that share a slot are counted together,
    and complete together."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts = array("q", bytes(8 * SLOTS))
        """By the slot of a trace, which is `hash(trace_id) % SLOTS`."""

    def count(self, trace_ids: Iterable[str]) -> None:
        counts = self.counts
        for trace_id in trace_ids:
            counts[hash(trace_id) % SLOTS] += 1


class _Scope(msgspec.Struct, gc=False):
    name: str = ""


class _ScopeSpans(msgspec.Struct, gc=False):
    spans: list[msgspec.Raw]
    scope: _Scope | None = None


class _ResourceSpans(msgspec.Struct, gc=False):
    scopeSpans: list[_ScopeSpans]
    resource: msgspec.Raw = msgspec.Raw(b"{}")


class _LogRecord(msgspec.Struct, gc=False):
    traceId: str
    spanId: str


class _ScopeLogs(msgspec.Struct, gc=False):
    logRecords: list[_LogRecord]


class _ResourceLogs(msgspec.Struct, gc=False):
    scopeLogs: list[_ScopeLogs]


class _Document(msgspec.Struct, gc=False):
    resourceSpans: list[_ResourceSpans] | UnsetType = UNSET
    resourceLogs: list[_ResourceLogs] | UnsetType = UNSET
    resourceMetrics: msgspec.Raw | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Document).decode


def take(files: Iterable[Path]) -> tuple[Census, dict[Path, Layout]] | None:
    """Count the spans of OTLP/JSON line files and note their offsets; None for any other file, and
    if spans are so far from those of their trace that it would not help.

    None costs speed and nothing else. Of a file that grows after it was counted, what was counted
    is read.
    """
    census = Census()
    layouts: dict[Path, Layout] = {}
    try:
        for path in files:
            layout = layouts[path] = Layout()
            if not _count(path, census, layout):
                break
        else:
            return census, layouts
    except (OSError, ValueError):  # gzip, protobuf, JSON over several lines, damage
        pass
    for layout in layouts.values():
        layout.close()
    return None


def _count(path: Path, census: Census, layout: Layout) -> bool:
    """Count the spans of a file; False where it is not plainly spans, or does not help."""
    parents = 0
    sampling = True
    with path.open("rb", _BUFFER) as file:
        for line in iter(partial(file.readline, LARGE_LINE), b""):
            if not _count_line(line, census, layout):
                return False
            if sampling:
                parents += line.count(_PARENT) - line.count(_NO_PARENT)
                if layout.spans >= _SAMPLE:
                    alone = 2 * layout.spans <= 3 * layout.traces
                    if alone and 2 * parents >= layout.spans:
                        return False
                    sampling = False
    return True


def _count_line(line: bytes, census: Census, layout: Layout) -> bool:
    """Count the spans of a line; False for one that is not plainly spans.

    Raises:
        ValueError: it is not plainly JSON.
    """
    document = _decode(line)
    groups, logs = document.resourceSpans, document.resourceLogs
    if document.resourceMetrics is not UNSET or (groups is UNSET) == (logs is UNSET):
        return False
    layout.begin(len(line))
    if logs is not UNSET and not _counted_records(logs, census):
        return False
    for group in groups or ():
        resource = bytes(group.resource)
        for scoped in group.scopeSpans:
            scope = scoped.scope.name if scoped.scope is not None else ""
            census.count(layout.add(line, resource, scope, scoped.spans))
    layout.end()
    return True


def _counted_records(groups: list[_ResourceLogs], census: Census) -> bool:
    """Count log records, each of which passes as a fragment of its span; False where one of them
    does not plainly name its span."""
    for group in groups:
        for scoped in group.scopeLogs:
            for record in scoped.logRecords:
                if not (_TRACE_ID.fullmatch(record.traceId) and _SPAN_ID.fullmatch(record.spanId)):
                    return False
            census.count(record.traceId for record in scoped.logRecords)
    return True


_TRACE_ID, _SPAN_ID = re.compile("(?!0{32})[0-9a-f]{32}"), re.compile("(?!0{16})[0-9a-f]{16}")
