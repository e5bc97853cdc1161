"""Runs of model calls without an agent that are turns of one session.

A turn refers to the last earlier answer that was recorded. Chats that begin alike ("hi") have equal
answers: each answer is continued by one turn as far as there are enough of them, those of the same
OTel trace first, then the nearest before. More turns than answers are branches of one session.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from agentool_otel.reading.rebuild.correlation.disk_store import Rows
from agentool_otel.reading.rebuild.correlation.keys import Key, Keys
from agentool_otel.reading.rebuild.correlation.union_find import PARTS, Groups, Rank

__all__ = ["Sessions"]

_NumberOf = Callable[[int], int]
_Place = tuple[int, int, int]
"""The rank of a call and the number of its run, in order of time."""
_Wanted = tuple[int, Key, int, int]
"""A key that a run refers to: its place among those of a call, the key, the rank of the call."""


class Sessions:
    """The sessions of numbered calls. All calls wait on disk until `settle`, for a later one may be
    the turn before."""

    def __init__(self) -> None:
        self._sessions = Groups()
        self._offered = Rows(4, PARTS)
        self._needed = Rows(5, PARTS)
        self._joined = bytearray()
        """Which runs continue another one, by their numbers."""
        self._run_of: _NumberOf = self._sessions.group_of

    def add(self, keys: Keys, rank: Rank) -> None:
        """Add the next call.

        Raises:
            SourceError: the temporary folder is full.
        """
        number = self._sessions.add_call()
        self._joined.append(False)
        for key in keys.turn:
            self._offered.add(key % PARTS, key, *rank, number)
        for place, key in enumerate(keys.turns_before):
            self._needed.add(key % PARTS, key, *rank, number, place)

    def settle(self, run_of: _NumberOf, trace_of: _NumberOf) -> None:
        """Find the sessions; nothing can be added any more.

        Args:
            run_of: the number of the run of a call: that of one of its calls.
            trace_of: the number of the OTel trace of a call.

        Raises:
            SourceError: the temporary folder is full.
        """
        self._run_of = run_of
        for number in range(len(self._sessions)):
            self._sessions.tie(number, run_of(number))
        wanted = self._surest(self._recorded(run_of))
        for part in wanted.parts():
            wants: dict[Key, list[_Place]] = defaultdict(list)
            for key, *place in wanted.of(part):
                wants[key].append(_place(*place))
            offers: dict[Key, dict[int, _Place]] = defaultdict(dict)
            for key, start, tie, number in self._offered.of(part):
                if key in wants:
                    run = run_of(number)
                    offers[key].setdefault(run, (start, tie, run))
            for key, turns in wants.items():
                self._tie_turns(sorted(turns), sorted(offers[key].values()), trace_of)
        wanted.close()

    def _recorded(self, run_of: _NumberOf) -> Rows:
        """Return what runs refer to and is there, by run."""
        recorded = Rows(5, PARTS)
        for part in self._needed.parts():
            offered = {key for key, *_ in self._offered.of(part)}
            for key, start, tie, number, place in self._needed.of(part):
                if key in offered:
                    run = run_of(number)
                    recorded.add(run % PARTS, run, place, key, start, tie)
        return recorded

    def _surest(self, recorded: Rows) -> Rows:
        """Return the surest that each run refers to, by key."""
        wanted = Rows(4, PARTS)
        for part in recorded.parts():
            surest: dict[int, _Wanted] = {}
            for run, place, key, start, tie in recorded.of(part):
                candidate = (place, key, start, tie)
                surest[run] = min(surest.get(run, candidate), candidate)
            for run, (_, key, start, tie) in surest.items():
                wanted.add(key % PARTS, key, start, tie, run)
        recorded.close()
        return wanted

    def _tie_turns(self, turns: list[_Place], answers: list[_Place], trace_of: _NumberOf) -> None:
        """Tie turns to the answers that all of them refer to, both in order of time."""
        by_trace: dict[int, list[_Place]] = defaultdict(list)
        for answer in answers:
            by_trace[trace_of(answer[2])].append(answer)
        of_trace: dict[int, list[_Place]] = defaultdict(list)
        others: list[_Place] = []
        for turn in turns:
            trace = trace_of(turn[2])
            (of_trace[trace] if trace in by_trace else others).append(turn)
        taken: set[int] = set()
        for trace, own_turns in of_trace.items():
            taken |= self._tie_all(_continued(own_turns, by_trace[trace], taken))
        self._tie_all(_continued(others, answers, taken))

    def _tie_all(self, pairs: Iterable[tuple[int, int]]) -> set[int]:
        """Tie turns to answers, and return the answers."""
        taken: set[int] = set()
        for turn, answer in pairs:
            self._sessions.tie(turn, answer)
            self._joined[turn] = True
            taken.add(answer)
        return taken

    def session_of(self, number: int) -> int:
        """Return the number of the session of a call."""
        return self._sessions.group_of(number)

    def has_turn_before(self, number: int) -> bool:
        """Return whether a turn before that of a call was recorded."""
        return bool(self._joined[self._run_of(number)])

    def close(self) -> None:
        self._offered.close()
        self._needed.close()


def _place(start: int, tie: int, run: int) -> _Place:
    return start, tie, run


def _continued(
    turns: list[_Place], answers: list[_Place], taken: set[int]
) -> Iterator[tuple[int, int]]:
    """Yield each turn with the answer that it continues.

    Args:
        turns: in order of time.
        answers: likewise; at least one if there are turns.
        taken: those that other turns continue.
    """
    free: list[int] = []
    nearest: int | None = None
    place = 0
    for turn in turns:
        while place < len(answers) and answers[place] < turn:
            nearest = answers[place][2]
            if nearest not in taken:
                free.append(nearest)
            place += 1
        if free:
            yield turn[2], free.pop()
        else:  # a branch; the first answer after it where clocks differ
            yield turn[2], answers[0][2] if nearest is None else nearest
