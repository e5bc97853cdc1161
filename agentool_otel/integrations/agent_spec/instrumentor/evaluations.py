"""Evaluations by `pyagentspec.evaluation`: a parent span for each, with the verdicts below it.

Each value of a metric is a judgement: a truth value is 1 or 0 and passes or fails, a finite number
is the score, a text the label. A metric that could not be computed has neither, and the label
`not_evaluated`. The sample is the case. Details, and values of other kinds, are content.

Source: pyagentspec evaluation/evaluator, evaluation/metrics/metrics.py at 26.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any

from agentool_otel.content.policy import as_text, encode, jsonable
from agentool_otel.content.policy import label as short
from agentool_otel.model.operations import EvaluationResult, Unclassified
from agentool_otel.providers.fields import get, is_a, items, record, string
from agentool_otel.semconv import agentool
from agentool_otel.tracing.spans.evaluation_events import EvaluationTarget, emit_evaluation
from agentool_otel.tracing.spans.exceptions import str_of
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step

__all__ = ["evaluated"]

_SCOPE = "agentool_otel.instrumentation.agent_spec"


async def evaluated(
    wrapped: Callable[..., Any], evaluator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`Evaluator.evaluate`."""
    names: list[str] = []
    with guarded("reading the metrics of an evaluation"):
        names = [name for metric in items(evaluator, "metrics") if (name := string(metric, "name"))]
    step = start_step(
        Unclassified(extra={"agentspec.evaluation.metrics": names}),
        description="an evaluation of Agent Spec",
        scope=_SCOPE,
    )
    if step.live is not None:
        step.live.name("evaluate")
    with step:
        results = await wrapped(*args, **kwargs)
        with guarded("recording the results of an evaluation"):
            _record(step, get(results, "results"))
    return results


def _record(step: StepSpan, results: Any) -> None:
    if step.live is None or not step.recording or not is_a(results, dict):
        return
    judged = EvaluationTarget(step.live.span)
    for (sample, metric), (value, details) in dict.items(results):
        with guarded("recording a result of an evaluation"):
            emit_evaluation(judged, _judgement(sample, metric, value, record(details) or {}))


def _judgement(
    sample: Hashable, metric: Any, value: Any, details: dict[str, Any]
) -> EvaluationResult:
    detail_members = {key: detail for key, detail in details.items() if not key.startswith("__")}
    attributes: dict[str, Any] = {agentool.EVAL_CASE_ID: short(sample)}
    text = None
    plain = jsonable(value)  # numpy's numbers among them
    score = _score(plain)
    if plain is None:
        text = "not_evaluated"
        detail_members = {
            "failed": [
                _reason(failed_attempt) for failed_attempt in items(details, "__failed_attempts")
            ]
        }
    elif isinstance(plain, bool):
        text = "pass" if plain else "fail"
        attributes[agentool.EVAL_PASSED] = plain
    elif isinstance(plain, str):
        text = short(plain)
    elif score is None:
        detail_members = {"value": plain, **detail_members}
    return EvaluationResult(
        name=short(metric),
        score=score,
        label=text,
        explanation=encode(detail_members)
        if detail_members and detail_members != {"failed": []}
        else None,
        extra=attributes,
    )


def _score(value: Any) -> float | None:
    if not isinstance(value, (bool, int, float)):
        return None
    with suppress(OverflowError):
        return float(value)
    return None


def _reason(attempt: Any) -> str:
    return str_of(attempt) if is_a(attempt, BaseException) else as_text(attempt)
