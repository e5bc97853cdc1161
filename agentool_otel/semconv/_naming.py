"""Notation of our own vocabulary: each name with its meaning."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["naming"]


def naming() -> tuple[Callable[[str, str], str], dict[str, str]]:
    """Return a function that makes a name of a vocabulary, given the name and its meaning in one
    line, and the meanings of all it has made, in their order.

    Names of anything but attributes begin with their kind: `event name: ...`. The meaning of
    content ends with `(content)`.
    """
    meanings: dict[str, str] = {}

    def name(name: str, meaning: str) -> str:
        meanings[name] = meaning
        return name

    return name, meanings
