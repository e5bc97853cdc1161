"""The situations, with the model's turns in each."""

from __future__ import annotations

import asyncio
import pkgutil
from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from agentool_otel.testing.turns import ToolCall, Turn
from tests.situations import drivers

__all__ = [
    "ANSWER",
    "QUESTION",
    "RESULT",
    "SITUATIONS",
    "SYSTEM",
    "ToolFailed",
    "asked",
    "cancel_when_asked",
    "driver_of",
    "frameworks",
    "handing_over",
    "possible",
    "search_web",
    "turns",
]

QUESTION = "What is OpenTelemetry?"
SYSTEM = "Search before you answer."
ANSWER = "OpenTelemetry is a standard for telemetry."
RESULT = "OpenTelemetry: traces, metrics and logs."

_SEARCH = Turn(
    tool_calls=(ToolCall("search_web", {"query": "OpenTelemetry"}),),
    input_tokens=40,
    output_tokens=12,
)
_DONE = Turn(text=ANSWER, input_tokens=60, output_tokens=9)
_BOTH = Turn(
    tool_calls=(
        ToolCall("search_web", {"query": "OpenTelemetry"}),
        ToolCall("search_web", {"query": "OTLP"}),
    ),
    input_tokens=40,
    output_tokens=24,
)


def handing_over(tool: str, **arguments: Any) -> tuple[Turn, ...]:
    """Return the turns of `two_agents`, where the first one calls a tool."""
    call = Turn(tool_calls=(ToolCall(tool, arguments),), input_tokens=28, output_tokens=5)
    return call, Turn(text=ANSWER, input_tokens=30, output_tokens=9)


SITUATIONS: dict[str, tuple[Turn, ...]] = {
    "plain": (_SEARCH, _DONE),
    "asynchronous": (_SEARCH, _DONE),
    "stream": (_SEARCH, _DONE),
    "parallel_tools": (_BOTH, _DONE),
    "tool_error": (_SEARCH, Turn(text="I could not search.", input_tokens=55, output_tokens=5)),
    "model_error": (Turn(status=400, error="the model is on holiday"),),
    "cancelled": (Turn(delay_s=60.0),),
    "two_agents": handing_over("transfer_to_writer"),
}
"""The model's turns, by name. A driver's `TURNS` may replace them in the framework's own terms: the
name of its tool for handing over, for example.

plain           a run that calls one tool
asynchronous    the same, in an event loop
stream          the same, the answers streamed
parallel_tools  a model that asks for two calls at once
tool_error      a tool that raises `ToolFailed`
model_error     a server that refuses
cancelled       a task that is cancelled while it waits for the model
two_agents      an agent that hands over to another, the writer
"""


asked: list[Any] = []
"""The requests to the model so far in the current situation."""


async def cancel_when_asked(work: Coroutine[Any, Any, Any]) -> None:
    """Start some work, and cancel it during its first model call; raises its error."""
    task = asyncio.ensure_future(work)
    while not asked and not task.done():
        await asyncio.sleep(0.01)
    task.cancel()
    await task


class ToolFailed(Exception):
    """Exception of the tool in `tool_error`."""


def search_web(query: str) -> str:
    """Search the web."""
    return RESULT


def frameworks() -> list[str]:
    """Return the names of all drivers."""
    return sorted(module.name for module in pkgutil.iter_modules(drivers.__path__))


def driver_of(framework: str) -> ModuleType | None:
    """Return the driver of a framework, None where that is not installed."""
    module = import_module(f"tests.situations.drivers.{framework}")
    needed: Sequence[str] = module.NEEDS
    return module if all(find_spec(item) for item in needed) else None


def possible(driver: ModuleType) -> dict[str, Callable[[str], Any]]:
    """Return the situations that a driver supports, by name, with the function that runs each."""
    return {name: getattr(driver, name) for name in SITUATIONS if hasattr(driver, name)}


def turns(driver: ModuleType, situation: str) -> tuple[Turn, ...]:
    """Return the model's turns."""
    turn: dict[str, tuple[Turn, ...]] = getattr(driver, "TURNS", {})
    return turn.get(situation, SITUATIONS[situation])
