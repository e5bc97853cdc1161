"""JSON that ends in the middle, as stores and SDKs leave it that limit the length of a value."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import without_lone_surrogates

__all__ = ["completed", "is_cut_json", "is_json", "levels_open"]

_check = msgspec.json.Decoder(msgspec.Raw).decode
_STRUCTURE = frozenset('",:[{')
_STRONG = ('{"', "[{", '["')
"""Beginnings that hardly any other text has."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],]', re.DOTALL)
"""A string, also one that is cut, or a mark between values."""
_ENDS = frozenset("}]")
_CLOSING = {"{": "}", "[": "]"}
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")
"""An escape that is cut itself, at the end of a string."""
_PARTIAL = re.compile(r'"(?P<key>[^"\\]*)"\s*:\s*"(?:[^"\\]|\\.)*\\?$', re.DOTALL)
"""The last member of an object, whose text goes on."""


def is_json(text: str) -> bool:
    """Return whether a text is a JSON value."""
    try:
        _check(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def is_cut_json(text: str) -> bool:
    """Return whether a text is JSON of an object or an array that ends in the middle.

    One that ends in a bracket is read whole only where its brackets do not match: strings in it may
    hold some. A bracket alone, or before one word, is a text like any other.
    """
    if text[:1] not in _CLOSING:
        return False
    truncated = False
    try:
        _check(text)
        return False  # nearly always
    except msgspec.DecodeError as error:
        truncated = "truncated" in str(error)
    except (UnicodeError, RecursionError):
        pass
    if _STRUCTURE.isdisjoint(text[1:]) or (text[-1] in _ENDS and not _has_open_brackets(text)):
        return False
    return truncated or text[:2] in _STRONG


def _has_open_brackets(text: str) -> bool:
    count = text.count
    return count("{") != count("}") or count("[") != count("]")


def completed(text: str, partial: str) -> Any:
    """Return the value of cut JSON up to its last complete member, None if there is none.

    Args:
        text: the JSON.
        partial: name of the member of which an incomplete text counts too.
    """
    ends: list[str] = []
    end, closing = 0, ""
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in _CLOSING:
            ends.append(_CLOSING[mark])
            end, closing = token.end(), "".join(reversed(ends))
        elif mark in ("}", "]"):
            if not ends or ends.pop() != mark:
                return None
            end, closing = token.end(), "".join(reversed(ends))
        elif mark == ",":
            end, closing = token.start(), "".join(reversed(ends))
    ways = [text[:end] + closing]
    if text.endswith('"'):
        ways.append(text + closing)
    begun = _PARTIAL.search(text, end)
    if begun is not None and begun["key"] == partial:
        ways.append(_ESCAPE.sub("", text) + '"' + closing)
    return next((value for way in reversed(ways) if (value := _parsed(way)) is not None), None)


def levels_open(text: str) -> int:
    """Return how many brackets are open at the end of cut JSON."""
    marks = (token[0] for token in _TOKEN.finditer(text))
    return sum((mark in _CLOSING) - (mark in ("}", "]")) for mark in marks)


def _parsed(text: str) -> Any:
    try:
        return json.loads(without_lone_surrogates(text))
    except (ValueError, RecursionError):
        return None
