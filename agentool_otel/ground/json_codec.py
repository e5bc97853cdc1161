"""JSON text in and out: fast for ordinary values, exact for the odd ones.

orjson writes; msgspec reads, because orjson turns an integer above 64 bits into a float. What both
refuse (huge integers and lone surrogates when writing, escaped surrogates when reading)
goes through the standard library, so that an exact value stays exact.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import orjson

__all__ = ["Json", "canonical", "dumps", "dumps_as_utf8", "loads"]

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""

_decode = msgspec.json.Decoder().decode


def dumps(value: Json) -> str:
    """Return `value` as compact JSON text, non-ASCII characters unescaped where UTF-8 allows it.

    Raises:
        TypeError: if `value` holds something that JSON has no form for.
        ValueError: if it is nested more deeply than the interpreter's stack allows.
    """
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # 65-bit integers, lone surrogates, or more than 254 levels
        return _exactly(value, sort_keys=False)


def dumps_as_utf8(value: Json) -> str:
    """`dumps` for what leaves the process: a lone surrogate, which UTF-8 has no form for, becomes
    U+FFFD.

    Raises: as `dumps`.
    """
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        text = _exactly(value, sort_keys=False, ensure_ascii=False)
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def canonical(value: Json) -> str:
    """Return JSON text with sorted keys: equal values give equal text, whatever their key order.

    Raises: as `dumps`.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:
        return _exactly(value, sort_keys=True)


def loads(text: str | bytes) -> Json:
    """Return the value of JSON text, integers exact at any size.

    Raises:
        ValueError: if `text` is not JSON, or holds a number that no float can.
    """
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        try:
            return json.loads(text, parse_constant=_refuse, parse_float=_float)
        except RecursionError as error:
            raise ValueError("JSON nested too deeply to read") from error


def _exactly(value: Json, *, sort_keys: bool, ensure_ascii: bool = True) -> str:
    try:
        return json.dumps(
            value,
            separators=(",", ":"),
            sort_keys=sort_keys,
            ensure_ascii=ensure_ascii,
            default=_bytes_as_text,
        )
    except RecursionError as error:
        raise ValueError("JSON nested too deeply to write") from error


def _bytes_as_text(value: object) -> str:
    """Return bytes as base64, as OTLP/JSON does; collected attributes may have them."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _refuse(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is out of range")
    return number
