"""Threads that append to the files of a process at once, and one that replaces a file.

With a lock around each write, 200 threads wait for one another: `write` gives the interpreter lock
away, so every release hands the lock to a thread that has to wait for the interpreter first. On
Linux the kernel puts each write to a file opened with `O_APPEND` at its end, so threads need no
lock among themselves. They only have to be out of the way when a file is replaced, cut or closed:
after that, a descriptor number may be another file, and a position another span.

A thread enters before it looks at anything, and then checks whether the gate is closed. A thread
that replaces a file closes the gate first, then waits until nobody is inside. So one of the two
always sees the other.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Any

from agentool_otel.ground.counters import Counter

if TYPE_CHECKING:
    from agentool_otel.otlp.json_encoder import Line
    from agentool_otel.tracing.export.disk.files import AppendFile

__all__ = ["IS_SHARED", "Gate", "OpenFile"]

IS_SHARED = sys.platform == "linux" and getattr(sys, "_is_gil_enabled", lambda: True)()
"""Whether threads append at once. Elsewhere it was not tried, and each write has the lock."""
_PATIENCE_S = 0.1
"""Seconds to wait for threads inside: one may hang in a write, or be in a signal handler."""
_PAUSE_S = 0.0002
_PAUSE_BETWEEN_S = 1.0
"""Seconds until somebody waits again for a thread that has stayed: it is a traced call."""


class Gate:
    """The entrance to the files of one journal, and of its recording or spool."""

    __slots__ = (
        "_not_before",
        "abandoned",
        "first",
        "inside",
        "is_closed",
        "is_crowded",
        "is_putting",
        "lock",
    )

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Forget other threads, in a forked child."""
        self.lock = threading.RLock()
        """Held by a thread that does not enter. Reentrant, for signal handlers."""
        self.inside: dict[int, bool] = {}
        """By thread. A thread enters and leaves its own place only."""
        self.abandoned: deque[Any] = deque()
        """What threads were writing when a signal handler raised an exception."""
        self.is_closed = not IS_SHARED
        """True while nobody may enter."""
        self.first = 0
        """The first thread that was inside."""
        self.is_crowded = False
        """Whether another thread was inside, too."""
        self._not_before = 0.0
        """When to wait again, by the monotonic clock."""
        self.is_putting = False
        """Whether the thread with the lock writes a span that is open in the journal still."""

    @contextmanager
    def alone(self) -> Generator[bool]:
        """Keep other threads out for a block.

        The value is False where a thread is still inside: it hangs in a write, or is this one, in
        a signal handler. Likewise as long as something is abandoned. Then no file may be replaced,
        cut or closed.
        """
        with self.lock:
            was_closed = self.is_closed
            try:
                self.is_closed = True
                yield not self.abandoned and (not self.inside or self._is_left())
            finally:
                self.is_closed = was_closed

    def _is_left(self) -> bool:
        """Wait until nobody is inside; False if somebody stays."""
        now = time.monotonic()
        if get_ident() in self.inside or now < self._not_before:
            return False
        deadline = now + _PATIENCE_S
        while self.inside:
            if time.monotonic() > deadline:
                self._not_before = deadline + _PAUSE_BETWEEN_S
                for thread in self.inside.keys() - sys._current_frames().keys():
                    self.inside.pop(thread, None)  # ended by an exception from outside
                return not self.inside
            time.sleep(_PAUSE_S)
        return True


class OpenFile:
    """The file of a store that threads append ended spans to, without the store.

    Args:
        frame: returns an encoded span as it stands in the file, where that differs.
    """

    __slots__ = ("file", "frame", "limit", "on_limit", "taken")

    def __init__(self, frame: Callable[[Line], Line] | None = None):
        self.file: AppendFile | None = None
        """None while the store has to put spans away itself."""
        self.frame = frame
        self.limit = sys.maxsize
        """Size of the file above which `on_limit` is called after each write."""
        self.on_limit: Callable[[], object] = bool
        self.taken = Counter()
        """Spans that were appended."""
