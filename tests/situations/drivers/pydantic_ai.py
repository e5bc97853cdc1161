"""pydantic-ai's `Agent` on OpenAI's chat completions; the second agent is called by a tool."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from agentool_otel.testing.turns import Turn
from tests.situations.situations import (
    QUESTION,
    SYSTEM,
    ToolFailed,
    cancel_when_asked,
    handing_over,
    search_web,
)

NEEDS = ("pydantic_ai", "openai")
DISTRIBUTIONS = ("pydantic-ai-slim",)
IMPOSSIBLE: dict[str, str] = {}
_CALL, _ANSWER = handing_over("ask_writer", question=QUESTION)
TURNS = {
    "two_agents": (
        _CALL,
        Turn(text="A standard, says the writer.", input_tokens=12, output_tokens=6),
        _ANSWER,
    )
}


def _model(url: str) -> Any:
    client = import_module("openai").AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    provider = import_module("pydantic_ai.providers.openai").OpenAIProvider(openai_client=client)
    return import_module("pydantic_ai.models.openai").OpenAIChatModel("gpt-5", provider=provider)


def _agent(model: Any, tool: Any = search_web) -> Any:
    agent = import_module("pydantic_ai").Agent
    return agent(model, name="researcher", instructions=SYSTEM, tools=[tool])


def _run_sync(model: Any, agent: Any) -> str:
    """`run_sync` leaves its event loop and the client's connections to the end of the program."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        return str(agent.run_sync(QUESTION).output)
    finally:
        loop.run_until_complete(model.client.close())
        loop.close()
        asyncio.set_event_loop(None)


def plain(url: str) -> str:
    model = _model(url)
    return _run_sync(model, _agent(model))


parallel_tools = plain
model_error = plain


def asynchronous(url: str) -> str:
    async def run() -> str:
        model = _model(url)
        async with model.client:
            return str((await _agent(model).run(QUESTION)).output)

    return asyncio.run(run())


def stream(url: str) -> list[str]:
    async def run() -> list[str]:
        model = _model(url)
        async with model.client, _agent(model).run_stream(QUESTION) as result:
            return [item async for item in result.stream_text(delta=True, debounce_by=None)]

    return asyncio.run(run())


def tool_error(url: str) -> str:
    def search_web(query: str) -> str:
        """Search the web."""
        raise ToolFailed("no network")

    model = _model(url)
    return _run_sync(model, _agent(model, search_web))


def cancelled(url: str) -> None:
    async def run() -> None:
        model = _model(url)
        async with model.client:
            await cancel_when_asked(_agent(model).run(QUESTION))

    asyncio.run(run())


def two_agents(url: str) -> str:
    model = _model(url)
    writer = import_module("pydantic_ai").Agent(model, name="writer", instructions="Write.")

    async def ask_writer(question: str) -> str:
        """Ask the writer."""
        return str((await writer.run(question)).output)

    return _run_sync(model, _agent(model, ask_writer))
