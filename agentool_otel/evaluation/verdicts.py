"""Verdicts: what a check says about a trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ["Verdict", "failed", "not_evaluated", "passed"]


class Verdict(NamedTuple):
    """The outcome of one assertion on one trace."""

    passed: bool | None
    """None where it could not be evaluated."""
    score: float | None
    """0 to 1; None where it could not be evaluated."""
    reason: str
    """Why, naming the steps it rests on and what was found there."""
    step_ids: tuple[str, ...] = ()
    """The steps it rests on."""
    extra: Mapping[str, Any] = MappingProxyType({})
    """Further members of the assertion's result, such as who judged."""


def passed(reason: str, step_ids: Iterable[str] = ()) -> Verdict:
    """Return the verdict that an assertion holds."""
    return Verdict(True, 1.0, reason, tuple(step_ids))


def failed(reason: str, step_ids: Iterable[str] = ()) -> Verdict:
    """Return the verdict that an assertion does not hold."""
    return Verdict(False, 0.0, reason, tuple(step_ids))


def not_evaluated(reason: str, step_ids: Iterable[str] = ()) -> Verdict:
    """Return the verdict that an assertion could not be evaluated."""
    return Verdict(None, None, reason, tuple(step_ids))
