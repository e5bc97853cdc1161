"""What the shape of a trace costs: the time of a rebuild per span, of shapes by which a careless
one grows with the trace, against an ordinary trace of as many spans."""

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
from tests.hostile_traces import OTHER_SHAPES, SHAPES, ordinary

__all__ = ["rows"]

_MOST = 4.0


def rows(size: Size) -> Iterator[Row]:
    for name in (*SHAPES, *OTHER_SHAPES):
        pairs = in_child(measure, name, size.hostile, size.rebuild_rounds)
        yield Row.of(
            f"rebuild {size.hostile:,} spans: {name}, against an ordinary trace",
            "µs",
            compared(pairs),
            Target(f"≤ {_MOST:g}×", _MOST),
        )


def measure(name: str, spans: int, rounds: int) -> list[tuple[float, float]]:
    """Return the microseconds per span of a shape, and of an ordinary trace, of each round."""
    dialects()
    shape = {**SHAPES, **OTHER_SHAPES}[name]
    _microseconds(ordinary(200))
    return [(_microseconds(shape(spans)), _microseconds(ordinary(spans))) for _ in range(rounds)]


def _microseconds(spans: list[SpanRecord]) -> float:
    start = time.process_time()
    for rebuilt in rebuild(spans):
        rebuilt.to_bytes()
    return (time.process_time() - start) * 1e6 / len(spans)
