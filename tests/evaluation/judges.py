"""Runs for a judge, and judges: of one's own, and scripted models on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from agentool_otel import EvalResult, ReasoningTrace, evaluate
from agentool_otel.evaluation import OpenAIJudge
from agentool_otel.evaluation.judges.questions import Judge
from agentool_otel.model.documents import AssertionResult
from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from tests.evaluation.runs import Object, changed

POLITE = {"type": "output_property", "property": "is polite"}
RUBRIC = {"type": "rubric", "rubric": "reads a page before it answers"}
GROUNDED = {"type": "no_hallucination"}


def trace(**members: Any) -> ReasoningTrace:
    return ReasoningTrace.from_dict(changed(**members))


def judged(assertion: Object, judge: Judge | None, **members: Any) -> AssertionResult:
    """Return the result of one assertion on the run, with members replaced."""
    (result,) = evaluate(assertion, [trace(**members)], judge)
    (value,) = result.assertion_results
    return value


def asked(assertion: Object, **members: Any) -> Any:
    """Return the question about the run."""
    questions: list[Any] = []

    def judge(question: Any) -> bool:
        questions.append(question)
        return True

    judged(assertion, judge, **members)
    (result,) = questions
    return result


def model_judge(model: LoopbackModel, **options: Any) -> OpenAIJudge:
    usual: Object = {"cache": None, "timeout_s": 20.0}
    return OpenAIJudge("judge-1", model.base_url, **(usual | options))


def verdict(passed: bool | None = True, score: float | None = 1.0, **members: Any) -> str:
    obj: Object = {"reason": "because", "step_ids": [], "score": score, "passed": passed}
    return json.dumps(obj | members)


def claims(*contents: tuple[str, str, list[str]], reason: str = "") -> Object:
    names = ("claim", "verdict", "step_ids")
    return {"claims": [dict(zip(names, item, strict=True)) for item in contents], "reason": reason}


def answering(model: LoopbackModel, answer: Callable[[str], str | Turn]) -> None:
    """Let a model answer each question by its text, any number of times."""
    model.rule(lambda request: answer(request.last_user))


def words(results: Iterable[EvalResult]) -> list[Any]:
    """Return results without their times."""
    return [{**result.to_dict(), "evaluated_at": None} for result in results]
