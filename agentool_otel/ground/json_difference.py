"""Differences between two JSON values: as a patch that turns one into the other, and as a list.

A patch is an object of the members that differ. An object inside it is the patch of the object in
its place, or a new object where there is none; the members to be removed are listed under `-`. A
member whose own name begins with `-` has one more in front:

    {"a": 1, "b": {"c": 2}}  to  {"a": 1, "b": {"-x": 3}}  is  {"b": {"--x": 3, "-": ["c"]}}

Values are compared as JSON text: 1, 1.0 and true differ, as do 0.0 and -0.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import UNSET

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import Json, canonical

__all__ = ["Difference", "apply", "differences", "patch", "path_of", "same"]

_ABSENT = "-"
_PLAIN = re.compile(r"[A-Za-z_]\w*")


class Difference(NamedTuple):
    """One place at which two values differ."""

    path: str
    before: Json
    """`UNSET` where nothing stood."""
    after: Json
    """`UNSET` where nothing stands."""


def same(one: Json, other: Json) -> bool:
    """Return whether two values are equal as JSON text, whatever the order of their members."""
    if one is other:
        return True
    return type(one) is type(other) and canonical(one) == canonical(other)


def patch(before: Mapping[str, Json], after: Mapping[str, Json]) -> dict[str, Json]:
    """Return the patch that turns one object into another; an empty one where they are the same."""
    changed: dict[str, Json] = {}
    for name, value in after.items():
        old = before.get(name, UNSET)
        if not isinstance(value, dict):
            if not same(old, value):
                changed[_escape(name)] = value
        elif not isinstance(old, dict):
            changed[_escape(name)] = patch({}, value)
        elif inner := patch(old, value):
            changed[_escape(name)] = inner
    if absent := [name for name in before if name not in after]:
        changed[_ABSENT] = absent
    return changed


def apply(before: Mapping[str, Json], changes: Mapping[str, Json]) -> dict[str, Json]:
    """Return an object with a patch applied. Whatever JSON the patch is, it does not raise."""
    after = dict(before)
    absent = changes.get(_ABSENT)
    for name in absent if isinstance(absent, list) else ():
        if isinstance(name, str):
            after.pop(name, None)
    for escaped, value in changes.items():
        if escaped == _ABSENT:
            continue
        name = escaped[1:] if escaped.startswith("--") else escaped
        if isinstance(value, dict):
            old = after.get(name)
            after[name] = apply(old if isinstance(old, dict) else {}, value)
        else:
            after[name] = value
    return after


def differences(before: Json, after: Json, path: str = "$") -> Iterator[Difference]:
    """Yield the places at which two values differ, each the innermost there is."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            place = path_of(path, name)
            yield from differences(before.get(name, UNSET), after.get(name, UNSET), place)
    elif isinstance(before, list) and isinstance(after, list):
        for n in range(max(len(before), len(after))):
            old, new = (item[n] if n < len(item) else UNSET for item in (before, after))
            yield from differences(old, new, f"{path}[{n}]")
    elif not same(before, after):
        yield Difference(path, before, after)


def path_of(path: str, name: str) -> str:
    """Return the JSON path of a member of the object at `path`."""
    return f"{path}.{name}" if _PLAIN.fullmatch(name) else f"{path}[{name!r}]"


def _escape(name: str) -> str:
    return f"-{name}" if name.startswith("-") else name
