"""A queue of traces that wait for verdicts, in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Generic, TypeAlias, TypeVar

from agentool_otel.evaluation.verdicts import Verdict

__all__ = ["OrderedQueue", "Pending", "resolve"]

_T = TypeVar("_T")
Pending: TypeAlias = Verdict | Future[Verdict]
"""A verdict, or one that a judge will give."""


def resolve(verdicts: Iterable[Pending]) -> list[Verdict]:
    """Return verdicts, waiting for those that are pending."""
    return [verdict if isinstance(verdict, Verdict) else verdict.result() for verdict in verdicts]


class OrderedQueue(Generic[_T]):
    """A queue that returns items in order, once their verdicts have arrived.

    Args:
        size: how many wait at most, which bounds memory.
    """

    def __init__(self, size: int):
        self._size = size
        self._waiting: deque[tuple[Sequence[Pending], Callable[[], _T]]] = deque()

    def put(self, verdicts: Sequence[Pending], finish: Callable[[], _T]) -> Iterator[_T]:
        """Add an item, and return the items at the front that are done. If too many are pending,
        iterating waits for the first.

        Args:
            verdicts: what it waits for.
            finish: makes it, when all of these are there.
        """
        self._waiting.append((verdicts, finish))
        return self._take_done()

    def _take_done(self) -> Iterator[_T]:
        while self._waiting and (len(self._waiting) > self._size or self._first_is_done()):
            yield self._next()

    def rest(self) -> Iterator[_T]:
        """Yield the remaining items, waiting for each."""
        while self._waiting:
            yield self._next()

    def _next(self) -> _T:
        verdicts, finish = self._waiting[0]
        resolve(verdicts)
        self._waiting.popleft()
        return finish()

    def _first_is_done(self) -> bool:
        return all(isinstance(item, Verdict) or item.done() for item in self._waiting[0][0])
