"""Values of the standard library's types."""

from __future__ import annotations

import array
import ast
import collections
import ctypes
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import subprocess
import time
import types
import uuid
from typing import Any, NamedTuple

from tests.guest.hostile.making import TOUCHED, Kinds, Refused, raises

__all__ = ["KINDS"]

KINDS = Kinds()


class Colour(enum.Enum):
    RED = "red"
    ODD = (1, object())


class Flags(enum.IntFlag):
    A = 1
    B = 2


class Point(NamedTuple):
    x: int
    y: Any = None


@dataclasses.dataclass
class Order:
    id: int
    lines: list[Any] = dataclasses.field(default_factory=list)

    @property
    def total(self) -> int:
        TOUCHED.append("total")
        raise Refused("total was called")


@dataclasses.dataclass(frozen=True)
class Slotted:
    __slots__ = ("x",)
    x: int


@KINDS.named("dataclass with a field that was never set")
def _half_made() -> Any:
    value = Slotted(1)
    object.__delattr__(value, "x")
    return value


@KINDS.named("dataclass that holds itself")
def _order_loop() -> Any:
    order = Order(1)
    order.lines.append(order)
    return order


class OddZone(datetime.tzinfo):
    utcoffset = dst = tzname = raises("utcoffset")


KINDS.add(
    datetime=lambda: datetime.datetime(2026, 11, 21, 1, 2, 3, 456),
    datetime_with_zone=lambda: datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),
    datetime_with_a_zone_that_raises=lambda: datetime.datetime(2026, 1, 1, tzinfo=OddZone()),
    date_and_time=lambda: [datetime.date(2026, 1, 1), datetime.time(1, 2), datetime.timedelta(1)],
    decimal=lambda: decimal.Decimal("1.10"),
    decimals_that_signal=lambda: [decimal.Decimal("sNaN"), decimal.Decimal("Infinity")],
    fraction=lambda: fractions.Fraction(1, 3),
    uuid=lambda: uuid.UUID(int=7),
    path=lambda: pathlib.Path("/tmp/a b"),
    pure_path=lambda: pathlib.PureWindowsPath("C:/x"),
    ip_address=lambda: ipaddress.ip_network("10.0.0.0/8"),
    enum=lambda: Colour.RED,
    enum_of_an_object=lambda: Colour.ODD,
    flags=lambda: Flags.A | Flags.B,
    named_tuple=lambda: Point(1, [2]),
    dataclass=lambda: Order(1, [Order(2)]),
    dataclass_with_slots=lambda: Slotted(1),
    ordered_dict=lambda: collections.OrderedDict(a=1),
    default_dict=lambda: collections.defaultdict(list, a=[1]),
    counter=lambda: collections.Counter("aab"),
    chain_map=lambda: collections.ChainMap({"a": 1}, {"b": 2}),
    user_dict=lambda: collections.UserDict({"a": 1}),
    mapping_proxy=lambda: types.MappingProxyType({"a": 1}),
    dict_views=lambda: [{"a": 1}.keys(), {"a": 1}.values(), {"a": 1}.items()],
    namespace=lambda: types.SimpleNamespace(a=1),
    array=lambda: array.array("i", [1, 2]),
    ctypes_structure=lambda: ctypes.c_int(3),
    pattern_and_match=lambda: [re.compile("a+"), re.match("a+", "aa")],
    struct_time=lambda: time.gmtime(0),
    syntax_tree=lambda: ast.parse("x = 1"),
    completed_process=lambda: subprocess.CompletedProcess(["ls"], 0, "out"),
)
