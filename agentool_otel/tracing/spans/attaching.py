"""Undoing what made a context current, wherever that is possible."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from opentelemetry import context as api
from opentelemetry.context import Context, attach, detach, get_current

__all__ = ["restore", "restore_from"]

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


def restore_from(token: Any, inner: Context, outer: Context) -> None:
    """Make a context current again after a call that was interrupted anywhere.

    Args:
        token: what `attach` of the inner context returned, None if that was interrupted, too.
        inner: the context of the call.
        outer: the context around it.
    """
    if token is not None:
        with suppress(RuntimeError):  # it was restored already
            restore(token)
    elif get_current() is inner:
        attach(outer)
