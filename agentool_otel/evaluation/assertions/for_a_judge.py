"""What only a reader of the output can tell. Without one, these are not evaluated."""

from __future__ import annotations

from agentool_otel.evaluation.check import Check
from agentool_otel.evaluation.judged import JudgedTrace
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated
from agentool_otel.model.documents import EvalCase

__all__ = ["NoHallucination", "OutputProperty", "Rubric"]

_NO_JUDGE = "no judge"


class _ForAJudge(Check, frozen=True, kw_only=True):
    def check(self, trace: JudgedTrace, case: EvalCase) -> Verdict:
        return not_evaluated(_NO_JUDGE)


class OutputProperty(_ForAJudge, frozen=True, kw_only=True):
    """The output has a property, in words."""

    property: str


class NoHallucination(_ForAJudge, frozen=True, kw_only=True):
    """What the output claims is supported by what the run retrieved."""


class Rubric(_ForAJudge, frozen=True, kw_only=True):
    """The run meets a rubric, in words."""

    rubric: str
