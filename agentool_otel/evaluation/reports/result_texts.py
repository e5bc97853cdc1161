"""The texts of a result, sanitised before a format escapes them, and shared by all reports."""

from __future__ import annotations

from typing import Any

from agentool_otel.evaluation.reports.slices import Row
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.untrusted_text import clean
from agentool_otel.model.documents import AssertionResult, EvalResult

__all__ = [
    "count_text",
    "failing_ids_of",
    "figures",
    "line",
    "plain",
    "rate_of",
    "reason_of",
    "score_of",
    "score_of_result",
    "step_ids_of",
    "title_of",
]

_NONCHARACTERS = re.compile("[\ufffe\uffff]")
"""Characters that XML 1.0 cannot represent, besides invisible ones."""
_SPACE = re.compile(r"\s+")
_LONGEST = 2000


def plain(text: str, most: int = _LONGEST) -> str:
    """Return text that any format can hold; of long text, the beginning and its length."""
    shown = text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
    return _NONCHARACTERS.sub("\ufffd", clean(shown))


def line(text: str, most: int = _LONGEST) -> str:
    """Return the same, on one line."""
    return _SPACE.sub(" ", plain(text, most)).strip()


def title_of(result: EvalResult) -> str:
    """Return the title of a result: its case, and its trace if there is one."""
    if isinstance(result.trace_id, str):
        return f"{result.case_id} [{result.trace_id}]"
    return result.case_id


def reason_of(assertion_result: AssertionResult) -> str:
    """Return the reason of an assertion's result, empty if it has none."""
    return assertion_result.reason if isinstance(assertion_result.reason, str) else ""


def step_ids_of(assertion_result: AssertionResult) -> list[str]:
    """Return the steps that an assertion's result rests on."""
    ids: Any = assertion_result.extra.get("step_ids")
    return [step_id for step_id in ids if isinstance(step_id, str)] if isinstance(ids, list) else []


def failing_ids_of(assertion_result: AssertionResult) -> list[str]:
    """Return the steps of an assertion's result that are not as they should be."""
    ids: Any = assertion_result.extra.get("failing_step_ids")
    if assertion_result.passed is not False or not isinstance(ids, list):
        return step_ids_of(assertion_result)
    return [step_id for step_id in ids if isinstance(step_id, str)]


def score_of(score: Any) -> str:
    """Return a score with three decimals, or a dash if there is none."""
    return f"{score:.3f}" if isinstance(score, (int, float)) else "-"


def score_of_result(result: EvalResult) -> str:
    """Return the score of a result, or a dash where it neither passed nor failed: the score of a
    part is none of the whole."""
    return score_of(None if result.passed is None else result.composite_score)


def figures(row: Row) -> list[str]:
    """Return the figures of a row in the order of the tables: results, passed, failed, not
    evaluated, pass rate, score."""
    counts = (row.results, row.passed, row.failed, row.not_evaluated)
    return [*(f"{n:,}" for n in counts), rate_of(row.pass_rate), score_of(row.score)]


def rate_of(share: float | None) -> str:
    """Return a share as a whole number of percent, or a dash if there is none.

    Only all is 100%, and only none is 0%.
    """
    if share is None:
        return "-"
    if 0 < share < 1:
        share = min(max(share, 0.01), 0.99)
    return f"{share:.0%}"


def count_text(number: int, noun: str) -> str:
    """Return `1 result`, `2,000 results`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
