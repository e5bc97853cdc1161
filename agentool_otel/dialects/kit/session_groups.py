"""The entries of a session that are of the same event, by their keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from agentool_otel.dialects.kit.session_entries import Channel, Entry, Kind

__all__ = ["Groups", "Turns", "entry_time"]


class Turns:
    """The turns that have records of their own, by their keys."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._first: dict[str, str] = {}
        """By key of a turn, another of its keys, and in the end the first of them."""
        self._turns_in: dict[Channel, set[str]] = defaultdict(set)
        """By channel, the turns that it has records of."""
        turns = [entry for entry in entries if entry.kind == "turn" and entry.keys]
        for entry in turns:
            first = self._turn(entry.keys[0]) or entry.keys[0]
            for key in entry.keys:
                self._first[self._turn(key) or key] = first
        for entry in turns:
            self._turns_in[entry.channel].add(self._turn(entry.keys[0]) or entry.keys[0])

    def _turn(self, key: str) -> str | None:
        """Return the first key of the turn that has a key; None if no record has it."""
        if key not in self._first:
            return None
        path: list[str] = []
        while (above := self._first[key]) != key:
            path.append(key)
            key = above
        self._first.update(dict.fromkeys(path, key))  # the next search is short
        return key

    def differ(
        self, turn: str | None, channel: Channel, other_turn: str | None, other_channel: Channel
    ) -> bool:
        """Return whether the turns that entries of two channels name are different ones: both
        channels have records of both. Else they may be two keys of one turn."""
        if turn is None or other_turn is None or turn == other_turn:
            return False
        first, second = self._turn(turn), self._turn(other_turn)
        if first is None or second is None or first == second:
            return False
        return {first, second} <= self._turns_in[channel] & self._turns_in[other_channel]


class _Group:
    """Entries of one event."""

    def __init__(self, turns: Turns) -> None:
        self._all_turns = turns
        self.entries: list[Entry] = []
        self.turns: dict[Channel, str] = {}
        self.at_ns = 0

    def may_have(self, entry: Entry) -> bool:
        """Return whether an entry can be of this event: ids may come again in another turn."""
        own = self.turns.get(entry.channel)
        if own is not None and entry.turn is not None and own != entry.turn:
            return False
        differ = self._all_turns.differ
        return not any(
            differ(turn, channel, entry.turn, entry.channel) for channel, turn in self.turns.items()
        )

    def take(self, entries: list[Entry]) -> None:
        self.entries += entries
        for entry in entries:
            self.at_ns = entry_time(entry)
            if entry.turn is not None:
                self.turns[entry.channel] = entry.turn


class Groups:
    """Entries by their keys, in order of time."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._groups: dict[_Group, None] = {}
        self._of_key: dict[tuple[Kind, str], list[_Group]] = defaultdict(list)

    def all(self) -> Iterator[_Group]:
        return iter(self._groups)

    def add(self, entry: Entry) -> None:
        """Add an entry to the group that it has a key of, or to a new one; one with keys of several
        makes one of them."""
        at_ns = entry_time(entry)
        matches: dict[_Group, None] = {}
        for key in entry.keys:
            candidates = self._of_key[entry.kind, key]
            near = [group for group in candidates if group.may_have(entry)]
            if near:
                matches[min(near, key=lambda group: abs(group.at_ns - at_ns))] = None
        group, *duplicates = matches or [_Group(self._turns)]
        self._groups[group] = None
        for duplicate in duplicates:
            group.take(duplicate.entries)
            del self._groups[duplicate]
            for item in duplicate.entries:
                self._place(item, group, duplicate)
        group.take([entry])
        self._place(entry, group, None)

    def _place(self, entry: Entry, group: _Group, instead_of: _Group | None) -> None:
        for key in entry.keys:
            groups = self._of_key[entry.kind, key]
            if instead_of in groups:
                groups.remove(instead_of)
            if group not in groups:
                groups.append(group)


def entry_time(entry: Entry) -> int:
    return entry.span.start_ns or entry.span.end_ns or 0
