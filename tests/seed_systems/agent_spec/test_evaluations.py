"""Check 71: results of Agent Spec's evaluator, as verdicts and as EvalResults."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from agentool_otel.integrations.agent_spec.instrumentor.evaluations import evaluated
from agentool_otel.integrations.agent_spec.results import eval_results
from agentool_otel.model.documents import EvalResult
from agentool_otel.tracing.spans.settings import settings

SAMPLES = {
    "q1": {"reference": "Paris", "response": "Paris"},
    "q2": {"reference": "Rome", "response": "Milan, canary-content"},
}


def evaluation() -> Any:
    pytest.importorskip("pyagentspec", reason="pyagentspec is not installed")
    return import_module("pyagentspec.evaluation")


def evaluate() -> Any:
    """Evaluate the samples with three metrics; the third fails for one of them."""
    package = evaluation()
    exact = import_module("pyagentspec.evaluation.metrics.implementations").ExactBinaryMatchMetric
    metric: Any = import_module("pyagentspec.evaluation.metrics").Metric
    error = import_module("pyagentspec.evaluation.exceptions").EvaluationException

    class Length(metric):  # type: ignore[misc]
        async def compute_metric(self, response: str) -> tuple[Any, dict[str, Any]]:
            return len(response) / 100, {"measured": response}

    class Careful(metric):  # type: ignore[misc]
        async def compute_metric(self, response: str) -> tuple[Any, dict[str, Any]]:
            if "," in response:
                raise error("too difficult")
            return 7, {}

    metrics = [
        exact(name="exact"),
        Length("length", None, 0, "set_none"),
        Careful("careful", None, 1, "set_none"),
    ]
    return asyncio.run(package.Evaluator(metrics).evaluate(package.Dataset.from_dict(SAMPLES)))


def test_check_71_results_become_eval_results() -> None:
    one, two = eval_results(evaluate(), traces={"q1": "t1"}, eval_id="e")
    assert (one.case_id, one.trace_id, one.passed) == ("q1", "t1", True)
    assert [
        (assertion_result.assertion_type, assertion_result.passed)
        for assertion_result in two.assertion_results
    ] == [
        ("exact", False),
        ("length", None),
        ("careful", None),
    ]
    assert two.passed is False
    exact, length, careful = two.assertion_results
    assert (exact.score, length.score) == (0.0, 0.21)
    assert "too difficult" in str(careful.reason)
    assert one.to_dict()["assertion_results"][2]["value"] == 7
    assert EvalResult.from_dict(json.loads(json.dumps(two.to_dict()))) == two


def test_check_71_results_as_dicts_give_the_same() -> None:
    pytest.importorskip("numpy", reason="numpy is not installed")  # `to_dict` looks for its numbers
    results = evaluate()
    for one, eval_result in zip(
        eval_results(results), eval_results(results.to_dict()), strict=True
    ):
        assert (one.case_id, one.passed) == (eval_result.case_id, eval_result.passed)
        scores = [
            [assertion_result.score for assertion_result in each.assertion_results]
            for each in (one, eval_result)
        ]
        assert scores[0] == scores[1]


def test_check_71_their_json_gives_the_same() -> None:
    contents = {"q": {"exact": {"value": True, "details": {}}, "f1": {"value": 0.5, "details": {}}}}
    [result] = eval_results(json.loads(json.dumps(contents)))
    assert result.passed is True
    assert [assertion_result.score for assertion_result in result.assertion_results] == [1.0, 0.5]


class Unreadable:
    def __repr__(self) -> str:
        raise RuntimeError("hostile")


ODD: dict[tuple[Any, str], tuple[Any, dict[Any, Any]]] = {
    (1, "nan"): (float("nan"), {}),
    (1, "huge"): (10**400, {}),
    (1, "unreadable"): (Unreadable(), {"said": Unreadable()}),
    (1, "failed"): (None, {"__failed_attempts": [Unreadable()]}),
    (1, "several"): ({"text": "canary-content"}, {}),
    (1, "score"): (0.5, {}),
}
"""Values that no metric of pyagentspec returns, but anybody's may."""


def test_check_71_values_of_any_kind_become_assertions() -> None:
    [result] = eval_results(SimpleNamespace(results=ODD), traces={1: "t1"})
    assert (result.case_id, result.trace_id, result.passed) == ("1", "t1", None)
    assert [assertion_result.assertion_type for assertion_result in result.assertion_results] == [
        name for _, name in ODD
    ]
    assert EvalResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_check_71_samples_are_found_by_their_text_as_well() -> None:
    contents = {"1": {"exact": {"value": True, "details": {}}}}
    assert [eval_result.trace_id for eval_result in eval_results(contents, traces={1: "t1"})] == [
        "t1"
    ]


def test_check_71_numbers_of_numpy_are_numbers() -> None:
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    value: Any = {("q", "exact"): (numpy.bool_(True), {}), ("q", "f1"): (numpy.float32(0.5), {})}
    [result] = eval_results(SimpleNamespace(results=value))
    assert result.passed is True
    assert [assertion_result.score for assertion_result in result.assertion_results] == [1.0, 0.5]


@pytest.mark.parametrize("captured", [True, False])
def test_check_71_no_value_costs_the_others(captured: bool, attached: Any) -> None:
    if not captured:
        attached.without_content()

    async def evaluate(_: Any) -> Any:
        return SimpleNamespace(results=ODD)

    asyncio.run(evaluated(evaluate, SimpleNamespace(), (None,), {}))
    judged = {
        item.attributes.get("gen_ai.evaluation.name"): item.attributes
        for item in finished(attached)
    }
    assert set(judged) == {name for _, name in ODD}
    assert judged["score"]["gen_ai.evaluation.score.value"] == 0.5
    assert ("canary-content" in repr(judged)) == captured


def finished(spans: Any) -> list[Any]:
    return [item for item in spans.finished() if item.name != "evaluate"]


def test_check_71_an_evaluator_that_cannot_be_read_evaluates(
    attached: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Closed:
        @property
        def metrics(self) -> Any:
            raise RuntimeError("hostile")

    async def evaluate() -> str:
        return "done"

    monkeypatch.setattr(settings, "strict", False)
    assert asyncio.run(evaluated(evaluate, Closed(), (), {})) == "done"


def test_check_71_results_are_judgements_in_the_trace_of_the_harness(attached: Any) -> None:
    evaluate()
    [complete] = [item for item in attached.finished() if item.name == "evaluate"]
    judged = [item for item in attached.finished() if item is not complete]
    assert {item.parent.span_id for item in judged} == {complete.context.span_id}
    results = {
        (item.attributes["agentool.eval.case_id"], item.attributes["gen_ai.evaluation.name"]): (
            item.attributes.get("gen_ai.evaluation.score.value"),
            item.attributes.get("gen_ai.evaluation.score.label"),
        )
        for item in judged
    }
    assert results == {
        ("q1", "exact"): (1.0, "pass"),
        ("q2", "exact"): (0.0, "fail"),
        ("q1", "length"): (0.05, None),
        ("q2", "length"): (0.21, None),
        ("q1", "careful"): (7.0, None),
        ("q2", "careful"): (None, "not_evaluated"),
    }


def test_check_71_details_are_content(attached: Any) -> None:
    evaluate()
    assert "canary-content" in repr([dict(item.attributes) for item in attached.finished()])
    attached.forget()
    attached.without_content()
    evaluate()
    assert "canary-content" not in repr([dict(item.attributes) for item in attached.finished()])
