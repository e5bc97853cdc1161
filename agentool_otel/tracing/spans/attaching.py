"""Undoing what made a context current, wherever that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry import context as api
from opentelemetry.context import detach

__all__ = ["restore"]

_undo: Callable[[Any], None] = getattr(getattr(api, "_RUNTIME_CONTEXT", None), "detach", detach)
"""The API's `detach` logs what this raises. Source: opentelemetry-api 1.30 to 1.45."""


def restore(token: Any) -> bool:
    """Undo an `attach`; False where that was in another context, in which nothing of ours is left.

    So it is when a coroutine or a generator that was forgotten is closed by the garbage collector.
    """
    try:
        _undo(token)
    except ValueError:
        return False
    return True
