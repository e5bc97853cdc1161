"""Rebuilding in several processes.

Workers receive whole traces undecoded, the cheapest form to read them in, and do the decoding and
all that follows. Loose calls and parts of runs come back: any later trace may continue them, so one
process has to see all of them. They are sent out again once it is known which belong together.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from agentool_otel.errors import AgentoolError
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.reading.rebuild.correlation.duplicate_calls import Answered
from agentool_otel.reading.rebuild.correlation.linked_traces import gather
from agentool_otel.reading.rebuild.correlation.loose_calls import LooseRun
from agentool_otel.reading.rebuild.correlation.open_requests import SettledTrace
from agentool_otel.reading.rebuild.cost import Prices
from agentool_otel.reading.rebuild.error_isolation import Report, skip_on_error
from agentool_otel.reading.rebuild.runs import (
    Deferred,
    DeferredWork,
    rebuild_loose,
    rebuild_settled,
    rebuild_trace,
)
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.files.span_files import span_decoder
from agentool_otel.reading.sources.files.undecoded import Decoder, UndecodedSpan
from agentool_otel.reading.sources.grouping.complete import complete
from agentool_otel.reading.sources.offloaded import allow, recordings

__all__ = ["rebuild_in_processes"]

S = TypeVar("S")
T = TypeVar("T")

_SPANS = 512
"""Spans per batch for a worker: enough that sending is cheap, few enough to stay small."""
_AHEAD = 2
"""Batches in the queue of each worker. Results come in order, so all of them are in memory."""

_Row = tuple[tuple[str, bytes, str, Attributes, int], int]
"""An undecoded span with the number of its decoder."""
_Trace = list[SpanRecord | _Row]


@dataclass
class _Done(Generic[T]):
    """The results of a worker for a batch."""

    results: list[T] = field(default_factory=list)
    waiting: list[list[SpanRecord]] = field(default_factory=list)
    """Traces of which something has to wait for others."""
    answered: list[Answered] = field(default_factory=list)
    """Model calls of runs, which may have duplicates in other traces."""
    problems: list[tuple[int, str, str]] = field(default_factory=list)
    """Number of the decoder, place and description of each problem."""
    left_out: list[Problem] = field(default_factory=list)
    """Of the traces that could not be rebuilt."""


def rebuild_in_processes(
    groups: Iterable[list[SpanRecord | UndecodedSpan]],
    jobs: int,
    finish: Callable[[Rebuilt], T],
    report: Report | None = None,
    *,
    cost: bool = False,
) -> Iterator[T]:
    """Yield the results of `finish` for every rebuilt trace, in the order of `rebuild_groups`.

    Args:
        groups: the spans of one OTel trace after another, as
            `reading.sources.grouping.by_trace.group_by_trace` yields them.
        jobs: how many processes to start beside this one, which reads.
        finish: called in the workers; it and what it returns are pickled.
        report: takes what is wrong with a trace that is left out; see `skip_on_error`.
        cost: whether to compute the cost of model calls whose spans do not have it.

    Raises:
        AgentoolError: a worker was killed.
    """
    waiting = DeferredWork()
    decoders: dict[Decoder, int] = {}
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, _start, (finish, cost, recordings()))
    traces = _batches((_rows(spans, decoders) for spans in groups), len)
    try:
        for done in _ahead(pool, jobs, _rebuild, traces):
            for number, where, problem in done.problems:
                list(decoders)[number].report(where, problem)
            for call in done.answered:
                waiting.add(call)
            for spans in done.waiting:
                with skip_on_error(spans[0].trace_id, report):
                    waiting.add_rest(spans)
            yield from _results(done, report)
        for done in _ahead(pool, jobs, _rebuild_parts, _batches(waiting.parts.runs(), len)):
            for call in done.answered:
                waiting.add(call)
            for spans in done.waiting:
                with skip_on_error(spans[0].trace_id, report):
                    waiting.add_rest(spans, gathered=True)
            yield from _results(done, report)
        for done in _ahead(
            pool, jobs, _rebuild_open, _batches(waiting.open_runs(), lambda trace: len(trace.spans))
        ):
            yield from _results(done, report)
        calls = _batches(waiting.loose_runs(), lambda run: len(run.calls))
        for done in _ahead(pool, jobs, _rebuild_loose, calls):
            yield from _results(done, report)
    except BrokenProcessPool as error:
        raise AgentoolError(
            f"one of {jobs} worker processes was killed, perhaps for want of memory; "
            "hint: a lower --jobs"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)
        waiting.close()


def _results(done: _Done[T], report: Report | None) -> list[T]:
    for problem in done.left_out:
        if report is not None:
            report(problem)
    return done.results


def _ahead(
    pool: ProcessPoolExecutor, jobs: int, work: Callable[[Any], T], batches: Iterable[Any]
) -> Iterator[T]:
    """Yield the workers' results for the batches, in order, a bounded number of them ahead."""
    waiting: deque[Future[T]] = deque()
    for batch in batches:
        waiting.append(pool.submit(work, batch))
        if len(waiting) > _AHEAD * jobs:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _batches(items: Iterable[S], size: Callable[[S], int]) -> Iterator[list[S]]:
    batch: list[S] = []
    spans_held = 0
    for item in items:
        batch.append(item)
        spans_held += size(item)
        if spans_held >= _SPANS:
            yield batch
            batch, spans_held = [], 0
    if batch:
        yield batch


