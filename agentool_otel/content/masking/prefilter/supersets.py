"""Byte patterns that match wherever an expression of the exact search can match.

The exact search reads text that it has decoded from JSON, at any depth. A pattern of the prefilter
reads the encoded bytes once. So it drops what an engine without backtracking cannot express
(look-around, anchors, back-references, upper bounds), and each character also matches its escapes.

`superset` never narrows: a part that it does not know raises `Untranslatable`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from itertools import groupby
from typing import Any, NamedTuple

__all__ = ["Untranslatable", "superset", "superset_behind", "superset_of"]

_parser = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")


class Untranslatable(ValueError):
    """An expression, or the test of a value, for which the prefilter has no pattern."""


_OPEN = 4
"""Upper bounds above this one are dropped: an engine has a state for each repetition."""
_HEX = "[0-9A-Fa-f]"
_ESCAPE = rf"\\+u{_HEX}{{4}}"
_ESCAPES = rf"(?:{_ESCAPE}){{1,2}}"
"""The escapes of one character: beyond U+FFFF it has two."""
_CONTROLS = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}


class _Reading(NamedTuple):
    """State of a translation."""

    ignore_case: bool
    dot_all: bool
    groups: Mapping[int, str]
    """Replacements of groups."""
    bodies: dict[int, Any]
    """Contents of the groups before, for references to them."""
    separator: str
    """Pattern in the place of `_` and `-`; "" if they stand for themselves."""


def superset(
    pattern: re.Pattern[str],
    groups: Mapping[str, str] | None = None,
    *,
    ahead: bool = True,
    separator: str = "",
) -> str:
    """Return a pattern over bytes for an expression over text.

    Args:
        pattern: the expression.
        groups: byte patterns to put in the place of named groups.
        ahead: whether nothing is put behind the pattern, so that it may end in what lies ahead.
        separator: byte pattern to put in the place of `_` and `-`, for the expression of a name.

    Raises:
        Untranslatable: if there is no pattern for a part of the expression.
    """
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    numbers = tree.state.groupdict
    replaced = {numbers[name]: body for name, body in (groups or {}).items() if name in numbers}
    flags = tree.state.flags
    reading = _Reading(
        bool(flags & re.IGNORECASE), bool(flags & re.DOTALL), replaced, {}, separator
    )
    items = list(tree)
    if items and _may_begin_text(*items[0]):
        del items[0]
    if ahead and items and str(items[-1][0]) == "ASSERT" and items[-1][1][0] > 0:
        items = [*items[:-1], *items[-1][1][1]]
    body = _sequence(items, reading)
    return f"(?i:{body})" if reading.ignore_case else body


def superset_behind(pattern: re.Pattern[str], group: str) -> str:
    """Return the pattern of what follows a named group, to the end of the expression.

    Raises:
        Untranslatable: if the group is inside of another part, or as `superset`.
    """
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    number = tree.state.groupdict[group]
    reading = _Reading(False, False, {}, {}, "")
    for at, (kind, value) in enumerate(tree):
        if str(kind) == "SUBPATTERN" and value[0] == number:
            return _sequence(list(tree)[at + 1 :], reading)
        _item(str(kind), value, reading)  # for references to it
    raise Untranslatable(f"expected the group {group!r} outside of others, got {pattern.pattern!r}")


@lru_cache(256)
def superset_of(expression: str) -> str:
    """Return a pattern over bytes for the source of an expression over text."""
    return superset(re.compile(expression))


def _sequence(items: Iterable[tuple[Any, Any]], reading: _Reading) -> str:
    return "".join(_item(str(kind), value, reading) for kind, value in items)


def _item(kind: str, value: Any, reading: _Reading) -> str:
    match kind:
        case "AT" | "ASSERT" | "ASSERT_NOT":
            return ""
        case "LITERAL" if reading.separator and chr(value) in "_-":
            return reading.separator
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
            return _characters(kind, value, reading).once(reading)
        case "BRANCH":
            branches = (_sequence(branch, reading) for branch in value[1] if not _is_vain(branch))
            return f"(?:{'|'.join(dict.fromkeys(branches))})"
        case "SUBPATTERN":
            return _group(value, reading)
        case "GROUPREF":
            return _group((value, 0, 0, reading.bodies[value]), reading)
        case "ATOMIC_GROUP":
            return _sequence(value, reading)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, body = value
            return _repeat(least, most, body, reading)
        case _:
            raise Untranslatable(f"expected a known part of an expression, got {kind}")


def _group(value: tuple[int | None, int, int, Any], reading: _Reading) -> str:
    number, add, drop, body = value
    if number is not None:
        reading.bodies[number] = body
        if number in reading.groups:
            return reading.groups[number]
    if drop:
        raise Untranslatable("expected no flag to be switched off in a group")
    reading = reading._replace(
        ignore_case=reading.ignore_case or bool(add & re.IGNORECASE),
        dot_all=reading.dot_all or bool(add & re.DOTALL),
    )
    return f"(?{'i' if reading.ignore_case else ''}:{_sequence(body, reading)})"


def _may_begin_text(kind: Any, value: Any) -> bool:
    """Return whether a part of an expression is an alternative to the beginning of the text."""
    if str(kind) == "SUBPATTERN" and len(value[3]) == 1:
        return _may_begin_text(*value[3][0])
    return str(kind) == "BRANCH" and any(
        len(branch) == 1 and str(branch[0][0]) == "AT" for branch in value[1]
    )


def _is_vain(branch: Any) -> bool:
    """Return whether a branch is a group without contents: it marks a match that is none."""
    if len(branch) != 1:
        return False
    kind, value = branch[0]
    return str(kind) == "SUBPATTERN" and len(value[3]) == 0


def _repeat(least: int, most: int, body: Any, reading: _Reading) -> str:
    kind, value = body[0] if len(body) == 1 else ("", None)
    if str(kind) in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
        characters = _characters(str(kind), value, reading)
        inner, opened = characters.repeated(reading), characters.beyond is True
    else:
        inner, opened = f"(?:{_sequence(body, reading)})", False
    if inner == reading.separator:
        inner = f"(?:{inner})"
    if opened or most > _OPEN:
        return inner + {0: "*", 1: "+"}.get(least, f"{{{least},}}")
    return inner + ("?" if (least, most) == (0, 1) else f"{{{least},{most}}}")


class _Characters(NamedTuple):
    """The characters that one place of a text may have."""

    ascii: frozenset[str]
    beyond: bool | frozenset[str]
    """Characters beyond ASCII: all, none or these."""

    def once(self, reading: _Reading) -> str:
        """Return the pattern of one of them."""
        if reading.separator and self.ascii and self.ascii <= {"_", "-"}:
            return reading.separator
        return self._pattern(r"[\x80-\xff]{1,4}")

    def repeated(self, reading: _Reading) -> str:
        """Return the pattern of one of many: there each byte may count for a character."""
        if self.ascii == frozenset("\\") and not self.beyond:
            return r"\\"
        if reading.separator and self.ascii and self.ascii <= {"_", "-"}:
            return reading.separator
        return self._pattern(r"[\x80-\xff]")

    def _pattern(self, any_beyond: str) -> str:
        if len(self.ascii) == 1 and not self.beyond and min(self.ascii) >= " ":
            return _escaped(min(self.ascii))
        merged = self.beyond is True and any_beyond == r"[\x80-\xff]"
        forms = [_byte_class(self.ascii, merged)] if self.ascii or merged else []
        if self.beyond is True and not merged:
            forms.append(any_beyond)
        elif not isinstance(self.beyond, bool):
            forms += (form for char in sorted(self.beyond) for form in _beyond_ascii(char))
        quoted = "".join(char for char in "\"/'" if char in self.ascii)
        if quoted:
            forms.append(rf"\\+[{quoted}]")
        if "\\" in self.ascii:
            forms.append(r"\\+")
        if controls := "".join(_CONTROLS[char] for char in _CONTROLS if char in self.ascii):
            forms.append(rf"\\+[{controls}]")
        if self.beyond is True or any(char < " " for char in self.ascii):
            forms.append(_ESCAPE if merged else _ESCAPES)
        return forms[0] if len(forms) == 1 else f"(?:{'|'.join(forms)})"


def _escaped(char: str) -> str:
    """Return the pattern of one printable character of ASCII: as it is, or behind backslashes."""
    if char == "\\":
        return r"\\+"
    return rf"\\*{char}" if char in "\"'/" else _byte(char)


def _byte(char: str) -> str:
    return char if char.isalnum() or char in "_ " else rf"\x{ord(char):02x}"


def _byte_class(chars: frozenset[str], beyond: bool) -> str:
    ranges = ""
    for _, run in groupby(enumerate(sorted(map(ord, chars))), lambda item: item[1] - item[0]):
        codes = [code for _, code in run]
        ends = f"{_byte(chr(codes[0]))}-{_byte(chr(codes[-1]))}"
        ranges += ends if len(codes) > 2 else "".join(_byte(chr(code)) for code in codes)
    return f"[{ranges}" + (r"\x80-\xff]" if beyond else "]")


def _beyond_ascii(char: str) -> tuple[str, str]:
    """Return the patterns of one character beyond ASCII: its bytes, and its escape in JSON."""
    escape = "".join(
        f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in f"{ord(char):04x}"
    )
    return "".join(rf"\x{byte:02x}" for byte in char.encode()), rf"\\+u{escape}"


_ASCII = frozenset(map(chr, range(128)))


def _characters(kind: str, value: Any, reading: _Reading) -> _Characters:
    if kind == "ANY":
        return _Characters(_ASCII if reading.dot_all else _ASCII - {"\n"}, True)
    negated = kind == "NOT_LITERAL" or (kind == "IN" and str(value[0][0]) == "NEGATE")
    members = value[negated:] if kind == "IN" else [("LITERAL", value)]
    chars: set[str] = set()
    beyond: set[str] = set()
    all_beyond = negated
    for member, what in members:
        match str(member):
            case "LITERAL":
                (chars if what < 128 else beyond).add(chr(what))
            case "RANGE":
                chars.update(chr(code) for code in range(what[0], min(what[1], 127) + 1))
                all_beyond = all_beyond or what[1] >= 128
            case "CATEGORY":
                chars.update(filter(_CATEGORIES[str(what)], _ASCII))
                all_beyond = True
            case _:
                raise Untranslatable(f"expected a known member of a class, got {member}")
    if reading.ignore_case:
        chars.update([char.lower() for char in chars])
        if negated:
            chars.update([char.upper() for char in chars])
        beyond.update([form for char in beyond for form in _cases(char)])
    if negated:
        return _Characters(_ASCII - chars, True)
    return _Characters(frozenset(chars), all_beyond or frozenset(beyond))


_CATEGORIES = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_NOT_DIGIT": lambda char: not char.isdigit(),
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_NOT_SPACE": lambda char: not char.isspace(),
    "CATEGORY_WORD": lambda char: char.isalnum() or char == "_",
    "CATEGORY_NOT_WORD": lambda char: not (char.isalnum() or char == "_"),
}


_BEYOND_ASCII = "".join(chr(code) for code in range(128, 65_536) if not 0xD800 <= code < 0xE000)


@cache
def _cases(char: str) -> frozenset[str]:
    """Return the characters beyond ASCII that are equal to one when case is ignored."""
    return frozenset(re.findall(re.escape(char), _BEYOND_ASCII, re.IGNORECASE))
