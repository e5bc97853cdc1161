"""Factories of hostile values, and a record of the calls on them."""

from __future__ import annotations

import sys
import sysconfig
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["TOUCHED", "Kinds", "Refused", "Touches", "called_by_us", "hangs", "hostile", "raises"]

_PASSED_OVER = (sysconfig.get_path("stdlib"), "<frozen ", __file__.rpartition("/")[0])
_NOT_PASSED_OVER = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))


def called_by_us() -> bool:
    """Return whether the code that calls a method of a hostile class is this package's.

    Frames of the standard library are skipped: they relay another module's call.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_NOT_PASSED_OVER) or not file.startswith(_PASSED_OVER):
            return str(frame.f_globals.get("__name__")).startswith("agentool_otel.")
        frame = frame.f_back
    return False


class Touches(list[str]):
    """Names of methods in the order of their calls, by whoever called them."""

    def __init__(self) -> None:
        super().__init__()
        self.ours: list[str] = []
        """Those that this package has called."""

    def append(self, name: str, /) -> None:
        super().append(name)
        if called_by_us():
            self.ours.append(name)

    def clear(self) -> None:
        super().clear()
        self.ours.clear()


TOUCHED = Touches()
"""The user's methods that were called without need."""


class Kinds(dict[str, Callable[[], Any]]):
    """Functions that make a hostile value, by its oddity."""

    def named(self, name: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
        """Add the decorated function."""

        def add(make: Callable[[], Any]) -> Callable[[], Any]:
            assert name not in self, name
            self[name] = make
            return make

        return add

    def add(self, **makers: Callable[[], Any]) -> None:
        """Add functions by their names, in which underscores are spaces."""
        self.update({name.replace("_", " "): make for name, make in makers.items()})


class Refused(RuntimeError):
    """Exception of the hostile methods."""


def raises(name: str) -> Callable[..., Any]:
    def method(self: object, *args: object, **kwargs: object) -> Any:
        TOUCHED.append(name)
        raise Refused(f"{name} was called")

    method.__name__ = name
    return method


def hangs(name: str) -> Callable[..., Any]:
    def method(self: object, *args: object, **kwargs: object) -> Any:
        TOUCHED.append(name)
        while True:
            time.sleep(3600)

    method.__name__ = name
    return method


def hostile(*methods: str, base: type = object, how: Any = raises, **members: Any) -> Any:
    """Return a class, named after its methods, that resents every call of them."""
    body = {**members, **{method: how(method) for method in methods}}
    return type("Hostile_" + "_".join(method.strip("_") for method in methods), (base,), body)
