"""Read attributes of objects without running code of the user's.

An attribute is read from where the interpreter stores it: a slot, the instance's own dict, or the
dict of a class. `__getattr__`, `__getattribute__`, methods and descriptors never run. The only
properties and methods that are used are those that are allowed, where a library's own class defines
them.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple
from weakref import ref

from agentool_otel.content.encoding.introspection import (
    MISSING,
    class_dict,
    module_name,
    mro,
)
from agentool_otel.ground.interruptions import let_through

__all__ = ["allow", "attribute"]

_URL = frozenset({"base_url", "host", "port", "scheme"})
_REQUEST = frozenset({"cancelled", "in_flight", "message_metadata", "request_id", "session_id"})
_allowed: dict[str, frozenset[str]] = {
    "anthropic": _URL | {"_client", "_params", "current_message_snapshot"},
    "botocore": frozenset({"endpoint_url"}),
    "httpx": _URL,
    "httpx2": _URL,
    "mcp": _REQUEST | {"protocol_version"},
    "openai": _URL,
    "opentelemetry": frozenset({"instrumentation_scope", "name"}),
    "pydantic": frozenset({"model_extra"}),
    "starlette": frozenset({"client", "headers"}),
}
"""By the package whose class defines them, the properties and methods that may be used. They return
what their object stores, and look into no value of the user's. Instrumentors add those of their
library.

The classes of these packages live as long as the process, so the places where they store attributes
are cached. A class of the user's is looked at anew each time, and never kept alive."""

_Reader = Callable[[Any], Any]
_RUNS = (property, types.FunctionType)
_STORED_BY_C = (
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    type(vars(NamedTuple("_Pair", [("first", Any)]))["first"]),
)
"""Descriptors of slots, of types written in C and of named tuples: they run no Python code."""
_EXTRA = ("__pydantic_extra__", "__pydantic_private__")
_MOST_CLASSES = 1024
_MOST_NAMES = 256


def allow(package: str, *names: str) -> None:
    """Let `attribute` use properties and methods of a library, and cache the places of its classes.

    Args:
        package: the top-level package whose classes define them.
        names: properties and methods that only return what their object stores.
    """
    _allowed[package] = _allowed.get(package, frozenset()).union(names)
    _places.clear()


def attribute(value: Any, name: str) -> Any:
    """Return an attribute of an object, `MISSING` where none is stored.

    A method is no attribute here, nor is what a property or `__getattr__` would compute.
    """
    cls = type(value)
    places = _places.get(id(cls))
    if places is None or places.cls() is not cls:
        places = _Places(cls)
        if _is_library(cls):
            if len(_places) >= _MOST_CLASSES:
                _places.clear()
            _places[id(cls)] = places
    reader = places.readers.get(name, _UNKNOWN)
    if reader is None:
        return places.stored(value, name)
    return places.read(value, name) if reader is _UNKNOWN else reader(value)


class _Places:
    """The places where objects of one class store attributes."""

    __slots__ = ("_dict_of", "_extra", "_wrapped", "cls", "readers")

    def __init__(self, cls: type):
        self.cls = ref(cls)
        self._dict_of: _Reader | None = None
        self._extra: list[_Reader] = []
        self._wrapped: _Reader | None = None
        self.readers: dict[str, _Reader | None] = {}
        for base in mro(cls):
            space = class_dict(base)
            if self._dict_of is None and type(space.get("__dict__")) in _STORED_BY_C:
                self._dict_of = space["__dict__"].__get__
            if self._wrapped is None and type(space.get("__wrapped__")) in _STORED_BY_C:
                self._wrapped = space["__wrapped__"].__get__
            for name in _EXTRA:
                if type(space.get(name)) is types.MemberDescriptorType:
                    self._extra.append(_slot(space[name]))

    def read(self, value: Any, name: str) -> Any:
        """Return an attribute whose place is not known yet."""
        reader = self._reader(type(value), name)
        return self.stored(value, name) if reader is None else reader(value)

    def stored(self, value: Any, name: str) -> Any:
        """Return an attribute that the object itself stores."""
        if self._wrapped is not None:  # a proxy pretends to have the dict of another object
            return attribute(self._wrapped(value), name)
        if self._dict_of is not None:
            members = self._dict_of(value)
            if type(members) is dict and name in members:
                return members[name]
        for read in self._extra:
            more = read(value)
            if type(more) is dict and name in more:
                return more[name]
        return MISSING

    def _reader(self, cls: type, name: str) -> _Reader | None:
        """Return the reader of an attribute; None if only the object itself can store it."""
        reader: _Reader | None = None
        for base in mro(cls):
            space = class_dict(base)
            if name not in space:
                continue
            descriptor = space[name]
            if type(descriptor) in _STORED_BY_C:
                reader = _slot(descriptor)
            elif type(descriptor) in _RUNS and name in _allowed.get(_package(base), ()):
                reader = _running(descriptor)
            elif not _is_descriptor(descriptor):
                return self._or_default(name, descriptor)
            break
        if name in ("value", "name") and _has_base(cls, Enum):
            reader = self._or_default(f"_{name}_", MISSING)
        if len(self.readers) < _MOST_NAMES:
            self.readers[name] = reader
        return reader

    def _or_default(self, name: str, default: Any) -> _Reader:
        """Return the reader of an attribute that the class has a value for, too."""

        def read(value: Any) -> Any:
            content = self.stored(value, name)
            return default if content is MISSING else content

        return read


_UNKNOWN: Any = object()
_places: dict[int, _Places] = {}
"""By the id of a class, because its hash may be the user's."""


def _slot(descriptor: Any) -> _Reader:
    get = descriptor.__get__

    def read(value: Any) -> Any:
        try:
            return get(value)
        except AttributeError:  # not set
            return MISSING

    return read


def _running(descriptor: property | types.FunctionType) -> _Reader:
    get = descriptor.__get__

    def read(value: Any) -> Any:
        try:
            return get(value)
        except Exception as error:  # a library's, on an object that is only half made
            let_through(error)
            return MISSING

    return read


def _is_descriptor(value: Any) -> bool:
    return any("__get__" in class_dict(base) for base in mro(type(value)))


def _has_base(cls: type, kind: type) -> bool:
    return any(base is kind for base in mro(cls))


def _package(cls: type) -> str:
    return (module_name(cls) or "").partition(".")[0]


def _is_library(cls: type) -> bool:
    return _package(cls) in _allowed
