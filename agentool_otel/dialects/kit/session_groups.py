"""The entries of a session that are of the same event, by their keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from agentool_otel.dialects.kit.session_entries import Channel, Entry, Kind

__all__ = ["Groups", "entry_time"]


class _Group:
    """Entries of one event."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.turns: dict[Channel, str] = {}
        self.at_ns = 0

    def may_have(self, entry: Entry) -> bool:
        """Return whether an entry can be of this event: ids may come again in another turn."""
        turn = self.turns.get(entry.channel)
        return turn is None or entry.turn is None or turn == entry.turn

    def take(self, entries: list[Entry]) -> None:
        self.entries += entries
        for entry in entries:
            self.at_ns = entry_time(entry)
            if entry.turn is not None:
                self.turns[entry.channel] = entry.turn


class Groups:
    """Entries by their keys, in order of time."""

    def __init__(self) -> None:
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
        group, *duplicates = matches or [_Group()]
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
