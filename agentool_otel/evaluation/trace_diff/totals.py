"""The totals of two traces, side by side."""

from __future__ import annotations

from collections.abc import Mapping

from agentool_otel.evaluation.trace_diff.records import Measure
from agentool_otel.evaluation.trace_diff.tolerances import MEASURES, Tolerance
from agentool_otel.evaluation.trace_view import TraceView, or_none
from agentool_otel.model.amounts import possible
from agentool_otel.model.times import to_ns

__all__ = ["measures_of"]


def measures_of(
    a: TraceView, b: TraceView, tolerances: Mapping[str, Tolerance]
) -> tuple[Measure, ...]:
    """Return the totals that are known for at least one trace, or that have a tolerance."""
    mine, theirs = _totals(a), _totals(b)
    return tuple(
        _measure(name, mine[name], theirs[name], tolerances.get(name))
        for name in MEASURES
        if name in tolerances or mine[name] is not None or theirs[name] is not None
    )


def _measure(name: str, a: float | None, b: float | None, tolerance: Tolerance | None) -> Measure:
    differs: bool | None = False
    if tolerance is not None:
        differs = None if a is None or b is None else not tolerance.allows(a, b)
    return Measure(name=name, a=a, b=b, differs=differs)


def _totals(trace: TraceView) -> dict[str, int | float | None]:
    metrics = trace.metrics
    return {
        "steps": len(trace.steps),
        "tool_calls": len(trace.calls),
        "tokens": possible(metrics.total_tokens),
        # The spec has no members for these; some stores' trajectories do.
        "input_tokens": possible(metrics.extra.get("input_tokens")),
        "output_tokens": possible(metrics.extra.get("output_tokens")),
        "cost_usd": possible(metrics.total_cost_usd),
        "duration_ms": _duration_ms(trace),
    }


def _duration_ms(trace: TraceView) -> int | float | None:
    duration_ms = possible(trace.metrics.total_duration_ms)
    if duration_ms is not None:
        return duration_ms
    texts = or_none(trace.trace.started_at), or_none(trace.trace.finished_at)
    start, end = (to_ns(text) if isinstance(text, str) else None for text in texts)
    return possible((end - start) / 1e6) if start is not None and end is not None else None
