"""Values of metrics, added up until they are collected: an SDK instrument's work, for less.

An SDK instrument looks at views, hashes the attributes and asks a reservoir for every value: as
much as half a span. Here the series of a value is looked up once by its caller, and a value is one
entry in a queue, which is added up from time to time. What is collected is the same as of the
SDK's instruments without views, exemplars included (`tracing/export/metric_points.py`).
"""

from __future__ import annotations

import os
import threading
import weakref
from bisect import bisect_left
from collections import deque
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from math import inf
from random import random
from time import time_ns
from typing import Any, NamedTuple

from opentelemetry.context import Context
from opentelemetry.trace import TraceFlags
from opentelemetry.trace.propagation import _SPAN_KEY

__all__ = ["Exemplar", "Instrument", "Scope", "Series", "Sums"]

_QUEUE = 64
"""Values that wait until they are added up: little work at once in a call that is traced."""
_MOST_SERIES = 2000
"""Sets of attributes of an instrument. Values of others share one series, as in the SDK."""
_SAMPLED = int(TraceFlags.SAMPLED)
_OVERFLOW: Mapping[str, Any] = {"otel.metric.overflow": True}


class Scope(NamedTuple):
    """The instrumentation scope of instruments."""

    name: str
    version: str
    schema_url: str


class Instrument(NamedTuple):
    """A counter, or a histogram where it has buckets."""

    scope: Scope
    name: str
    unit: str
    description: str
    buckets: tuple[float, ...] | None = None
    """Upper bounds; None makes a counter."""


class Exemplar(NamedTuple):
    """A value, and the span that was measured."""

    value: float
    time_ns: int
    trace_id: int
    span_id: int


class Series:
    """The values of one instrument and one set of attributes."""

    __slots__ = (
        *("attributes", "bounds", "buckets", "count", "exemplars", "highest", "lowest", "offered"),
        *("start_ns", "sum"),
    )

    def __init__(self, attributes: Mapping[str, Any], bounds: tuple[float, ...] | None, now: int):
        self.attributes = attributes
        self.bounds = bounds
        self.reset(now)

    def reset(self, start_ns: int) -> None:
        """Begin anew at a time."""
        self.start_ns = start_ns
        self.count = 0
        self.sum: float = 0
        self.lowest, self.highest = inf, -inf
        self.buckets = [] if self.bounds is None else [0] * (len(self.bounds) + 1)
        self.exemplars: dict[int, tuple[float, int, int, int]] = {}
        """By bucket the last value in it; of a counter any one since they were last taken. With the
        other members of `Exemplar`."""
        self.offered = 0

    def add(self, value: float, at_ns: int, trace_id: int, span_id: int) -> None:
        """Add a value; `trace_id` and `span_id` are those of a sampled span, or 0."""
        self.count += 1
        self.sum += value
        bucket = 0
        if self.bounds is not None:
            if value < self.lowest:
                self.lowest = value
            if value > self.highest:
                self.highest = value
            bucket = bisect_left(self.bounds, value)
            self.buckets[bucket] += 1
        if trace_id:
            self.offered += 1
            if self.bounds is not None or random() * self.offered < 1:
                self.exemplars[bucket] = value, at_ns, trace_id, span_id

    def take_exemplars(self) -> list[Exemplar]:
        """Return the exemplars by their buckets and forget them."""
        taken = [Exemplar(*members) for _, members in sorted(self.exemplars.items())]
        self.exemplars, self.offered = {}, 0
        return taken


class Sums:
    """The series of all instruments. Safe for threads, signal handlers and forked processes."""

    def __init__(self) -> None:
        self._series: dict[Instrument, dict[frozenset[tuple[str, Any]], Series]] = {}
        self._queue: deque[tuple[Series, float, int, int, int]] = deque()
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            renew = weakref.WeakMethod(self._forked)
            os.register_at_fork(after_in_child=lambda: (call := renew()) and call())

    def series(self, instrument: Instrument, attributes: Mapping[str, Any]) -> Series:
        """Return the series of a set of attributes.

        Raises:
            TypeError: a value cannot be hashed.
        """
        known = self._series.get(instrument)
        if known is None:
            known = self._series.setdefault(instrument, {})
        key = frozenset(attributes.items())
        found = known.get(key)
        if found is None:
            if len(known) >= _MOST_SERIES:
                attributes = _OVERFLOW
                key = frozenset(attributes.items())
            found = known.setdefault(key, Series(dict(attributes), instrument.buckets, time_ns()))
        return found

    def put(self, series: Series, value: float, context: Context) -> None:
        """Add a value, with the span of a context for exemplars; none below zero."""
        if value < 0:
            return
        span: Any = context.get(_SPAN_KEY)
        trace_id = span_id = 0
        if span is not None:
            trace_id, span_id, _, flags, _, _ = span.get_span_context()
            if not flags & _SAMPLED:
                trace_id = 0
        self._queue.append((series, value, time_ns(), trace_id, span_id))
        if len(self._queue) >= _QUEUE and self._lock.acquire(blocking=False):
            try:
                self._add_up()
            finally:
                self._lock.release()

    @contextmanager
    def collected(self) -> Generator[list[tuple[Instrument, list[Series]]]]:
        """Yield all that has been added up; it stays as it is in the block."""
        with self._lock:
            self._add_up()
            yield [(item, list(known.values())) for item, known in list(self._series.items())]

    def _add_up(self) -> None:
        """Add up the queue. To be called under the lock, which keeps the order of values."""
        queue = self._queue
        try:
            while True:
                series, value, at_ns, trace_id, span_id = queue.popleft()
                series.add(value, at_ns, trace_id, span_id)
        except IndexError:
            return

    def _forked(self) -> None:
        self._lock = threading.Lock()
