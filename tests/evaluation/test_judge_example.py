"""The example of the spec: its case on its trace gives its result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentool_otel import EvalResult, ReasoningTrace, evaluate
from agentool_otel.evaluation import OpenAIJudge
from agentool_otel.testing.loopback_model import LoopbackModel
from tests.evaluation.judges import answering, claims, verdict

SPEC = Path(__file__).parent.parent / "fixtures" / "spec"
CASE = json.loads((SPEC / "eval-case.json").read_text())
TRACE = json.loads((SPEC / "reasoning-trace.json").read_text())
EXPECTED = json.loads((SPEC / "eval-result.json").read_text())

SCRIPT = {
    "mentions at least 2 specific tool names": verdict(
        True, 0.9, reason="Named LangSmith, Weights & Biases, and Braintrust"
    ),
    "response length is between 100 and 500 words": verdict(
        True, 1.0, reason="Response is 287 words"
    ),
    "supported by the evidence": json.dumps(
        claims(
            *[(f"claim {n}", "supported", ["step_003"]) for n in range(4)],
            ("claim 4", "not_supported", []),
            reason="All claims supported by search results",
        )
    ),
}


def scripted(text: str) -> str:
    (answer,) = (answer for words, answer in SCRIPT.items() if words in text)
    return answer


def known_to_the_spec(results: dict[str, Any]) -> dict[str, Any]:
    """Return a result without our further members and its time."""
    selection = {name: results[name] for name in EXPECTED}
    members = EXPECTED["assertion_results"][0]
    selection["assertion_results"] = [
        {name: assertion_result[name] for name in members}
        for assertion_result in results["assertion_results"]
    ]
    return {**selection, "evaluated_at": EXPECTED["evaluated_at"]}


def test_the_example_of_the_spec_gives_its_result(model: LoopbackModel) -> None:
    answering(model, scripted)
    judge = OpenAIJudge("gpt-4o-mini", model.base_url, cache=None)
    run = ReasoningTrace.from_dict({**TRACE, "metadata": {"case_id": CASE["case_id"]}})
    (result,) = evaluate(CASE, [run], judge)
    value = result.to_dict()
    assert known_to_the_spec(value) == EXPECTED
    assert (value["evaluated"], value["total"]) == (4, 4)
    assert EvalResult.from_json(result.to_json()) == result
