"""`rebuild` for spans in hand, `load` for spans or traces anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reconstruction.cost import Prices
from agentool_otel.reconstruction.runs import rebuild_groups
from agentool_otel.reconstruction.trace import Rebuilt
from agentool_otel.sources.contents import Contents
from agentool_otel.sources.files.trace_counts import Census
from agentool_otel.sources.files.undecoded import UndecodedSpan
from agentool_otel.sources.grouping.by_trace import grouped
from agentool_otel.sources.opening import open_source

__all__ = ["load", "rebuild"]


def rebuild(
    spans: Iterable[SpanRecord | UndecodedSpan],
    census: Census | None = None,
    prices: Prices | None = None,
    report: Callable[[Problem], None] | None = None,
) -> Iterator[Rebuilt]:
    """Yield the rebuilt trace of every run in a collection of spans.

    The result does not depend on the order or the repetition of the spans. Inputs of any size are
    grouped in bounded memory.

    Args:
        spans: the spans; those of a source best as `sources.undecoded` gives them.
        census: a source's count of them, which saves sorting a large input through the disk.
        prices: computes the cost of model calls whose spans do not say it.
        report: takes what is wrong with a trace that cannot be rebuilt and is left out; without it
            that is logged as a warning. The others are not affected.
    """
    return rebuild_groups(grouped(spans, census=census), prices, report)


def load(source: str | Path | None = None) -> Iterator[ReasoningTrace]:
    """Yield ReasoningTraces from a place: recorded spans, or documents of traces.

    Documents are ReasoningTraces and ATIF trajectories, as JSON or JSON Lines; spans may stand
    beside them. A document and the spans of the same trace are one trace.

    Args:
        source: a file, a folder, a glob or `-`; `.agentool/` by default. What cannot be read of it
            is skipped; `open_source` gives access to those problems.

    Raises:
        SourceError: if the place cannot be read at all.
        DecodeError: if nothing in it is recognised.
    """
    contents = Contents(open_source(source))
    yield from contents.leading()
    for rebuilt in rebuild(contents.spans(), contents.census):
        if contents.is_new(rebuilt.trace_id):
            yield rebuilt.trace
    yield from contents.documents()
