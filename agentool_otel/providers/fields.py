"""Fields of values that come from users, SDKs and servers: JSON, or the objects of a library.

A value may be of any quality. A field of an unexpected type counts as absent. No code of the user's
runs: types are compared by identity, and text, numbers and containers of a derived type are
returned as the built-in type that they are derived from.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeGuard

from agentool_otel.content.encoding.attributes import attribute
from agentool_otel.content.encoding.introspection import MISSING, is_a

__all__ = [
    "as_list",
    "get",
    "integer",
    "is_a",
    "is_plain",
    "items",
    "join_texts",
    "number",
    "plain_text",
    "record",
    "string",
    "texts",
]


def plain_text(value: Any) -> str | None:
    """Return text as the built-in type, None for a value that is not text."""
    if type(value) is str:
        return value
    return str.__str__(value) if is_a(value, str) else None


def _integer(value: Any) -> int | None:
    if type(value) is int:
        return value
    return int.__int__(value) if is_a(value, int) and type(value) is not bool else None


def record(value: Any) -> dict[str, Any] | None:
    """Return a value that is a JSON object, None for any other.

    A dict of a derived type is copied, and one with other names than text without those.
    """
    if not is_a(value, dict):
        return None
    if is_plain(value):
        return value
    pairs = dict.items(value)
    return {name: item for key, item in pairs if (name := plain_text(key)) is not None}


def is_plain(value: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether a value is a dict whose names are all of the built-in type.

    A lookup in any other may call `__eq__` of a name.
    """
    if type(value) is not dict:
        return False
    for name in value:  # noqa: SIM110 - a generator takes twice the time
        if type(name) is not str:
            return False
    return True


def get(value: Any, name: str) -> Any:
    """Return a field of a dict or of an object, None if it has none."""
    if type(value) is dict:
        for key in value:  # `is_plain`, without a call
            if type(key) is not str:
                break
        else:
            return value.get(name)
    elif value is None or type(value) is str:
        return None
    fields = record(value)
    if fields is not None:
        return fields.get(name)
    member = attribute(value, name)
    return None if member is MISSING else member


def string(value: Any, name: str) -> str | None:
    member = get(value, name)
    if member is None or type(member) is str:
        return member
    return plain_text(member)


def integer(value: Any, name: str) -> int | None:
    return _integer(get(value, name))


def number(value: Any, name: str) -> float | None:
    member = get(value, name)
    if is_a(member, float):
        return float.__float__(member)
    integral = _integer(member)
    return None if integral is None else float(integral)


def items(value: Any, name: str | None = None) -> list[Any]:
    """Return a field that is a list. An iterator is not one: reading it would use it up."""
    return as_list(value if name is None else get(value, name)) or []


def as_list(value: Any) -> list[Any] | None:
    """Return the members of a list or a tuple, None for any other value."""
    if is_a(value, list):
        return list(list.__iter__(value))
    if is_a(value, tuple):
        return list(tuple.__iter__(value))
    return None


def texts(value: Any, name: str | None = None) -> list[str]:
    """Return the texts in a field that is a list."""
    return [text for each in items(value, name) if (text := plain_text(each)) is not None]


def join_texts(texts: Iterable[Any]) -> str:
    return "".join(text for each in texts if (text := plain_text(each)) is not None)
