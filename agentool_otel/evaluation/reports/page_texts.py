"""Texts of the HTML page in pieces: where a line may break, and which words are links.

The template escapes each piece. A short word with a hyphen or `_`, such as `A-1014`, does not
break; a longer one may break after `_`, and JSON after the comma of a member.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

__all__ = ["Piece", "mentioned_ids", "pieces"]

_WORD = re.compile(r"\b\w+(?:-\w+)+|\b[^\W_]*_\w*|,(?=[\"{\[])")
"""A word with a hyphen, one with `_`, or a comma of JSON."""
_WHOLE = 24
"""Characters of the longest word that does not break."""


class Piece(NamedTuple):
    """A part of a text."""

    text: str
    anchor: str = ""
    """The id of the element that it links to; empty if it is no link."""
    whole: bool = False
    """Whether to keep it on one line."""
    breaks: bool = False
    """Whether a line may break after it."""


def mentioned_ids(text: str, ids: Collection[str]) -> list[str]:
    """Return which ids of steps a text mentions. A number alone is not recognised as an id."""
    pattern = _ids(ids)
    return list(dict.fromkeys(pattern.findall(text))) if pattern is not None else []


def pieces(text: str, links: Mapping[str, str]) -> Iterator[Piece]:
    """Yield a text in pieces.

    Args:
        text: the text, sanitised.
        links: ids of steps that become links, with the ids of their elements.
    """
    pattern = _ids(links)
    start = 0
    for match in pattern.finditer(text) if pattern is not None else ():
        yield from _breakable(text[start : match.start()])
        yield Piece(match[0], anchor=links[match[0]])
        start = match.end()
    yield from _breakable(text[start:])


def _ids(ids: Collection[str]) -> re.Pattern[str] | None:
    words = sorted(
        (step_id for step_id in ids if step_id and not step_id.isdecimal()), key=len, reverse=True
    )
    if not words:
        return None
    return re.compile(rf"(?<![\w/#-])(?:{'|'.join(map(re.escape, words))})(?![\w/#-])")


def _breakable(text: str) -> Iterator[Piece]:
    start = 0
    for match in _WORD.finditer(text):
        word, before = match[0], text[start : match.start()]
        if word == ",":
            yield Piece(before + word, breaks=True)
        elif len(word) > _WHOLE:
            *parts, last = re.split("(?<=_)", before + word)
            yield from (Piece(part, breaks=True) for part in parts)
            yield Piece(last)
        else:
            if before:
                yield Piece(before)
            yield Piece(word, whole=True)
        start = match.end()
    if start < len(text):
        yield Piece(text[start:])
