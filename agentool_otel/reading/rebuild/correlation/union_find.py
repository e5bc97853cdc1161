"""Group calls by the keys that they offer and need (union-find).

If several calls offer a needed key, as with the same question and answer in two sessions, or with
ids that a server counts anew in every answer, those of the same OTel trace come first. A key that
only calls of other traces offer, and several of them, counts where a call has nothing surer: then
the last one before the call is taken.

Any later call may refer to any earlier one, so the keys of all are kept, on disk if they are many.
Four bytes a call stay in memory.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from zlib import crc32

from agentool_otel.reading.rebuild.correlation.disk_store import LARGEST, Rows
from agentool_otel.reading.rebuild.correlation.keys import Key, Keys

__all__ = ["PARTS", "Groups", "Joining", "Rank", "rank_of"]

PARTS = 128
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


def _never(_: int) -> bool:
    return False


class _Offers:
    """The calls that offer one key, in order of their ranks."""

    __slots__ = ("_of_trace", "places")

    def __init__(self) -> None:
        self.places: list[_Place] = []
        self._of_trace: dict[int, list[_Place]] = {}

    def sure_for(self, number: int, trace_of: Callable[[int], int] | None) -> list[_Place]:
        """Return the only call, or those of the OTel trace of the call that needs the key; all of
        them where traces do not count."""
        if len(self.places) == 1 or trace_of is None:
            return self.places
        if not self._of_trace:
            for place in self.places:
                self._of_trace.setdefault(trace_of(place[2]), []).append(place)
        return self._of_trace.get(trace_of(number), [])


class Groups:
    """Numbered calls, and which of them are known to belong together."""

    def __init__(self) -> None:
        self._parent = array(_NUMBER)

    def __len__(self) -> int:
        return len(self._parent)

    def add_call(self) -> int:
        """Add a call and return its number, the next one."""
        number = len(self._parent)
        self._parent.append(number)
        return number

    def tie(self, one: int, other: int) -> None:
        """Note that two calls belong together."""
        one, other = self.group_of(one), self.group_of(other)
        if one != other:
            self._parent[max(one, other)] = min(one, other)

    def group_of(self, number: int) -> int:
        """Return the lowest number that is known to belong together with a call."""
        root = number
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[number] != root:
            self._parent[number], number = root, self._parent[number]
        return root


class Joining(Groups):
    """Groups calls by their keys."""

    def __init__(self) -> None:
        super().__init__()
        self._offered = Rows(4, PARTS)
        self._needed = Rows(5, PARTS)
        self._unsure = Rows(3, PARTS)
        """A call, the place of a key among those that it needs, and the nearest call that offers
        it."""
        self._joined = bytearray()

    def add(self, keys: Keys, rank: Rank) -> int:
        """Add a call and return its number. Only the keys are kept.

        Raises:
            SourceError: the temporary folder is full.
        """
        number = self.add_call()
        self._joined.append(False)
        for key in keys.offered:
            self._offered.add(key % PARTS, key, *rank, number)
        for place, key in enumerate(keys.needed):
            self._needed.add(key % PARTS, key, *rank, number, place)
        return number

    def join(self, number: int, earlier: int) -> None:
        """Tie a call to one that it refers to."""
        self.tie(number, earlier)
        self._joined[number] = True

    def settle(
        self, trace_of: Callable[[int], int] | None = None, waits: Callable[[int], bool] = _never
    ) -> None:
        """Tie every call to those that offer what it needs; the rest is `group_of`'s.

        Args:
            trace_of: the number of the OTel trace of a call, if it is part of one. By default every
                key ties a call to the nearest that offers it.
            waits: whether a call for which nothing is sure is left to `join_unsure`.
        """
        for part in self._needed.parts():
            offers: dict[Key, _Offers] = defaultdict(_Offers)
            for key, start, tie, number in self._offered.of(part):
                offers[key].places.append((start, tie, number))
            for offered in offers.values():
                offered.places.sort()
            for key, start, tie, number, place in self._needed.of(part):
                if key not in offers:
                    continue
                sure = offers[key].sure_for(number, trace_of)
                nearest = _nearest(sure or offers[key].places, (start, tie))
                if sure:
                    self.join(number, nearest)
                else:
                    self._unsure.add(number % PARTS, number, place, nearest)
        self.join_unsure(waits)

    def join_unsure(self, waits: Callable[[int], bool] = _never) -> None:
        """Tie every call that refers to others and is not joined by its surest key, unless it
        `waits`."""
        for number, other in self.unsure():
            if not waits(number):
                self.join(number, other)

    def unsure(self) -> Iterator[tuple[int, int]]:
        """Yield each call that is not joined, and the nearest that offers its surest key."""
        for part in self._unsure.parts():
            surest: dict[int, tuple[int, int]] = {}
            for number, *row in self._unsure.of(part):
                if not self._joined[number]:
                    place, other = row
                    surest[number] = min(surest.get(number, (place, other)), (place, other))
            for number, (_, other) in surest.items():
                yield number, other

    def is_joined(self, number: int) -> bool:
        """Return whether a call that another one needs is there, after `settle`."""
        return bool(self._joined[number])

    def close(self) -> None:
        self._offered.close()
        self._needed.close()
        self._unsure.close()


def _nearest(offers: list[_Place], rank: Rank) -> int:
    """Return the last call before a rank; the first one after it where clocks differ. The offers
    are sorted."""
    before = bisect_left(offers, rank)
    if before:
        return offers[before - 1][2]
    after = bisect_left(offers, (*rank, _AFTER))
    return offers[after if after < len(offers) else 0][2]
