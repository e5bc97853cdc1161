"""Fields of values that come from users, SDKs and servers: JSON, or the objects of a library.

They may be of any quality: a field of an unexpected type counts as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

__all__ = ["get", "integer", "items", "joined", "number", "record", "string"]


def record(value: Any) -> dict[str, Any] | None:
    """Return a value that is a JSON object, None for any other."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def get(value: Any, name: str) -> Any:
    """Return a field of a dict or of an object, None where it has none."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).get(name)
    return getattr(value, name, None)


def string(value: Any, name: str) -> str | None:
    member = get(value, name)
    return member if isinstance(member, str) else None


def integer(value: Any, name: str) -> int | None:
    member = get(value, name)
    return member if isinstance(member, int) and not isinstance(member, bool) else None


def number(value: Any, name: str) -> float | None:
    member = get(value, name)
    if isinstance(member, (int, float)) and not isinstance(member, bool):
        return float(member)
    return None


def items(value: Any, name: str | None = None) -> list[Any]:
    """Return a field that is a list. An iterator is not one: reading it would use it up."""
    member = value if name is None else get(value, name)
    return list(cast("Sequence[Any]", member)) if isinstance(member, (list, tuple)) else []


def joined(texts: Iterable[Any]) -> str:
    return "".join(part for part in texts if isinstance(part, str))
