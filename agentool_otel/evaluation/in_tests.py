"""`assert_trace`: assertions on one trace, as a test states them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation.assertion_checks import prepare, require_valid
from agentool_otel.evaluation.check import Check, count_text
from agentool_otel.evaluation.joined import judged_trace
from agentool_otel.evaluation.reports.result_texts import line, reason_of, step_ids_of
from agentool_otel.evaluation.reports.slices import MARKS
from agentool_otel.evaluation.results import result_of
from agentool_otel.evaluation.scopes import Run, unit_of
from agentool_otel.evaluation.steps import step_lines
from agentool_otel.evaluation.time_limit import one_check
from agentool_otel.evaluation.trace_view import TraceView
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated
from agentool_otel.ground.plugins import plugins
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import Assertion, EvalCase, EvalResult, ReasoningTrace
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = ["Asserted", "Outcome", "assert_trace", "outcome_of"]

Asserted: TypeAlias = Check | Assertion | EvalCase | Mapping[str, Any]
"""Anything that can be asserted of a trace: a check with its parameters, an assertion as a document
or JSON object, or a case, for all of its assertions.
"""

_BY_ITSELF = EvalCase(case_id="assert_trace", assertions=[])


def assert_trace(
    trace: Run | Iterable[Run], *assertions: Asserted, min_evaluated: float = 1.0
) -> EvalResult:
    """Assert that a trace is as it should be, and return the result.

        assert_trace(trace, ContainsToolCall(tool_name="search"), {"type": "status"})

    Args:
        trace: the trace, best as it was rebuilt, because a document does not have all that is
            missing; or a run with the runs inside it, which are asserted as one trace, such as
            `agent_traces`. Without runs that the trace lists, checks of absence and count are not
            evaluated.
        assertions: what must hold.
        min_evaluated: the share of the assertions, 0 to 1, that has to be evaluated. One that could
            not be evaluated is no pass.

    Raises:
        AssertionError: an assertion failed, or too few were evaluated. Its message has the reasons,
            and the steps of the trace with those marked that the reasons rest on.
        EvaluationError: there are no assertions, one cannot be checked, `min_evaluated` is no
            share, or several traces are not one run with the runs inside it.
        DecodeError: an assertion given as an object is none.
    """
    __tracebackhide__ = True
    outcome = outcome_of(trace, *assertions, min_evaluated=min_evaluated)
    if outcome.message is not None:
        raise AssertionError(outcome.message)
    return outcome.result


class Outcome(NamedTuple):
    """The outcome of the assertions on a trace."""

    result: EvalResult
    message: str | None
    """The failed assertions and the steps; None if all passed."""


def outcome_of(
    trace: Run | Iterable[Run], *assertions: Asserted, min_evaluated: float = 1.0
) -> Outcome:
    """Return the outcome that `assert_trace` raises or passes on.

    Raises: as `assert_trace`, but no AssertionError.
    """
    if not 0 <= min_evaluated <= 1:
        raise EvaluationError(f"min_evaluated is a share from 0 to 1, not {min_evaluated!r}")
    runs = [trace] if isinstance(trace, (ReasoningTrace, Rebuilt)) else list(trace)
    judged = judged_trace(unit_of(runs))
    checked = [item for asserted in assertions for item in _checks_in(judged, asserted)]
    if not checked:
        raise EvaluationError(
            "there is nothing to assert; hint: name an assertion, as {'type': 'status'}"
        )
    ids = [assertion.case_id for assertion in assertions if isinstance(assertion, EvalCase)]
    case = EvalCase(
        case_id=ids[0] if ids else _BY_ITSELF.case_id,
        assertions=[Assertion(type=item.kind) for item in checked],
    )
    verdicts = [item.verdict for item in checked]
    result = result_of(case, judged.trace.trace_id, verdicts, min_evaluated)
    return Outcome(result, None if result.passed else _message(judged, result))


class _Held(NamedTuple):
    kind: str
    verdict: Verdict


def _checks_in(trace: TraceView, asserted: Asserted) -> Iterator[_Held]:
    if isinstance(asserted, Check):
        require_valid(asserted)
        yield _Held(_type_of(asserted), _run_check(trace, asserted))
        return
    if isinstance(asserted, Mapping):
        is_case = "assertions" in asserted
        asserted = decode(EvalCase, asserted) if is_case else decode(Assertion, asserted)
    case = asserted if isinstance(asserted, EvalCase) else _BY_ITSELF
    for assertion in asserted.assertions if isinstance(asserted, EvalCase) else [asserted]:
        yield _Held(assertion.type, prepare(assertion)(trace, case))


def _run_check(trace: TraceView, check: Check) -> Verdict:
    try:
        with one_check():
            return check.check(trace, _BY_ITSELF)
    except Exception as error:  # a check may be anybody's, and its own crash is no failure
        return not_evaluated(f"the check could not be made: {error or type(error).__name__}")


def _type_of(check: Check) -> str:
    """Return the name of a check's type in a case, or its class name if it is not registered."""
    place = f"{type(check).__module__}:{type(check).__qualname__}"
    for name, point in plugins("agentool_otel.assertions").items():
        if point.value == place:
            return name
    return type(check).__qualname__


def _message(trace: TraceView, result: EvalResult) -> str:
    wrong = [
        assertion_result
        for assertion_result in result.assertion_results
        if assertion_result.passed is not True
    ]
    failed = sum(1 for item in wrong if item.passed is False)
    agent = trace.trace.agent_id if isinstance(trace.trace.agent_id, str) else "an agent"
    of = count_text(len(result.assertion_results), "assertion")
    lines = [
        f"{failed} of {of} failed, {len(wrong) - failed} not evaluated: "
        f"trace {line(trace.trace.trace_id)} of {line(agent)}"
    ]
    for item in wrong:
        words = "" if item.passed is False else "not evaluated, "
        lines.append(
            f"  {MARKS[item.passed]} {line(item.assertion_type)}: {words}{line(reason_of(item))}"
        )
    lines.append("steps:")
    lines += step_lines(trace, {step_id for item in wrong for step_id in step_ids_of(item)})
    return "\n".join(lines)
