"""Values of any shape as JSON in one cell, without loss.

A cell is plain JSON, so that engines query it (`attributes->>'$."gen_ai.tool.name"'`). JSON has no
form for bytes and for numbers that are not finite; these are objects of OTLP/JSON:

    {"bytesValue": "<base64>"}      bytes
    {"doubleValue": "NaN"}          NaN, Infinity, -Infinity
    {"kvlistValue": {...}}          an object that would be read as one of these three

Source: opentelemetry-proto v1.9 docs/specification.md, "JSON Protobuf Encoding".
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from math import isfinite
from typing import Any

from agentool_otel.ground import json_codec

__all__ = ["cell", "value_of"]

_BYTES, _DOUBLE, _OBJECT = "bytesValue", "doubleValue", "kvlistValue"
_TAGS = frozenset({_BYTES, _DOUBLE, _OBJECT})
_PLAIN = frozenset({str, int, bool, type(None)})
_DOUBLES = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def cell(value: Any) -> str:
    """Return a value as the text of a cell.

    Raises:
        TypeError: it holds something that JSON has no form for.
        ValueError: it is nested more deeply than the interpreter's stack allows.
    """
    try:
        return json_codec.dumps(value if _is_json(value) else _tagged(value))
    except RecursionError as error:
        raise ValueError("nested too deeply for JSON") from error


def value_of(text: str) -> Any:
    """Return the value of a cell.

    Raises:
        ValueError: the text is not JSON, or not that of a cell.
    """
    value = json_codec.loads(text)
    if 'Value":' not in text:
        return value
    try:
        return _untagged(value)
    except RecursionError as error:
        raise ValueError("JSON nested too deeply to read") from error


def _is_json(value: Any) -> bool:
    """Return whether a value is JSON that cannot be mistaken for a tagged one."""
    kind = value.__class__
    if kind in _PLAIN:
        return True
    if kind is float:
        return isfinite(value)
    items: Iterable[Any]
    if isinstance(value, dict):
        if len(value) == 1 and not _TAGS.isdisjoint(value):
            return False
        items = value.values()
    elif isinstance(value, list):
        items = value
    else:
        return False
    for item in items:  # noqa: SIM110 - all() takes twice as long
        if item.__class__ not in _PLAIN and not _is_json(item):
            return False
    return True


def _tagged(value: Any) -> Any:
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode()}
    if isinstance(value, float) and not isfinite(value):
        return {_DOUBLE: next(name for name, number in _DOUBLES.items() if _same(number, value))}
    if isinstance(value, dict):
        tagged = {key: _tagged(item) for key, item in value.items()}
        return {_OBJECT: tagged} if len(value) == 1 and not _TAGS.isdisjoint(value) else tagged
    if isinstance(value, (list, tuple)):
        return [_tagged(item) for item in value]
    return value


def _same(one: float, other: float) -> bool:
    return one == other or (one != one and other != other)


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return [_untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, inner),) = value.items()
        if tag == _OBJECT and isinstance(inner, dict):
            return {key: _untagged(item) for key, item in inner.items()}
        if tag == _BYTES and isinstance(inner, str):
            return base64.b64decode(inner, validate=True)
        if tag == _DOUBLE and inner in _DOUBLES:
            return _DOUBLES[inner]
    return {key: _untagged(item) for key, item in value.items()}
