"""Calls whose result is a future: they are done when it is.

A future is followed by a callback and given to the user as it is. Only the interpreter's own types
are: the methods of a subclass, or of anything else that can be awaited, may be the user's code.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from agentool_otel.tracing.capture.generators import Call
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["follow", "is_future"]


def is_future(value: Any) -> bool:
    """True for a future of threads, processes or an event loop. Their modules are there then."""
    kind = type(value)
    if kind is getattr(sys.modules.get("concurrent.futures"), "Future", None):
        return True
    asyncio = sys.modules.get("asyncio")
    return kind is getattr(asyncio, "Task", None) or kind is getattr(asyncio, "Future", None)


def follow(future: Any, call: Call) -> None:
    """End the call when the future is done, or now if that cannot be seen from here."""
    with guarded("following a future"):
        if not _of_another_loop(future):
            future.add_done_callback(partial(_end, call))
            return
    call.returned(future)


def _of_another_loop(future: Any) -> bool:
    """Return whether an asyncio future belongs to a loop that does not run in this thread. Another
    thread may complete it at any moment.
    """
    if not hasattr(future, "get_loop"):
        return False
    running = sys.modules["asyncio"]._get_running_loop()
    return running is None or future.get_loop() is not running


def _end(call: Call, done: Any) -> None:
    if done.cancelled():
        home = "asyncio" if hasattr(done, "get_loop") else "concurrent.futures"
        call.raised(sys.modules[home].CancelledError())
        return
    # Not `exception()`: with an asyncio future that says that somebody has seen to it, and Python
    # would not report that nobody has. Source: CPython 3.10 to 3.14, asyncio/futures.py.
    error = done._exception
    if error is None:
        call.returned(done._result)
    else:
        call.raised(error)
