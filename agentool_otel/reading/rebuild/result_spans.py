"""EvalResults as evaluation results of spans, and back.

A result becomes one judgement for all of it and one for each of its assertions, each the attributes
of a span and of the conventions' event alike. What has no attribute, or would not be read back
unchanged, is stored as a residue, as in `replay`; so results with their content come back exactly.
Without content, the texts of a judge and unknown members are left out.

Spec: agentool interoperability spec v0.1; GenAI conventions, event `gen_ai.evaluation.result`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from agentool_otel.dialects import Reader, classify
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_codec import canonical, dumps
from agentool_otel.ground.version import SCOPE
from agentool_otel.model.documents import UNSET, AssertionResult, EvalResult
from agentool_otel.model.operations import EvaluationResult
from agentool_otel.model.spans import Attributes, SpanRecord, is_fragment
from agentool_otel.model.times import from_ns, in_calendar, to_ns
from agentool_otel.reading.rebuild import residue
from agentool_otel.reading.rebuild.evaluation_spans import Judgement
from agentool_otel.reading.rebuild.values import json_or
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Verdicts", "attributes_of", "verdicts_in"]

_COMPOSITE = "composite_score"
"""The name of the judgement for a whole result."""
_LONGEST = 2048
"""The most characters of an explanation outside the residue."""
_LABELS = {True: "pass", False: "fail", None: "not_evaluated"}
_PASSED = {"pass": True, "passed": True, "fail": False, "failed": False}
_MEMBERS = {
    "eval_id": agentool.EVAL_ID,
    "case_id": agentool.EVAL_CASE_ID,
    "trace_id": agentool.EVAL_TRACE_ID,
    "judge_model": agentool.EVAL_JUDGE_MODEL,
    "evaluated_at": agentool.EVAL_EVALUATED_AT,
}
"""Members of a result that each of its judgements has."""
_COUNTS = {"evaluated": agentool.EVAL_EVALUATED, "total": agentool.EVAL_TOTAL}
_CONTENT = frozenset({"reason", "notes"})


class Verdicts(NamedTuple):
    """The verdicts on a trace."""

    results: list[EvalResult]
    """In order of time."""
    scores: list[AssertionResult]
    """Judgements that are no part of an EvalResult, in order of time."""


# ------------------------------------------------------------------------------------- writing


def attributes_of(result: EvalResult, about: str, content: bool) -> list[Attributes]:
    """Return the attributes of a result: those of the whole first, then each assertion's.

    Args:
        result: the result.
        about: any text that identifies the evaluated run; the ids of a result are derived from it
            and from the result without its content.
        content: whether to include reasons, notes and unknown members.
    """
    bare = _without_content(result.to_dict())
    wanted = result.to_dict() if content else bare
    seed = f"{about} {canonical(bare)}".encode("utf-8", "surrogatepass")
    shared: Attributes = {agentool.EVAL_RESULT_ID: blake2b(seed, digest_size=8).hexdigest()}
    for member, attribute in _MEMBERS.items():
        if (text := _text(wanted.get(member))) is not None:
            shared[attribute] = text
    assertion_results: list[dict[str, Any]] = wanted["assertion_results"]
    outer = {key: value for key, value in wanted.items() if key != "assertion_results"}
    attributes = _of_result(outer, shared)
    parts = [
        _of_assertion(item, {**shared, agentool.EVAL_INDEX: n})
        for n, item in enumerate(assertion_results)
    ]
    if content:
        _add_residue(attributes, _result_in(_read(attributes)), outer)
        for part, item in zip(parts, assertion_results, strict=True):
            _add_residue(part, _assertion_in(_read(part)), item)
    return [attributes, *parts]


def _without_content(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without the texts of a judge, and without unknown members."""
    members = {*EvalResult.__struct_fields__, *_COUNTS} - _CONTENT
    of_one = {*AssertionResult.__struct_fields__, "step_ids"} - _CONTENT
    bare = {key: value for key, value in result.items() if key in members}
    bare["assertion_results"] = [
        {key: value for key, value in assertion_result.items() if key in of_one}
        for assertion_result in result["assertion_results"]
    ]
    return bare


