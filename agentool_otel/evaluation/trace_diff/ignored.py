"""What is ignored inside texts when two traces are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentool_otel.errors import EvaluationError

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
PLACEHOLDER = "‹…›"
"""Stands for what was ignored."""


class Ignoring:
    """Patterns that are ignored inside texts."""

    def __init__(self, patterns: Iterable[str | re.Pattern[str]] = ()):
        """Compile the patterns.

        Raises:
            EvaluationError: one is no regular expression.
        """
        self._patterns: list[re.Pattern[str]] = []
        for pattern in patterns:
            try:
                self._patterns.append(re.compile(pattern))
            except re.error as error:
                raise EvaluationError(
                    f"{pattern!r} is no regular expression: {error}"
                    "; hint: a backslash before . * + ? ( ) [ ] takes them literally"
                ) from error

    def text(self, text: str) -> str:
        """Return a text with a placeholder for each match of a pattern."""
        for pattern in self._patterns:
            text = pattern.sub(PLACEHOLDER, text)
        return text
