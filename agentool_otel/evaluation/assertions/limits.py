"""Limits on the usage of a run: time, tokens, money."""

from __future__ import annotations

from typing import Any

from agentool_otel.evaluation.check import Amount, Check, limit_text
from agentool_otel.evaluation.trace_view import NO_COST, TraceView, or_none
from agentool_otel.evaluation.verdicts import Verdict, failed, not_evaluated, passed
from agentool_otel.model.amounts import is_possible
from agentool_otel.model.documents import EvalCase
from agentool_otel.model.times import to_ns
from agentool_otel.reading.rebuild.report.gaps import TOTAL_COST, TOTAL_TOKENS

__all__ = ["ContextEfficiency", "Latency", "MaxCostUsd"]


class Latency(Check, frozen=True, kw_only=True):
    """The run took no longer than this many milliseconds, by its metrics or else by its start and
    end."""

    max_ms: Amount
    """Milliseconds that the run may take."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        duration_ms = or_none(trace.metrics.total_duration_ms)
        between = _seconds_between(
            or_none(trace.trace.started_at), or_none(trace.trace.finished_at)
        )
        if duration_ms is None or (between is not None and not is_possible(duration_ms)):
            duration_ms = between
        subject = "the duration of the run"
        return _limit_verdict(duration_ms, self.max_ms, "ms", "took", subject, trace.unfinished)


class ContextEfficiency(Check, frozen=True, kw_only=True):
    """The model calls of the run used no more than this many tokens, input and output together."""

    max_tokens: Amount
    """Tokens that the run may use."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        tokens = or_none(trace.metrics.total_tokens)
        subject, gap = "the number of tokens", trace.uncounted(TOTAL_TOKENS)
        return _limit_verdict(tokens, self.max_tokens, "tokens", "used", subject, gap)


class MaxCostUsd(Check, frozen=True, kw_only=True):
    """The run cost no more than this, in US dollars."""

    max_usd: Amount
    """US dollars that the run may cost."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        cost_usd = or_none(trace.metrics.total_cost_usd)
        subject, gap = "the cost of the run", trace.uncounted(TOTAL_COST)
        return _limit_verdict(cost_usd, self.max_usd, "US dollars", "cost", subject, gap, NO_COST)


def _seconds_between(start: Any, end: Any) -> float | None:
    times = [to_ns(text) if isinstance(text, str) else None for text in (start, end)]
    if times[0] is None or times[1] is None:
        return None
    return (times[1] - times[0]) / 1e6


def _limit_verdict(
    amount: Any,
    most: float,
    unit: str,
    verb: str,
    subject: str,
    gap: str | None,
    missing: str = "was not recorded",
) -> Verdict:
    if amount is None:
        return not_evaluated(f"{subject} {missing}")
    if not is_possible(amount):
        return not_evaluated(f"{amount} {unit} cannot be {subject}, which counts as unknown")
    reason = f"the run {verb} {amount} {unit}"
    if amount > most:
        return failed(f"{reason}; {limit_text(most)}")
    if gap:
        return not_evaluated(f"{reason}; it may be more: {gap}")
    return passed(reason)
