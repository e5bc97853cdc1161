"""The prefilter of this process: whether the exact search has to run on a text.

Until an engine is there it has to run on all. A stored database loads in a thread of its own once
the search of so many texts has cost as much as the load: a short program never pays for it. Where
none is stored, a thread compiles one some seconds later, unless the cache folder cannot be written
to.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
import time
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import NamedTuple

from agentool_otel.ground import environment
from agentool_otel.ground.untrusted_text import logger

__all__ = ["Engine", "State", "engine_in_use", "is_loaded", "prepare", "sees", "state"]

_log = logger(__name__)
_FIRST_S = 5.0
"""Seconds of a program that are its own."""
_AGAIN_S = 60.0
"""Seconds after which a database of another process is looked for again."""
_TEXTS = 64
"""Texts between two looks at the clock."""
_MANY = 256
"""Texts whose search takes as long as to load a stored database: some 20 ms."""


class State(NamedTuple):
    """The engine of this machine, and whether its database is stored."""

    engine: str | None
    """Name and version; None if it is missing."""
    stored: bool
    detail: str
    """Path of the database, or why there is none."""


class Engine(NamedTuple):
    """The engine of this process."""

    name: str | None
    """Name and version; None if it is missing."""
    detail: str
    """Whether it is loaded by now, or why not."""


class _Prefilter:
    """The look, and when to load it."""

    def __init__(self) -> None:
        self.look: Callable[[bytes], bool] | None = None
        self._texts = _MANY
        self._due = 0.0
        self.given_up = False
        self._loading = threading.Lock()

    def wait(self) -> None:
        """Note that a text is searched without a look, and load the look when it is due."""
        self._texts -= 1
        if self._texts > 0 or self.given_up:
            return
        self._texts = _TEXTS
        now = time.monotonic()
        if not self._due:
            self._due = now + _FIRST_S
            self.given_up = not (environment.prefilter_wanted() and _has_threads())
            if not self.given_up:
                self._start_loading(compiles=False)
        elif now >= self._due:
            self._due = now + _AGAIN_S
            self._start_loading(compiles=True)

    def _start_loading(self, compiles: bool) -> None:
        if not self._loading.acquire(blocking=False):
            return
        try:
            threading.Thread(
                target=self._load, args=(compiles,), name="agentool-otel-prefilter", daemon=True
            ).start()
        except RuntimeError:  # no more threads, or the program is ending
            self._loading.release()

    def forked(self) -> None:
        """Forget the thread of the parent process."""
        self._loading = threading.Lock()

    def _load(self, compiles: bool) -> None:
        from agentool_otel.content.masking.prefilter import database

        if compiles:
            _give_way()
        try:
            self.prepare(compiles)
        except database.Busy:
            return  # its database is there the next time
        except Exception as error:  # a guest: the exact search goes on without a look
            self.given_up = True
            _log.debug("the prefilter is off: %s: %s", type(error).__name__, error)
        finally:
            self._loading.release()

    def prepare(self, compiles: bool = True) -> str:
        """Load the look from its database, and return the path of that.

        Args:
            compiles: whether a missing database is compiled. If not, nothing is loaded then.

        Raises: as `database.path` and `database.make`.
        """
        from agentool_otel.content.masking.prefilter import database, engine

        file = database.path()
        data = database.read(file)
        if data is None and compiles:
            data = database.make(file)
        if data is not None:
            self.look = engine.loaded(data)
        return str(file)


def _has_threads() -> bool:
    """Return whether a thread is one of the system: in a green one, compiling stops all others."""
    return isinstance(_thread.start_new_thread, BuiltinFunctionType)


def _give_way() -> None:
    """Let every other thread of the machine go first: on Linux a priority is that of a thread."""
    if sys.platform == "linux":
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
        except OSError:
            return


_prefilter = _Prefilter()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_prefilter.forked)


def sees(text: str) -> bool:
    """Return whether the exact search can mask something in a text; True where it is not known."""
    look = _prefilter.look
    if look is None:
        _prefilter.wait()
        return True
    try:
        return look(str.encode(text))  # whatever a subclass has under this name
    except UnicodeEncodeError:
        return look(str.encode(text, "utf-8", "surrogatepass"))


def is_loaded() -> bool:
    """Return whether `sees` knows."""
    return _prefilter.look is not None


def prepare() -> str:
    """Load the prefilter now, and compile its database if there is none; return its path.

    Raises:
        ImportError: if the engine is missing or does not load.
        OSError: if the cache folder cannot be written to, or others can.
        hyperscan.error: if the engine does not accept the patterns.
    """
    return _prefilter.prepare()


def engine_in_use() -> Engine:
    """Return what this process searches with. It does not load the engine."""
    from agentool_otel.content.masking.prefilter import engine

    version = engine.installed()
    if version is None:
        return Engine(None, f"{engine.ENGINE} is not installed")
    name = f"{engine.ENGINE} {version}"
    if is_loaded():
        return Engine(name, "loaded")
    if not environment.prefilter_wanted():
        return Engine(name, f"{environment.PREFILTER} switches it off")
    return Engine(name, "given up" if _prefilter.given_up else "not loaded yet")


def state() -> State:
    """Return whether a process that starts now would load the prefilter; never raises."""
    from agentool_otel.content.masking.prefilter import database, engine

    version = engine.installed()
    if version is None:
        return State(None, False, f"{engine.ENGINE} is not installed")
    name = f"{engine.ENGINE} {version}"
    if not environment.prefilter_wanted():
        return State(name, False, f"{environment.PREFILTER} switches it off")
    try:
        file = database.path()
    except (ImportError, OSError) as error:
        return State(name, False, str(error))
    stored = database.read(file) is not None
    return State(name, stored, str(file) if stored else f"{file} is not there yet")
