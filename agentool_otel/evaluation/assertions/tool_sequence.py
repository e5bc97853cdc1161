"""Which tools were called, in which order."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from agentool_otel.evaluation.check import Check, listed
from agentool_otel.evaluation.judged import JudgedTrace
from agentool_otel.evaluation.verdicts import Verdict, failed, not_evaluated, passed
from agentool_otel.model.documents import EvalCase

__all__ = ["ToolSequence"]


class ToolSequence(Check, frozen=True, kw_only=True):
    """The trajectory, by the names of its tools; one that is named twice is to be called twice.

    Modes: `exact`, these calls in this order and no others; `in_order`, these in this order, others
    may lie between; `any_order`, these in any order beside any others (both as ADK has them);
    `superset`, the run's calls are a superset of these, which is the same as `any_order`; `subset`,
    the run's calls are a subset of these (both as agentevals has them).
    """

    tools: list[str]
    mode: Literal["exact", "in_order", "any_order", "subset", "superset"] = "in_order"

    def check(self, trace: JudgedTrace, case: EvalCase) -> Verdict:
        names = [call.name for call in trace.calls]
        ids = [call.step_id for call in trace.calls]
        where = listed(f"{call.name} at {call.step_id}" for call in trace.calls) or "no tool"
        said = f"called: {where}"
        wrong = self._wrong(names)
        if trace.unseen_calls and self._open(wrong):
            return not_evaluated(f"{said}, but {trace.unseen_calls}", ids)
        return failed(f"{said}; {wrong}", ids) if wrong else passed(said, ids)

    def _wrong(self, names: list[str]) -> str | None:
        """Return what is not as expected; None where all is."""
        order = f"expected {'exactly ' * (self.mode == 'exact')}{listed(self.tools) or 'no tool'}"
        if self.mode == "exact":
            return None if names == self.tools else order
        if self.mode == "in_order":
            rest = iter(names)
            return None if all(name in rest for name in self.tools) else f"{order} in this order"
        if self.mode == "subset":
            more = Counter(names) - Counter(self.tools)
            return f"not expected: {listed(more.elements())}" if more else None
        missing = Counter(self.tools) - Counter(names)
        return f"missing: {listed(missing.elements())}" if missing else None

    def _open(self, wrong: str | None) -> bool:
        """Whether calls that cannot be seen could change what was found."""
        if self.mode == "subset":
            return wrong is None
        return self.mode == "exact" or wrong is not None
