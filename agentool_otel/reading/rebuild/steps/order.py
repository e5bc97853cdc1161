"""Drafts of steps, and the order they belong in."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any

import msgspec

from agentool_otel.model.times import from_ns
from agentool_otel.reading.rebuild import residue
from agentool_otel.reading.rebuild.report.fidelity import Note, Outcome
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import index, json_or, text
from agentool_otel.semconv import agentool

__all__ = ["OF_RESULT", "RESULT", "Causes", "Draft", "Drafts", "in_order", "notes_of"]

_OF_STEP = (agentool.STEP_INDEX, agentool.STEP_ID, agentool.STEP_EXTRA)
OF_RESULT = (agentool.STEP_RESULT_INDEX, agentool.STEP_RESULT_ID, agentool.STEP_RESULT_EXTRA)
_TIME = attrgetter("time_ns")
RESULT = 0
"""Rank of a result: of steps at the same time, those that end something come first."""


_Remark = tuple[Outcome, str, str | None, str | None]
"""Outcome, field, attribute and rule of a member that is not simply kept."""


class Draft(msgspec.Struct, eq=False):
    """A step before it is numbered: its JSON members, and what determines its place."""

    body: dict[str, Any]
    """Begins with `step_id`, which is filled in at the end, and `type`."""
    time_ns: int | None
    rank: int
    node: Node | None
    index: int | None = None
    id: str | None = None
    residue: Any = None
    after: tuple[Draft | Causes, ...] = ()
    """Steps that caused this one."""
    notes: tuple[_Remark, ...] = ()

    def note(
        self, outcome: Outcome, field: str, attribute: str | None = None, rule: str | None = None
    ) -> None:
        """Note that a field is not simply kept: its outcome, where it came from and the rule."""
        self.notes = (*self.notes, (outcome, field, attribute, rule))

    def place(self, node: Node, keys: tuple[str, str, str]) -> None:
        """Set the step's index, id and residue from one of our own spans; others have none."""
        attributes = node.span.attributes
        place, step_id, extra = keys
        if place not in attributes and step_id not in attributes and extra not in attributes:
            return
        self.index = index(node, place)
        self.id = text(attributes.get(step_id))
        self.residue = json_or(attributes.get(extra), None)

    def finished(self, position: int) -> dict[str, Any]:
        """Return the step as JSON: id and time first, then its members, then its residue."""
        step = self.body
        step["step_id"] = self.id if self.id is not None else _step_id(position)
        if self.time_ns is not None:
            step["timestamp"] = from_ns(self.time_ns)
        return step if self.residue is None else residue.apply(step, self.residue)


class Causes:
    """Steps that together caused others. An answer may have thousands of thoughts and request
    thousands of calls, so that each of these has the thoughts in common and not in a list."""

    def __init__(self) -> None:
        self._steps: list[Draft] = []

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[Draft]:
        return iter(self._steps)

    def add(self, step: Draft) -> None:
        """Add a step; not allowed after the first read of a time."""
        self._steps.append(step)

    @cached_property
    def time_ns(self) -> int | None:
        """The latest time of the steps; None if none has one."""
        return max((step.time_ns for step in self._steps if step.time_ns is not None), default=None)


class Drafts(list[Draft]):
    """The steps of one run before they are put in order."""

    def __init__(self, root: Node | None):
        super().__init__()
        self._root = root
        self._left_out: set[Draft] = set()
        self.thoughts: dict[Node, Causes] = {}
        """The reasoning steps of each model call."""

    def add(self, kind: str, time_ns: int | None, rank: int, node: Node | None) -> Draft:
        """Add a step of a type."""
        draft = Draft({"step_id": None, "type": kind}, time_ns, rank, node)
        self.append(draft)
        return draft

    def leave_out(self, draft: Draft) -> None:
        """Leave out a step that is another one."""
        self._left_out.add(draft)

    def kept(self) -> list[Draft]:
        """Return the steps without those that are left out."""
        if not self._left_out:
            return self
        return [draft for draft in self if draft not in self._left_out]

    def output_time(self, node: Node | None) -> int | None:
        """Return when a model's output came, at the end of its call; not known within a run."""
        if node is None or node is self._root:
            return None
        return node.end_ns if node.end_ns is not None else node.start_ns

    def place(self, draft: Draft, node: Node, requested_by: Node | None) -> None:
        """Place a step as our own spans order it, and after the reasoning that led to it."""
        draft.place(node, _OF_STEP)
        self.follow_thoughts(draft, requested_by)

    def follow_thoughts(self, draft: Draft, requested_by: Node | None) -> None:
        """Put a step after the reasoning of the model call that requested it."""
        thoughts = self.thoughts.get(requested_by) if requested_by is not None else None
        if thoughts is not None:
            draft.after += (thoughts,)


