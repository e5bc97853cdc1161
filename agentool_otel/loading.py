"""`rebuild` for spans in hand, `load` for spans or traces anywhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reconstruction.cost import Prices
from agentool_otel.reconstruction.runs import rebuild_groups
from agentool_otel.reconstruction.trace import Rebuilt
from agentool_otel.sources.files.span_files import SpanFiles
from agentool_otel.sources.files.trace_counts import Census
from agentool_otel.sources.files.undecoded import UndecodedSpan, undecoded
from agentool_otel.sources.grouping.by_trace import by_trace
from agentool_otel.sources.opening import open_source

__all__ = ["load", "rebuild"]


def rebuild(
    spans: Iterable[SpanRecord | UndecodedSpan],
    census: Census | None = None,
    prices: Prices | None = None,
) -> Iterator[Rebuilt]:
    """Yield the rebuilt trace of every run in a collection of spans.

    The result does not depend on the order or the repetition of the spans. Inputs of any size are
    grouped in bounded memory.

    Args:
        spans: the spans; those of a source best as `sources.undecoded` gives them.
        census: a source's count of them, which saves sorting a large input through the disk.
        prices: computes the cost of model calls whose spans do not say it.
    """
    return rebuild_groups(by_trace(spans, census=census), prices)


def load(source: str | Path | None = None) -> Iterator[ReasoningTrace]:
    """Yield ReasoningTraces from a place: recorded spans, or documents of traces.

    Documents are ReasoningTraces and ATIF trajectories, as JSON or JSON Lines; spans may stand
    beside them.

    Args:
        source: a file, a folder, a glob or `-`; `.agentool/` by default. What cannot be read of it
            is skipped; `open_source` gives access to those problems.

    Raises:
        SourceError: if the place cannot be read at all.
        DecodeError: if nothing in it is recognised.
    """
    opened = open_source(source)
    if not isinstance(opened, SpanFiles):
        for rebuilt in rebuild(undecoded(opened), opened.census()):
            yield rebuilt.trace
        return
    waiting: deque[ReasoningTrace] = deque()
    items = opened.read(undecoded=True)
    for item in items:  # a file of documents alone passes through, whatever its size
        if not isinstance(item, ReasoningTrace):
            spans = chain([item], _spans(items, waiting))
            for rebuilt in rebuild(spans, opened.census()):
                yield from _drained(waiting)
                yield rebuilt.trace
            yield from _drained(waiting)
        else:
            yield item


def _spans(
    items: Iterator[SpanRecord | UndecodedSpan | ReasoningTrace], documents: deque[ReasoningTrace]
) -> Iterator[SpanRecord | UndecodedSpan]:
    for item in items:
        if isinstance(item, ReasoningTrace):
            documents.append(item)
        else:
            yield item


def _drained(documents: deque[ReasoningTrace]) -> Iterator[ReasoningTrace]:
    while documents:
        yield documents.popleft()
