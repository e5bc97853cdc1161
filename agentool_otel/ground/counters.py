"""Counters that threads raise at once."""

from __future__ import annotations

import itertools

__all__ = ["Counter"]


class Counter:
    """A number that each thread may raise by one, without a lock: `counter.add()`."""

    __slots__ = ("_count", "add")

    def __init__(self) -> None:
        self._count = itertools.count()
        self.add = self._count.__next__
        """Raises the number by one. The value that it returns has no meaning."""

    @property
    def value(self) -> int:
        # Only its text shows the next number of a count without taking it.
        return int(repr(self._count).removeprefix("count(").removesuffix(")"))
