"""Inspect values without running their code.

A value of the user may raise, hang or change when one of its methods is called, and so may its
class. So nothing here calls either: classes are recognised by the method resolution order that the
interpreter keeps, and attributes are taken from the instance's own dict or slots.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard, TypeVar

from agentool_otel.semconv.marks import (
    MARK_LENGTH,
    MARK_TRUNCATED,
    MARK_TYPE,
    MARK_UNENCODABLE,
)

__all__ = [
    "MISSING",
    "Items",
    "Marker",
    "class_dict",
    "class_name",
    "fields",
    "has_method",
    "instance_dict",
    "is_a",
    "module_name",
    "mro",
    "stored_attribute",
    "truncation_marker",
    "type_name",
    "unencodable",
]

mro: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
class_dict: Callable[[type], Mapping[str, Any]] = type.__dict__["__dict__"].__get__
_qualname: Callable[[type], str] = type.__dict__["__qualname__"].__get__
_name: Callable[[type], str] = type.__dict__["__name__"].__get__
_module: Callable[[type], Any] = type.__dict__["__module__"].__get__

MISSING: Any = object()

_T = TypeVar("_T")
_is_subclass: Callable[[type, type], bool] = type.__subclasscheck__


def is_a(value: Any, kind: type[_T]) -> TypeGuard[_T]:
    """Return whether a value is an instance of a class, by its type alone.

    `isinstance` reads `__class__` of the value, and a metaclass may run more of its code:
    pydantic's reads an attribute of it.
    """
    return _is_subclass(kind, type(value))


class Items(NamedTuple):
    """The members of a container, in order and possibly more than anyone should read."""

    members: Iterator[Any]
    """Values, or (key, value) pairs of a mapping."""
    length: int
    mapping: bool = False

    @property
    def few(self) -> bool:
        """True for a mapping of few members, such as the arguments of a call."""
        return self.mapping and self.length <= 16


class Marker(dict[str, Any]):
    """Placeholder for a value, or the part of a value, that was left out."""


def class_name(cls: type) -> str:
    """Return the name of a class without its module and the classes around it."""
    return _name(cls)


def type_name(cls: type) -> str:
    """Return the qualified name of a class, as its author wrote it."""
    name, module = _qualname(cls), module_name(cls)
    return name if module is None or module == "builtins" else f"{module}.{name}"


def module_name(cls: type) -> str | None:
    """Return the module of a class, None if its author put something else there."""
    module = _module(cls)
    return module if type(module) is str else None


def unencodable(value: Any, reason: str = "opaque", **more: Any) -> Marker:
    """Return the marker of a value that JSON cannot hold."""
    return Marker({MARK_TYPE: type_name(type(value)), MARK_UNENCODABLE: reason, **more})


def truncation_marker(value: Any, limit: str, length: int, **more: Any) -> Marker:
    """Return the marker of a container that is over a limit."""
    return Marker(
        {MARK_TYPE: type_name(type(value)), MARK_TRUNCATED: limit, MARK_LENGTH: length, **more}
    )


def has_method(value: Any, name: str) -> bool:
    """Return whether the class of a value defines a method, by its own dict and those above it.

    `hasattr` and `isinstance` of an abstract class run code of a class or of its metaclass.
    """
    return any(class_dict(base).get(name) is not None for base in mro(type(value)))


def stored_attribute(value: Any, name: str) -> Any:
    """Return an attribute from the instance's own slot or dict; `MISSING` where it is not set."""
    for base in mro(type(value)):
        slot = class_dict(base).get(name)
        if type(slot) is types.MemberDescriptorType:
            try:
                return slot.__get__(value)
            except AttributeError:
                return MISSING
    members = instance_dict(value)
    return MISSING if members is None else members.get(name, MISSING)


def instance_dict(value: Any) -> dict[str, Any] | None:
    """Return an instance's own dict, also where its class pretends to have another."""
    for base in mro(type(value)):
        slot: Any = class_dict(base).get("__dict__")
        if type(slot) in (types.GetSetDescriptorType, types.MemberDescriptorType):
            content = slot.__get__(value)
            return content if type(content) is dict else None
    return None


def fields(value: Any, names: list[str]) -> Items:
    """Return fields that a class declares, with their values where they are stored."""

    def members() -> Iterator[tuple[str, Any]]:
        for name in names:
            content = stored_attribute(value, name)
            yield name, unencodable(value, "not set") if content is MISSING else content

    return Items(members(), len(names), mapping=True)
