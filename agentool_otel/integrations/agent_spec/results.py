"""Results of Agent Spec's evaluator as EvalResults.

    results = await Evaluator([ExactBinaryMatchMetric(...)]).evaluate(dataset)
    for result in eval_results(results, traces={"q1": trace.trace_id}):
        ...

Source: pyagentspec evaluation/evaluator/evaluation_results.py at 26.3.1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from agentool_otel.content.encoding.exception_texts import str_of
from agentool_otel.content.policy import as_text, encode, jsonable
from agentool_otel.model.documents import AssertionResult, EvalResult
from agentool_otel.providers.fields import get, is_a, items, record

__all__ = ["eval_results"]


def eval_results(
    results: Any,
    *,
    traces: Mapping[Hashable, str] | None = None,
    eval_id: str | None = None,
    evaluated_at: str | None = None,
) -> list[EvalResult]:
    """Return an EvalResult for each sample, with an assertion for each metric.

    A truth value passes or fails. A number from 0 to 1 is a score without a threshold; any other
    value is kept as the member `value`. A metric that could not be computed is not evaluated, with
    the reason. A sample passes if all its truth values are true and every metric was computed; it
    is not known where there are none.

    Args:
        results: an `EvaluationResults`, or what its `to_dict` gives, perhaps by way of JSON.
        traces: by sample, or by its text, the id of the trace that was judged.
        eval_id: the evaluation they belong to.
        evaluated_at: when it was made, RFC 3339.
    """
    judged = {str(sample): trace_id for sample, trace_id in (traces or {}).items()}
    return [
        EvalResult(
            eval_id=UNSET if eval_id is None else eval_id,
            case_id=sample,
            trace_id=judged.get(sample, UNSET),
            passed=_all_true([value for value, _ in metrics.values()]),
            assertion_results=[_assertion(name, *metric) for name, metric in metrics.items()],
            evaluated_at=UNSET if evaluated_at is None else evaluated_at,
        )
        for sample, metrics in _by_sample(results).items()
    ]


_Found = tuple[Any, dict[str, Any]]
"""The value of a metric as plain JSON, and its details."""


def _by_sample(results: Any) -> dict[str, dict[str, _Found]]:
    """Return the values of each metric for each sample."""
    by_sample: dict[str, dict[str, _Found]] = {}
    for sample, metric, value, details in _rows(results):
        by_sample.setdefault(str(sample), {})[str(metric)] = jsonable(value), record(details) or {}
    return by_sample


def _rows(results: Any) -> Iterator[tuple[Any, Any, Any, Any]]:
    if not isinstance(results, Mapping):
        live = get(results, "results")
        for (sample, metric), (value, details) in live.items() if is_a(live, dict) else ():
            yield sample, metric, value, details
        return
    for sample, metrics in results.items():
        for metric, entry in (record(metrics) or {}).items():
            value = get(entry, "value")
            # `to_dict` writes what could not be computed as a text.
            yield sample, metric, None if value == "null" else value, get(entry, "details")


def _all_true(values: Sequence[Any]) -> bool | None:
    """Return whether all truth values are true; None if there are none, or some is missing."""
    verdicts = [value for value in values if isinstance(value, bool)]
    if not all(verdicts):
        return False
    return None if not verdicts or any(value is None for value in values) else True


def _assertion(name: str, value: Any, details: dict[str, Any]) -> AssertionResult:
    members: dict[str, Any] = {"assertion_type": name, "passed": None}
    detail_members = {
        key: detail for key, detail in details.items() if not str(key).startswith("__")
    }
    if isinstance(value, bool):
        members |= {"passed": value, "score": 1.0 if value else 0.0}
    elif isinstance(value, (int, float)) and 0 <= value <= 1:
        members["score"] = value
    elif value is None:
        attempts = items(details, "__failed_attempts")
        detail_members = (
            {"failed": [_reason(attempt) for attempt in attempts]} if attempts else detail_members
        )
    else:
        members["value"] = value
    if detail_members:
        members["reason"] = encode(detail_members)
    return AssertionResult.from_dict(members)


def _reason(attempt: Any) -> str:
    return str_of(attempt) if isinstance(attempt, BaseException) else as_text(attempt)
