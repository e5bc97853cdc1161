"""Readers for values of dataclasses, attrs, msgspec, pydantic, numpy and pandas.

A library is not imported for this: a value of its types can only be there when it is.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

from agentool_otel.content.encoding.builtin_kinds import Look
from agentool_otel.content.encoding.introspection import (
    Items,
    class_dict,
    fields,
    instance_dict,
    mro,
    stored_attribute,
    truncation_marker,
    unencodable,
)
from agentool_otel.semconv.marks import MARK_LENGTH, MARK_TEXT, MARK_TRUNCATED

__all__ = ["declared_fields", "of_libraries"]

_CELLS = 100_000
"""Of an array or a frame that are taken out; a larger array is only described."""


def declared_fields(value: Any, base: type) -> Any:
    """Return the fields that one of an instance's classes declares; None if none does."""
    namespace = class_dict(base)
    if "__dataclass_fields__" in namespace:
        # Source: CPython dataclasses.py; class variables and init-only arguments are listed too.
        real = getattr(dataclasses, "_FIELD", None)
        listed: Any = namespace["__dataclass_fields__"]
        field_names = listed.values() if type(listed) is dict else ()
        names = [
            item.name
            for item in field_names
            if type(item) is dataclasses.Field and getattr(item, "_field_type", real) is real
        ]
        return fields(value, names)
    if "__attrs_attrs__" in namespace:
        attribute = getattr(sys.modules.get("attr"), "Attribute", None)
        listed = namespace["__attrs_attrs__"]
        members = tuple.__iter__(listed) if any(item is tuple for item in mro(type(listed))) else ()
        return fields(value, [member.name for member in members if type(member) is attribute])
    return None


def of_libraries() -> dict[int, Look]:
    """Return the readers for base classes of loaded libraries, by the class's id."""
    for place in list(_not_yet):
        module, name = place
        base = getattr(sys.modules.get(module), name, None)
        if base is not None:
            _by_base[id(base)] = _not_yet.pop(place)
    return _by_base


def _struct(value: Any) -> Items:
    return fields(value, list(type(value).__struct_fields__))


def _pydantic(value: Any) -> Any:
    members = instance_dict(value)
    if members is None:
        return unencodable(value)
    if list(members) == ["root"]:  # a RootModel is its only field
        return members["root"]
    more = stored_attribute(value, "__pydantic_extra__")
    pairs = [*members.items(), *(more.items() if type(more) is dict else ())]
    return Items(iter(pairs), len(pairs), mapping=True)


def _numpy_array(value: Any) -> Any:
    array = sys.modules["numpy"].ndarray
    size = array.size.__get__(value)
    if size <= _CELLS:
        return array.tolist(value)
    description = f"shape {array.shape.__get__(value)}, {array.dtype.__get__(value)}"
    return truncation_marker(value, "nodes", size, **{MARK_TEXT: description})


def _numpy_scalar(value: Any) -> Any:
    item = sys.modules["numpy"].generic.item(value)
    return unencodable(value) if item is None or type(item) is type(value) else item


def _pandas(value: Any) -> Any:
    pandas = sys.modules["pandas"]
    cls = type(value)
    if cls is pandas.Index and len(value) <= _CELLS:
        return list(value)
    if cls not in (pandas.DataFrame, pandas.Series):
        return unencodable(value)
    rows = _CELLS // 10 // max(1, value.size // max(1, len(value)))
    frame = value.iloc[:rows]
    members: dict[str, Any] = (
        frame.to_dict("split")
        if cls is pandas.DataFrame
        else {
            "index": list(frame.index),
            "data": list(frame),
        }
    )
    if rows < len(value):
        members |= {MARK_TRUNCATED: "nodes", MARK_LENGTH: len(value)}
    return Items(iter(members.items()), len(members), mapping=True)


_by_base: dict[int, Look] = {}
_not_yet: dict[tuple[str, str], Look] = {
    ("msgspec", "Struct"): _struct,
    ("pydantic.main", "BaseModel"): _pydantic,
    ("pydantic.v1.main", "BaseModel"): _pydantic,
    ("numpy", "ndarray"): _numpy_array,
    ("numpy", "generic"): _numpy_scalar,
    ("pandas", "DataFrame"): _pandas,
    ("pandas", "Series"): _pandas,
    ("pandas", "Index"): _pandas,
    ("pandas._libs.tslibs.nattype", "NaTType"): unencodable,
}
