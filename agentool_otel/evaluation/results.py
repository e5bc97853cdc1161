"""The verdicts on a trace as an EvalResult. Spec: agentool interoperability spec v0.1.

Besides its members, a result has the number of assertions that were `evaluated` and their `total`,
and each assertion's result has the `step_ids` that it rests on and, if a judge gave it, the
`judge_model`. A failed one may have `failing_step_ids`, the steps that caused the failure where
these are fewer, and `differences`, the values that are not as expected. Where more than one run was
checked, `runs` has their number; `runs_left_out` counts inner runs that were not, and
`missing_parent` is the id of a parent run that is not in the input.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from agentool_otel.evaluation.verdicts import Verdict
from agentool_otel.model.documents import UNSET, AssertionResult, EvalCase, EvalResult
from agentool_otel.model.times import from_ns

__all__ = ["result_of"]

_SECOND_NS = 1_000_000_000


def result_of(
    case: EvalCase,
    trace_id: str | None,
    verdicts: Sequence[Verdict],
    min_evaluated: float = 1.0,
    *,
    judge_model: str | None = None,
    extra: Mapping[str, Any] = MappingProxyType({}),
) -> EvalResult:
    """Return the result of a case.

    It passed where nothing failed and enough was evaluated; where nothing failed but less was, that
    is not known. Its score is the mean over what was evaluated, absent where nothing was.

    Args:
        case: the case.
        trace_id: the trace that was judged; None if there is none.
        verdicts: one per assertion of the case.
        min_evaluated: the share of the assertions that is enough, 0 to 1. One there has to be.
        judge_model: who gave one of the verdicts; None if no judge did.
        extra: further members of the result.
    """
    scores = [verdict.score or 0.0 for verdict in verdicts if verdict.passed is not None]
    enough = bool(scores) and len(scores) >= min_evaluated * len(verdicts)
    went_wrong = any(verdict.passed is False for verdict in verdicts)
    return EvalResult(
        eval_id=case.eval_id,
        case_id=case.case_id,
        trace_id=UNSET if trace_id is None else trace_id,
        passed=False if went_wrong else True if enough else None,
        assertion_results=[
            _assertion_result(assertion.type, verdict)
            for assertion, verdict in zip(case.assertions, verdicts, strict=True)
        ],
        composite_score=round(sum(scores) / len(scores), 3) if scores else UNSET,
        judge_model=UNSET if judge_model is None else judge_model,
        evaluated_at=from_ns(time.time_ns() // _SECOND_NS * _SECOND_NS),
        extra={"evaluated": len(scores), "total": len(verdicts), **extra},
    )


def _assertion_result(kind: str, verdict: Verdict) -> AssertionResult:
    extra: dict[str, Any] = {"step_ids": list(verdict.step_ids)} if verdict.step_ids else {}
    if verdict.extra:
        extra.update(verdict.extra)
    return AssertionResult(
        assertion_type=kind,
        passed=verdict.passed,
        score=UNSET if verdict.score is None else verdict.score,
        reason=verdict.reason,
        extra=extra,
    )
