"""The loops of this process that wait for their next call, and the sessions of those that ended."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from time import monotonic
from typing import NamedTuple

from agentool_otel.model.evidence import Fingerprint
from agentool_otel.tracing.loops.history import History, Link
from agentool_otel.tracing.loops.loop import Failure, Loop

__all__ = ["Context", "OpenLoops", "Taken", "open_loops"]

_MOST_OPEN = 1024
_MOST_LINKS = 16_384
"""Limit of the answers, responses and tool calls whose session is remembered."""
_MOST_SESSIONS = 8
"""Limit of the sessions that one of them may be of; more prove nothing."""
RETRY_S = 120.0
"""How long after a failed call the same call counts as its retry."""
IDLE_S = 300.0
"""How long a loop waits for its next call."""


class Taken(NamedTuple):
    """The loop that a call continues."""

    loop: Loop
    is_joined: bool
    """Whether the call is part of it; not below another parent."""


class Context(NamedTuple):
    """The last call in one context of the program, which decides where messages do not."""

    session: str | None = None
    loop: Loop | None = None


_NOTHING = Context()
_last: ContextVar[Context] = ContextVar("agentool-otel-loop", default=_NOTHING)


class OpenLoops:
    """All of a process. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # reentrant, for signal handlers and finalizers
        self._open: OrderedDict[Loop, None] = OrderedDict()
        """The one that was touched last is the last."""
        self._waiting: dict[Link, list[Loop]] = {}
        self._sessions: OrderedDict[Link, list[tuple[str, int]]] = OrderedDict()
        """By what an answer offers, its sessions, each with the hash of its first question."""

    def __len__(self) -> int:
        return len(self._open)

    def clear(self) -> None:
        """Forget everything: in a forked child, whose parent goes on with its loops."""
        self.__init__()  # type: ignore[misc]
        _last.set(_NOTHING)

    # ---- which loop
    def take(self, history: History, outer_id: int) -> Taken | None:
        """Return the loop that a call continues, which waits no more; None if there is none.

        Args:
            history: the messages of the call.
            outer_id: span id of the parent that the call has by itself, 0 for none. A call never
                leaves the trace of its parent: a loop with another one is removed, and is to be
                ended by the caller.
        """
        with self._lock:
            loop = self._continued(history)
            if loop is None:
                return None
            if outer_id and outer_id != loop.outer_id:
                self._drop(loop)
                return Taken(loop, is_joined=False)
            self._stop_waiting(loop)
            self._touch(loop)
            loop.calls += 1
            loop.failure = loop.failed_key = None
        _last.set(Context(loop.session, loop))
        return Taken(loop, is_joined=True)

    def _continued(self, history: History) -> Loop | None:
        last = _last.get().loop
        if last is not None and last.failed_key == history.key and self._may_be_retried(last):
            return last
        answer = history.answers[0] if history.answers else None
        for links in history.links:
            loops = {loop: None for link in links for loop in self._waiting.get(link, ())}
            if not loops:
                continue
            if len(loops) > 1 and answer is not None:
                loops = {loop: None for loop in loops if answer in loop.links} or loops
            if len(loops) > 1:
                return last if last in loops else None
            return next(iter(loops))
        return None

    def of_tool(
        self, name: str, outer_id: int, arguments: Callable[[], Fingerprint | None]
    ) -> Loop | None:
        """Return the loop whose request a tool executes; None if that is not certain.

        Args:
            name: of the tool.
            outer_id: span id of the parent that the tool has by itself, 0 for none.
            arguments: returns those of the tool, None if they are unknown; called where several
                loops request it.
        """
        with self._lock:
            loops = [
                loop
                for loop in self._open
                if (not outer_id or outer_id == loop.outer_id)
                and loop.waits_for(name, None, again=True)
            ]
        executed: Fingerprint | None = None
        if len(loops) > 1 and (executed := arguments()) is not None:
            for again in (False, True):
                fitting = [loop for loop in loops if loop.waits_for(name, executed, again=again)]
                if fitting:
                    loops = fitting
                    break
        if len(loops) > 1:
            last = _last.get().loop
            loops = [loop for loop in loops if loop is last]
        if not loops:
            return None
        (loop,) = loops
        with self._lock:
            if loop not in self._open:
                return None
            self._touch(loop)
            loop.executes(name, executed)
            loop.tools += 1
        return loop

    def tool_ended(self, loop: Loop) -> None:
        with self._lock:
            loop.tools -= 1
            self._touch(loop)

    def session_of(self, history: History) -> str | None:
        """Return the session of the turn that a call follows, None if there is none.

        All that the call refers to counts, the surest first; where that fits several sessions, the
        first question decides, and then the context.
        """
        fitting: dict[str, int] = {}
        """Sessions, each with the hash of its first question."""
        with self._lock:
            for links in history.earlier:
                matches = {
                    session: first
                    for link in links
                    for session, first in self._sessions.get(link, ())
                    if not fitting or session in fitting
                }
                fitting = matches or fitting
                if len(fitting) == 1:
                    break
        if len(fitting) > 1:
            alike = {session: 0 for session, first in fitting.items() if first == history.first}
            fitting = alike or fitting
        if len(fitting) > 1:
            last = _last.get().session
            return last if last in fitting else None
        return next(iter(fitting), None)

    # ---- their life
    def add(self, loop: Loop) -> Loop | None:
        """Add a loop that has begun with a call; return the oldest one where there are too many.

        That one is to be ended by the caller.
        """
        loop.calls += 1
        with self._lock:
            self._open[loop] = None
            oldest = None
            if len(self._open) > _MOST_OPEN:
                oldest = next(iter(self._open))
                self._drop(oldest)
        _last.set(Context(loop.session, loop))
        return oldest

    def note(self, session: str | None) -> None:
        """Note that the present context works for a session."""
        _last.set(Context(session, None))

    def remember(self, links: Iterable[Link], session: str, first: int) -> None:
        """Remember the session of an answer."""
        entry = (session, first)
        with self._lock:
            for link in links:
                entries = self._sessions.setdefault(link, [])
                if entry not in entries:
                    entries.append(entry)
                    del entries[:-_MOST_SESSIONS]
                self._sessions.move_to_end(link)
            while len(self._sessions) > _MOST_LINKS:
                self._sessions.popitem(last=False)

    def wait(self, loop: Loop) -> None:
        """Note that a call of a loop has ended with an answer that a further call may continue."""
        with self._lock:
            loop.calls -= 1
            if loop not in self._open:
                return
            self._touch(loop)
            self._wait(loop)

    def wait_for_retry(self, loop: Loop, key: int, failure: Failure) -> None:
        """Note that a call of a loop has failed, which the program may make again."""
        with self._lock:
            loop.calls -= 1
            loop.failure, loop.failed_key = failure, key
            if loop in self._open:
                self._touch(loop)
                self._wait(loop)
        _last.set(Context(loop.session, loop))

    def remove(self, loop: Loop) -> bool:
        """Remove a loop whose call has ended it; False if it is not open any more, or if other
        calls of it are under way."""
        with self._lock:
            loop.calls -= 1
            if loop not in self._open or loop.calls > 0:
                return False
            self._drop(loop)
        _last.set(Context(loop.session, None))
        return True

    def idle(self) -> list[Loop]:
        """Remove the loops that nobody continues, and return them."""
        now = monotonic()
        idle: list[Loop] = []
        with self._lock:
            for loop in [*self._open]:
                since = now - loop.touched_s
                if since < RETRY_S:
                    break  # those after it are younger
                if loop.calls or loop.tools:
                    continue
                if since >= (IDLE_S if loop.failure is None else RETRY_S):
                    idle.append(loop)
                    self._drop(loop)
        return idle

    def all(self) -> list[Loop]:
        """Remove all loops, and return them: the one that was touched last is the last."""
        with self._lock:
            loops = [*self._open]
            for loop in loops:
                self._drop(loop)
        return loops

    # ---- under the lock
    def _may_be_retried(self, loop: Loop) -> bool:
        return loop in self._open and monotonic() - loop.touched_s <= RETRY_S

    def _touch(self, loop: Loop) -> None:
        loop.touch()
        if loop in self._open:
            self._open.move_to_end(loop)

    def _drop(self, loop: Loop) -> None:
        self._stop_waiting(loop)
        self._open.pop(loop, None)

    def _wait(self, loop: Loop) -> None:
        for link in loop.links:
            loops = self._waiting.setdefault(link, [])
            if loop not in loops:
                loops.append(loop)

    def _stop_waiting(self, loop: Loop) -> None:
        for link in loop.links:
            loops = self._waiting.get(link)
            if loops is not None and loop in loops:
                loops.remove(loop)
                if not loops:
                    del self._waiting[link]


open_loops = OpenLoops()
