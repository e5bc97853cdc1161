"""The set of patterns: what the exact search masks, one of these matches.

Tables become patterns by themselves (`supersets.py`). A rule that is code has a pattern here, in
the order of the modules of the exact search.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentool_otel.content.masking import command_lines, credential_shapes, grammars
from agentool_otel.content.masking.assignments import value_at
from agentool_otel.content.masking.prefilter.names import NAME_ENDS, any_name, names, qualified
from agentool_otel.content.masking.prefilter.supersets import (
    Untranslatable,
    superset,
    superset_behind,
    superset_of,
)
from agentool_otel.content.masking.prefilter.values import (
    NO_WORDS,
    RANDOM,
    SHAPES,
    SORTS,
    Sort,
    quoted,
    strict,
    value,
)
from agentool_otel.content.masking.secret_names import is_no_words

__all__ = ["Look", "looks"]


class Look(NamedTuple):
    """Patterns that all match a text in which the exact search may mask something."""

    rule: str
    patterns: tuple[str, ...]


_Rules = Iterator["tuple[str, str | tuple[str, ...]]"]


def _unusual() -> _Rules:
    """Text that the patterns below would otherwise have to provide for everywhere."""
    # ASCII that is escaped without need: any letter of a name may be.
    yield "escaped ASCII", r"\\+u00[2-7]"
    # These are equal to `k`, `s` and `i` where case is ignored.
    yield "other letters", superset_of("[\u212a\u017f\u0130\u0131]")


def _shapes() -> _Rules:
    for start, pattern, judge, before in credential_shapes._SHAPES:
        if judge not in SHAPES:
            raise Untranslatable(f"expected a pattern for the test of {start!r}, got none")
        accepted = SHAPES[judge]
        if accepted is None:
            rare = superset(before) if before is not None and start == "." else ""
            yield f"shape {start}", rare + superset(pattern)
        elif "secret" in pattern.groupindex:
            yield f"shape {start}", superset(pattern, {"secret": superset_of(accepted)})
        else:
            yield f"shape {start}", superset_of(accepted)
    yield "AWS secret", "A[KS]IA"
    yield "private key", superset(credential_shapes._KEY_BEGINS)


def _urls() -> _Rules:
    yield "user and password", superset_of(r"://[^\s\"'\\<>]*:[^\s\"'\\<>]*@")
    yield "user in URL", superset_of(r"://[\w+=.~\-:%$!|]{16,}@")


def _headers() -> _Rules:
    """Values with more in them than one word."""
    colon = superset_of(rf"(?:\\*[\"'])?\s*{_COLON}\s*")
    scheme = superset_of(r"[A-Za-z][\w\-]*[ \t]+[^\s\"'\\]{4}")
    yield "scheme", qualified("(?i:authorization)") + colon + scheme
    cookies = superset_of(r"[^\s=;]+=.*") + NO_WORDS
    yield "cookies", qualified("(?i:cookie)") + colon + cookies


def _named() -> _Rules:
    """Names with their value behind them."""
    behind = {sort: tuple(_behind_name(sort)) for sort in SORTS}
    for name in names():
        for rule, contexts in behind[name.sort]:
            yield f"{name.sort}: {rule}", f"{name.pattern}(?:{'|'.join(contexts)})"


def _behind_name(sort: Sort) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what may follow a name whose values are of a sort."""
    colon = NAME_ENDS + superset_of(r"\s*:\s*")
    yield (
        "bytes",
        (
            colon + superset_of(r"\[\s*(?:\d{1,3}\s*,\s*){7}\d"),
            colon + superset_of(r"\{") + r"[\s\S]*value\\*[\"']",
        ),
    )
    if sort == "none":
        return
    sign = superset_of(r"(?:\\*[\"'])?\s*")
    yield (
        "assignment",
        (
            sign + superset_of(_COLON) + value(sort, ":"),
            sign + superset_of(_OPERATOR) + value(sort),
            sign + superset_of(r"\s(?i:is|es)[\s:]:?") + value(strict(sort)),
            sign + superset_of(r"%3[dD]") + (value(sort) if sort == "random" else ""),
        ),
    )
    yield (
        "member",
        (
            colon + superset_of(r"(?:\[\s*)*") + quoted(sort),
            *([colon + superset_of(r"(?:\[\s*)?-?\d")] if sort == "anything" else []),
            NAME_ENDS + superset_of(r"\s*,\s*") + quoted(strict(sort)),
        ),
    )
    yield "option", (superset_of(r"[ \t]{1,3}") + value(strict(sort)),)
    yield "row", tuple(_behind_name_in_rows(sort))
    cells = superset_of(rf"{_BLANKS}[|\t,;](?:{_CELL}[|\t,;])*{_CELL}\n")
    yield "column", (cells,)
    accepted = RANDOM if sort == "random" else NO_WORDS
    yield "last column", (f"{superset_of(_BLANKS)}(?:{'|'.join(_LINES)})(?:{accepted})",)


