"""The ways in which a program reads a stream."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

__all__ = ["Mine", "Reader", "Way"]

Way = Literal["to its end", "closed", "raised", "cancelled"]
_ITEMS = 7
"""Items that a program reads before it leaves: by then every API has sent text."""


class Mine(Exception):
    """What the program raises."""


class Reader:
    """Reads a stream in one way."""

    def __init__(self, way: Way):
        self.way = way

    def read(self, stream: Any) -> None:
        for n, _ in enumerate(stream, 1):
            if n == _ITEMS and self._leaves():
                break
        if self.way == "closed" and hasattr(stream, "close"):
            stream.close()

    async def read_async(self, stream: Any) -> None:
        n = 0
        async for _ in stream:
            n += 1
            if n == _ITEMS and self._leaves():
                break
        close = getattr(stream, "aclose", None) or getattr(stream, "close", None)
        if self.way == "closed" and close is not None:
            await close()

    def _leaves(self) -> bool:
        if self.way == "raised":
            raise Mine("enough")
        if self.way == "cancelled":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        return self.way == "closed"
