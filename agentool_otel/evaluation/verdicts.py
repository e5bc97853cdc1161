"""Verdicts of checks on a trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from agentool_otel.ground.untrusted_text import line
from agentool_otel.model.notebook import row_html
from agentool_otel.model.plain_text import MARKS, score_text

__all__ = ["Difference", "Verdict", "failed", "not_evaluated", "passed", "with_note"]

_MOST_DIFFERENCES = 20
"""Differences that a result has."""


class Difference(NamedTuple):
    """A value that is not as expected."""

    name: str
    """The argument, or `output`."""
    expected: str
    """The expected value as JSON, or a condition in words."""
    actual: str
    """The actual value as JSON, or words where there is none."""
    step_id: str | None = None
    """The step that has it; None for the output."""


class Verdict(NamedTuple):
    """The outcome of one assertion on one trace."""

    passed: bool | None
    """None if it could not be evaluated."""
    score: float | None
    """0 to 1; None if it could not be evaluated."""
    reason: str
    """Why, naming the steps it rests on and what was found there."""
    step_ids: tuple[str, ...] = ()
    """The steps it rests on."""
    extra: Mapping[str, Any] = MappingProxyType({})
    """Further members of the assertion's result, such as who judged."""

    def __str__(self) -> str:
        return f"{MARKS[self.passed]} {line(self.reason)}"

    def _repr_html_(self) -> str:
        return row_html((MARKS[self.passed], score_text(self.score), self.reason))


def passed(reason: str, step_ids: Iterable[str] = ()) -> Verdict:
    """Return the verdict that an assertion passed."""
    return Verdict(True, 1.0, reason, tuple(step_ids))


def failed(
    reason: str,
    step_ids: Iterable[str] = (),
    *,
    failing: Iterable[str] | None = None,
    differences: Sequence[Difference] = (),
) -> Verdict:
    """Return the verdict that an assertion failed.

    Args:
        reason: why, in one sentence.
        step_ids: the steps that the verdict rests on.
        failing: those of them that are not as they should be; None if all are.
        differences: the values that are not as expected.
    """
    extra: dict[str, Any] = {}
    if failing is not None:
        extra["failing_step_ids"] = list(failing)
    if differences:
        extra["differences"] = [
            {name: value for name, value in difference._asdict().items() if value is not None}
            for difference in differences[:_MOST_DIFFERENCES]
        ]
    return Verdict(False, 0.0, reason, tuple(step_ids), extra)


def with_note(verdict: Verdict, note: str | None) -> Verdict:
    """Return a verdict with a note behind its reason, if there is one."""
    return verdict if note is None else verdict._replace(reason=f"{verdict.reason}; {note}")


def not_evaluated(reason: str, step_ids: Iterable[str] = ()) -> Verdict:
    """Return the verdict that an assertion could not be evaluated."""
    return Verdict(None, None, reason, tuple(step_ids))
