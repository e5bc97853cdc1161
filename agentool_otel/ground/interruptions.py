"""Exceptions that signal handlers of the program raise while our code runs.

Python runs a handler between any two instructions of the main thread. What it raises (a soft time
limit of Celery, a time limit by `signal.setitimer`) is for the program, and passes through our code
like `KeyboardInterrupt`. So a block that contains errors of ours lets it through.
"""

from __future__ import annotations

import functools
import inspect
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType, FunctionType, MethodType, TracebackType
from typing import Any

__all__ = ["ignoring", "insist", "is_interruption", "let_through"]

_TRACEBACK: Any = vars(BaseException)["__traceback__"]
"""The attribute, whatever a class of exceptions has under its name."""
_FUNCTION: Any = vars(functools.partial)["func"]
"""Likewise, of `functools.partial` and its subclasses."""
_WRAPPERS = 10
"""Functions around a handler, within reason."""
_TRIES = 20
"""A handler that comes again within microseconds, each time, is beyond reason."""
_OURS = str(Path(__file__).parents[1]) + os.sep


def is_interruption(error: BaseException | None) -> bool:
    """Return whether an exception is meant for the program, whatever our code was doing.

    It is if a signal handler has raised it, or if it is no `Exception`.
    """
    if error is None:
        return False
    if not issubclass(type(error), Exception):
        return True
    traceback: TracebackType | None = _TRACEBACK.__get__(error)
    handlers: set[CodeType] | None = None
    while traceback is not None:
        frame = traceback.tb_frame
        # Not for frames of ours: to read their variables would keep them alive.
        if not frame.f_code.co_filename.startswith(_OURS):
            handlers = _handlers() if handlers is None else handlers
            if frame.f_code in handlers or _has_signal(frame):
                return True
        traceback = traceback.tb_next
    return False


def let_through(error: BaseException) -> None:
    """Raise an exception again if it is meant for the program; for a block that contains others."""
    if is_interruption(error):
        raise error


def _has_signal(frame: FrameType) -> bool:
    """Return whether a function was called with a signal, and with the frame that called it."""
    code = frame.f_code
    names = code.co_varnames
    count = code.co_argcount + code.co_kwonlyargcount
    is_open = code.co_flags & inspect.CO_VARARGS
    if count < 2 and not is_open:
        return False
    values = [frame.f_locals.get(name) for name in names[:count]]
    if is_open:
        more = frame.f_locals.get(names[count])
        values += more if type(more) is tuple else ()
    return any(
        type(first) is int and type(second) is FrameType and _is_around(second, frame)
        for first, second in pairwise(values)
    )


def _is_around(outer: FrameType, frame: FrameType) -> bool:
    """Return whether a frame has called another one, itself or by wrappers of a handler."""
    caller = frame.f_back
    for _ in range(_WRAPPERS):
        if caller is None or caller is outer:
            break
        caller = caller.f_back
    return caller is outer


def _handlers() -> set[CodeType]:
    """Return the code of the handlers that are installed, for those that change their arguments."""
    handlers = map(signal.getsignal, signal.valid_signals())
    return {code for handler in handlers if (code := _code_of(handler)) is not None}


def _code_of(handler: Any) -> CodeType | None:
    # By its type: `isinstance` may run code of the handler's own class.
    for _ in range(_WRAPPERS):
        kind: Any = type(handler)
        if kind is FunctionType:
            code: CodeType = handler.__code__
            return code
        if issubclass(kind, functools.partial):
            handler = _FUNCTION.__get__(handler)
        elif kind is MethodType:
            handler = handler.__func__
        else:
            handler = inspect.getattr_static(type(handler), "__call__", None)
    return None


def insist(action: Callable[[], object]) -> None:
    """Run an action that may be repeated, again where the program interrupts it.

    Errors of ours are passed over.

    Raises:
        BaseException: the last interruption, once the action is done.
    """
    interruption: BaseException | None = None
    for _ in range(_TRIES):
        try:
            action()
        except BaseException as error:
            if is_interruption(error):
                interruption = error
                continue
        break
    if interruption is not None:
        raise interruption


class ignoring(suppress):
    """Pass over errors of some classes, unless a signal handler of the program has raised them."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        return bool(super().__exit__(kind, error, traceback)) and not is_interruption(error)
