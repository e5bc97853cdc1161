"""Members of a document: read with their types, and wrong ones named by path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from msgspec import UNSET

from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_codec import Json
from agentool_otel.ground.json_difference import path_of

__all__ = ["Object", "describe", "each", "error_below", "member", "unique"]

Object = dict[str, Any]
T = TypeVar("T")
D = TypeVar("D")
_NAMES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    dict: "object",
    list: "array",
    int: "integer",
}
_REQUIRED: Any = object()


@overload
def member(value: Mapping[str, Any], name: str, kind: type[T], *, filled: bool = False) -> T: ...


@overload
def member(value: Mapping[str, Any], name: str, kind: type[T], default: D) -> T | D: ...


def member(
    value: Mapping[str, Any],
    name: str,
    kind: type[T],
    default: Any = _REQUIRED,
    *,
    filled: bool = False,
) -> Any:
    """Return a member of an object.

    Args:
        value: the object.
        name: the member.
        kind: the type it must have.
        default: what is returned where it is missing or null; without it the member is required.
        filled: whether it must not be empty.

    Raises:
        DecodeError: with the path of the member inside the object.
    """
    entry = value.get(name, UNSET)
    if default is not _REQUIRED and (entry is UNSET or entry is None):
        return default
    expected = f"{'non-empty ' if filled else ''}{_NAMES[kind]}"
    if not isinstance(entry, kind) or (isinstance(entry, bool) and kind is not bool):
        raise DecodeError(expected, describe(entry), path_of("$", name))
    if filled and not entry:
        raise DecodeError(expected, "an empty one", path_of("$", name))
    return entry


def each(values: Sequence[Json], path: str, read: Callable[[Any], T]) -> list[T]:
    """Read the objects of a list, and name the path of one that is wrong.

    Raises:
        DecodeError: if one is no object, or `read` raises it.
    """
    results: list[T] = []
    for n, value in enumerate(values):
        place = f"{path}[{n}]"
        if not isinstance(value, dict):
            raise DecodeError("object", describe(value), place)
        try:
            results.append(read(value))
        except DecodeError as error:
            raise error_below(place, error) from None
    return results


def unique(values: Sequence[Mapping[str, Any]], name: str, path: str) -> None:
    """Check that a member has another value in each object of a list.

    Raises:
        DecodeError: for the first one that repeats another's.
    """
    first: dict[Any, int] = {}
    for n, value in enumerate(values):
        key = value.get(name)
        if isinstance(key, str) and first.setdefault(key, n) != n:
            description = f"{key!r}, which is also that of {path}[{first[key]}]"
            raise DecodeError(f"a {name} of its own", description, path_of(f"{path}[{n}]", name))


def error_below(path: str, error: DecodeError) -> DecodeError:
    """Return an error about part of a document with its path relative to the whole document."""
    return DecodeError(error.expected, error.actual, path + error.path[1:], where=error.where)


def describe(value: Json) -> str:
    """Return a short description of a value."""
    if value is UNSET:
        return "nothing"
    if value is None:
        return "null"
    if isinstance(value, (dict, list)):
        return f"{_NAMES[type(value)]} of {len(value)}"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else f'{text[:40]}…'}"
