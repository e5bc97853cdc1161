"""The types that need a judge: their questions, and verdicts from the answers."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest

from agentool_otel import evaluate
from agentool_otel.evaluation import (
    Answer,
    JudgeCheck,
    NoVerdict,
    Question,
    TraceView,
    Verdict,
    assertion_types,
)
from agentool_otel.evaluation.judges import prompts
from agentool_otel.model.documents import EvalCase
from tests.evaluation.judges import GROUNDED, POLITE, RUBRIC, asked, claims, judged
from tests.evaluation.runs import RUN, Object, changed, each_argument
from tests.evaluation.test_spans import RESULT, masked, rebuilt, spans_of

Claimed = tuple[str, str, list[str]]
MASKED = "token [masked]"
CUT = "LangSm… [truncated: 40000 characters]"
SUPPORTED: Claimed = ("LangSmith exists", "supported", ["step_002"])
INVENTED: Claimed = ("It costs 3 dollars", "not_supported", [])
WRONG: Claimed = ("Braintrust is dead", "contradicted", ["step_004"])


def results(output: Any) -> Object:
    """Return the members of the run with another output of its first tool."""
    steps = [dict(step) for step in RUN["steps"]]
    steps[1]["tool_result"] = {"call_id": "c1", "output": output}
    return {"steps": steps}


def never_asked(question: object) -> bool:
    raise AssertionError("there was nothing to ask")


NOT_ASKED: list[tuple[Object, Object, str]] = [
    (POLITE, {"output": ...}, "the output was not recorded"),
    (POLITE, {"output": MASKED}, "the output is redacted"),
    (POLITE, {"output": CUT}, "the output is truncated"),
    (POLITE, {"status": "in_progress"}, "the run has not ended"),
    (RUBRIC, {"output": ...}, "the output was not recorded"),
    (RUBRIC, {"output": MASKED}, "the output is redacted"),
    (RUBRIC, {"output": CUT}, "the output is truncated"),
    (
        RUBRIC,
        {"metadata": {"incomplete": True}},
        "the run is incomplete, parts of it were not found",
    ),
    (GROUNDED, {"output": ...}, "the output was not recorded"),
    (GROUNDED, {"output": MASKED}, "the output is redacted"),
    (GROUNDED, {"output": CUT}, "the output is truncated"),
    (
        GROUNDED,
        {"steps": [], "metrics": ...},
        "no evidence was recorded: no tool result, memory read or retrieved document",
    ),
    (GROUNDED, {"steps": []}, "no evidence was recorded: its metrics count 2 tool calls"),
    (GROUNDED, {"steps": RUN["steps"][:1]}, "no result of the calls at step_001"),
]


@pytest.mark.parametrize(("assertion", "members", "reason"), NOT_ASKED)
def test_nothing_is_asked_about_an_output_that_cannot_be_seen(
    assertion: Object, members: Object, reason: str
) -> None:
    value = judged(assertion, never_asked, **members)
    assert value.passed is None
    assert reason in str(value.reason)


CALLABLES: list[tuple[Any, bool | None, float | None, str]] = [
    (True, True, 1.0, "the judge's score is 1"),
    (False, False, 0.0, "the judge's score is 0"),
    (0.75, True, 0.75, "the judge's score is 0.75"),
    (0.25, False, 0.25, "the judge's score is 0.25"),
    (1, True, 1.0, "the judge's score is 1"),
    ({"passed": True, "score": 0.9, "reason": "so polite"}, True, 0.9, "so polite"),
    ({"score": 0.4}, False, 0.4, "the judge's score is 0.4"),
    (Answer(passed=False, reason="rude"), False, 0.0, "rude"),
    ({"passed": None, "score": 0.2, "reason": "?"}, None, None, "the judge could not decide: ?"),
    (Answer(), None, None, "the judge could not decide"),
    ("yes", None, None, "expected a bool, a score, an Answer or an object with its members, got"),
    (None, None, None, "expected a bool"),
    (7, None, None, "expected a score from 0 to 1, got 7.0"),
    (float("nan"), None, None, "expected a score from 0 to 1"),
    ({"passed": "true"}, None, None, "Expected `bool | null`, got `str`"),
    ({"verdict": "good"}, None, None, "expected a member 'passed', 'score' or 'claims'"),
]


@pytest.mark.parametrize(("answer", "passed", "score", "reason"), CALLABLES)
def test_a_callable_may_answer_in_any_of_these_forms(
    answer: Any, passed: bool | None, score: float | None, reason: str
) -> None:
    value = judged(POLITE, lambda question: answer)
    assert (value.passed, value.to_dict().get("score")) == (passed, score), value.reason
    assert reason in str(value.reason)


def test_a_callable_may_be_async() -> None:
    async def judge(question: object) -> bool:
        return True

    assert judged(POLITE, judge).passed is True
    assert judged(POLITE, functools.partial(judge)).passed is True
    assert judged(POLITE, lambda _: judge(None)).passed is True


def test_a_crash_or_refusal_of_the_judge_is_not_a_low_score() -> None:
    def crash(question: object) -> bool:
        raise ZeroDivisionError("division by zero")

    def decline(question: object) -> bool:
        raise NoVerdict("too hot today")

    assert judged(POLITE, crash).reason == "the judge failed: division by zero"
    assert judged(POLITE, decline).reason == "too hot today"


def test_a_callable_sees_the_values_themselves() -> None:
    question = asked(POLITE, output={"answer": 42})
    assert (question.input, question.output) == ("What is new?", {"answer": 42})
    assert question.assertion_type == "output_property"
    assert question.criterion == "The output has this property: is polite"


@pytest.mark.parametrize(("score", "passed"), [(0.5, False), (0.7, True)])
def test_the_passing_score_can_be_set(score: float, passed: bool) -> None:
    answer = {"passed": True, "score": score}
    for assertion in (POLITE, RUBRIC):
        assert judged({**assertion, "min_score": 0.6}, lambda _: answer).passed is passed


def test_steps_are_named_only_where_they_exist() -> None:
    good = judged(RUBRIC, lambda _: {"passed": True, "step_ids": ["step_003"]})
    assert good.extra["step_ids"] == ["step_003"]
    void = judged(RUBRIC, lambda _: {"passed": True, "step_ids": ["step_003", "step_9"]})
    assert void.passed is None
    assert 'void: it rests on steps that it was not shown: "step_9"' in str(void.reason)


def test_a_result_names_its_judge_if_there_was_one() -> None:
    value = judged(POLITE, lambda question: True)
    assert value.extra["judge_model"] == "<lambda>"
    assert "judge_model" not in judged(POLITE, never_asked, output=...).extra


# ------------------------------------------------------------------------------- what is shown


def lines(question: Any) -> list[Object]:
    """Return the lines inside the fence."""
    inner = question.text.partition("<<< ")[2].partition(">>> ")[0]
    return [json.loads(line) for line in inner.splitlines()[1:]]


def test_a_property_is_judged_by_input_and_output_alone() -> None:
    assert lines(asked(POLITE)) == [{"input": RUN["input"]}, {"output": RUN["output"]}]


def test_a_rubric_is_judged_by_the_whole_run() -> None:
    assert lines(asked(RUBRIC)) == [
        {"input": "What is new?"},
        {
            "step_id": "step_001",
            "type": "tool_call",
            "tool": "search_web",
            "arguments": {"query": "agent tools", "limit": 3},
        },
        {"step_id": "step_002", "type": "tool_result", "result": ["LangSmith"]},
        {
            "step_id": "step_003",
            "type": "tool_call",
            "tool": "read_page",
            "arguments": {"url": "https://a.example"},
        },
        {"step_id": "step_004", "type": "tool_result", "result": "Braintrust"},
        {
            "step_id": "step_005",
            "type": "handoff",
            "to_agent": "writer",
            "message": "write it",
        },
        {"output": RUN["output"]},
    ]


def test_the_judge_of_a_rubric_gets_a_list_of_hidden_parts() -> None:
    run = each_argument(MASKED)
    question = asked(RUBRIC, steps=run["steps"])
    assert "What nobody can see of the run: tool_call.arguments of step_001" in question.text
    assert "is redacted: masked as a credential" in question.text


def test_evidence_is_tool_results_and_memory_reads() -> None:
    steps = [
        {"step_id": "s0", "type": "reasoning", "content": "LangSmith is best"},
        *RUN["steps"][:2],
        {"step_id": "s3", "type": "memory_read", "query": "q", "results": [{"content": "a fact"}]},
    ]
    question = asked(GROUNDED, steps=steps, metrics=...)
    assert lines(question)[1:-1] == [
        {
            "step_id": "step_002",
            "type": "tool_result",
            "tool": "search_web",
            "result": ["LangSmith"],
        },
        {"step_id": "s3", "type": "memory_read", "results": [{"content": "a fact"}]},
    ]
    assert question.step_ids == ("step_002", "s3")


# ------------------------------------------------------------------------------- claims


GROUNDING: list[tuple[list[Any], Object, bool | None, float | None, str]] = [
    ([SUPPORTED], {}, True, 1.0, "1 of 1 claim is supported"),
    ([], {}, True, 1.0, "the output makes no factual claim"),
    ([SUPPORTED] * 4 + [INVENTED], {}, True, 0.8, "4 of 5 claims are supported"),
    ([SUPPORTED, INVENTED], {}, False, 0.5, '1 of 2 claims is not supported: "It costs 3 dollars"'),
    ([SUPPORTED] * 9 + [WRONG], {}, False, 0.9, '"Braintrust is dead" is contradicted by step_004'),
    # What could support a claim cannot be seen.
    ([SUPPORTED], results(MASKED), True, 1.0, "1 of 1 claim is supported"),
    ([INVENTED], results(MASKED), None, None, "tool_result.output of step_002 is redacted"),
    ([INVENTED], results(CUT), None, None, "tool_result.output of step_002 is truncated"),
    ([INVENTED], {"steps": RUN["steps"][:3]}, None, None, "no result of the calls at step_003"),
    ([WRONG, INVENTED], results(MASKED), False, 0.0, "is contradicted by step_004"),
    # A word without its step is none.
    (
        [("x", "supported", [])],
        {},
        None,
        None,
        'claim 1 is called supported and names no step: "x"',
    ),
    ([("x", "supported", ["step_001"])], {}, None, None, 'was not shown: "step_001"'),
    ([("x", "likely", [])], {}, None, None, "Invalid enum value 'likely'"),
]


@pytest.mark.parametrize(("held", "members", "passed", "score", "reason"), GROUNDING)
def test_claims_are_checked_against_the_evidence_one_by_one(
    held: list[Any], members: Object, passed: bool | None, score: float | None, reason: str
) -> None:
    result = judged(GROUNDED, lambda _: claims(*held), **members)
    assert (result.passed, result.to_dict().get("score")) == (passed, score), result.reason
    assert reason in str(result.reason)


def test_the_claims_and_their_steps_are_in_the_result() -> None:
    result = judged(GROUNDED, lambda _: claims(SUPPORTED, WRONG))
    assert result.extra["step_ids"] == ["step_002", "step_004"]
    assert result.extra["claims"][1] == {
        "claim": "Braintrust is dead",
        "verdict": "contradicted",
        "step_ids": ["step_004"],
    }


def test_the_required_share_of_claims_can_be_set() -> None:
    answer = claims(*[SUPPORTED] * 4, INVENTED)
    assert judged({**GROUNDED, "min_score": 1}, lambda _: answer).passed is False


@pytest.mark.parametrize("answer", [False, 0.3, {"passed": False}])
def test_a_no_without_claims_does_not_count_if_evidence_is_hidden(answer: Any) -> None:
    assert judged(GROUNDED, lambda _: answer).passed is False
    assert judged(GROUNDED, lambda _: answer, **results(MASKED)).passed is None


def test_tool_error_is_shown_in_full() -> None:
    steps = changed()["steps"][:2]
    steps[1]["tool_result"] = {"call_id": "c1", "error": "no such page"}
    question = asked(GROUNDED, steps=steps, metrics=...)
    assert lines(question)[1]["error"] == "no such page"
    assert question.hidden is None


# ------------------------------------------------------------------------------- from spans


def test_a_claim_is_not_refuted_by_evidence_that_a_collector_masked() -> None:
    answer = claims(INVENTED)
    (result,) = evaluate(GROUNDED, [masked(RUN, RESULT, "****")], lambda _: answer)
    (value,) = result.assertion_results
    assert value.passed is None
    assert "masked by a Collector" in str(value.reason)


def test_documents_that_were_retrieved_are_evidence() -> None:
    read = {"step_id": "s1", "type": "memory_read", "query": "q", "results": [{"content": "so"}]}
    run = changed(steps=[read], metrics=...)
    questions: list[Any] = []
    (result,) = evaluate(GROUNDED, [rebuilt(spans_of(run))], questions.append)
    assert result.passed is None
    assert lines(questions[0])[1]["results"] == [{"content": "so"}]


# --------------------------------------------------------------------- a type of one's own


class Concise(JudgeCheck, frozen=True, kw_only=True):
    words: int

    def question(self, trace: TraceView, case: EvalCase, max_chars: int) -> Question | Verdict:
        return prompts.question(
            "concise",
            f"The output could not do with less than {self.words} words",
            prompts.VERDICT,
            input=None,
            output=trace.trace.output,
            max_chars=max_chars,
        )


def test_a_custom_assertion_type_may_ask_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assertion_types, "assertion_type", lambda name: Concise)
    assertion = {"type": "concise", "words": 3}
    assert judged(assertion, lambda question: "3 words" in question.criterion).passed is True
    assert judged(assertion, None).reason == "no judge"
