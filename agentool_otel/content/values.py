"""Values as JSON, for those who seldom have one that is none yet.

Readers of recordings get JSON, instrumentors whatever a framework has. What encodes that is loaded
with the first value.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["as_text", "encode", "jsonable"]


@cache
def _encoder() -> Any:
    return import_module("agentool_otel.content.encoding.encoder")


def encode(value: Any) -> str:
    """Return a value as JSON text."""
    text: str = _encoder().encode(value)
    return text


def jsonable(value: Any) -> Any:
    """Return a value as a plain JSON value, a copy that later changes cannot reach."""
    return _encoder().jsonable(value)


def as_text(value: Any) -> str:
    """Return text as it is, anything else as JSON text."""
    text: str = _encoder().as_text(value)
    return text
