"""Align the steps of two traces and classify each change."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from hashlib import blake2b
from itertools import islice, product
from typing import Any, TypeAlias

from agentool_otel.evaluation.trace_diff.actions import Action, Part, members_of, name_of
from agentool_otel.evaluation.trace_diff.alignment import Keys, align
from agentool_otel.evaluation.trace_diff.ignored import Ignoring
from agentool_otel.evaluation.trace_diff.members import MemberComparison, Outcome
from agentool_otel.evaluation.trace_diff.pieces import fingerprint
from agentool_otel.evaluation.trace_diff.records import Kind, StepChange, Unknown
from agentool_otel.evaluation.trace_view import NAME, TO_AGENT, TraceView, or_none
from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.documents import UNSET, Step

__all__ = ["StepComparison"]

_WORD = re.compile(r"\w+")
_CHARACTERS = 2000
"""Characters of a step that are compared to measure its similarity to another one."""
_MOST_PAIRS = 1 << 14
"""Of changed calls of one batch, which are searched for those that belong together."""
_REQUEST = re.compile(r"(arguments|query)\b")
"""Members of a call that distinguish it from others of its kind."""
_Pairs: TypeAlias = list[tuple[int, int]]
_Likeness: TypeAlias = Callable[[int, int], float]
_Batches: TypeAlias = tuple[int | None, int | None]
_Together: TypeAlias = tuple[int | None, bytes]
"""A batch of calls, and of what kind they are."""
_Placed: TypeAlias = tuple[tuple[int, int, int], StepChange | None]
"""A change, and where it stands: after which pair; lost, new, that pair itself; its own place."""


class StepComparison:
    """The steps of two traces. `changes` fills in `equal` and `unknown`."""

    def __init__(self, members: MemberComparison, a: Sequence[Action], b: Sequence[Action]):
        self._members = members
        self._a = a
        self._b = b
        self.equal = 0
        """Number of equal steps."""
        self.unknown: list[Unknown] = []
        """Values that cannot be compared."""
        self._left: tuple[Counter[bytes], Counter[bytes]] = Counter(), Counter()
        """By kind, the number of steps of each side without a partner that has an equal request."""
        self._kinds: list[bytes] = []
        """The kinds of the steps of `a`."""

    def changes(self) -> list[StepChange]:
        """Return the differences, in the order of the steps: a lost step comes before its
        replacement, a moved one at its new place.
        """
        keys_a, keys_b, likeness = self._keys(self._a), self._keys(self._b), self._likeness()
        pairs, moved = align(keys_a, keys_b, likeness)
        moved += self._called_together(keys_a, keys_b, likeness, [*pairs, *moved])
        on_a, on_b = [i for i, _ in pairs], [j for _, j in pairs]
        together = [*pairs, *moved]
        same = [(i, j) for i, j in together if keys_a[i][1] == keys_b[j][1]]
        self._left = (
            _count_unpaired(keys_a, {i for i, _ in same}),
            _count_unpaired(keys_b, {j for _, j in same}),
        )
        self._kinds = [key for *_, key in keys_a]
        swapped = Counter(self._batches(i, j) for i, j in together)
        placed: list[_Placed] = []
        for n, (i, j) in enumerate(pairs):
            placed.append(((n, 2, j), self._pair(i, j, "changed")))
        for i, j in moved:
            kind = self._kind_of_move(self._batches(i, j), swapped)
            placed.append(((bisect_left(on_b, j), 1, j), self._pair(i, j, kind)))
        lost = {*range(len(self._a))}.difference(i for i, _ in together)
        added = {*range(len(self._b))}.difference(j for _, j in together)
        maybe_a, maybe_b = self._maybe_one(lost, added, keys_b)
        for i in lost:
            change = self._change_of_one(self._a[i], "lost", i in maybe_a)
            placed.append(((bisect_left(on_a, i), 0, i), change))
        for j in added:
            change = self._change_of_one(self._b[j], "added", j in maybe_b)
            placed.append(((bisect_left(on_b, j), 1, j), change))
        return [
            change for _, change in sorted(placed, key=lambda item: item[0]) if change is not None
        ]

    def _keys(self, actions: Sequence[Action]) -> list[Keys]:
        return [_keys(action, self._members.ignoring, self._members.skip) for action in actions]

    def _likeness(self) -> _Likeness:
        words_a = cache(lambda i: _word_set(self._a[i]))
        words_b = cache(lambda j: _word_set(self._b[j]))

        def alike(i: int, j: int) -> float:
            mine, theirs = words_a(i), words_b(j)
            common = len(mine & theirs)
            return common / ((len(mine) + len(theirs) - common) or 1)

        return alike

    def _called_together(
        self, keys_a: list[Keys], keys_b: list[Keys], likeness: _Likeness, paired: _Pairs
    ) -> _Pairs:
        """Return calls of a tool that changed and swapped places with others of their batch."""
        same_batch: defaultdict[int | None, set[int | None]] = defaultdict(set)
        for i, j in paired:
            same_batch[self._a[i].batch].add(self._b[j].batch)
        calls_a = _by_batch(self._a, keys_a, {i for i, _ in paired})
        calls_b = _by_batch(self._b, keys_b, {j for _, j in paired})
        likely = sorted(
            (-likeness(i, j), i + j, i, j)
            for (batch_a, kind), places in calls_a.items()
            for batch_b in same_batch[batch_a]
            for i, j in islice(product(places, calls_b.get((batch_b, kind), ())), _MOST_PAIRS)
        )
        return _each_once((i, j) for _, _, i, j in likely)

    def _batches(self, i: int, j: int) -> _Batches:
        return self._a[i].batch, self._b[j].batch

    def _kind_of_move(self, batches: _Batches, swapped: Counter[_Batches]) -> Kind:
        if "order" in self._members.skip:
            return "changed"
        return "reordered" if None not in batches and swapped[batches] > 1 else "moved"

    def _pair(self, i: int, j: int, kind: Kind) -> StepChange | None:
        one, other = self._a[i], self._b[j]
        outcome = self._members.compare_inside(one, other)
        self.unknown += outcome.unknown
        if self._is_one_of_several(i, outcome):
            name = name_of(one) or one.step.type
            why = f"the arguments of {name} are hidden, so that it may be another of its calls"
            self.unknown += (
                Unknown(path=change.path, why=why, a=one, b=other) for change in outcome.changes
            )
            return None
        if outcome.changes or kind != "changed":
            return StepChange(kind=kind, a=one, b=other, changes=outcome.changes)
        self.equal += not outcome.unknown
        return None

    def _is_one_of_several(self, i: int, outcome: Outcome) -> bool:
        """Return whether a step of `a` may belong to another step than the one it is paired with:
        its request is unknown, and there are others of its kind.
        """
        if not any(_REQUEST.match(unknown.path) for unknown in outcome.unknown):
            return False
        return any(left[self._kinds[i]] > 1 for left in self._left)

    def _maybe_one(
        self, lost: Collection[int], added: Collection[int], keys_b: list[Keys]
    ) -> tuple[set[int], set[int]]:
        """Return the steps without a partner that may be one step, because the request of one of
        them is hidden: those of `a`, and those of `b`.
        """
        by_kind: defaultdict[bytes, list[int]] = defaultdict(list)
        for j in added:
            by_kind[keys_b[j][-1]].append(j)
        maybe_a: set[int] = set()
        maybe_b: set[int] = set()
        likely = ((i, j) for i in lost for j in by_kind[self._kinds[i]])
        for i, j in islice(likely, _MOST_PAIRS):
            outcome = self._members.compare_inside(self._a[i], self._b[j])
            if any(_REQUEST.match(unknown.path) for unknown in outcome.unknown):
                maybe_a.add(i)
                maybe_b.add(j)
        return maybe_a, maybe_b

    def _change_of_one(self, action: Action, kind: Kind, maybe_other: bool) -> StepChange | None:
        a, b = (action, None) if kind == "lost" else (None, action)
        mine, other = self._members.a, self._members.b
        if kind == "added":
            mine, other = other, mine
        why = _why_unsure(mine, action) or _why_unseen(other, action)
        if why is None and maybe_other:
            why = "the arguments of a call of its name are hidden, so that it may be that call"
        if why is None:
            return StepChange(kind=kind, a=a, b=b)
        self.unknown.append(Unknown(path="step", why=why, a=a, b=b))
        return None


def _by_batch(
    actions: Sequence[Action], keys: list[Keys], paired: set[int]
) -> dict[_Together, list[int]]:
    """Return the places of calls that are not paired, by their batch and kind."""
    places: defaultdict[_Together, list[int]] = defaultdict(list)
    for n, action in enumerate(actions):
        if action.batch is not None and n not in paired:
            places[action.batch, keys[n][-1]].append(n)
    return places


def _count_unpaired(keys: list[Keys], paired: set[int]) -> Counter[bytes]:
    """Return the number of things of each kind that are not paired."""
    return Counter(key[-1] for n, key in enumerate(keys) if n not in paired)


def _each_once(pairs: Iterable[tuple[int, int]]) -> _Pairs:
    """Return the pairs that share no side with an earlier one."""
    used_a: set[int] = set()
    used_b: set[int] = set()
    unique: _Pairs = []
    for i, j in pairs:
        if i not in used_a and j not in used_b:
            used_a.add(i)
            used_b.add(j)
            unique.append((i, j))
    return unique


def _keys(action: Action, ignoring: Ignoring, skip: Collection[Part]) -> Keys:
    kind = fingerprint([action.step.type, name_of(action)], ignoring)
    request = blake2b(kind, digest_size=16)
    results = blake2b(digest_size=16)
    for member in members_of(action):
        if member.part not in skip:
            into = results if member.part == "results" else request
            into.update(member.path.encode() + fingerprint(member.value, ignoring))
    results.update(request.digest())
    return results.digest(), request.digest(), kind


def _word_set(action: Action) -> frozenset[str]:
    """Return the words at the beginning of a step's content."""
    words: set[str] = set()
    for member in members_of(action):
        if member.value is not UNSET:
            words.update(_WORD.findall(_text(member.value)[:_CHARACTERS]))
    return frozenset(words)