def _of_result(result: dict[str, Any], shared: Attributes) -> Attributes:
    extra = dict(shared)
    for member, attribute in _COUNTS.items():
        value = result.get(member)
        if type(value) is int and 0 <= value < 2**63:
            extra[attribute] = value
    if (notes := _text(result.get("notes"))) is not None:
        extra[agentool.EVAL_NOTES] = notes
    return _judgement(_COMPOSITE, result.get("composite_score"), result.get("passed"), extra)


def _of_assertion(assertion: dict[str, Any], shared: Attributes) -> Attributes:
    extra = dict(shared)
    steps = assertion.get("step_ids")
    if isinstance(steps, list) and steps and all(_text(step) is not None for step in steps):
        extra[agentool.EVAL_STEP_IDS] = steps
    name = _text(assertion.get("assertion_type")) or "unknown"
    score, passed = assertion.get("score"), assertion.get("passed")
    return _judgement(name, score, passed, extra, _text(assertion.get("reason")))


def _judgement(
    name: str, score: Any, passed: bool | None, extra: Attributes, explanation: str | None = None
) -> Attributes:
    if passed is not None:
        extra[agentool.EVAL_PASSED] = passed
    if explanation is not None and len(explanation) > _LONGEST:
        explanation = f"{explanation[: _LONGEST - 1]}…"
    operation = EvaluationResult(
        name=name,
        score=_double(score),
        label=_LABELS[passed],
        explanation=explanation,
        extra=extra,
    )
    return GenAI().write(operation).attributes


def _add_residue(attributes: Attributes, natural: dict[str, Any], wanted: dict[str, Any]) -> None:
    difference = residue.difference(natural, wanted)
    if difference is not None:
        attributes[agentool.EVAL_EXTRA] = dumps(difference)


def _text(value: Any) -> str | None:
    """Return text that an attribute can carry as it is."""
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


