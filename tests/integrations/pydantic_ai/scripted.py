"""Agents of pydantic-ai on models with scripted answers."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from tests.records import records
from tests.situations.readable import readable

__all__ = [
    "agent_on",
    "an_event_loop",
    "asks",
    "instrumented",
    "outcome",
    "pydantic_ai",
    "scripted",
    "steps",
    "streaming",
]


def pydantic_ai(module: str = "") -> Any:
    return import_module(f"pydantic_ai{module}")


@pytest.fixture(autouse=True)
def instrumented(spans: Any) -> Iterator[Any]:
    """Attached on a tracer provider of the user's."""
    from agentool_otel.integrations.pydantic_ai.instrumentor.patches import PydanticAIInstrumentor

    instrumentor = PydanticAIInstrumentor()
    instrumentor.instrument()
    yield instrumentor
    instrumentor.uninstrument()


def asks(tool: str, call_id: str = "c1", **arguments: Any) -> Any:
    """A model's call of a tool."""
    return pydantic_ai(".messages").ToolCallPart(tool, arguments, tool_call_id=call_id)


def scripted(*turns: Any, name: str = "scripted") -> Any:
    """Return a model with scripted turns: a text, a tool call, or an exception that it raises."""
    messages = pydantic_ai(".messages")
    coming = iter(turns)

    def answer(history: Any, info: Any) -> Any:
        turn = next(coming)
        if isinstance(turn, Exception):
            raise turn
        parts = turn if isinstance(turn, list) else [turn]
        return messages.ModelResponse(
            parts=[messages.TextPart(part) if isinstance(part, str) else part for part in parts]
        )

    return pydantic_ai(".models.function").FunctionModel(answer, model_name=name)


def streaming(*pieces: Any) -> Any:
    """A model that streams pieces, and raises those that are exceptions."""

    async def answer(history: Any, info: Any) -> Any:
        for piece in pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    return pydantic_ai(".models.function").FunctionModel(stream_function=answer)


def agent_on(model: Any, *tools: Any, **options: Any) -> Any:
    return pydantic_ai().Agent(model, name="clerk", tools=tools, **options)


@contextmanager
def an_event_loop() -> Generator[None]:
    """`run_sync` leaves the one it makes to the end of the program."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        loop.close()
        asyncio.set_event_loop(None)


def outcome(work: Coroutine[Any, Any, Any]) -> Any:
    """Return the outcome of a coroutine: its result, or the exception it ends with."""

    async def settled() -> Any:
        return (await asyncio.gather(work, return_exceptions=True))[0]

    return asyncio.run(settled())


def steps(spans: Any) -> list[str]:
    """The trajectories that are rebuilt of all spans, one line a step."""
    text = readable(records(spans.finished()))
    return text[text.index("trajectory of ") :].splitlines()
