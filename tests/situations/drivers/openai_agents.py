"""OpenAI's Agents SDK with chat completions; the second agent is a handoff of the first.

The SDK's own tracing is on, as it is by default, and sends nothing: there is no key to send with.
"""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

from tests.situations.situations import (
    QUESTION,
    SYSTEM,
    ToolFailed,
    cancel_when_asked,
    search_web,
)

NEEDS = ("agents", "openai")
DISTRIBUTIONS = ("openai-agents",)
IMPOSSIBLE: dict[str, str] = {}
TRACERS = {
    "openinference": "openinference.instrumentation.openai_agents:OpenAIAgentsInstrumentor",
    "openllmetry": "opentelemetry.instrumentation.openai_agents:OpenAIAgentsInstrumentor",
}
NO_USAGE = {"stream": "the SDK asks a server other than OpenAI's for no usage of a stream"}


def _sdk() -> Any:
    return importlib.import_module("agents")


def _agent(url: str, tool: Any = search_web, **options: Any) -> Any:
    import openai

    sdk = _sdk()
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    settings: dict[str, Any] = {
        "name": "researcher",
        "instructions": SYSTEM,
        "model": sdk.OpenAIChatCompletionsModel("gpt-5", client),
        "tools": [sdk.function_tool(tool)],
    }
    return sdk.Agent(**settings | options)


def _run(agent: Any) -> str:
    """Run an agent in a loop of its own: `run_sync` would use the thread's once more, which warns
    because it has seen to that loop's generators already."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        return str(_sdk().Runner.run_sync(agent, QUESTION).final_output)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def plain(url: str) -> str:
    return _run(_agent(url))


parallel_tools = plain
model_error = plain


def asynchronous(url: str) -> str:
    return str(asyncio.run(_sdk().Runner.run(_agent(url), QUESTION)).final_output)


def stream(url: str) -> list[str]:
    async def read() -> list[str]:
        running = _sdk().Runner.run_streamed(_agent(url), QUESTION)
        events = [event async for event in running.stream_events()]
        return [event.data.delta for event in events if _is_text(event)]

    return asyncio.run(read())


def _is_text(event: Any) -> bool:
    kind = getattr(getattr(event, "data", None), "type", None)
    return kind == "response.output_text.delta"


def tool_error(url: str) -> str:
    def search_web(query: str) -> str:
        """Search the web."""
        raise ToolFailed("no network")

    return _run(_agent(url, search_web))


def cancelled(url: str) -> None:
    asyncio.run(cancel_when_asked(_sdk().Runner.run(_agent(url), QUESTION)))


def two_agents(url: str) -> str:
    writer = _agent(url, name="writer", instructions="Write.", tools=[])
    return _run(_agent(url, tools=[], handoffs=[writer]))
