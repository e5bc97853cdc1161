"""Parts of texts that a comparison of traces ignores."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation.time_limit import compiles, replace

__all__ = ["IDS", "PLACEHOLDER", "TIMES", "Ignoring"]

IDS = (
    r"\b[0-9A-Fa-f]{8}-?(?:[0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}\b",
    r"\b(?=[0-9a-f]*\d)[0-9a-f]{16,64}\b",
    r"\b[a-z]+_(?=[0-9A-Za-z]*\d)[0-9A-Za-z]{16,}\b",
    r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b",
)
"""UUIDs, hexadecimal ids of 8 bytes and more, ids with a prefix such as `call_…`, and ULIDs."""
TIMES = (
    r"\b\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:[Zz]|[+-]\d\d:?\d\d)\b)?)?",
    r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b",
)
"""Dates and times as ISO 8601 writes them, and times of day to the second."""
_OURS = frozenset((*IDS, *TIMES))
"""Take time in proportion to a text, and are run here."""
PLACEHOLDER = "‹…›"
"""Stands for what was ignored."""


class Ignoring:
    """Patterns that are ignored inside texts."""

    def __init__(self, patterns: Iterable[str | re.Pattern[str]] = ()):
        """Take the patterns.

        Raises:
            EvaluationError: one is no regular expression.
        """
        self._patterns: list[tuple[str, int]] = []
        for pattern in patterns:
            if isinstance(pattern, re.Pattern):
                self._patterns.append((pattern.pattern, pattern.flags))
                continue
            if pattern not in _OURS and (why := compiles(pattern)) is not None:
                raise EvaluationError(
                    f"{pattern!r} is no regular expression: {why}"
                    "; hint: a backslash before . * + ? ( ) [ ] takes them literally"
                )
            self._patterns.append((pattern, 0))
        self._ours = all(pattern in _OURS for pattern, _ in self._patterns)

    def text(self, text: str) -> str:
        """Return a text with a placeholder for each match of a pattern.

        Raises:
            TimeLimit: a pattern takes too long.
        """
        if not self._ours:
            return replace(self._patterns, PLACEHOLDER, text)
        for pattern, _ in self._patterns:
            text = re.sub(pattern, PLACEHOLDER, text)
        return text
