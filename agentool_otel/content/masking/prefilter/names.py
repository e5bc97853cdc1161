"""Names of credentials, as byte patterns by the sort of their values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from agentool_otel.content.masking import secret_names
from agentool_otel.content.masking.prefilter.supersets import superset, superset_of
from agentool_otel.content.masking.prefilter.values import Sort, sort_of, strict

__all__ = ["NAME_ENDS", "Name", "any_name", "names", "qualified"]

_QUALIFIER = superset_of(
    rf"(?i:[ _\-.]?(?:{'|'.join(secret_names.QUALIFIERS)}|\d{{1,4}}|provided))"
)
NAME_ENDS = superset_of(r"(?:\n|\\)*[\"']")
"""The quote behind a name in JSON. A test of names ignores backslashes and a line break there."""


_IN_WORD = r"[_\-]?"
"""What stands between the parts of a name: nothing in `camelCase`."""
_IN_WORDS = r"(?:[_\- ]|\xc2\xa0|\\+u00[aA]0)?"
"""The same where a name may be two words (`assignments._value_test_of_two_words`)."""


class Name(NamedTuple):
    """Ends of names of one row of the table."""

    word: str
    behind: str
    """Pattern of the qualifiers and the plural that may follow."""
    sort: Sort

    @property
    def pattern(self) -> str:
        return self.word + self.behind


@cache
def names() -> tuple[Name, ...]:
    """Return the ends of secret names, each with the sort of its value.

    What stands before the word of a name is left out: it may be part of another word, an escape,
    or cut off.

    Raises:
        Untranslatable: if the value test of a name has no pattern.
    """
    return tuple(_names())


def _names() -> Iterator[Name]:
    for pattern, judge in secret_names._NAMES:
        if judge is None:
            continue
        sort = sort_of(judge)
        word = superset(pattern, separator=_IN_WORD if sort == "random" else _IN_WORDS)
        if strict(sort) == sort:
            yield Name(word, f"{_QUALIFIER}?[sS]?", sort)
        else:
            yield Name(word, "[sS]?", sort)
            yield Name(word, f"{_QUALIFIER}[sS]?", strict(sort))


def any_name() -> str:
    """Return the pattern of the end of any name."""
    words = dict.fromkeys(name.word for name in names())
    return f"(?:{'|'.join(words)}){_QUALIFIER}?[sS]?"


def qualified(word: str) -> str:
    """Return the pattern of a word that may have a qualifier or a plural."""
    return f"{superset_of(word)}{_QUALIFIER}?[sS]?"
