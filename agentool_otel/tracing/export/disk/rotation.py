"""A recording in several files, so that the oldest can go while the process still writes.

Order of a rotation, under the lock of the journal: the file is closed, the journal is rewritten
with the number of the next file and the spans that are open, and the next span makes that file.
Wherever a kill comes in between, the journal has a position from which every span that it lists has
its end, if at all.

A traced call waits for no other process. Where a command reads the folder, or another program
removes files, the call leaves the removal to a thread, which tries again until it succeeds.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue

from opentelemetry.context import Context, attach, detach

from agentool_otel.content.fitting.offload import watch_folder
from agentool_otel.ground.interruptions import let_through
from agentool_otel.ground.read_locks import LocksUnsupported
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.tracing.export.disk.enforcement import Enforcer
from agentool_otel.tracing.export.disk.files import renew_after_fork
from agentool_otel.tracing.export.disk.journal import Journal
from agentool_otel.tracing.export.disk.limits import Limits
from agentool_otel.tracing.export.disk.recording import RecordingExporter
from agentool_otel.tracing.export.disk.stored_texts import TEXTS

__all__ = ["Rotation"]

_log = logger(__name__)

_PAUSE_S = 0.02
"""Seconds until the thread tries again where the folder is in use. Each pause is twice the last."""
_LONGEST_PAUSE_S = 1.0
_BEHIND = 1
"""Rotations that may wait for the thread. At more the program, which fills files faster, removes
files itself."""
_FAR_BEHIND = 32
"""Rotations that a call makes up for at most. The thread does more."""
_FAST_NS = 1_000_000_000
"""Time to fill a file in which the thread hardly gets the interpreter lock. It would have the lock
of the folder meanwhile, and no other process could remove anything."""
_WAIT_S = 0.1
"""Seconds that a call waits while the thread of this process removes files."""
_WAIT_PAUSE_S = 0.002
_CLOSING_S = 1.0
"""Seconds that the end of the process waits for the thread."""
_LAST_TRIES = 3
"""At the end of the process, which waits for them."""


class Rotation:
    """Keeps the folder of a recording below its limits.

    Args:
        recording: the recording.
        journal: its journal; None without one, and the recording rotates by itself then.
        limits: the limits of the folder.
        on_due: called, from any thread, where `look` has something to do at once.
    """

    def __init__(
        self,
        recording: RecordingExporter,
        journal: Journal | None,
        limits: Limits,
        on_due: Callable[[], None] = lambda: None,
    ):
        self._recording = recording
        self._journal = journal
        self._limits = limits
        self._enforcer = Enforcer(recording.folder)
        self._begun_ns = time.time_ns()
        self._texts = 0
        """Bytes of texts that were stored apart since then: they go with the file."""
        self._on_due = on_due
        self._forked()
        recording.open.on_limit = self._rotate if journal is None else on_due
        self._set_full_at()
        watch_folder(recording.folder / TEXTS, self._stored)
        renew_after_fork(self._forked)

    def _forked(self) -> None:
        self._lock = threading.RLock()  # reentrant, for signal handlers
        self._thread: threading.Thread | None = None
        self._running = self._again = self._ended = False
        self._stops = SimpleQueue[None]()  # reentrant, too
        """Has an item once the thread is to end."""
        self._enforcer.forget_remover()
        self._behind = 0
        """Rotations since the folder was last brought below its limits."""

    def start(self) -> None:
        """Bring the folder below its limits, in a thread."""
        with self._lock:
            self._again = True
            if self._running or self._ended:
                return
            self._running = True
        thread = threading.Thread(target=self._run, name="agentool-otel-limits", daemon=True)
        token = attach(Context())  # the thread keeps no context of the program alive
        try:
            thread.start()
            self._thread = thread
        except RuntimeError:  # at the end of the interpreter, or no thread is to be had
            self._running = False
        finally:
            detach(token)

    def look(self, now_ns: int) -> None:
        """Rotate where the present file is full or old. Call it under the lock of the journal."""
        age_ns = self._limits.part_age_ns
        is_old = age_ns is not None and now_ns - self._begun_ns > age_ns
        if self._journal is not None and (self._is_full or (is_old and self._recording.size)):
            with self._journal.gate.alone() as alone:
                if alone:  # else a span may be in the file that ends, and not among the ended ones
                    self._rotate()

    def stop(self) -> None:
        """Leave the recording to other limits."""
        with self._lock:
            self._ended = True
        self._stops.put(None)

    def finish(self) -> None:
        """Bring the folder below its limits once more, when the recording is closed."""
        self.stop()
        thread = self._thread
        if thread is not None:
            thread.join(_CLOSING_S)
        for left in reversed(range(_LAST_TRIES)):
            if self._enforce():
                break
            if left:
                time.sleep(_PAUSE_S)

    @property
    def _is_full(self) -> bool:
        return self._recording.size + self._texts > self._recording.open.limit

    def _stored(self, size: int) -> None:
        """Count a text that was stored apart; its span is written later."""
        self._texts += size
        if self._is_full:
            if self._journal is None:
                self._rotate()
            else:
                self._on_due()

    def _rotate(self) -> None:
        self._recording.rotate()
        now_ns = time.time_ns()
        is_fast = now_ns - self._begun_ns < _FAST_NS
        self._begun_ns, self._texts = now_ns, 0
        if self._journal is not None:
            self._journal.rewrite()
        self._behind += 1
        if not (self._is_urgent(is_fast) and self._enforce_in_call()):
            self.start()

    def _is_urgent(self, is_fast: bool) -> bool:
        """Return whether the traced call that has filled a file removes files itself."""
        if self._behind > _FAR_BEHIND:
            return False
        enforcer = self._enforcer
        if is_fast and (enforcer.writers > 1 or enforcer.removes_in_other_thread):
            return True
        return enforcer.is_tight or self._behind > _BEHIND

    def _enforce_in_call(self) -> bool:
        """Bring the folder below its limits in a traced call; False if the thread has to do it.

        The call waits for the thread while that removes files, and for no other process.
        """
        deadline = time.monotonic() + _WAIT_S
        while not self._enforce():
            if not self._enforcer.removes_in_other_thread:
                return False
            if time.monotonic() > deadline:
                self._behind = _FAR_BEHIND + 1
                return False
            time.sleep(_WAIT_PAUSE_S)
        return True

    def _run(self) -> None:
        pause_s = _PAUSE_S
        while True:
            with self._lock:
                if not self._again or self._ended:
                    self._running = False
                    return
                self._again = False
            if self._enforce():
                pause_s = _PAUSE_S
                continue
            self._again = True
            with suppress(Empty):
                self._stops.get(timeout=pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _enforce(self) -> bool:
        """Bring the folder below its limits; False if it is in use, and has to be tried again."""
        is_done = True
        try:
            is_done = self._enforcer.enforce(self._limits, self._ended)
        except LocksUnsupported as error:
            _report(self._recording.folder, error)
        except Exception as error:  # the program that records must not feel it
            let_through(error)
            _log.debug("%s could not be limited: %r", self._recording.folder, error)
        else:
            if is_done:
                self._behind = 0
        self._set_full_at()
        return is_done

    def _set_full_at(self) -> None:
        size = self._limits.part_size(self._enforcer.writers)
        if size is not None and not self._ended:
            self._recording.open.limit = size


_reported: set[str] = set()


def _report(folder: os.PathLike[str], error: LocksUnsupported) -> None:
    """Log once that nothing is removed from a folder."""
    place = os.fspath(folder)
    if place not in _reported:
        _reported.add(place)
        _log.warning(
            "the limits of %s have no effect: its file system has no locks (%s); hint: record into "
            "a local folder",
            place,
            error.strerror,
        )
