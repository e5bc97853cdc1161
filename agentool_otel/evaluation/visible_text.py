"""Search a text with hidden parts: a match has to be visible as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentool_otel.evaluation.time_limit import search
from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.semconv.marks import MARK_TRUNCATED, MARK_UNENCODABLE, MASK
from agentool_otel.semconv.redaction import visible_parts

__all__ = ["MOST", "find", "json_text", "texts_of"]

MOST = 100_000
"""Characters of a text that a regex is given: it is the user's own, and may be slow."""

_LOOKS_AROUND = re.compile(r"\(\?(?:[=!(>]|<[=!])|[*+?}]\+")
"""Look-around, conditions, atomic groups and possessive quantifiers."""
_LOOKS_BESIDE = re.compile(r"[\^$]|\\[bBAZ]")
"""Parts of a pattern that test the previous or next character, or the end of the text."""
_MARKS = frozenset({MARK_TRUNCATED, MARK_UNENCODABLE})


def texts_of(value: Any) -> list[str]:
    """Return the texts in which an output is searched: the text that it is, or its JSON and each
    text in it, of which a reader sees quotes and line breaks as they are."""
    if value is None:
        return [""]
    if isinstance(value, str):
        return [value]
    return [json_text(value), *_leaves(_with_one_marker(value))]


def json_text(value: Any) -> str:
    """Return a value as JSON with a redaction marker in place of hidden parts."""
    return json_codec.dumps(_with_one_marker(value))


def _with_one_marker(value: Any) -> Any:
    """Return a value with one redaction marker of ours in place of each gap."""
    if isinstance(value, str):  # in JSON a marker would be escaped, or not at an end
        return MASK.join(visible_parts(value))
    if isinstance(value, dict):
        marked = not _MARKS.isdisjoint(value)
        shown = {
            key: _with_one_marker(value)
            for key, value in value.items()
            if not marked or key[:1] != "$"
        }
        return {**shown, MASK: MASK} if marked else shown
    return [_with_one_marker(item) for item in value] if isinstance(value, (list, tuple)) else value


def _leaves(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            pending += reversed(item.values())
        elif isinstance(item, list):
            pending += reversed(item)


def find(pattern: str, text: str, ends: bool = True) -> str | None:
    """Return the match of a regex; None if it may depend on hidden parts.

    In a text with gaps, a match counts only if it has a character, lies in one visible part, and
    tests nothing beyond that part.

    Args:
        pattern: the regex.
        text: the text, perhaps with markers in it.
        ends: whether the text ended where it ends here.

    Raises:
        TimeLimit: the search takes too long.
    """
    parts = visible_parts(text[:MOST])
    if not ends or len(text) > MOST:
        parts.append("")
    if len(parts) == 1:
        span = search(pattern, parts[0])
        return None if span is None else parts[0][slice(*span)]
    if _LOOKS_AROUND.search(pattern):
        return None
    looks_around = _LOOKS_BESIDE.search(pattern) is not None
    for n, part in enumerate(parts):
        span = search(pattern, part) if part else None
        if span is None or span[0] == span[1]:
            continue
        first, last = n == 0, n == len(parts) - 1
        is_inside = (first or span[0] > 0) and (last or part[span[1] :] not in ("", "\n"))
        if is_inside or not looks_around:
            return part[slice(*span)]
    return None
