"""`agentool_otel.evaluate`: matching of traces and cases, and results."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentool_otel import EvalCase, EvalResult, ReasoningTrace, evaluate
from agentool_otel.errors import DecodeError, EvaluationError, MissingDependencyError
from agentool_otel.evaluation import (
    Check,
    TraceView,
    Verdict,
    assertion_types,
    not_evaluated,
)
from agentool_otel.reading.rebuild.trace import Rebuilt
from tests.evaluation.runs import Object, changed, said, verdict
from tests.evaluation.test_spans import rebuilt, spans_of

SPEC = Path(__file__).parent.parent / "fixtures" / "spec"
STATUS = {"type": "status"}


def trace(**members: Any) -> ReasoningTrace:
    return ReasoningTrace.from_dict(changed(**members))


def case(case_id: str, *assertions: Object, **members: Any) -> EvalCase:
    value = list(assertions) or [STATUS]
    return EvalCase.from_dict({"case_id": case_id, "assertions": value, **members})


def pairs(results: Iterator[EvalResult]) -> list[tuple[str, Any]]:
    return [(result.case_id, result.to_dict().get("trace_id")) for result in results]


def test_the_spec_example_gives_its_result_without_a_judge() -> None:
    example = json.loads((SPEC / "eval-case.json").read_text())
    document = json.loads((SPEC / "reasoning-trace.json").read_text())
    document["metadata"] = {"case_id": example["case_id"]}
    expected = json.loads((SPEC / "eval-result.json").read_text())
    (result,) = evaluate(example, [ReasoningTrace.from_dict(document)])
    value = result.to_dict()
    for name in ("eval_id", "case_id", "trace_id"):
        assert value[name] == expected[name]
    first, *remainder = value["assertion_results"]
    assert first == {**expected["assertion_results"][0], "step_ids": ["step_002"]}
    kinds = [
        assertion_result["assertion_type"] for assertion_result in expected["assertion_results"][1:]
    ]
    assert remainder == [
        {"assertion_type": kind, "passed": None, "reason": "no judge"} for kind in kinds
    ]
    assert value["passed"] is None
    assert (value["composite_score"], value["evaluated"], value["total"]) == (1.0, 1, 4)


def test_a_trace_belongs_to_the_case_that_its_run_names() -> None:
    cases = [case("a", input="What is new?"), case("b")]
    assert pairs(evaluate(cases, [trace(metadata={"case_id": "b"})])) == [
        ("b", "tr_1"),
        ("a", None),
    ]


def test_a_trace_without_a_named_case_belongs_to_cases_with_its_input() -> None:
    cases = [case("a", input="What is new?"), case("b", input="What is old?")]
    assert pairs(evaluate(cases, [trace()])) == [("a", "tr_1"), ("b", None)]


def test_several_traces_of_a_case_are_its_repetitions() -> None:
    tries = [trace(trace_id=f"tr_{n}", metadata={"case_id": "a"}) for n in range(3)]
    assert pairs(evaluate(case("a"), tries)) == [("a", "tr_0"), ("a", "tr_1"), ("a", "tr_2")]


def test_a_case_without_a_trace_is_not_evaluated() -> None:
    (result,) = evaluate([case("a")], [])
    assert result.passed is None
    assert said(result.assertion_results) == [("status", None, "no trace of this case")]
    assert "composite_score" not in result.to_dict()


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({}, "its run names no case, and no case has its input"),
        ({"input": "x [masked]"}, "its run names no case, and its input is redacted"),
        ({"input": ...}, "its input was not recorded"),
        ({"metadata": {"case_id": "z"}}, "no case is called 'z', which its run names"),
    ],
)
def test_a_trace_without_a_case_is_reported_with_the_reason(members: Object, why: str) -> None:
    messages: list[tuple[str, str]] = []
    results = evaluate(
        [case("a", input="?")],
        [trace(**members)],
        unmatched=lambda t, w: messages.append((t.trace_id, w)),
    )
    assert pairs(results) == [("a", None)]
    assert [trace_id for trace_id, _ in messages] == ["tr_1"]
    assert why in messages[0][1]


def test_without_a_callback_unmatched_traces_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        list(evaluate(case("a"), [trace()]))
    assert "traces that are a try of no case: 1" in caplog.text


def test_assertions_alone_apply_to_every_trace() -> None:
    results = evaluate([STATUS], [trace(trace_id="x"), trace(trace_id="y", status="error")])
    assert [(result.trace_id, result.passed) for result in results] == [("x", True), ("y", False)]


def test_the_score_is_the_mean_of_what_was_evaluated() -> None:
    contents: list[Object] = [
        STATUS,
        STATUS,
        {"type": "latency", "max_ms": 1},
        {"type": "no_hallucination"},
    ]
    (result,) = evaluate(case("a", *contents, input="What is new?"), [trace()])
    assert (result.passed, result.composite_score) == (False, 0.667)


def test_a_case_without_assertions_is_no_pass() -> None:
    empty = EvalCase(case_id="a", assertions=[], input="What is new?")
    (result,) = evaluate(empty, [trace()])
    assert result.passed is None


def test_results_come_before_the_traces_have_ended() -> None:
    def traces() -> Iterator[Rebuilt]:
        yield rebuilt(spans_of(trace(trace_id="a" * 32).to_dict()))
        raise AssertionError("nobody asked for a second one")

    assert next(evaluate(STATUS, traces())).passed is True


def test_a_result_is_a_document_that_round_trips() -> None:
    (result,) = evaluate([STATUS, {"type": "rubric", "rubric": "x"}], [trace()])
    assert EvalResult.from_json(result.to_json()) == result


class Crashing(Check, frozen=True, kw_only=True):
    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        raise ZeroDivisionError("division by zero")


def test_a_check_that_crashes_is_not_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assertion_types, "assertion_type", lambda name: Crashing)
    result = verdict({"type": "crashing"}, changed())
    assert result == not_evaluated("the check could not be made: division by zero")


def test_a_missing_library_is_reported_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jsonschema", None)
    assertion = {"type": "response_format", "schema": {"title": "unseen"}}
    with pytest.raises(MissingDependencyError, match=r"pip install .*\[eval\]"):
        evaluate(assertion, [])


@pytest.mark.parametrize(
    ("cases", "share", "message"),
    [
        ([], 1, "there are no cases and no assertions"),
        ([case("a"), STATUS], 1, "cases and assertions are mixed"),
        ([STATUS], 2, "min_evaluated is a share from 0 to 1, not 2"),
    ],
)
def test_unusable_cases_and_shares_are_errors_at_once(
    cases: list[Any], share: float, message: str
) -> None:
    with pytest.raises(EvaluationError, match=message):
        evaluate(cases, [], min_evaluated=share)


def test_an_invalid_case_is_an_error_with_its_path() -> None:
    with pytest.raises(DecodeError, match=r"expected string.* - at \$\.assertions\[0\]\.type"):
        evaluate([{"case_id": "a", "assertions": [{"type": 3}]}], [])
