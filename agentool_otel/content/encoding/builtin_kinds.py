"""Readers for the types of the interpreter and the standard library.

Each function looks one level into a value and returns a JSON scalar, a marker (a plain dict), the
members (`Items`) or another value to look into.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import fractions
import gc
import ipaddress
import pathlib
import re
import types
import uuid
import zoneinfo
from collections.abc import Callable
from typing import Any

from agentool_otel.content.encoding.introspection import (
    MISSING,
    Items,
    instance_dict,
    mro,
    stored_attribute,
    type_name,
    unencodable,
)
from agentool_otel.semconv.marks import MARK_LENGTH, MARK_TEXT, MARK_TYPE

__all__ = ["BASES", "EXACT", "Look", "plain_text"]

Look = Callable[[Any], Any]

_BITS = 14_000
"""Of the largest integer that the interpreter writes in decimal by default: 4,300 digits."""
_BYTES = 1 << 20
"""The most bytes that are looked at to see whether they are text."""


def plain_text(value: str) -> str:
    """Return text that can be written as UTF-8: a lone surrogate becomes U+FFFD."""
    text = str.__str__(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _int(value: int) -> Any:
    number = int.__int__(value)
    bits = number.bit_length()
    return number if bits <= _BITS else unencodable(value, "digits", **{MARK_LENGTH: bits})


def _float(value: float) -> Any:
    number = float.__float__(value)
    return number if number - number == 0.0 else unencodable(value, repr(number))


def _bytes(value: Any) -> Any:
    try:
        view = memoryview(value)
    except ValueError:
        return unencodable(value, "released")
    with view:
        size = view.nbytes
        if size <= _BYTES and view.itemsize == 1:
            try:
                return view.tobytes().decode()
            except UnicodeDecodeError:
                pass
    return unencodable(value, "binary", **{MARK_LENGTH: size})


_CLOCK = ("hour", "minute", "second", "microsecond")
_DATETIME: list[Any] = [
    *(vars(datetime.date)[name] for name in ("year", "month", "day")),
    *(vars(datetime.datetime)[name] for name in _CLOCK),
]
_TIME: list[Any] = [vars(datetime.time)[name] for name in _CLOCK]
_ZONES = (datetime.timezone, zoneinfo.ZoneInfo)


def _moment(cls: Any, parts: list[Any]) -> Look:
    """Rebuild a time from its stored parts: its time zone may be the user's code."""
    zone_of = vars(cls)["tzinfo"].__get__

    def look(value: Any) -> Any:
        plain = cls(*(part.__get__(value) for part in parts))
        zone = zone_of(value)
        if zone is None:
            return plain.isoformat()
        if type(zone) in _ZONES:
            return plain.replace(tzinfo=zone).isoformat()
        return unencodable(value, "time zone", **{MARK_TEXT: plain.isoformat()})

    return look


def _sequence(base: Any) -> Look:
    return lambda value: Items(base.__iter__(value), base.__len__(value))


def _dict(value: Any) -> Items:
    return Items(iter(dict.items(value)), dict.__len__(value), mapping=True)


def _mapping_proxy(value: Any) -> Any:
    """Return the mapping behind the proxy. The garbage collector has it; the proxy itself would
    call its methods.
    """
    for inner in gc.get_referents(value):
        if any(base is dict for base in mro(type(inner))):
            return _dict(inner)
    return unencodable(value)


def _exception(value: BaseException) -> Items:
    args = vars(BaseException)["args"].__get__(value)
    members = ((MARK_TYPE, type_name(type(value))), ("args", args))
    return Items(iter(members), len(members), mapping=True)


def _attribute_look(name: str) -> Look:
    def look(value: Any) -> Any:
        content = stored_attribute(value, name)
        return unencodable(value) if content is MISSING else content

    return look


def _namespace(value: Any) -> Any:
    members = instance_dict(value)
    return unencodable(value) if members is None else _dict(members)


def _name_look(name_of: Callable[[Any], str]) -> Look:
    return lambda value: unencodable(value, **{MARK_TEXT: name_of(value)})


_BASES: tuple[tuple[type, Look], ...] = (
    (enum.Enum, _attribute_look("_value_")),
    (str, plain_text),
    (int, _int),
    (float, _float),
    (bytes, _bytes),
    (bytearray, _bytes),
    (dict, _dict),
    (list, _sequence(list)),
    (tuple, _sequence(tuple)),
    (set, _sequence(set)),
    (frozenset, _sequence(frozenset)),
    (collections.deque, _sequence(collections.deque)),
    (complex, complex.__repr__),
    (decimal.Decimal, decimal.Decimal.__str__),
    (datetime.datetime, _moment(datetime.datetime, _DATETIME)),
    (datetime.date, datetime.date.isoformat),
    (datetime.time, _moment(datetime.time, _TIME)),
    (datetime.timedelta, datetime.timedelta.__str__),
    (types.SimpleNamespace, _namespace),
    (BaseException, _exception),
    (type, _name_look(type_name)),
)
BASES: dict[int, Look] = {id(base): look for base, look in _BASES}
"""By the id of a type, because the hash of a class may be the user's. These are written in C: their
methods, taken from the type, work on their own part of a subclass's instance."""

_EXACT: tuple[tuple[tuple[type, ...], Look], ...] = (
    ((memoryview, array.array), _bytes),
    ((range,), range.__repr__),
    ((types.MappingProxyType,), _mapping_proxy),
    *(((view,), _sequence(view)) for view in map(type, ({}.keys(), {}.values(), {}.items()))),
    ((types.FunctionType,), _name_look(lambda item: f"{item.__module__}.{item.__qualname__}")),
    ((collections.UserDict, collections.UserList, collections.UserString), _attribute_look("data")),
    ((fractions.Fraction, uuid.UUID), str),
    ((pathlib.PurePosixPath, pathlib.PureWindowsPath, type(pathlib.Path())), str),
    ((ipaddress.IPv4Address, ipaddress.IPv4Network, ipaddress.IPv4Interface), str),
    ((ipaddress.IPv6Address, ipaddress.IPv6Network, ipaddress.IPv6Interface), str),
    ((re.Pattern,), lambda value: value.pattern),
)
EXACT: dict[int, Look] = {id(cls): look for classes, look in _EXACT for cls in classes}
"""Types whose methods are safe on their own instances; a subclass of one is the user's."""