def _rows(spans: list[SpanRecord | UndecodedSpan], decoders: dict[Decoder, int]) -> _Trace:
    return [
        (
            (span.trace_id, span.json(), span.scope, span.resource, span.line),
            decoders.setdefault(span.decoder, len(decoders)),
        )
        if isinstance(span, UndecodedSpan)
        else span
        for span in spans
    ]


# --------------------------------------------------------------------------------- in a worker

_finish: Callable[[Rebuilt], Any]
_prices: Prices | None


def _start(finish: Callable[[Rebuilt], Any], cost: bool, folders: frozenset[str]) -> None:
    global _finish, _prices
    allow(folders)
    _finish, _prices = finish, Prices() if cost else None
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the reading process's to handle


def _rebuild(batch: list[_Trace]) -> _Done[Any]:
    done: _Done[Any] = _Done()
    decoders: dict[int, Decoder] = {}

    def decoded(span: SpanRecord | _Row) -> SpanRecord | UndecodedSpan:
        if isinstance(span, SpanRecord):
            return span
        fields, number = span
        if number not in decoders:
            decoders[number] = span_decoder(
                lambda where, problem: done.problems.append((number, where, problem))
            )
        return UndecodedSpan(*fields, decoders[number])

    for trace in batch:
        trace_id = _trace_id(trace[0])
        with skip_on_error(trace_id, done.left_out.append):
            for rebuilt in rebuild_trace(
                complete([*map(decoded, trace)]), _aside_to(done), _prices
            ):
                done.results.append(_finish(rebuilt))
    return done


def _trace_id(span: SpanRecord | _Row) -> str:
    return span.trace_id if isinstance(span, SpanRecord) else span[0][0]


def _rebuild_parts(batch: list[list[SpanRecord]]) -> _Done[Any]:
    done: _Done[Any] = _Done()
    for spans in batch:
        with skip_on_error(spans[0].trace_id, done.left_out.append):
            for rebuilt in rebuild_trace(gather(spans), _aside_to(done), _prices, gathered=True):
                done.results.append(_finish(rebuilt))
    return done


def _rebuild_open(batch: list[SettledTrace]) -> _Done[Any]:
    done: _Done[Any] = _Done()
    for trace in batch:
        with skip_on_error(trace.spans[0].trace_id, done.left_out.append):
            for rebuilt in rebuild_settled(trace, _prices):
                done.results.append(_finish(rebuilt))
    return done


def _aside_to(done: _Done[Any]) -> Callable[[Deferred], None]:
    def aside(remainder: Deferred) -> None:
        if isinstance(remainder, Answered):
            done.answered.append(remainder)
        elif not done.waiting or done.waiting[-1] is not remainder.spans:
            done.waiting.append(remainder.spans)

    return aside


def _rebuild_loose(batch: list[LooseRun]) -> _Done[Any]:
    done: _Done[Any] = _Done()
    for run in batch:
        with skip_on_error(run.trace_id, done.left_out.append):
            done.results.append(_finish(rebuild_loose(run, _prices)))
    return done
