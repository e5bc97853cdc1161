"""Steps as turns, for chat-shaped formats.

A turn is one answer of the model: its thoughts, the tools it requests, and their results. A trace
does not show where one answer ends, so a thought after a call, and a call after a result, begin the
next one. A result belongs to its call, wherever it came.
"""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import count
from typing import Any, NamedTuple

from agentool_otel.reading.formats.kit.format import Loss
from agentool_otel.reading.formats.kit.members import body_of

__all__ = ["Call", "Turn", "turns_of"]


class Call:
    """A tool call with its result, if it has one."""

    def __init__(self, step: dict[str, Any], id: str):
        self.step = step
        self.id = id
        """Its id, made where the trace has none."""
        self.result: dict[str, Any] | None = None
        """The step that answers it."""

    @property
    def name(self) -> str:
        return str(body_of(self.step).get("name"))


class Turn:
    """One answer of the model."""

    def __init__(self) -> None:
        self.thoughts: list[dict[str, Any]] = []
        self.calls: list[Call] = []

    @property
    def answered(self) -> bool:
        return any(call.result is not None for call in self.calls)


class Turns(NamedTuple):
    """The steps of a trace in turns."""

    items: list[Turn | dict[str, Any]]
    """Turns, and the steps that belong to none, in order."""
    losses: list[Loss]


def turns_of(document: dict[str, Any]) -> Turns:
    """Return the steps of a trace in turns; a result without a call belongs to none."""
    return _Reading().read(document["steps"])


class _Reading:
    def __init__(self) -> None:
        self._items: list[Turn | dict[str, Any]] = []
        self._turn: Turn | None = None
        self._waiting: defaultdict[str, deque[tuple[Turn, Call]]] = defaultdict(deque)
        self._ids: set[str] = set()
        self._losses: list[Loss] = []

    def read(self, steps: list[dict[str, Any]]) -> Turns:
        self._ids = {i for step in steps if isinstance(i := body_of(step).get("id"), str)}
        for step in steps:
            kind = step["type"]
            if kind == "reasoning" and step.get("content") is not None:
                if self._turn is None or self._turn.calls:
                    self._begin()
                self._current.thoughts.append(step)
            elif kind == "tool_call" and body_of(step):
                if self._turn is None or self._turn.answered:
                    self._begin()
                self._call(step)
            elif kind == "tool_result" and self._answers(step):
                self._answer(step)
            else:
                self._items.append(step)
                self._turn = None
        return Turns(self._items, self._losses)

    @property
    def _current(self) -> Turn:
        assert self._turn is not None
        return self._turn

    def _begin(self) -> None:
        self._turn = Turn()
        self._items.append(self._turn)

    def _call(self, step: dict[str, Any]) -> None:
        call_id = body_of(step).get("id")
        if isinstance(call_id, str):
            call = Call(step, call_id)
            self._waiting[call_id].append((self._current, call))
        else:
            call = Call(step, self._free_id())
            reason = "made: a call needs an id here"
            self._losses.append(Loss("normalised", "tool_call.id", reason, step.get("step_id")))
        self._current.calls.append(call)

    def _free_id(self) -> str:
        call_id = next(name for n in count(1) if (name := f"call_{n}") not in self._ids)
        self._ids.add(call_id)
        return call_id

    def _answers(self, step: dict[str, Any]) -> bool:
        call_id = body_of(step).get("call_id")
        return call_id is not None and bool(self._waiting.get(str(call_id)))

    def _answer(self, step: dict[str, Any]) -> None:
        turn, call = self._waiting[str(body_of(step)["call_id"])].popleft()
        call.result = step
        if turn is not self._turn:
            reason = "a result is placed at its call, not where it came"
            self._losses.append(Loss("normalised", "order", reason, step.get("step_id")))
