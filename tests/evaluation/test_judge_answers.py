"""An answer that contradicts itself is no answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel import evaluate
from agentool_otel.evaluation import Answer
from agentool_otel.evaluation.judges.answers import UnreadableAnswer, read_text
from agentool_otel.evaluation.judges.questions import Judge
from agentool_otel.testing.loopback_model import LoopbackModel
from tests.evaluation.judges import GROUNDED, POLITE, asked, judged, model_judge, trace, verdict
from tests.evaluation.runs import Object


def always(answer: Any) -> Judge:
    return lambda question: answer


QUESTION = asked(POLITE)
CLAIM = {"claim": "a", "step_ids": ["step_002"]}
SUPPORTED = {**CLAIM, "verdict": "supported"}
CONTRADICTED = {**CLAIM, "verdict": "contradicted"}
NOT_SUPPORTED = {**CLAIM, "verdict": "not_supported"}


@given(st.booleans(), st.floats(0, 1))
def test_a_verdict_counts_if_its_score_agrees(passed: bool, score: float) -> None:
    for answer in ({"passed": passed, "score": score}, Answer(passed=passed, score=score)):
        value = judged(POLITE, always(answer))
        if passed == (score >= 0.5):
            assert (value.passed, value.score) == (passed, score)
        else:
            assert value.passed is None
            assert "the answer contradicts itself" in str(value.reason)


@pytest.mark.parametrize(
    ("passed", "claims", "agrees"),
    [
        (True, [SUPPORTED], True),
        (True, [SUPPORTED, NOT_SUPPORTED], True),
        (True, [SUPPORTED, CONTRADICTED], False),
        (False, [SUPPORTED], False),
        (False, [SUPPORTED, NOT_SUPPORTED], True),
        (False, [CONTRADICTED], True),
        (False, [], True),
        (None, [CONTRADICTED], True),
    ],
)
def test_a_verdict_counts_if_its_claims_agree(
    passed: bool | None, claims: list[Object], agrees: bool
) -> None:
    value = judged(GROUNDED, lambda _: {"passed": passed, "claims": claims})
    assert ("contradicts itself" not in str(value.reason)) == agrees
    assert (value.passed is not None) == agrees


VALUES = st.none() | st.booleans() | st.floats(0, 1) | st.text(max_size=3)


@given(st.sampled_from(["passed", "score", "reason", "step_ids", "other"]), VALUES, VALUES)
def test_a_member_that_stands_twice_makes_an_answer_unreadable(
    name: str, first: Any, second: Any
) -> None:
    document = json.loads(verdict())
    members = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in document.items()]
    twice = [f"{json.dumps(name)}: {json.dumps(value)}" for value in (first, second)]
    text = (
        "{"
        + ", ".join([twice[0], *(member for member in members if name not in member), twice[1]])
        + "}"
    )
    with pytest.raises(UnreadableAnswer, match="expected each member once"):
        read_text(text, QUESTION)


@pytest.mark.parametrize(
    "text",
    [
        '{"passed": false, "passed": true, "score": 1, "reason": "r"}',
        '{"passed": false, "p\\u0061ssed": true, "score": 1, "reason": "r"}',
        '{"passed": true, "score": 0.0, "reason": "r"}',
        '{"passed": false, "score": 0.9, "reason": "r"}',
        '{"passed": true, "score": NaN, "reason": "r"}',
        '{"passed": true, "score": 1e999, "reason": "r"}',
    ],
)
def test_a_contradictory_answer_is_retried_and_then_unevaluated(
    model: LoopbackModel, text: str
) -> None:
    model.push(text, verdict(True, 0.9), text, text)
    judge = model_judge(model, concurrency=1)
    first, second = evaluate(POLITE, [trace(trace_id="1"), trace(trace_id="2")], judge)
    assert (first.passed, second.passed) == (True, None)
    assert "could not be read, twice" in str(second.assertion_results[0].reason)


@pytest.mark.parametrize(
    "text", ['{"claims": [{"claim": "a", "verdict": "supported", "verdict": "contradicted"}]}']
)
def test_a_duplicate_member_makes_an_answer_unreadable(text: str) -> None:
    with pytest.raises(UnreadableAnswer, match="each member once"):
        read_text(text, asked(GROUNDED))
