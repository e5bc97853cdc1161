"""The base of assertion types that need a judge: a question, and the verdict that follows from its
answer."""

from __future__ import annotations

from typing import Any

from agentool_otel.evaluation.check import Check
from agentool_otel.evaluation.judges.questions import PASSES_FROM, Answer, Question
from agentool_otel.evaluation.trace_view import TraceView, or_none
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated
from agentool_otel.model.documents import UNSET, EvalCase

__all__ = ["JudgeCheck", "input_of", "verdict_from"]

_NO_JUDGE = "no judge"


class JudgeCheck(Check, frozen=True, kw_only=True):
    """An assertion type that needs a judge. Without one it is not evaluated."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        """Return "not evaluated": there is no judge."""
        return not_evaluated(_NO_JUDGE)

    def question(self, trace: TraceView, case: EvalCase, max_chars: int) -> Question | Verdict:
        """Return the question for the judge, or a verdict if no question is needed.

        An exception is caught by the caller and makes the assertion not evaluated.

        Args:
            trace: the trace.
            case: the case that it is a try of.
            max_chars: characters of the trace that the judge takes.
        """
        # Not abstract, as in `Check`: a Struct has a metaclass of its own.
        raise NotImplementedError

    def verdict(self, question: Question, answer: Answer) -> Verdict:
        """Return the verdict on the assertion. Parts left out of the question need not be
        considered here: they are added to the reason.
        """
        return verdict_from(answer, None)


def verdict_from(answer: Answer, min_score: float | None) -> Verdict:
    """Turn an answer into a verdict.

    Args:
        answer: the judge's answer.
        min_score: the least score with which the assertion passes; None leaves the decision to the
            judge, and for an answer with nothing but a score, to whether that is 0.5 or more.
    """
    passed, score = answer.passed, answer.score
    if passed is None and score is None:
        detail = f": {answer.reason}" if answer.reason else ""
        return not_evaluated(f"the judge could not decide{detail}", answer.step_ids)
    if score is None:
        score = 1.0 if passed else 0.0
    if min_score is not None or passed is None:
        passed = score >= (PASSES_FROM if min_score is None else min_score)
    reason = answer.reason or f"the judge's score is {score:g}"
    return Verdict(passed, score, reason, answer.step_ids)


def input_of(trace: TraceView) -> tuple[Any, str | None]:
    """Return the input, and a note on its hidden parts."""
    value = trace.trace.input
    if value is UNSET:
        return None, f"the input {trace.why_missing('input')}"
    gap = trace.hides(value, "input")
    return or_none(value), f"the input {gap}" if gap else None