@lru_cache(maxsize=1024)
def _step_id(position: int) -> str:
    return f"step_{position + 1:03d}"


def notes_of(drafts: list[Draft]) -> list[Note]:
    """Return the fidelity notes of ordered steps: one per member."""
    notes: list[Note] = []
    for n, draft in enumerate(drafts):
        step_id = draft.id if draft.id is not None else _step_id(n)
        span_id = draft.node.span.span_id if draft.node is not None else None
        special = {field for _, field, _, _ in draft.notes}
        for outcome, field, attribute, rule in draft.notes:
            notes.append(Note(outcome, field, step_id, span_id, attribute, rule))
        for field in draft.body:
            if field not in special and field != "step_id":
                notes.append(Note("kept", field, step_id, span_id))
    return notes


def in_order(drafts: list[Draft], turns: Callable[[], dict[Draft, int]]) -> list[Draft]:
    """Order steps: by their index where every one has it, else causes first, then time, then rank.

    Ties are broken by the order in which a model requested calls (JavaScript's clock has only
    milliseconds), then by span id, so that the order does not depend on that of the spans.

    Args:
        drafts: the steps.
        turns: returns the place of each requested step among the calls; called only if needed.
    """
    if all(draft.index is not None for draft in drafts):
        return sorted(drafts, key=lambda draft: draft.index or 0)
    if _times_suffice(drafts):
        return sorted(drafts, key=_TIME)
    times, turn = _times(drafts), turns()
    keys = [
        (time, draft.rank, turn.get(draft, 0), draft.node.span.span_id if draft.node else "", n)
        for n, (time, draft) in enumerate(zip(times, drafts, strict=True))
    ]
    by_time = [drafts[n] for *_, n in sorted(keys)]
    return by_time if _causes_first(by_time) else _sorted_by_causes(drafts, keys)


_Key = tuple[int, int, int, str, int]
"""Sort key of a step: time, rank, turn, span id, and index in the list."""


def _sorted_by_causes(drafts: list[Draft], keys: list[_Key]) -> list[Draft]:
    """Sort steps so that each comes after its causes, and otherwise by key."""
    frees, blocked = _blocked(drafts)
    ready = [keys[n] for n in range(len(drafts)) if not blocked[n]]
    heapq.heapify(ready)
    ordered: list[Draft] = []
    while ready:
        n = heapq.heappop(ready)[4]
        ordered.append(drafts[n])
        done = [n]
        for item in done:  # grows by causes of which this was the last step
            for freed in frees[item]:
                blocked[freed] -= 1
                if not blocked[freed]:
                    if freed < len(drafts):
                        heapq.heappush(ready, keys[freed])
                    else:
                        done.append(freed)
    if len(ordered) < len(drafts):  # a circle of causes: its steps keep the order of time
        circle = [keys[n] for n in range(len(drafts)) if blocked[n]]
        ordered += [drafts[n] for *_, n in sorted(circle)]
    return ordered


def _blocked(drafts: list[Draft]) -> tuple[dict[int, list[int]], list[int]]:
    """Return what each step frees, and by how many each is blocked, by place. Common causes have
    places behind those of the steps."""
    place: dict[Draft | Causes, int] = {draft: n for n, draft in enumerate(drafts)}
    blocked = [0] * len(drafts)
    frees: dict[int, list[int]] = defaultdict(list)
    for n, draft in enumerate(drafts):
        for cause in draft.after:
            if isinstance(cause, Causes) and cause not in place:
                place[cause] = len(blocked)
                blocked.append(len(cause))
                for step in cause:
                    frees[place[step]].append(place[cause])
            frees[place[cause]].append(n)
            blocked[n] += 1
    return frees, blocked


def _times_suffice(drafts: list[Draft]) -> bool:
    """True where each step has a time of its own, later than that of its causes: nearly always."""
    times = {draft.time_ns for draft in drafts}
    if None in times or len(times) < len(drafts):
        return False
    for draft in drafts:
        for cause in draft.after:
            if (cause.time_ns or 0) >= (draft.time_ns or 0):
                return False
    return True


def _causes_first(ordered: list[Draft]) -> bool:
    seen: set[Draft | Causes] = set()
    for draft in ordered:
        for cause in draft.after:
            if cause not in seen:
                if not isinstance(cause, Causes) or any(step not in seen for step in cause):
                    return False
                seen.add(cause)
        seen.add(draft)
    return True


def _times(drafts: list[Draft]) -> list[int]:
    """Return a time for each step; a step without one follows its latest cause."""
    times = [draft.time_ns for draft in drafts]
    for n, draft in enumerate(drafts):
        if times[n] is None:
            causes = [cause.time_ns for cause in draft.after if cause.time_ns is not None]
            times[n] = max(causes, default=0)
    return [time or 0 for time in times]
