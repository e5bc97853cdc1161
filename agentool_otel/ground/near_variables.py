"""The environment variable that a name means: misspelt, shortened, or under a wrong prefix.

A name is compared word by word. Each of its words has to be one of the variable's: the same, nearly
the same, or one of them the beginning of the other. The variable may have more words, so
`AGENTOOL_CONTENT` means the one that ends in `CAPTURE_MESSAGE_CONTENT`. A name of OpenTelemetry
with a word of another product, or with further words, means none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

__all__ = ["is_of_prefix", "meant", "words_of"]

_ALIKE = 0.8
"""Least likeness of two words, or of two names without their underscores."""
_SHORTEST = 3
"""Letters of a word that another one may begin with."""


def is_of_prefix(name: str, prefixes: Iterable[str]) -> bool:
    """Return whether the first word of a name is one of the prefixes, but for one letter."""
    first = name.partition("_")[0]
    return "_" in name and any(_differ_by_one(first, prefix) for prefix in prefixes)


def words_of(name: str, prefixes: Iterable[str]) -> list[str]:
    """Return the words of a name after its first word, and after further prefixes."""
    _, *words = filter(None, name.split("_"))
    while words and words[0] in prefixes:
        del words[0]
    return words


def meant(
    words: list[str], variables: Iterable[tuple[str, list[str]]], *, exact: bool = False
) -> str | None:
    """Return the variable that words mean, the first of several that are equally near; None if
    they mean none.

    Args:
        words: those of a name, without its prefix.
        variables: each with its words.
        exact: whether a name is either shortened or misspelt, and neither abbreviated nor longer,
            as where other products have variables of the same prefix.
    """
    distances = (
        (_distance(words, variable_words, exact), variable)
        for variable, variable_words in variables
    )
    near = [(distance, variable) for distance, variable in distances if distance is not None]
    return min(near, key=lambda item: item[0])[1] if near else None


def _distance(words: list[str], variable_words: list[str], exact: bool) -> float | None:
    """Return how far words are from those of a variable; None if they are not near."""
    if not words or not variable_words:
        return None
    if exact:
        return _exact_distance(words, variable_words)
    likeness = _likeness("".join(words), "".join(variable_words))
    further = _missing(variable_words, words)
    distances = (
        _missing(words, variable_words),
        None if further is None else further + 1,
        1 - likeness if likeness >= _ALIKE else None,
    )
    return min((distance for distance in distances if distance is not None), default=None)


def _exact_distance(words: list[str], variable_words: list[str]) -> float | None:
    """Return the distance of a name that is either shortened or misspelt; None if it is neither."""
    if "".join(words) == "".join(variable_words):
        return 0.0
    if len(words) == len(variable_words):
        unlike = [1 - _spelling(*pair) for pair in zip(words, variable_words, strict=True)]
        return sum(unlike) if max(unlike) <= 1 - _ALIKE else None
    is_shortened = words[-1] == variable_words[-1] and not Counter(words) - Counter(variable_words)
    return float(len(variable_words) - len(words)) if is_shortened else None


def _missing(words: list[str], variable_words: list[str]) -> float | None:
    """Return how many words a variable has beside these, and how unlike they are; None if one of
    the words is none of its.
    """
    unlike, left = 0.0, list(variable_words)
    for word in words:
        scores = [_word_likeness(word, other) for other in left]
        best = max(scores, default=0.0)
        if best < _ALIKE:
            return None
        del left[scores.index(best)]
        unlike += 1 - best
    return len(left) + unlike


def _word_likeness(one: str, other: str) -> float:
    if one == other:
        return 1.0
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= _SHORTEST and longer.startswith(shorter):
        return 0.9
    return _spelling(one, other)


def _spelling(one: str, other: str) -> float:
    """Return how alike two words are; two letters of one may have changed places."""
    changed = len(one) >= _SHORTEST and sorted(one) == sorted(other)
    return 0.9 if changed and one != other else _likeness(one, other)


def _likeness(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one, other).ratio()


def _differ_by_one(one: str, other: str) -> bool:
    """Return whether one letter at most is missing, added or another one."""
    if one == other:
        return True
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    at = min(len(one), len(other)) if at is None else at
    left, right = one[at:], other[at:]
    return left[1:] == right or left == right[1:] or left[1:] == right[1:]
