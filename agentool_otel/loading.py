"""`rebuild` for spans in hand, `load` for spans or traces anywhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agentool_otel.errors import DecodeError
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.cost import Prices
from agentool_otel.reading.rebuild.runs import rebuild_groups
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.contents import Contents
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan
from agentool_otel.reading.sources.grouping.by_trace import group_by_trace
from agentool_otel.reading.sources.grouping.complete import complete
from agentool_otel.reading.sources.opening import open_source, open_spans
from agentool_otel.reading.sources.source import Source

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Traces", "load", "rebuild"]


class Traces(Iterator[ReasoningTrace]):
    """An iterator of traces, which can also be read as a table."""

    def __init__(self, traces: Iterator[ReasoningTrace]):
        self._traces = traces

    def __next__(self) -> ReasoningTrace:
        return next(self._traces)

    def to_arrow(self, rows: Literal["steps", "runs"] = "steps") -> pa.Table:
        """Return the remaining traces as a pyarrow Table, of which pandas and polars make frames:
        `to_arrow().to_pandas()`, `polars.from_arrow(to_arrow())`.

        The columns are those of `agentool_otel.tables.trajectories` or `agentool_otel.tables.runs`.

        Args:
            rows: `steps`, a row per step, or `runs`, a row per run.

        Raises:
            MissingDependencyError: pyarrow is not installed.
            SourceError, DecodeError: as reading the traces.
        """
        from agentool_otel.tables import require

        require("to_arrow")
        from agentool_otel.tables import parquet_file, runs, trajectories

        if rows not in ("steps", "runs"):
            raise ValueError(f"rows is 'steps' or 'runs', not {rows!r}")
        of_steps = rows == "steps"
        rows_of = trajectories.step_rows if of_steps else runs.run_rows
        schema = trajectories.SCHEMA if of_steps else runs.SCHEMA
        return parquet_file.table_of((rows_of(trace.to_dict()) for trace in self), schema)


def rebuild(
    spans: Iterable[SpanRecord | UndecodedSpan],
    prices: Prices | None = None,
    report: Callable[[Problem], None] | None = None,
) -> Iterator[Rebuilt]:
    """Yield the rebuilt trace of every run in a collection of spans.

    The result does not depend on the order or the repetition of the spans. Inputs of any size are
    grouped in bounded memory.

    The traces are not in the order of time: runs with an agent's span come first, and model calls
    and tools outside of any agent last. The newest is `max(rebuild(spans), key=lambda rebuilt:
    rebuilt.trace.started_at or "")`.

    Args:
        spans: the spans, decoded or as `UndecodedSpan`, which takes less memory.
        prices: computes the cost of model calls whose spans do not have it.
        report: called with the problem of a trace that cannot be rebuilt and is skipped; by default
            it is logged as a warning. The other traces are not affected.

    Raises:
        DecodeError: `spans` is a path, traces, or anything else but spans.
    """
    _check(spans)
    return rebuild_groups(group_by_trace(_check_first(spans)), complete, prices, report)


def _check(spans: object) -> None:
    if isinstance(spans, (str, bytes, os.PathLike)):
        raise DecodeError("spans", f"the path {spans!r}", hint=f"load({spans!r}) reads a place")
    if not isinstance(spans, Iterable):
        raise DecodeError("spans", f"an object of type {type(spans).__name__}")


_NO_REBUILD = "these are rebuilt already: use them as they are, or evaluate(cases, traces)"
_OTHER_OBJECTS = "load(place) and evaluate(cases, traces) take other objects"


def _check_first(
    spans: Iterable[SpanRecord | UndecodedSpan],
) -> Iterator[SpanRecord | UndecodedSpan]:
    """Pass on spans, after a look at the first of them."""
    items = iter(spans)
    for first in items:
        if not isinstance(first, (SpanRecord, UndecodedSpan)):
            raise DecodeError(
                "spans",
                f"an object of type {type(first).__name__}",
                "$[0]",
                hint=_hint_for(first),
            )
        yield first
        break
    yield from items


def _hint_for(item: object) -> str:
    return _NO_REBUILD if isinstance(item, (ReasoningTrace, Rebuilt)) else _OTHER_OBJECTS


def load(source: str | Path | Sequence[str | Path] | None = None) -> Traces:
    """Return an iterator of the ReasoningTraces in recorded spans or trace documents.

    Documents are ReasoningTraces and ATIF trajectories, as JSON, JSON Lines or Parquet; one place
    may have spans and documents. A document and the spans of the same trace are one trace.

    The traces are not in the order of time: documents come first, as they are read, then runs with
    an agent's span, then model calls and tools outside of any agent. The newest is `max(load(),
    key=lambda trace: trace.started_at or "")`.

    Args:
        source: a file, a folder, a glob or `-`; by default `.agentool/`. Several are read as one.
            Unreadable parts are skipped; `open_source` gives access to these problems.

    Raises:
        SourceError: the place cannot be read at all.
        DecodeError: nothing in it is recognised, or `source` is not a place.
    """
    return Traces(_loaded(_source(source)))


def _loaded(source: Source) -> Iterator[ReasoningTrace]:
    contents = Contents(source)
    rebuilt = rebuild(contents.spans())
    for item in contents.merged(rebuilt, lambda item: (item.trace_id,)):
        yield item if isinstance(item, ReasoningTrace) else item.trace


def _source(source: object) -> Source:
    if source is None:
        return open_source()
    several = isinstance(source, (list, tuple))
    places: list[str] = []
    for at, place in enumerate(source if isinstance(source, (list, tuple)) else [source]):
        if not isinstance(place, (str, os.PathLike)):
            raise DecodeError(
                "a file, a folder, a glob or `-`",
                f"an object of type {type(place).__name__}",
                f"$[{at}]" if several else "$",
                hint="rebuild(spans) and evaluate(cases, traces) take objects in memory",
            )
        places.append(os.fspath(place))
    if not places:
        raise DecodeError("a file, a folder, a glob or `-`", "an empty list")
    return open_source(source) if isinstance(source, Path) else open_spans(places)
