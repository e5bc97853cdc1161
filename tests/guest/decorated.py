"""Decorated callables of every kind."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

from agentool_otel.tracing import capture

Decorator = Callable[[Any], Any]

# Without their types: here they stand where type checkers would not have them.
tool: Decorator = capture.tool


@tool
def plain(a: int, b: int = 2) -> int:
    return a + b


@tool
async def coroutine(a: int, b: int = 2) -> int:
    """Add later."""
    return a + b


@tool
def generator(a: int, b: int = 2) -> Generator[int, Any, str]:
    yield a
    yield b
    return "over"


@tool
async def async_generator(a: int, b: int = 2) -> AsyncGenerator[int, Any]:
    yield a
    yield b
