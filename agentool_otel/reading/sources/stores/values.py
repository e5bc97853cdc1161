"""Ids, times, kinds and attributes in every spelling that stores and SDKs use, to one form each.

Spelling is normalized here once, so that a container's file declares only where its fields are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from hashlib import blake2b
from math import isfinite

from msgspec import Struct, ValidationError, convert

from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import Attributes
from agentool_otel.model.times import to_ns
from agentool_otel.otlp import base64_text
from agentool_otel.reading.sources.files.damage import is_marked, stand_in, with_marks

__all__ = [
    "HashedId",
    "array",
    "attributes",
    "bounded_value",
    "first",
    "hashed",
    "identifier",
    "json_object",
    "kind",
    "named_time_ns",
    "obj",
    "parent",
    "put",
    "status",
    "text",
    "time_ns",
    "unreadable",
]

_HEX = re.compile(r"[0-9a-f]+")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MISSING_ZEROS = 4
"""Leading zeros that a hexadecimal id lacks at most; a shorter text is an id of its own."""
_SMALL = 1 << 48
"""Integers below are numbers that somebody counted, not random ids."""
_DEEP = 64
"""Levels of an attribute value that are kept as structure. Deeper ones become JSON text, because
later readers walk them by recursion."""


class HashedId(str):
    """The hash of an id that is neither hex nor base64 of the right size."""

    __slots__ = ()


def identifier(value: Json, size: int, *, decimal: bool = False) -> str:
    """Return an id as lower-case hex of `size` bytes.

    Ids may be hex (with `0x`, `tr-`, or without some leading zeros), integers (as text too, where
    they are too long for hex or `decimal` is set), base64 of either alphabet, or UUIDs. Any other
    value, a short text or number too, is the id of a system with ids of its own: it becomes a
    `HashedId`, so that ids are equal where they were. Zeros are an id like any other.

    Two texts have one id only if they spell the same bytes or the same number as some program
    prints it. So a text with zeros in front that is still too short, or base64 with loose bits at
    its end, is hashed.

    Raises:
        ValueError: it is empty, damaged, or neither text nor an integer.
    """
    if not decimal and value.__class__ is str and len(value) == 2 * size and _HEX.fullmatch(value):
        digits: str | None = value  # as nearly all are
    elif isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError(f"expected an id, got {type(value).__name__}")
    elif is_marked(value):
        raise ValueError(f"expected an id, got {value!r}, which is damaged")
    elif isinstance(value, int) and (decimal or not 0 < value < _SMALL):
        digits = _number(value, size)
    else:
        digits = _spell(str(value), size, decimal)
    if digits is None:
        if value == "":
            raise ValueError("expected an id, got an empty text")
        return HashedId(hashed(str(value).encode("utf-8", "surrogatepass"), size))
    return digits


def hashed(data: bytes, size: int) -> str:
    """Return the hash of an id as lower-case hex of `size` bytes."""
    return blake2b(data, digest_size=size).hexdigest()


def parent(value: Json, *, decimal: bool = False) -> str | None:
    """Return a parent's span id; None without one. A damaged id becomes one that no span has: the
    child is not a root, and its parent is missing. Zeros are resolved by `complete_spans`."""
    if is_marked(value):
        return stand_in(str(value))
    try:
        return str(identifier(value, 8, decimal=decimal))
    except ValueError:
        return None


def _number(value: int, size: int) -> str | None:
    bits = 8 * size
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        return None
    return f"{value % (1 << bits):0{2 * size}x}"  # column stores without unsigned integers wrap


def _spell(value: str, size: int, decimal: bool) -> str | None:
    text = value.strip().lower().removeprefix("tr-")
    is_number = text.isascii() and text.isdecimal() and text[0] != "0"  # printed without zeros
    if decimal and is_number:
        return _number(int(text[:60]), size)
    digits = text.removeprefix("0x")
    if _HEX.fullmatch(digits) and len(digits) <= 2 * size:
        missing = (2 * size - len(digits)) % 16
        is_short = digits[0] != "0" and (missing <= _MISSING_ZEROS or digits != text)
        if not missing or is_short or digits == "0":
            return digits.rjust(2 * size, "0")
    if is_number and 2 * size < len(text) <= 40:
        return _number(int(text), size)
    if size == 16 and _UUID.fullmatch(text):
        return text.replace("-", "")
    raw = base64_text.id_bytes(value.strip(), size)
    return raw.hex() if raw is not None else None


# ------------------------------------------------------------------------------------- times

_END_NS = 1 << 63
_NANOSECONDS = ("nano", "nanos", "_ns", "-ns", " ns")


def time_ns(value: Json, unit_ns: int | None = None) -> int | None:
    """Return a time as nanoseconds since the epoch; None if it is absent, zero or no time.

    A time may be ISO 8601 text, `[seconds, nanoseconds]` or a number, as text too. Without
    `unit_ns` the magnitude of a number gives its unit: seconds, milliseconds, microseconds and
    nanoseconds of any date between 1973 and 5138 do not overlap.
    """
    if isinstance(value, list):
        if len(value) != 2 or not all(type(part) is int for part in value):
            return None
        return _time_within(value[0] * 1_000_000_000 + value[1])
    if isinstance(value, str):
        iso = to_ns(value.strip().removesuffix(" UTC"))
        if iso is not None:
            return _time_within(iso)
    number = _decimal(value)
    if number is None:
        return None
    return _time_within(int((number * (unit_ns or _unit_ns(number))).to_integral_value()))


def named_time_ns(source: Mapping[str, Json], *names: str) -> int | None:
    """Return the time under the first of several names that is there; a name that
    ends in nanoseconds is trusted whatever the magnitude."""
    for name in names:
        if (value := source.get(name)) is not None:
            exact = name.lower().endswith(_NANOSECONDS) or name.endswith("Ns")
            return time_ns(value, 1 if exact else None)
    return None


def _decimal(value: Json) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, float) and not isfinite(value):
        return None
    try:
        number = Decimal(value.strip()[:40] if isinstance(value, str) else repr(value)[:40])
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 40 else None


def _unit_ns(number: Decimal) -> int:
    for limit, unit in ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3)):
        if number < limit:
            return unit
    return 1


def _time_within(ns: int) -> int | None:
    return ns if 0 < ns < _END_NS else None


# -------------------------------------------------------------------------- kinds and statuses

_KINDS = ("INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUSES = ("UNSET", "OK", "ERROR")


def kind(value: Json, first_number: int = 1) -> str:
    """Return a span kind, INTERNAL for anything unknown.

    Args:
        value: `CLIENT`, `client`, `SpanKind.CLIENT`, `SPAN_KIND_CLIENT`, or its number.
        first_number: the number of INTERNAL: 1 in OTLP, 0 in the JavaScript and Python APIs.
    """
    if isinstance(value, str):
        name = value.upper().removeprefix("SPAN_KIND_").removeprefix("SPANKIND.")
        if name in _KINDS:
            return name
        value = int(name) if name.isdecimal() and name.isascii() and len(name) < 4 else None
    if type(value) is int and 0 <= value - first_number < len(_KINDS):
        return _KINDS[value - first_number]
    return "INTERNAL"


def status(value: Json) -> str:
    """Return a status code: a number, or its name with or without a prefix; else UNSET."""
    if isinstance(value, str):
        name = value.upper().removeprefix("STATUS_CODE_").removeprefix("STATUSCODE.")
        if name in _STATUSES:
            return name
        value = int(name) if name in ("0", "1", "2") else 0
    return _STATUSES[value] if type(value) is int and 0 <= value < 3 else "UNSET"


# -------------------------------------------------------------------------------- attributes


def attributes(value: Json) -> Attributes:
    """Return attributes from an object, a list of `{"key", "value"}`, pairs, or JSON text."""
    if isinstance(value, str):
        value = json_object(value)
    if isinstance(value, Mapping):
        return {
            key if key.__class__ is str else str(key): item
            if (item.__class__ is str and item.isascii()) or item.__class__ is int
            else bounded_value(_any_value(item))
            for key, item in value.items()
        }
    return dict(_pairs(value)) if isinstance(value, list) else {}


class _Keyed(Struct, gc=False):
    key: str


def unreadable(value: Json) -> int:
    """Return how many attributes `attributes` passes over: elements of a list without a key, or a
    text that is no object."""
    if not isinstance(value, list):
        return int(isinstance(value, str) and not json_object(value) and value.strip() != "{}")
    try:
        convert(value, list[_Keyed])  # as of nearly all
    except ValidationError:
        return len(value) - sum(1 for _ in _pairs(value))
    return 0


def _pairs(items: list[Json]) -> Iterator[tuple[str, Json]]:
    for item in items:
        if isinstance(item, dict) and isinstance(item.get("key"), str):
            yield item["key"], bounded_value(_stated_value(item.get("value")))
        elif isinstance(item, list) and len(item) == 2 and isinstance(item[0], str):
            yield item[0], bounded_value(_any_value(item[1]))


def _stated_value(value: Json) -> Json:
    """The same where OTLP has an AnyValue for certain: an empty one is null."""
    return None if value == {} else _any_value(value)


def _any_value(value: Json) -> Json:
    """Return the plain value of an OTLP AnyValue; anything else as it is."""
    if not isinstance(value, dict) or not value or not value.keys() <= _ARMS.keys():
        return value
    for arm, inner in value.items():
        if inner is not None:
            return _ARMS[arm](inner)
    return None


def _as_it_is(inner: Json) -> Json:
    return inner


def _int(inner: Json) -> Json:
    is_int = isinstance(inner, str) and re.fullmatch(r"-?[0-9]{1,40}", inner)
    return int(inner) if is_int else inner


def _double(inner: Json) -> Json:
    if isinstance(inner, bool) or not isinstance(inner, (int, str)):
        return inner
    try:
        return float(inner)
    except (ValueError, OverflowError):
        return inner


def _bytes(inner: Json) -> Json:
    try:
        return base64_text.decoded(inner) if isinstance(inner, str) else inner
    except ValueError:
        return inner


def _array(inner: Json) -> Json:
    return [_stated_value(item) for item in array(obj(inner).get("values"))]


def _kvlist(inner: Json) -> Json:
    return {
        str(pair.get("key")): _stated_value(pair.get("value"))
        for pair in array(obj(inner).get("values"))
        if isinstance(pair, dict)
    }


_ARMS: dict[str, Callable[[Json], Json]] = {
    f"{arm}{suffix}": read
    for arm, read in (
        ("string", _as_it_is),
        ("bool", _as_it_is),
        ("int", _int),
        ("double", _double),
        ("bytes", _bytes),
        ("array", _array),
        ("kvlist", _kvlist),
    )
    for suffix in ("Value", "_value")
}
"""The members of an AnyValue in both spellings, with the function that reads them."""


def bounded_value(value: Json) -> Json:
    """Return a value that every reader can walk: too deep a structure becomes its JSON text, a lone
    surrogate a mark."""
    if isinstance(value, str):
        return with_marks(value)
    if not isinstance(value, (dict, list)):
        return value
    if _deeper(value, _DEEP):
        return bounded_value(json_codec.dumps(value))
    return _each_settled(value)


def _each_settled(value: Json) -> Json:
    if isinstance(value, dict):
        return {bounded_value(str(key)): _each_settled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_each_settled(item) for item in value]
    return bounded_value(value)


def _deeper(value: Json, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not layer:
            return False
    return True


# ------------------------------------------------------------------------------------- access


def first(source: Mapping[str, Json], *names: str) -> Json:
    """Return the first of several members that is there and not null."""
    for name in names:
        value = source.get(name)
        if value is not None:
            return value
    return None


def obj(value: Json) -> dict[str, Json]:
    """Return an object, or an empty one in its place."""
    return value if isinstance(value, dict) else {}


def array(value: Json) -> list[Json]:
    """Return a list, or an empty one in its place."""
    return value if isinstance(value, list) else []


def put(attributes: Attributes, name: str, value: Json) -> None:
    """Set an attribute; a structure as JSON text, as exporters write it."""
    if value in (None, "", {}, []):
        return
    value = bounded_value(value)
    attributes[name] = json_codec.dumps(value) if isinstance(value, (dict, list)) else value


def json_object(value: Json) -> dict[str, Json]:
    """Return an object given as such or as JSON text, or an empty one in its place."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json_codec.loads_exactly(value)
        except ValueError:
            return {}
    return obj(value)


def text(value: Json) -> str:
    """Return text, or an empty one in its place."""
    return str(bounded_value(value)) if isinstance(value, str) else ""
