"""`assert_trace`: assertions in a test of one trace, and the message when they fail."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel import Assertion, EvalCase, ReasoningTrace
from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation import Check, TraceView, Verdict, assert_trace, passed
from agentool_otel.evaluation.assertions.tool_calls import ContainsToolCall
from tests.evaluation.runs import RUN, changed

TRACE = ReasoningTrace.from_dict(RUN)
STATUS = {"type": "status"}
RUBRIC = {"type": "rubric", "rubric": "is polite"}


class Polite(Check, frozen=True, kw_only=True):
    """A user's own, of no plug-in."""

    crash: bool = False

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        if self.crash:
            raise ZeroDivisionError("division by zero")
        return passed("it says please")


def failure_of(*assertions: Any, trace: ReasoningTrace = TRACE) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_trace(trace, *assertions)
    return str(caught.value)


def test_assertions_are_checks_documents_objects_or_cases() -> None:
    result = assert_trace(
        TRACE,
        ContainsToolCall(tool_name="search_web"),
        Assertion(type="no_loop"),
        STATUS,
        EvalCase(case_id="news", assertions=[Assertion(type="no_tool_error")]),
        {"case_id": "more", "assertions": [STATUS]},
        Polite(),
    )
    assert [assertion_result.assertion_type for assertion_result in result.assertion_results] == [
        "contains_tool_call",
        "no_loop",
        "status",
        "no_tool_error",
        "status",
        "Polite",
    ]
    assert (result.passed, result.case_id, result.trace_id) == (True, "news", "tr_1")


def test_the_message_has_the_reasons_and_the_steps_they_rest_on() -> None:
    wrong = ContainsToolCall(tool_name="search_web", tool_args={"limit": 5})
    assert failure_of(STATUS, wrong, RUBRIC).splitlines() == [
        "1 of 3 assertions failed, 1 not evaluated: trace tr_1 of researcher",
        "  ✗ contains_tool_call: search_web was called at step_001 with limit=3, expected limit=5",
        "  - rubric: not evaluated, no judge",
        "steps:",
        '  > step_001  tool_call    search_web(query="agent tools", limit=3)',
        '    step_002  tool_result  search_web → ["LangSmith"]',
        '    step_003  tool_call    read_page(url="https://a.example")',
        "    step_004  tool_result  read_page → Braintrust",
        "    step_005  handoff      → writer: write it",
    ]


def test_what_was_not_evaluated_is_no_pass_unless_allowed() -> None:
    assert "0 of 2 assertions failed, 1 not evaluated" in failure_of(STATUS, RUBRIC)
    assert assert_trace(TRACE, STATUS, RUBRIC, min_evaluated=0.5).passed
    with pytest.raises(AssertionError, match="0 of 1 assertion failed, 1 not evaluated"):
        assert_trace(TRACE, RUBRIC, min_evaluated=0)


def test_a_check_that_crashes_is_not_evaluated() -> None:
    failure = failure_of(Polite(crash=True))
    assert "- Polite: not evaluated, the check could not be made: division by zero" in failure


def test_of_many_steps_the_marked_ones_are_shown() -> None:
    step = RUN["steps"][0]
    many = [{**step, "step_id": f"s{n}"} for n in range(100)]
    many[70] = {"step_id": "s70", "type": "tool_result"} | {
        "tool_result": {"call_id": "c1", "output": None, "error": "timeout\x1b[31m"}
    }
    message = failure_of(
        {"type": "no_tool_error"}, trace=ReasoningTrace.from_dict(changed(steps=many))
    )
    lines = message.splitlines()
    assert "  > s70  tool_result  search_web → ✗ timeout\\x1b[31m" in lines
    assert [line.strip() for line in lines if "..." in line] == ["... 31 more", "... 29 more"]
    assert len(lines) == 45


def test_a_trace_without_steps_is_noted() -> None:
    trace = ReasoningTrace(trace_id="t", steps=[], status="error")
    assert failure_of(STATUS, trace=trace).endswith("steps:\n  no steps")


@pytest.mark.parametrize(
    ("assertions", "share", "message"),
    [((), 1, "there is nothing to assert"), ((STATUS,), 2, "a share from 0 to 1, not 2")],
)
def test_what_asserts_nothing_is_an_error(assertions: Any, share: float, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        assert_trace(TRACE, *assertions, min_evaluated=share)
