"""Translate an object of a format to one of the spec, without losing members that either lacks.

A format declares how its own members and those of the spec translate into each other; the rest
follows. Further data of an object is kept as a patch of its translation: in `metadata` of the
spec's object one way, in an additional member of the format's object the other way. So objects
written by hand and translated ones look the same, and editing either keeps the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from msgspec import UNSET

from agentool_otel.converters.kit.fields import Object
from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_difference import apply, patch, same

__all__ = ["Path", "Translation", "put", "value_at", "without_each", "without_path"]

Path = tuple[str, ...]


class Translation:
    """Both directions for one kind of object.

    Args:
        read: from the format's object to that of the spec. May raise DecodeError.
        write: from the spec's object to that of the format.
        kept_at: where the spec's object keeps what only the format knows.
        room: where the format's object keeps what only the spec knows; None if it has no place.
    """

    def __init__(
        self,
        read: Callable[[Object], Object],
        write: Callable[[Object], Object],
        kept_at: Path,
        room: Path | None,
    ):
        self._read = read
        self._write = write
        self._kept_at = kept_at
        self._room = room

    def to_agentool(self, value: Object) -> Object:
        """Return the object of the spec.

        Raises:
            DecodeError: if `value` is not valid.
        """
        kept_patch = value_at(value, self._room) if self._room else None
        if not self._room or not isinstance(kept_patch, dict):
            return self._translate(value)
        return apply(self._translate(without_path(value, self._room)), kept_patch)

    def from_agentool(self, spec: Object) -> Object:
        """Return the object of the format.

        Raises:
            DecodeError: if the format cannot express it at all.
        """
        value = self._with_kept(without_path(spec, self._kept_at), value_at(spec, self._kept_at))
        if self._room is None or same(self.to_agentool(value), spec):
            return value
        bare = without_path(put(value, self._room, {}), self._room)
        return put(bare, self._room, patch(self._translate(bare), spec))

    def _translate(self, value: Object) -> Object:
        spec = self._read(value)
        difference = patch(self._write(spec), value)
        return put(spec, self._kept_at, difference) if difference else spec

    def _with_kept(self, spec: Object, difference: Any) -> Object:
        """Return the format's object with the kept difference, as far as it does not contradict the
        spec's: someone may have edited one and not the other.
        """
        plain = self._write(spec)
        if not isinstance(difference, dict):
            return plain
        agreed = self._agreed_members(plain, spec) or set()
        for value in _candidates(plain, difference):
            agreement = self._agreed_members(value, spec)
            if agreement is not None and agreed <= agreement:
                return value
        return plain

    def _agreed_members(self, value: Object, spec: Object) -> set[str] | None:
        """Return the members of the spec's object that the format's object gives back, None if it
        is not valid.
        """
        try:
            read = self._read(value)
        except DecodeError:
            return None
        names = {*read, *spec}
        return {name for name in names if same(read.get(name, UNSET), spec.get(name, UNSET))}


def _candidates(plain: Object, difference: Object) -> Iterator[Object]:
    """Yield an object with all that was kept, then with those members alone that are new."""
    yield apply(plain, difference)
    yield {**apply({}, difference), **plain}


def value_at(value: Any, path: Path) -> Any:
    """Return the value at a path, None if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def put(value: Mapping[str, Any], path: Path, content: Any) -> Object:
    """Return a copy with something at a path, objects made on the way."""
    name, *remainder = path
    inner = value.get(name)
    if remainder:
        content = put(inner if isinstance(inner, dict) else {}, tuple(remainder), content)
    return {**value, name: content}


def without_path(value: Mapping[str, Any], path: Path) -> Object:
    """Return a copy with nothing at a path, nor an object that is empty without it."""
    name, *remainder = path
    if not remainder:
        return without_each(value, (name,))
    inner = value.get(name)
    if not isinstance(inner, dict) or remainder[0] not in inner:
        return dict(value)
    left = without_path(inner, tuple(remainder))
    return {**value, name: left} if left else without_each(value, (name,))


def without_each(value: Mapping[str, Any], names: Collection[str]) -> Object:
    """Return a copy without some members."""
    return {name: value for name, value in value.items() if name not in names}
