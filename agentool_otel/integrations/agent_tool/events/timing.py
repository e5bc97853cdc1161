"""Waiting and running times of an invocation, from its states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentool_otel.integrations.agent_tool.events.outcomes import TERMINAL
from agentool_otel.model.times import to_ns

__all__ = ["Timing", "latest_of", "time_of", "transitions_of"]

_MS = 1_000_000
_FIRST = frozenset({"planned", "selected"})
_DECIDED = frozenset({"approved", "denied", "queued", "running", *TERMINAL})
"""States in which nobody waits for an approval any more."""


def time_of(members: Mapping[str, Any], *names: str) -> int | None:
    """Return the first of some members that is an RFC 3339 time, in nanoseconds.

    One that no span can have is none, such as the year 1 by which some languages mean no time.
    """
    for name in names:
        text = members.get(name)
        at_ns = to_ns(text) if isinstance(text, str) else None
        if at_ns is not None and 0 < at_ns < 2**63:
            return at_ns
    return None


def latest_of(invocation: Mapping[str, Any]) -> int | None:
    """Return when an Invocation entered its current state; None if unknown.

    Its beginning is that of the states before it runs which it was created with.
    """
    state = invocation.get("status")
    for name, at_ns in reversed(transitions_of(invocation)):
        if name == state:
            return at_ns
    if not isinstance(state, str):
        return None
    if state in TERMINAL:
        return time_of(invocation, "ended_at")
    if state == "running":
        return time_of(invocation, "started_at")
    return time_of(invocation, "created_at") if state in _FIRST else None


def transitions_of(invocation: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the state and the time of each status transition that has both.

    The specification leaves their members open: the state is `to`, `status` or `state`, the time
    `at`, `timestamp`, `time` or `created_at`.
    """
    transitions: list[tuple[str, int]] = []
    entries = invocation.get("status_transitions")
    for item in entries if isinstance(entries, (list, tuple)) else ():
        if not isinstance(item, Mapping):
            continue
        words = (item.get(name) for name in ("to", "status", "state"))
        state = next((word for word in words if isinstance(word, str)), None)
        at_ns = time_of(item, "at", "timestamp", "time", "created_at")
        if state is not None and at_ns is not None:
            transitions.append((state, at_ns))
    return transitions


class Timing:
    """The times of one invocation; unknown ones are None."""

    __slots__ = ("asked_ns", "created_ns", "ended_ns", "queued_ns", "started_ns", "waited_ns")

    def __init__(self, created_ns: int):
        self.created_ns = created_ns
        self.queued_ns: int | None = None
        self.started_ns: int | None = None
        self.ended_ns: int | None = None
        self.asked_ns: int | None = None
        """Since when it waits to be approved."""
        self.waited_ns: int | None = None
        """Nanoseconds spent on waiting for approvals that were given or denied; None if unknown."""

    def enter(self, state: str, at_ns: int) -> None:
        """Note that it is in a state."""
        if state == "awaiting_approval" and self.asked_ns is None:
            self.asked_ns = at_ns
        elif state in _DECIDED and self.asked_ns is not None:
            self.waited_ns = (self.waited_ns or 0) + max(at_ns - self.asked_ns, 0)
            self.asked_ns = None
        if state == "queued" and self.queued_ns is None:
            self.queued_ns = at_ns
        elif state == "running" and self.started_ns is None:
            self.started_ns = at_ns
        elif state in TERMINAL:
            self.ended_ns = at_ns

    def fill(self, transitions: Iterable[tuple[str, int]]) -> None:
        """Fill gaps with times from status transitions."""
        timing = Timing(self.created_ns)
        for state, at_ns in transitions:
            timing.enter(state, at_ns)
        for name in ("queued_ns", "started_ns", "waited_ns", "ended_ns"):
            if getattr(self, name) is None:
                setattr(self, name, getattr(timing, name))

    @property
    def queue_ms(self) -> float | None:
        """From the queue, else the request, to the start, without the wait for an approval."""
        if self.started_ns is None:
            return None
        if self.queued_ns is not None:
            return max(self.started_ns - self.queued_ns, 0) / _MS
        return max(self.started_ns - self.created_ns - (self.waited_ns or 0), 0) / _MS

    @property
    def run_ms(self) -> float | None:
        """From the start to the end."""
        if self.started_ns is None or self.ended_ns is None:
            return None
        return max(self.ended_ns - self.started_ns, 0) / _MS

    @property
    def approval_ms(self) -> float | None:
        """The wait for approvals."""
        return None if self.waited_ns is None else self.waited_ns / _MS