_LINES = (
    r"\n(?:[^\n]*[|\t,;][^\n]*\n)*[^\n]*[|\t,;][^\n|\t,;]*",
    # The same in JSON: a tab and the end of a line are escaped, and a backslash is two of them.
    r"\\(?:n|u000[aA])(?:(?:[^\\]|\\[^n])*(?:[|,;]|\\(?:t|u0009))(?:[^\\]|\\[^n])*\\n)*"
    r"(?:[^\\]|\\[^n])*(?:[|,;]|\\(?:t|u0009))(?:[^\\|,;]|\\[^nt])*",
    # In JSON inside of JSON.
    r"\\{2,}(?:n|u000[aA])[\s\S]*",
)
"""Lines of a table behind its heading, to a cell that is not the first one."""
_COLON = r"(?::=|[:\uff1a])"
_OPERATOR = r"(?:={1,3}|=>)"
_BLANKS = r"[\"' \t\r]*"
_CELL = rf"{_BLANKS}(?:\w[\w.\-]*(?: [\w.\-]+)?{_BLANKS})?"


def _behind_name_in_rows(sort: Sort) -> Iterator[str]:
    for row in _rows():
        if "name" in row.before.groupindex and not _is_element(row):
            behind = superset_behind(row.before, "name")
            accepted = strict(sort) if row.judge is is_no_words else sort
            yield behind + (value(accepted) if row.read is value_at else "")


def _is_element(row: grammars._Row) -> bool:
    """Return whether the sign before a name is rarer than what is behind it: `<`, but not `|`."""
    return row.read is not value_at and row.judge is None


def _rows() -> Iterator[grammars._Row]:
    for row in (*grammars._TABLE, grammars._CELL_BEHIND, *grammars._BESIDE_NAME):
        if row.judge not in (None, is_no_words):
            raise Untranslatable(f"expected a pattern for the test of {row.source!r}, got none")
        yield row


def _beside() -> _Rules:
    """Names with their value in another member or attribute, before them or behind."""
    member = superset_of(r"[vV]alue[\"']\s*:")
    attribute = superset_of(r"[vV]alue\s{0,3}=")
    tag = superset_of(r"(?:name|key|id|type)\s{0,3}=\s{0,3}\\*[\"'][\w.:\-]*")
    yield "tag", (tag + any_name(), attribute)
    for name in names():
        yield "beside", (name.pattern + NAME_ENDS + superset_of(r"\s*[,}]"), member)


_LOGIN = "login"
"""The word that makes a command of a name which is too short to be looked for."""


def _commands() -> _Rules:
    blank, comma = superset_of(r"[ \t]{1,3}"), NAME_ENDS + superset_of(r"\s*,\s*")
    any_text = superset_of(r"\\*[\"'][\s\S]")
    dashes = superset_of(r"--[A-Za-z0-9_.\-]*")
    for name in names():
        if name.sort == "anything":
            yield "option", dashes + name.pattern + blank + value(name.sort)
            yield "option in a list", superset_of("--.*") + name.pattern + comma + any_text
    short = "|".join(sorted(command_lines._SHORT))
    option = superset_of(rf"[\s\"']-+(?:{short})")
    words = {_rarest(command.words) for command in command_lines._COMMANDS}
    yield "short option", (option, _as_words(words))
    yield "here string", superset(command_lines._HERE)
    yield "piped", superset(command_lines._PIPED)


def _rarest(words: frozenset[str]) -> str:
    return _LOGIN if _LOGIN in words else min(words)


def _as_words(words: set[str]) -> str:
    """Return the pattern of one of some words, which may stand behind an escape."""
    before = r"(?:^|[^A-Za-z0-9_.\x2d]|\\[bfnrt]|\\u[0-9A-Fa-f]{4})"
    return f"{before}(?:{'|'.join(sorted(words))})"


def _grammars() -> _Rules:
    for row in _rows():
        if "name" not in row.before.groupindex:
            yield row.source, superset(row.before)
        elif _is_element(row):
            ending = superset_of(r"[\w.:\-]*") + any_name()
            yield row.source, superset(row.before, {"name": ending})
    member = "|".join(grammars.PRIVATE_MEMBERS)
    private = superset_of(rf"[\"'](?:{member})\\*[\"']\s*:\s*(?:\[\s*)?\\*[\"']")
    yield "JSON Web Key", (private + RANDOM, "kty")


_RULES = (_unusual, _shapes, _urls, _headers, _named, _beside, _commands, _grammars)


def looks() -> tuple[Look, ...]:
    """Return the whole set.

    Raises:
        Untranslatable: if a row of a table has no pattern.
    """
    return tuple(
        Look(rule, patterns if isinstance(patterns, tuple) else (patterns,))
        for rules in _RULES
        for rule, patterns in rules()
    )
