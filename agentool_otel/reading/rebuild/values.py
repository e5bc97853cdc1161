"""Small readings of attribute values that every part of the rebuild needs."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
from typing import Any

from msgspec import UNSET

from agentool_otel.dialects import LazyJson
from agentool_otel.ground.json_codec import canonical, loads
from agentool_otel.reading.rebuild.tree import Node

__all__ = [
    "arguments_text",
    "index",
    "json_or",
    "millis",
    "number",
    "plain",
    "put",
    "set_known",
    "text",
]

_DIGITS = 18
"""Those of a place on the timeline that is read: more take long, and mean nothing."""


_REMEMBERED = 4096
"""Length of a text of arguments up to which its canonical form is remembered: each later model call
of a conversation repeats the texts of those before."""


def arguments_text(arguments: Any) -> str:
    """Return the arguments of a call as text that is equal for equal values.

    JSON text of an object, as providers send it, is equal to the object.
    """
    value = plain(arguments)
    if not isinstance(value, str):
        return canonical(value)
    return _remembered(value) if len(value) <= _REMEMBERED else _text_of(value)


def _text_of(text: str) -> str:
    if text[:1] == "{":
        try:
            return canonical(loads(text))
        except ValueError:
            pass
    return canonical(text)


_remembered = lru_cache(maxsize=1024)(_text_of)


def set_known(body: dict[str, Any], key: str, value: Any) -> None:
    """Set a member that is known; None is unknown."""
    if value is not None:
        body[key] = value


def put(body: dict[str, Any], key: str, value: Any) -> None:
    """Set a member whose value may itself be null; UNSET is unknown."""
    if value is not UNSET:
        body[key] = value


def text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def number(value: Any) -> int | float | None:
    """Return a number, also one that a store made text; None for numbers that JSON cannot
    represent.
    """
    if isinstance(value, str):
        try:
            value = int(value) if value.lstrip("-").isdecimal() else float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if isinstance(value, int) or isfinite(value) else None


def index(node: Node, key: str) -> int | None:
    """A place on the timeline, from a span's attributes."""
    value = node.span.attributes.get(key)
    if isinstance(value, str) and value.isdecimal() and len(value) <= _DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def json_or(value: Any, default: Any) -> Any:
    """Return the value of JSON text, `default` for text that is none; any other value stays as it
    is.
    """
    if isinstance(value, str):
        try:
            return loads(value)
        except ValueError:
            return default
    return value


def plain(value: Any) -> Any:
    """Return the parsed value of a payload."""
    return value.value if isinstance(value, LazyJson) else value


def millis(ns: int) -> int | float:
    return ns // 1_000_000 if ns % 1_000_000 == 0 else ns / 1e6
