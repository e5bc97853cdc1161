"""Functions and event loops for the programs of `hostile_uses`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

__all__ = ["Use", "giving", "in_a_loop", "raising", "run_alone", "taking"]

Use = Callable[[Any, str], Any]
"""A program: it takes a value of the user's and the address of the model."""


def giving(value: Any) -> Callable[..., Any]:
    def lookup(x: int) -> Any:
        """Look something up."""
        return value

    lookup.__annotations__ = {"x": int}
    return lookup


def raising(value: Any) -> Callable[..., Any]:
    def lookup(x: int) -> Any:
        """Look something up."""
        raise RuntimeError(value)

    lookup.__annotations__ = {"x": int}
    return lookup


def run_alone(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a loop of its own.

    `asyncio.run` would leave its handler of SIGINT behind where `repr` of the coroutine's exception
    raises, and every later `asyncio.run` of the process would fail.
    """
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def in_a_loop(work: Callable[[], Any]) -> Any:
    async def run() -> Any:
        return [await work()]

    return len(run_alone(run()))


def taking() -> Callable[..., Any]:
    def lookup(x: Any) -> int:
        """Look something up."""
        return 1

    lookup.__annotations__ = {"x": Any, "return": int}
    return lookup
