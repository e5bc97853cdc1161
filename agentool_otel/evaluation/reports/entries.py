"""A result as the HTML page shows it: bounded, sanitised, with anchors for its steps.

Ids of elements are made of numbers alone, so that no text of a result is an attribute.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from agentool_otel.evaluation.reports.page_texts import mentioned_ids
from agentool_otel.evaluation.reports.result_texts import (
    count_text,
    failing_ids_of,
    line,
    plain,
    reason_of,
    score_of_result,
    step_ids_of,
)
from agentool_otel.evaluation.reports.runs import Run, about_output, run_of
from agentool_otel.evaluation.reports.slices import Subject
from agentool_otel.model.documents import AssertionResult, EvalResult

__all__ = ["NAME", "ORDER", "Difference", "Entry", "Outcome", "entry_of"]

NAME = 300
"""Characters of a name on the page."""
ORDER = (False, None, True)
"""Outcomes in the order of the page."""
_IDS = 20
_DIFFERENCES = 5
_FIRST_REASON = 200


class Difference(NamedTuple):
    """An expected value and the actual one."""

    name: str
    expected: str
    actual: str
    step_id: str


class Outcome(NamedTuple):
    """The result of an assertion."""

    passed: bool | None
    kind: str
    reason: str
    steps_word: str
    steps: list[str]
    """The steps at which it fails, where these are not all that its verdict rests on; else the
    steps that its reason does not mention."""
    more_steps: int
    differences: list[Difference]
    more_differences: int
    about_output: bool


class Entry(NamedTuple):
    """A result."""

    anchor: str
    passed: bool | None
    case_id: str
    trace_id: str
    agent: str
    score: str
    evaluated: str
    first_reason: str
    outcomes: list[Outcome]
    """Outcomes that are shown. Where there are too many, passed results have none."""
    run: Run | None
    """None for a case without a run, and where there are more than fit."""
    links: dict[str, str]
    """The ids of the steps that are shown, with the ids of their elements."""


def entry_of(result: EvalResult, subject: Subject, number: int, detailed: bool) -> Entry:
    """Return a result as the page shows it.

    Args:
        result: the result.
        subject: what it is about.
        number: its number on the page.
        detailed: whether its run is shown, and of a result that passed its assertions.
    """
    assertion_results = sorted(
        result.assertion_results, key=lambda assertion_result: ORDER.index(assertion_result.passed)
    )
    run = run_of(result, subject) if detailed else None
    anchor = f"r{number}"
    evaluated = sum(1 for item in assertion_results if item.passed is not None)
    return Entry(
        anchor,
        result.passed,
        line(result.case_id, NAME),
        line(result.trace_id, NAME) if isinstance(result.trace_id, str) else "",
        line(subject.names("agent")[0], NAME),
        score_of_result(result),
        f"{evaluated:,} of {count_text(len(assertion_results), 'assertion')} evaluated",
        _first_reason(assertion_results),
        [_outcome(item) for item in assertion_results]
        if detailed or result.passed is not True
        else [],
        run,
        {step.id: f"{anchor}-{step.place}" for step in run.steps if not step.more} if run else {},
    )


def _first_reason(assertion_results: list[AssertionResult]) -> str:
    if not assertion_results:
        return "no assertions"
    return line(
        f"{assertion_results[0].assertion_type}: {reason_of(assertion_results[0])}", _FIRST_REASON
    )


def _outcome(assertion_result: AssertionResult) -> Outcome:
    reason = plain(reason_of(assertion_result))
    all_ids = [plain(one_id) for one_id in step_ids_of(assertion_result)]
    failing = [plain(one_id) for one_id in failing_ids_of(assertion_result)]
    word, steps = "fails at", failing
    if failing in ([], all_ids):
        in_reason = {*mentioned_ids(reason, all_ids[: 10 * _IDS])}
        word, steps = "steps", [step_id for step_id in all_ids if step_id not in in_reason]
    differences = _differences(assertion_result)
    return Outcome(
        assertion_result.passed,
        line(assertion_result.assertion_type, NAME),
        reason,
        word,
        steps[:_IDS],
        max(len(steps) - _IDS, 0),
        differences[:_DIFFERENCES],
        max(len(differences) - _DIFFERENCES, 0),
        about_output(assertion_result),
    )


def _differences(assertion_result: AssertionResult) -> list[Difference]:
    values: Any = assertion_result.extra.get("differences")
    return [
        Difference(*(plain(value.get(name, "")) for name in Difference._fields))
        for value in (values if isinstance(values, list) else [])
        if isinstance(value, dict)
        and all(isinstance(value.get(n, ""), str) for n in Difference._fields)
    ]
