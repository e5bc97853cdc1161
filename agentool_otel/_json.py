"""JSON text in and out: fast for ordinary values, exact for the odd ones.

orjson writes; msgspec reads, because orjson turns an integer above 64 bits into a float. What both
refuse (huge integers and lone surrogates when writing, `1e400` and escaped surrogates when reading)
goes through the standard library, so a value is never changed silently.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import orjson

__all__ = ["Json", "canonical", "dumps", "loads"]

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""

_decode = msgspec.json.Decoder().decode


def dumps(value: Json) -> str:
    """Return `value` as compact JSON text, non-ASCII characters unescaped where UTF-8 allows it.

    Raises:
        TypeError: if `value` holds something that JSON has no form for.
    """
    try:
        return orjson.dumps(value).decode()
    except (TypeError, RecursionError):  # 65-bit integers, lone surrogates, or more than 254 levels
        return json.dumps(value, separators=(",", ":"))


def canonical(value: Json) -> str:
    """Return JSON text with sorted keys: equal values give equal text, whatever their key order."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except (TypeError, RecursionError):
        return json.dumps(value, separators=(",", ":"), sort_keys=True)


def loads(text: str | bytes) -> Json:
    """Return the value of JSON text, integers exact at any size.

    Raises:
        ValueError: if `text` is not JSON.
    """
    try:
        return _decode(text)
    except (msgspec.DecodeError, RecursionError):
        try:
            return json.loads(text)
        except RecursionError as error:
            raise ValueError("JSON nested too deeply to read") from error
