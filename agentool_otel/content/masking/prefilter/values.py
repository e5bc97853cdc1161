"""Values that the exact search accepts, as byte patterns by the test of the value.

A test is code, so its pattern is written by hand, and wider than the test. A test that is missing
in the tables here stops the generator.
"""

from __future__ import annotations

from typing import Literal, get_args

from agentool_otel.content.masking import credential_shapes, secret_names
from agentool_otel.content.masking.prefilter.supersets import Untranslatable, superset, superset_of
from agentool_otel.content.masking.secret_names import (
    ValueTest,
    anything,
    is_mnemonic,
    is_no_words,
    looks_random,
)

__all__ = ["NO_WORDS", "RANDOM", "SHAPES", "SORTS", "Sort", "quoted", "sort_of", "strict", "value"]

Sort = Literal["anything", "no words", "random", "mnemonic", "random part", "none"]
"""The sort of text that a test accepts. A list of bytes is masked whatever the test is."""
SORTS: tuple[Sort, ...] = get_args(Sort)

_SORTS: dict[ValueTest, Sort] = {
    anything: "anything",
    is_no_words: "no words",
    looks_random: "random",
    is_mnemonic: "mnemonic",
    secret_names._has_random_part: "random part",
    secret_names._never: "none",
}


def sort_of(judge: ValueTest) -> Sort:
    """Return the sort of text that a test accepts.

    Raises:
        Untranslatable: if the test is a new one.
    """
    if judge not in _SORTS:
        raise Untranslatable(f"expected a pattern for the value test {judge.__name__!r}, got none")
    return _SORTS[judge]


def strict(sort: Sort) -> Sort:
    """Return the sort that `secret_names.strict` makes of one."""
    return "no words" if sort == "anything" else sort


NO_WORDS = superset(secret_names._NO_WORDS)
RANDOM = superset(secret_names._ONE_WORD)
_MNEMONIC = superset(secret_names._MNEMONIC)
_BASE64 = "[A-Za-z0-9+/]"
SHAPES: dict[ValueTest | None, str | None] = {
    None: None,
    looks_random: None,
    credential_shapes._is_mixed: None,
    # `text[3:]` is what is behind `sk-`.
    credential_shapes._has_long_part: r"sk-[A-Za-z0-9_\-]*[A-Za-z0-9_]{16}",
    credential_shapes._is_no_word: r"(?:[A-Za-z0-9_\-.=+/~]{20}|[a-z]{0,19}[A-Z0-9_\-.=+/~])",
    # Base64 with a colon in it, which is one of three sequences.
    credential_shapes._is_basic: (
        rf"(?:{_BASE64}{{4}})*"
        rf"(?:O[g-v]|{_BASE64}[DTjz][opqr]|{_BASE64}{{2}}[AEIMQUYcgkosw048]6)"
    ),
}
"""Expressions for what the tests of shapes accept, in the place of the masked part; None for one
that adds little to the shape itself."""

_NOT_EMPTY = superset_of(r"\"(?:[^\"]|\"[^\s,;:.)}\]>/])|'(?:[^']|'[^\s,;:.)}\]>/])|\\+[\"'][\s\S]")
_LITERAL_PREFIX = "[BbFfRrUu]{0,2}"


def _in_quotes(body: str) -> str:
    """Return the pattern of a value in quotes that contains a body.

    A quote at its beginning does not end it. Behind an escaped quote the value may contain quotes
    that are escaped less often.
    """
    runs = (r"\"\"?(?:[^\"\\]|\\.)*", r"''?(?:[^'\\]|\\.)*", r"\\+[\"'][\s\S]*")
    return f"(?:{'|'.join(map(superset_of, runs))}){body}"


def quoted(sort: Sort) -> str:
    """Return the pattern of a value of this sort in quotes."""
    match sort:
        case "anything":
            return f"{_LITERAL_PREFIX}(?:{_NOT_EMPTY})"
        case "no words":
            return _LITERAL_PREFIX + _in_quotes(f"(?:{NO_WORDS})")
        case "random":
            return _LITERAL_PREFIX + _QUOTE + RANDOM
        case "mnemonic":
            return _QUOTE + _MNEMONIC
        case "random part":
            return _LITERAL_PREFIX + _in_quotes(RANDOM)
        case "none":
            raise Untranslatable("expected a sort of text, got none")


_QUOTE = superset_of(r"\\*[\"']")
_PLAIN = r"[^\s\"'\\,;&)\]}]"
_GOES_ON = (
    r"(?:[,;&][^\s\"'\\]|[)\]}][^\s,;:.)}\]>\"'\\&]"
    r"|[\"']+[^\s\"'\\,;:.)}\]>/]|\\[^\"'\\bfnrtux])"
)
"""Characters that end a value, with one behind that lets it go on (`assignments._WORD`)."""
_FOUR = "|".join(
    map(
        superset_of,
        (
            rf"{_PLAIN}{{4}}",
            rf"{_PLAIN}{{0,3}}{_GOES_ON}",
            rf"{_PLAIN}{{1,3}}[\"']{{2}}",
            r"[\"']{3}",
        ),
    )
)
_RUN = superset_of(r"(?:[^\s\"']|[\"'][^\s,;:.)}\]>/\\])*[\"']?")


def _bare(sort: Sort) -> str:
    match sort:
        case "anything":
            return f"(?:{_FOUR})"
        case "no words":
            return f"{_RUN}(?:{NO_WORDS})"
        case "random":
            return RANDOM
        case "mnemonic":
            return _MNEMONIC
        case "random part":
            return _RUN + RANDOM
        case "none":
            raise Untranslatable("expected a sort of text, got none")


_LINES: dict[Sort, str] = {
    "anything": superset_of(r"[^\s]"),
    "no words": rf"[\s\S]*(?:{NO_WORDS})",
    "random part": rf"[\s\S]*{RANDOM}",
}
"""A value of several lines, behind the indentation of the first one."""
_BLOCK = superset_of(r"\s*(?:[|>][+\-0-9]{0,2})?[ \t]*\r?\n[ \t]+")
_INDICATOR = superset_of(r"\s*(?:[|>][+\-0-9]{0,2}\s*)?")


def value(sort: Sort, sign: str = "") -> str:
    """Return the pattern of what stands behind a sign or an option."""
    block = f"|{_BLOCK}{_LINES[sort]}" if sign == ":" and sort in _LINES else ""
    return f"(?:{_INDICATOR}(?:{quoted(sort)}|{_bare(sort)}){block})"
