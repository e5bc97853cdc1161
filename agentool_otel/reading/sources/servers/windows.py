"""Reading all of a time window through a search that returns only the first so many.

Neither Tempo nor Jaeger has a cursor. A window whose answer reaches the limit may have more
in it: it is halved until its parts do not.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple, TypeVar

__all__ = ["Window", "search_window"]

T = TypeVar("T")


class Window(NamedTuple):
    """From one time to another, in nanoseconds since the epoch."""

    since_ns: int
    until_ns: int

    def halves(self, step_ns: int) -> list[Window]:
        """Return its halves, which meet at a whole step; itself where it has no more than one."""
        middle = (self.since_ns + self.until_ns) // 2 // step_ns * step_ns
        if not self.since_ns < middle < self.until_ns:
            return [self]
        return [Window(self.since_ns, middle), Window(middle, self.until_ns)]


Search = Callable[[Window], Generator[T, None, bool]]
"""Yields what a window has, and returns whether there may be more."""


def search_window(
    window: Window,
    step_ns: int,
    search: Search[T],
    not_whole: Callable[[Window], None],
    longest_ns: int | None = None,
) -> Iterator[T]:
    """Yield all that `search` has for a window, oldest windows first.

    Results on a border, or in a window that is searched again, are repeated.

    Args:
        window: its ends are whole steps.
        step_ns: the shortest time that the search distinguishes.
        search: asks for one window.
        not_whole: takes a window that cannot be halved and still may have more.
        longest_ns: of a window that may be asked for at once, a number of steps.
    """
    since, until = window
    starts = range(since, until, longest_ns or until - since)
    waiting = [Window(a, min(a + starts.step, until)) for a in reversed(starts)]
    while waiting:
        current = waiting.pop()
        if not (yield from search(current)):
            continue
        halves = current.halves(step_ns)
        if len(halves) == 1:
            not_whole(current)
        else:
            waiting += reversed(halves)
