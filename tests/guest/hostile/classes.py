"""Objects of classes that resent being looked at."""

from __future__ import annotations

import itertools
import unittest.mock
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.guest.hostile.making import TOUCHED, Kinds, Refused, hangs, hostile, raises
from tests.guest.hostile.standard_library import Order

__all__ = ["KINDS"]

KINDS = Kinds()


KINDS.add(
    repr_raises=hostile("__repr__", "__str__", "__format__"),
    equality_raises=hostile("__eq__", "__ne__", "__lt__", __hash__=object.__hash__),
    hash_raises=hostile("__hash__"),
    truth_raises=hostile("__bool__", "__len__"),
    iteration_raises=hostile("__iter__", "__next__", "__len__", "__getitem__"),
    attributes_raise=hostile("__getattr__"),
    every_attribute_raises=hostile("__getattribute__"),
    directory_raises=hostile("__dir__", "__sizeof__"),
    copying_raises=hostile("__copy__", "__deepcopy__", "__reduce_ex__", "__getstate__"),
    conversions_raise=hostile("__int__", "__float__", "__index__", "__bytes__"),
    json_hooks_raise=hostile("__json__", "to_json", "to_dict", "dict", "json"),
    model_dump_raises=hostile("model_dump", "model_dump_json"),
    array_hooks_raise=hostile("__array__", "__array_interface__", "tolist", "item"),
    repr_hangs=hostile("__repr__", "__str__", how=hangs),
    iteration_hangs=hostile("__iter__", "__len__", "__getitem__", how=hangs),
    attributes_hang=hostile("__getattr__", how=hangs),
    model_dump_hangs=hostile("model_dump", "to_dict", how=hangs),
    text_of_a_hostile_class=lambda: hostile(
        "__str__",
        "__repr__",
        "encode",
        "__len__",
        "__iter__",
        "__eq__",
        base=str,
        __hash__=str.__hash__,
    )("text"),
    bytes_of_a_hostile_class=lambda: hostile("__len__", "__iter__", "hex", base=bytes)(b"b"),
    integer_of_a_hostile_class=lambda: hostile("__repr__", "__str__", "__int__", base=int)(3),
    float_of_a_hostile_class=lambda: hostile("__repr__", "__str__", "__float__", base=float)(1.5),
    list_of_a_hostile_class=lambda: hostile(
        "__iter__", "__len__", "__getitem__", "__repr__", base=list
    )([1, 2]),
    tuple_of_a_hostile_class=lambda: hostile(
        "__iter__", "__len__", "__getitem__", "__repr__", base=tuple
    )([1, 2]),
    set_of_a_hostile_class=lambda: hostile("__iter__", "__len__", "__contains__", base=set)([1]),
    dict_of_a_hostile_class=lambda: hostile(
        "__iter__", "__len__", "__getitem__", "items", "keys", "values", "get", base=dict
    )(a=1),
    exception_without_text=lambda: hostile("__str__", "__repr__", base=Exception)("bad"),
    values_inside_a_list=lambda: [hostile("__repr__", "__eq__", "__hash__")() for _ in range(3)],
)


class HostileMeta(type):
    """Makes even the class unpleasant to look at."""

    def __getattribute__(cls, name: str) -> Any:
        TOUCHED.append(f"{name} of the class")
        raise Refused(f"{name} of the class was read")

    def __instancecheck__(cls, instance: object) -> bool:
        raise Refused("isinstance was asked")

    def __repr__(cls) -> str:
        raise Refused("the class was shown")


class OfHostileMeta(metaclass=HostileMeta):
    pass


@KINDS.named("key with a hash that turned hostile")
def _key_turned() -> Any:
    class Key:
        hostile = False

        def __hash__(self) -> int:
            if type(self).hostile:
                TOUCHED.append("__hash__")
                raise Refused("__hash__ was called")
            return 1

        __str__ = __repr__ = raises("__repr__")

    value = {Key(): 1}
    Key.hostile = True
    return value


class EndlessMapping(Mapping[str, int]):
    """A mapping that looks things up somewhere else, without end."""

    def __getitem__(self, key: str) -> int:
        TOUCHED.append("__getitem__")
        return 1

    def __iter__(self) -> Iterator[str]:
        TOUCHED.append("__iter__")
        return map(str, itertools.count())

    def __len__(self) -> int:
        TOUCHED.append("__len__")
        return 1


class EndlessSequence(Sequence[int]):
    def __getitem__(self, index: Any) -> Any:
        TOUCHED.append("__getitem__")
        return 1

    def __len__(self) -> int:
        TOUCHED.append("__len__")
        return 2**62


class Lazy:
    """An object that fetches when it is looked at, as clients and ORMs do."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        TOUCHED.append(name)
        return Lazy()

    def __call__(self, *args: object, **kwargs: object) -> Lazy:
        TOUCHED.append("__call__")
        return Lazy()


KINDS.add(
    claims_to_be_text=hostile("__str__", __class__=property(lambda self: str)),
    hostile_metaclass=OfHostileMeta,
    class_with_a_hostile_metaclass=lambda: OfHostileMeta,
    endless_mapping=EndlessMapping,
    endless_sequence=EndlessSequence,
    lazy_object=Lazy,
    dict_attribute_is_a_property=hostile("__str__", __dict__=property(raises("__dict__"))),
    mock=unittest.mock.MagicMock,
    mock_with_a_specification=lambda: unittest.mock.create_autospec(Order, instance=True),
)
