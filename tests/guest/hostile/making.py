"""How the values are made, and what is known of those who touched them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

__all__ = ["TOUCHED", "Kinds", "Refused", "hangs", "hostile", "raises"]

TOUCHED: list[str] = []
"""The user's methods that were called by somebody who was not asked to."""


class Kinds(dict[str, Callable[[], Any]]):
    """What is odd about a value, to a function that makes one."""

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
    """What the hostile methods raise."""


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
