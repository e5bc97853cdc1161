"""Cost of a trace's shape: the time of a rebuild per span for shapes that could make it quadratic,
against an ordinary trace with as many spans. And the cost of crowds of similar parts or calls: the
time for each of them against that in a crowd a quarter as large.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from agentool_otel.dialects.kit.dialect import dialects
from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from benchmarks._child import in_child
from benchmarks._rounds import compared
from benchmarks._sizes import Size
from benchmarks._table import Row, Target
from tests.hostile_traces import CROWDS, OTHER_SHAPES, SHAPES, ordinary

__all__ = ["rows"]

_MOST = 4.0
_MOST_GROWTH = 2.0


def rows(size: Size) -> Iterator[Row]:
    for name in (*SHAPES, *OTHER_SHAPES):
        pairs = in_child(measure, name, size.hostile, size.rebuild_rounds)
        yield Row.of(
            f"rebuild {size.hostile:,} spans: {name}, against an ordinary trace",
            "µs",
            compared(pairs),
            Target(f"≤ {_MOST:g}×", _MOST),
        )
    for name in CROWDS:
        pairs = in_child(growth, name, size.hostile, size.rebuild_rounds)
        yield Row.of(
            f"rebuild {size.hostile:,} {name}, each against each of a quarter",
            "µs",
            compared(pairs),
            Target(f"≤ {_MOST_GROWTH:g}×", _MOST_GROWTH),
        )


def measure(name: str, spans: int, rounds: int) -> list[tuple[float, float]]:
    """Return the microseconds per span of a shape, and of an ordinary trace, of each round."""
    dialects()
    shape = {**SHAPES, **OTHER_SHAPES}[name]
    _microseconds(ordinary(200))
    return [(_microseconds(shape(spans)), _microseconds(ordinary(spans))) for _ in range(rounds)]


def growth(name: str, number: int, rounds: int) -> list[tuple[float, float]]:
    """Return the microseconds for each of a crowd, and for each of one a quarter as large, of each
    round."""
    dialects()
    few = number // 4

    def each(size: int) -> float:
        spans = CROWDS[name](size)
        return _microseconds(spans) * len(spans) / size

    each(few)
    return [(each(number), each(few)) for _ in range(rounds)]


def _microseconds(spans: list[SpanRecord]) -> float:
    start = time.process_time()
    for rebuilt in rebuild(spans):
        rebuilt.to_bytes()
    return (time.process_time() - start) * 1e6 / len(spans)
