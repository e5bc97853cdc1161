"""The base of every assertion type: a record of its parameters that can check a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import msgspec
from msgspec import Meta

from agentool_otel.evaluation.trace_view import TraceView
from agentool_otel.evaluation.verdicts import Verdict
from agentool_otel.model.documents import EvalCase

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Amount",
    "Check",
    "Prose",
    "Share",
    "Word",
    "be",
    "count_text",
    "limit_text",
    "list_words",
    "times",
]

_LISTED = 5

Word: TypeAlias = Annotated[str, Meta(min_length=1)]
"""A text that is not empty."""
Prose: TypeAlias = Annotated[str, Meta(pattern=r"\S")]
"""A text with more in it than blanks."""
Amount: TypeAlias = Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)]
"""A number that is not negative."""
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
"""A number from 0 to 1."""


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An assertion type. Its fields are the parameters, by the names they have in a case.

    A parameter that is missing, unknown or of another type is an error of the cases, before the
    first trace; so is a `ValueError` or `TypeError` of `__post_init__` about the values. The
    docstrings of class and fields describe them in `docs/reference/assertions.md` and in the JSON
    Schema.
    """

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        """Return whether the assertion holds of a trace.

        An exception is caught by the caller and makes the assertion not evaluated.
        """
        # Not abstract: a Struct has a metaclass of its own. One that lacks it is not evaluated.
        raise NotImplementedError


def list_words(words: Iterable[str], separator: str = ", ") -> str:
    """Join words: the first few, and how many more there are."""
    items = list(words)
    more = f" and {len(items) - _LISTED} more" if len(items) > _LISTED else ""
    return separator.join(items[:_LISTED]) + more


def be(number: float) -> str:
    """Return the verb of so many things: `is`, `are`."""
    return "is" if number == 1 else "are"


def limit_text(most: float) -> str:
    """Return an upper limit in words: `at most 3 are allowed`."""
    return f"at most {most} {be(most)} allowed"


def times(number: int) -> str:
    """Return how often something happened: `once`, `2 times`."""
    return "once" if number == 1 else f"{number} times"


def count_text(number: int, noun: str) -> str:
    """Return a count with its noun: `1 call`, `2 calls`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
