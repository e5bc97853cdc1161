"""Group calls by the keys that they offer and need (union-find).

If several calls offer a needed key, as with the same question and answer in two sessions, the last
one before the call that needs it is taken.

Any later call may refer to any earlier one, so the keys of all are kept, on disk if they are many.
Four bytes a call stay in memory.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from zlib import crc32

from agentool_otel.reading.rebuild.correlation.disk_store import LARGEST, Rows
from agentool_otel.reading.rebuild.correlation.keys import Key, Keys

__all__ = ["Joining", "Rank", "rank_of"]

_PARTS = 128
"""Number of partitions of the keys; only one is in memory."""
Rank = tuple[int, int]
"""When a call started, and a number that is the same each time and tells calls of one time apart:
together the order in which calls are considered, whatever the order they are added in."""
_Place = tuple[int, int, int]
"""A rank and the number of its call."""
_AFTER = 1 << 32
"""Greater than any number of a call."""
_NUMBER = "I"
"""Array type for the number of a call: one process reads fewer than four thousand million."""


def rank_of(start_ns: int | None, order: str) -> Rank:
    """Return the rank of a call that starts then, and has a text that no other has."""
    start = min(max(start_ns or 0, 0), LARGEST)
    return start, crc32(order.encode("utf-8", "surrogatepass"))


class Joining:
    """Groups numbered calls."""

    def __init__(self) -> None:
        self._parent = array(_NUMBER)
        self._offered = Rows(4, _PARTS)
        self._needed = Rows(4, _PARTS)
        self._joined = bytearray()

    def __len__(self) -> int:
        return len(self._parent)

    def add(self, keys: Keys, rank: Rank) -> int:
        """Add a call and return its number, the next one. Only the keys are kept.

        Raises:
            SourceError: the temporary folder is full.
        """
        number = len(self._parent)
        self._parent.append(number)
        self._joined.append(False)
        for key in keys.offered:
            self._offered.add(key % _PARTS, key, *rank, number)
        for key in keys.needed:
            self._needed.add(key % _PARTS, key, *rank, number)
        return number

    def tie(self, one: int, other: int) -> None:
        """Join two calls for another reason than their keys."""
        one, other = self.group_of(one), self.group_of(other)
        if one != other:
            self._parent[max(one, other)] = min(one, other)

    def settle(self) -> None:
        """Tie every call to those that offer what it needs; the rest is `group_of`'s."""
        for part in self._needed.parts():
            offers: dict[Key, list[_Place]] = defaultdict(list)
            for key, start, tie, number in self._offered.of(part):
                offers[key].append((start, tie, number))
            for offered in offers.values():
                if len(offered) > 1:
                    offered.sort()
            for key, start, tie, number in self._needed.of(part):
                places = offers.get(key)
                if places is not None:
                    other = places[0][2] if len(places) == 1 else _nearest(places, (start, tie))
                    self.tie(number, other)
                    self._joined[number] = True

    def is_joined(self, number: int) -> bool:
        """Return whether a call that another one needs is there, after `settle`."""
        return bool(self._joined[number])

    def group_of(self, number: int) -> int:
        """Return the lowest number that is known to belong together with a call."""
        root = number
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[number] != root:
            self._parent[number], number = root, self._parent[number]
        return root

    def close(self) -> None:
        self._offered.close()
        self._needed.close()


def _nearest(offers: list[_Place], rank: Rank) -> int:
    """Return the last call before a rank; the first one after it where clocks differ. The offers
    are sorted."""
    before = bisect_left(offers, rank)
    if before:
        return offers[before - 1][2]
    after = bisect_left(offers, (*rank, _AFTER))
    return offers[after if after < len(offers) else 0][2]