def _double(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


# ------------------------------------------------------------------------------------- reading


class _Reading(NamedTuple):
    """A judgement, with attributes in the names of the baseline."""

    attributes: Attributes
    time_ns: int
    about: str | None


def verdicts_in(judgements: Iterable[Judgement]) -> Verdicts:
    """Return the verdicts in judgements. A span and an event of the same judgement count as one, as
    do repetitions; neither order nor place matters."""
    of_results: dict[str, list[_Reading]] = {}
    alone: list[_Reading] = []
    for reading in _each_once(judgements):
        result_id = reading.attributes.get(agentool.EVAL_RESULT_ID)
        (of_results.setdefault(result_id, []) if isinstance(result_id, str) else alone).append(
            reading
        )
    results: list[EvalResult] = []
    for parts in of_results.values():
        if (result := _joined(parts)) is None:
            alone += parts
        else:
            results.append(result)
    return Verdicts(results, [_score(reading) for reading in alone])


def _each_once(judgements: Iterable[Judgement]) -> list[_Reading]:
    """Return the judgements in order of time, without repetitions."""
    readings: dict[str, _Reading] = {}
    for judgement in sorted(
        judgements, key=lambda judgement: is_fragment(judgement.record)
    ):  # spans first
        attributes, time_ns = _read_judgement(judgement.record)
        key = _key(judgement, attributes, time_ns)
        if (before := readings.get(key)) is not None:
            attributes = {**attributes, **before.attributes}
            time_ns = time_ns or before.time_ns
        readings[key] = _Reading(attributes, time_ns, judgement.about)
    return [
        item for _, item in sorted(readings.items(), key=lambda item: (item[1].time_ns, item[0]))
    ]


def _read_judgement(record: SpanRecord) -> tuple[Attributes, int]:
    """Return the attributes of a judgement and its time. One of our own spans starts where the run
    ended, and has the time as an attribute."""
    if is_fragment(record):
        event = record.events[0]
        attributes, time_ns = _read(event.attributes), event.time_ns
    else:
        attributes, time_ns = _read(record.attributes, record), record.start_ns
    at = attributes.get(agentool.EVAL_EVALUATED_AT)
    return attributes, (to_ns(at) if isinstance(at, str) else None) or time_ns or 0


def _read(attributes: Attributes, record: SpanRecord | None = None) -> Attributes:
    """Return attributes as the conventions have them; of a span, whatever its vocabulary."""
    if record is not None:
        _, operation = classify(record)
    else:
        operation = GenAI().read(Reader(SpanRecord("", "", attributes=attributes, scope=SCOPE)))
    return GenAI().write(operation).attributes


def _key(judgement: Judgement, attributes: Attributes, time_ns: int) -> str:
    if not is_fragment(judgement.record):
        return judgement.record.span_id
    span_id = attributes.get(agentool.EVAL_SPAN_ID)
    return span_id if isinstance(span_id, str) else repr((judgement.about, time_ns, attributes))


def _joined(parts: list[_Reading]) -> EvalResult | None:
    """Return the result that evaluation spans form; None if they form none."""
    of_result = [part.attributes for part in parts if agentool.EVAL_INDEX not in part.attributes]
    of_assertions = [part.attributes for part in parts if agentool.EVAL_INDEX in part.attributes]
    of_assertions.sort(key=lambda item: _number(item[agentool.EVAL_INDEX]))
    result = _result_in(of_result[0] if of_result else of_assertions[0])
    if of_result:
        result = residue.apply(result, json_or(of_result[0].get(agentool.EVAL_EXTRA), None))
    result["assertion_results"] = [
        residue.apply(_assertion_in(item), json_or(item.get(agentool.EVAL_EXTRA), None))
        for item in of_assertions
    ]
    try:
        return EvalResult.from_dict(result)
    except DecodeError:
        return None


def _number(value: Any) -> float:
    return value if isinstance(value, (int, float)) else 0


def _result_in(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result as its judgement reads without a residue."""
    result = {
        key: attributes[name]
        for key, name in _MEMBERS.items()
        if isinstance(attributes.get(name), str)
    }
    result["passed"] = None
    if agentool.EVAL_INDEX not in attributes:
        result["passed"] = _passed(attributes)
        result |= {key: attributes[name] for key, name in _COUNTS.items() if name in attributes}
        if gen_ai.EVALUATION_SCORE_VALUE in attributes:
            result["composite_score"] = attributes[gen_ai.EVALUATION_SCORE_VALUE]
        if agentool.EVAL_NOTES in attributes:
            result["notes"] = attributes[agentool.EVAL_NOTES]
    return result


def _assertion_in(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return an assertion's result as its judgement reads without a residue."""
    assertion = {
        "assertion_type": attributes.get(gen_ai.EVALUATION_NAME),
        "passed": _passed(attributes),
    }
    for member, name in (
        ("score", gen_ai.EVALUATION_SCORE_VALUE),
        ("reason", gen_ai.EVALUATION_EXPLANATION),
    ):
        if name in attributes:
            assertion[member] = attributes[name]
    if isinstance(steps := attributes.get(agentool.EVAL_STEP_IDS), (list, tuple)):
        assertion["step_ids"] = list(steps)
    return assertion


def _passed(attributes: Mapping[str, Any]) -> bool | None:
    passed = attributes.get(agentool.EVAL_PASSED)
    if isinstance(passed, bool):
        return passed
    return _PASSED.get(str(attributes.get(gen_ai.EVALUATION_SCORE_LABEL)).lower())


def _score(judgement: _Reading) -> AssertionResult:
    """Return a judgement that is not part of a result. The type is its name; `label`, `span_id` and
    `evaluated_at` are extra members."""
    attributes = judgement.attributes
    score = attributes.get(gen_ai.EVALUATION_SCORE_VALUE)
    reason = attributes.get(gen_ai.EVALUATION_EXPLANATION)
    at = attributes.get(agentool.EVAL_EVALUATED_AT) or (
        judgement.time_ns and in_calendar(judgement.time_ns) and from_ns(judgement.time_ns)
    )
    members = {
        "label": attributes.get(gen_ai.EVALUATION_SCORE_LABEL),
        "span_id": judgement.about,
        "evaluated_at": at,
    }
    return AssertionResult(
        assertion_type=str(attributes.get(gen_ai.EVALUATION_NAME, "unknown")),
        passed=_passed(attributes),
        score=score if isinstance(score, (int, float)) else UNSET,
        reason=reason if isinstance(reason, str) else UNSET,
        extra={key: value for key, value in members.items() if value},
    )
