"""Results of Agent Spec's evaluator as EvalResults.

    results = await Evaluator([ExactBinaryMatchMetric(...)]).evaluate(dataset)
    for result in eval_results(results, traces={"q1": trace.trace_id}):
        ...

Source: pyagentspec evaluation/evaluator/evaluation_results.py at 26.3.1.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import isfinite
from typing import Any

from msgspec import UNSET

from agentool_otel.content.policy import encode, jsonable
from agentool_otel.model.documents import AssertionResult, EvalResult
from agentool_otel.providers.fields import get, items, record

__all__ = ["eval_results"]


def eval_results(
    results: Any,
    *,
    traces: Mapping[Hashable, str] | None = None,
    eval_id: str | None = None,
    evaluated_at: str | None = None,
) -> list[EvalResult]:
    """Return an EvalResult for each sample, with an assertion for each metric.

    A truth value passes or fails. A number from 0 to 1 is a score, of which nobody says whether it
    is enough; any other value is kept as the member `value`. A metric that could not be computed is
    not evaluated, and says why. A sample passes if all its truth values are true and every metric
    was computed; it is not known where there are none.

    Args:
        results: an `EvaluationResults`, or what its `to_dict` gives, perhaps by way of JSON.
        traces: by sample, the id of the trace that was judged.
        eval_id: the evaluation they belong to.
        evaluated_at: when it was made, RFC 3339.
    """
    return [
        _result(sample, metrics, traces or {}, eval_id, evaluated_at)
        for sample, metrics in _by_sample(results).items()
    ]


def _by_sample(results: Any) -> Mapping[Hashable, Any]:
    """Return `{sample: {metric: {value, details}}}`, which `to_dict` gives in words alone."""
    held: Mapping[Any, Any] | None = None
    if not isinstance(results, Mapping):
        held = record(get(results, "results"))
    if held is None:
        return results if isinstance(results, Mapping) else {}
    found: dict[Hashable, dict[str, Any]] = {}
    for (sample, metric), (value, details) in held.items():
        found.setdefault(sample, {})[str(metric)] = {"value": value, "details": details}
    return found


def _result(
    sample: Hashable,
    metrics: Mapping[str, Any],
    traces: Mapping[Hashable, str],
    eval_id: str | None,
    evaluated_at: str | None,
) -> EvalResult:
    assertions = [_assertion(name, found) for name, found in metrics.items()]
    return EvalResult(
        eval_id=UNSET if eval_id is None else eval_id,
        case_id=str(sample),
        trace_id=traces.get(sample, UNSET),
        passed=_passed([_value(found) for found in metrics.values()]),
        assertion_results=assertions,
        evaluated_at=UNSET if evaluated_at is None else evaluated_at,
    )


def _value(found: Any) -> Any:
    """Return the value of a metric; `to_dict` writes none as the text `null`."""
    value = get(found, "value")
    return None if value == "null" else value


def _passed(values: Sequence[Any]) -> bool | None:
    """Return whether all truth values are true; None where there are none, or some is missing."""
    verdicts = [it for it in values if isinstance(it, bool)]
    if not all(verdicts):
        return False
    return None if not verdicts or any(it is None for it in values) else True


def _assertion(name: str, found: Any) -> AssertionResult:
    value, details = _value(found), record(get(found, "details")) or {}
    members: dict[str, Any] = {"assertion_type": name, "passed": None}
    said = {key: it for key, it in details.items() if not str(key).startswith("__")}
    if isinstance(value, bool):
        members |= {"passed": value, "score": 1.0 if value else 0.0}
    elif isinstance(value, (int, float)) and isfinite(value) and 0 <= value <= 1:
        members["score"] = value
    elif value is None:
        attempts = items(details, "__failed_attempts")
        said = {"failed": [str(it) for it in attempts]} if attempts else said
    else:
        members["value"] = jsonable(value)
    if said:
        members["reason"] = encode(jsonable(said))
    return AssertionResult.from_dict(members)
