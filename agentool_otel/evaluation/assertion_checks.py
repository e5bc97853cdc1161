"""Build the check of an assertion, and run it to its verdict."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec

from agentool_otel.evaluation.judge_check import JudgeCheck
from agentool_otel.evaluation.judged import JudgedTrace
from agentool_otel.evaluation.time_limit import one_check
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated
from agentool_otel.ground.plugins import plugins
from agentool_otel.model.documents import Assertion, EvalCase

if TYPE_CHECKING:
    from agentool_otel.evaluation.judges.asking import Asking

__all__ = ["asking", "assertion_types", "judging"]

_GROUP = "agentool_otel.assertions"
_FOR_PEOPLE = ("type", "description")
"""Members of an assertion that are no parameters."""


class _Checking(Protocol):
    def check(self, trace: JudgedTrace, case: EvalCase) -> Verdict: ...


def assertion_types() -> list[str]:
    """Return the known assertion types, ours and those of plug-ins."""
    return sorted(_points())


def judging(assertion: Assertion) -> Callable[[JudgedTrace, EvalCase], Verdict]:
    """Return a function that gives an assertion's verdict on a trace. It never raises: what cannot
    be evaluated is "not evaluated", with the reason."""
    try:
        check = _built(assertion)
    except _NotUsable as error:
        reason = str(error)
        return lambda trace, case: not_evaluated(reason)

    def judge(trace: JudgedTrace, case: EvalCase) -> Verdict:
        try:
            with one_check():
                return check.check(trace, case)
        except Exception as error:  # a check may be anybody's, and its own crash is no low score
            return _crashed(error)

    return judge


def asking(
    assertion: Assertion, judge: Asking
) -> Callable[[JudgedTrace, EvalCase], Verdict | Future[Verdict]]:
    """Like `judging`, but return a function that may give a future of the verdict, if a judge is
    asked. It never raises."""
    try:
        check = _built(assertion)
    except _NotUsable:
        return judging(assertion)
    if not isinstance(check, JudgeCheck):
        return judging(assertion)

    def ask(trace: JudgedTrace, case: EvalCase) -> Verdict | Future[Verdict]:
        try:
            question = check.question(trace, case, judge.max_chars)
        except Exception as error:  # as in `judging`
            return _crashed(error)
        return question if isinstance(question, Verdict) else judge.ask(check, question)

    return ask


def _crashed(error: Exception) -> Verdict:
    return not_evaluated(f"the check could not be made: {error or type(error).__name__}")


class _NotUsable(Exception):
    """An assertion whose type or parameters are not known."""


def _built(assertion: Assertion) -> _Checking:
    kind = _kind(assertion.type)
    parameters = {
        name: value
        for name, value in assertion.to_dict().items()
        if name not in _FOR_PEOPLE and (value is not None or name == "value")
    }
    try:
        return cast("_Checking", msgspec.convert(parameters, kind))
    except msgspec.ValidationError as error:
        known = ", ".join(getattr(kind, "__struct_fields__", ())) or "no parameters"
        raise _NotUsable(f"{error}; {assertion.type} takes {known}") from None


@cache
def _points() -> dict[str, Any]:
    return dict(plugins(_GROUP))


@cache
def _loaded(name: str) -> type:
    return cast("type", _points()[name].load())


def _kind(name: str) -> type:
    if name not in _points():
        raise _NotUsable(
            f"the assertion type {name!r} is not known; known are {', '.join(assertion_types())}"
        )
    try:
        return _loaded(name)
    except Exception as error:  # of a plug-in that does not load
        raise _NotUsable(f"the assertion type {name!r} cannot be loaded: {error}") from error
