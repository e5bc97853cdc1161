"""Python's literals in: values that a program has printed rather than encoded.

Python's own parser reads them, which is made for programs: what `repr` never prints, such as
f-strings, can take it seconds. So of a longer text it is first looked whether it is made of the
words, numbers, texts and brackets that `repr` prints of such values.
"""

from __future__ import annotations

import ast
from typing import Any

from agentool_otel.ground import lazy_re as re

__all__ = ["TEXT", "is_printed", "literal"]

_SHORT = 10_000
"""Characters of a text that is parsed whatever it is."""
_MANY = 1000
"""Whole numbers of so many digits that those of a dict may have been chosen to collide in it."""
_DIGITS = 18

TEXT = r"""(?:'[^'\\]*(?:\\.[^'\\]*)*(?:'|\\?\Z)|"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z))"""
"""A text as `repr` prints it, or what is left of one that was cut off. Wants `re.DOTALL`."""
_WORD = re.compile(
    rf"(?P<text>b?{TEXT})|(?P<whole>-?\d+(?![\d.e]))|-?[\d.]+(?:e[+-]?\d+)?|[\s\[\](){{}},:=]+"
    r"|(?:True|False|None)\b|[A-Za-z_]\w*(?=[=(])",
    re.DOTALL,
)


def literal(text: str, most: int) -> Any:
    """Return the value that a text is Python's literal of.

    Args:
        text: what was printed.
        most: characters of it that are read.

    Raises:
        ValueError: it is no literal, or longer.
    """
    if len(text) > most or not is_printed(text):
        raise ValueError("no literal that is read")
    try:
        return ast.literal_eval(text)
    except (SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError("no literal") from error


def is_printed(text: str) -> bool:
    """Return whether a text is short, or looks like `repr` of a value of JSON's types."""
    if len(text) <= _SHORT:
        return True
    at = long = 0
    before = None
    while at < len(text):
        word = _WORD.match(text, at)
        if word is None or before == word.lastgroup == "text":  # `'''` begins with two texts
            return False
        before = word.lastgroup
        long += before == "whole" and len(word[0]) > _DIGITS
        at = word.end()
    return long <= _MANY
