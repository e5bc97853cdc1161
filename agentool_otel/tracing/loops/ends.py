"""Ends of loops that nobody continues: at once, after a time, or with the program."""

from __future__ import annotations

import threading

from opentelemetry.context import Context, attach, detach

from agentool_otel.tracing.loops.loop import Loop
from agentool_otel.tracing.loops.open_loops import open_loops
from agentool_otel.tracing.spans.settings import guarded, settings

__all__ = ["end_left", "end_loops", "forget_loops", "watch"]

_EVERY_S = 15.0
_lock = threading.RLock()  # reentrant, for signal handlers
_thread: threading.Thread | None = None


def end_loops(error: BaseException | None = None) -> None:
    """End all loops, because nothing that follows is recorded.

    Args:
        error: the exception that ends the program. It is the failure of the loop whose model call
            raised it, else of the one that was last at work.
    """
    loops = open_loops.all()
    failed: Loop | None = None
    if error is not None and loops:
        settings.last_call = None  # the run has it
        failed = next((loop for loop in loops if loop.has_raised(error)), loops[-1])
    for loop in loops:
        if loop is failed:
            loop.touch()
            with guarded("ending an inferred run"):
                loop.end(error=error)
        else:
            end_left(loop, "exit")


def end_left(loop: Loop, interrupted: str) -> None:
    """End a loop that nobody continues: with its failure, or else as interrupted."""
    with guarded("ending an inferred run"):
        failure = loop.failure
        loop.end(failure=failure, interrupted=interrupted if failure is None else None)


def forget_loops() -> None:
    """Forget all loops, in a forked child: its parent goes on with them."""
    global _thread, _lock
    _thread, _lock = None, threading.RLock()
    open_loops.clear()


def watch() -> None:
    """See to it that loops which nobody continues end: a thread does it while there are any."""
    global _thread
    with _lock:
        if _thread is not None:
            return
        _thread = threading.Thread(target=_watch, name="agentool-otel-loops", daemon=True)
    token = attach(Context())  # the thread keeps no context of the program alive
    try:
        _thread.start()
    except RuntimeError:  # at the end of the interpreter, which ends them all
        _thread = None
    finally:
        detach(token)


def _watch() -> None:
    global _thread
    wait = threading.Event().wait
    while True:
        wait(_EVERY_S)
        for loop in open_loops.idle():
            end_left(loop, "idle")
        with _lock:
            if not len(open_loops):
                _thread = None
                return
