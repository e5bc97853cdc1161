"""Build the checks of cases, and run one to its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from agentool_otel.errors import CasesError, EvaluationError
from agentool_otel.evaluation.assertion_types import (
    Checking,
    WrongAssertion,
    assertion_types,
    check_of,
)
from agentool_otel.evaluation.check import Check
from agentool_otel.evaluation.judge_check import JudgeCheck
from agentool_otel.evaluation.pending import Pending
from agentool_otel.evaluation.time_limit import one_check
from agentool_otel.evaluation.trace_view import TraceView
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated
from agentool_otel.model.documents import Assertion, EvalCase

if TYPE_CHECKING:
    from agentool_otel.evaluation.judges.asking import JudgePool

__all__ = ["Judging", "assertion_types", "judgings", "prepare", "require_valid"]

Judging: TypeAlias = Callable[[TraceView, EvalCase], Pending]
"""Returns the verdict of an assertion on a trace, or a future of it if a judge is needed. It never
raises: a check that crashes is "not evaluated", with the reason.
"""


def prepare(assertion: Assertion) -> Callable[[TraceView, EvalCase], Verdict]:
    """Return a function that gives an assertion's verdict on a trace. It never raises.

    Raises:
        EvaluationError: the assertion cannot be checked: its type, a parameter or a value is wrong.
        MissingDependencyError: it needs a library that is not installed.
    """
    try:
        return _without_judge(check_of(assertion.to_dict()))
    except WrongAssertion as error:
        raise EvaluationError(str(error)) from None


def require_valid(check: Check) -> None:
    """Refuse a check that was made in Python with values of other types than its parameters have.

    Raises:
        EvaluationError: a value is wrong.
    """
    kind = type(check)
    try:
        msgspec.convert(msgspec.structs.asdict(check), kind)
    except msgspec.ValidationError as error:
        raise EvaluationError(f"{kind.__qualname__}: {error}") from None


def judgings(cases: Iterable[EvalCase], judge: JudgePool | None) -> list[list[Judging]]:
    """Return such a function for each assertion of each case.

    Raises:
        CasesError: with every assertion that cannot be checked.
        MissingDependencyError: an assertion needs a library that is not installed.
    """
    problems: list[str] = []
    checks: list[list[Judging]] = []
    for case in cases:
        of_case: list[Judging] = []
        for n, assertion in enumerate(case.assertions, 1):
            try:
                check = check_of(assertion.to_dict())
            except WrongAssertion as error:
                where = f"case {case.case_id!r}, assertion {n}"
                problems += [f"{where}: {fault.message}" for fault in error.faults]
            else:
                if judge is not None and isinstance(check, JudgeCheck):
                    of_case.append(_with_judge(check, judge))
                else:
                    of_case.append(_without_judge(check))
        checks.append(of_case)
    if problems:
        raise CasesError(problems)
    return checks


def _without_judge(check: Checking) -> Callable[[TraceView, EvalCase], Verdict]:
    def judge(trace: TraceView, case: EvalCase) -> Verdict:
        try:
            with one_check():
                return check.check(trace, case)
        except Exception as error:  # a check may be anybody's, and its own crash is no low score
            return _crash_verdict(error)

    return judge


def _with_judge(check: JudgeCheck, judge: JudgePool) -> Judging:
    def ask(trace: TraceView, case: EvalCase) -> Pending:
        try:
            question = check.question(trace, case, judge.max_chars)
        except Exception as error:  # as in `_without_judge`
            return _crash_verdict(error)
        return question if isinstance(question, Verdict) else judge.ask(check, question)

    return ask


def _crash_verdict(error: Exception) -> Verdict:
    return not_evaluated(f"the check could not be made: {error or type(error).__name__}")