def _text(value: Any) -> str:
    try:
        return value if isinstance(value, str) else json_codec.dumps(value)
    except (TypeError, ValueError):  # what JSON has no form for is like nothing else
        return ""


def _why_unsure(trace: TraceView, action: Action) -> str | None:
    """Return why a step of a trace may be one that the other trace shows in full."""
    if action.step.type == "tool_result" and any(
        at == action.result_step_id for at, _ in trace.answered_alone
    ):
        return "its call was not recorded"
    return _name_gap(trace, action.step_id, action.step)


def _name_gap(trace: TraceView, step_id: str, step: Step) -> str | None:
    if (call := or_none(step.tool_call)) is not None:
        return trace.hides(call.name, NAME, step_id)
    names = ((step.to_agent, TO_AGENT), (step.key, "key"))
    gaps = (trace.hides(name, field, step_id) for name, field in names if isinstance(name, str))
    return next((gap for gap in gaps if gap is not None), None)


def _why_unseen(trace: TraceView, action: Action) -> str | None:
    """Return why a trace may have had a step that it does not show."""
    if trace.unfinished is not None:
        return trace.unfinished
    for step_id, step in trace.steps:
        if step.type == action.step.type and (gap := _name_gap(trace, step_id, step)) is not None:
            return f"the name at {step_id} {gap}"
    if or_none(action.step.tool_call) is not None:
        return trace.unseen_calls if trace.answered_alone else trace.gap("calls")
    if action.step.type == "reasoning" and trace.trace.output is UNSET:
        return trace.gap("output")  # what a model thinks comes with what it answers
    return None
