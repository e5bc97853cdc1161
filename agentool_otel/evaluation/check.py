"""The base of every assertion type: a record of its parameters that can check a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentool_otel.evaluation.judged import JudgedTrace
from agentool_otel.evaluation.verdicts import Verdict
from agentool_otel.model.documents import EvalCase

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Check", "counted", "listed"]

_LISTED = 5


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An assertion type. Its fields are the parameters, by the names they have in a case.

    A parameter that is missing, not known or of another type makes the assertion not evaluated, as
    does a `ValueError` or `TypeError` of `__post_init__` about the values.
    """

    def check(self, trace: JudgedTrace, case: EvalCase) -> Verdict:
        """Return whether the assertion holds of a trace.

        An exception is caught by the caller and makes the assertion not evaluated.
        """
        # Not abstract: a Struct has a metaclass of its own. One that lacks it is not evaluated.
        raise NotImplementedError


def listed(words: Iterable[str]) -> str:
    """Join words with commas: the first few, and how many more there are."""
    items = list(words)
    more = f" and {len(items) - _LISTED} more" if len(items) > _LISTED else ""
    return ", ".join(items[:_LISTED]) + more


def counted(number: int, noun: str) -> str:
    """Return a count with its noun: `1 call`, `2 calls`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
