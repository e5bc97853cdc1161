"""A cache of values decoded from bytes, bounded in number and size."""

from __future__ import annotations

from typing import Generic, TypeVar

__all__ = ["MANY", "MANY_BYTES", "Interned"]

MANY = 4096
"""Largest number of entries."""
MANY_BYTES = 16 << 20
"""and how many bytes they may be together."""

T = TypeVar("T")


class Interned(Generic[T]):
    """A dict that clears itself above a memory limit: frequent values come again."""

    def __init__(self) -> None:
        self.known: dict[bytes, T] = {}
        self._held = 0

    def put(self, key: bytes, value: T) -> None:
        """Remember a value for some bytes that are not known."""
        self._held += len(key)
        if len(self.known) >= MANY or self._held > MANY_BYTES:
            self.known.clear()
            self._held = len(key)
        self.known[key] = value
