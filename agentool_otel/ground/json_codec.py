"""JSON text in and out: fast for ordinary values, exact for the odd ones.

orjson writes; msgspec reads, because orjson turns an integer above 64 bits into a float. What both
refuse (huge integers and lone surrogates when writing) goes through the standard library, so that
an exact value stays exact. Text that is read has no lone surrogates, which UTF-8 and thus no store
has a form for: each becomes U+FFFD. msgspec refuses them, so JSON without any costs nothing more.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import orjson

from agentool_otel.ground import lazy_re as re

__all__ = [
    "Json",
    "canonical",
    "dumps",
    "dumps_as_utf8",
    "loads",
    "loads_exactly",
    "without_lone_surrogates",
]

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""

_decode = msgspec.json.Decoder().decode
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][\da-fA-F]{2})|.)",
    re.DOTALL,
)
"""One escape of JSON, or two for the halves of one character."""


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
    """Return the value of JSON text, integers exact at any size, U+FFFD for lone surrogates.

    Raises:
        ValueError: if `text` is not JSON, or holds a number that no float can.
    """
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _loads_slowly(without_lone_surrogates(_as_text(text)))


def loads_exactly(text: str | bytes) -> Json:
    """Return the value of JSON text as `loads` does, with its lone surrogates, for a reader that
    notes where they are.

    Raises: as `loads`.
    """
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _loads_slowly(text)


def without_lone_surrogates(text: str) -> str:
    """Return JSON text with U+FFFD for each lone surrogate, escaped or not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _ESCAPE.sub(_whole_escape, text) if "\\u" in text else text


def _whole_escape(match: re.Match[str]) -> str:
    return match[0] if match["lone"] is None else r"\ufffd"


def _as_text(text: str | bytes) -> str:
    return (
        text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
    )


def _loads_slowly(text: str | bytes) -> Json:
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
