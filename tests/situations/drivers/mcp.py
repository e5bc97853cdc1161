"""mcp 2: a program's own loop, where OpenAI's client asks the model and the tools are those of an
MCP server in memory. Around the loop is a span of the program's, as a web framework would make one:
a library of tools has no run that could join the calls.

mcp is asynchronous only, so every situation is in an event loop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from opentelemetry import trace

from tests.situations.situations import QUESTION, SYSTEM, ToolFailed, cancel_when_asked, search_web

NEEDS = ("openai", "mcp", "mcp.server.mcpserver")
DISTRIBUTIONS = ("mcp",)
IMPOSSIBLE = {"two_agents": "a client of tools has no agents"}
TRACERS = {
    "openinference": "openinference.instrumentation.mcp:MCPInstrumentor",
}
"""OpenLLMetry's tracer of MCP (0.62) needs a function that only mcp 1 has, and raises."""


@asynccontextmanager
async def _session(tool: Callable[..., Any]) -> AsyncGenerator[Any]:
    """A client of a server in memory."""
    server = import_module("mcp.server.mcpserver").MCPServer("web")
    server.tool()(tool)
    async with import_module("mcp.client.client").Client(server) as client:
        yield client


async def tools_of(session: Any) -> list[Any]:
    """The tools of a server, as the model's API takes them."""
    listed = await session.list_tools()
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "strict": True,  # the stream helper of openai 2 asks for it
                "parameters": getattr(tool, "input_schema", None) or tool.inputSchema,
            },
        }
        for tool in getattr(listed, "tools", listed)
    ]


async def _text(session: Any, call: Any) -> str:
    result = await session.call_tool(call.function.name, json.loads(call.function.arguments))
    failed = result.is_error if hasattr(result, "is_error") else result.isError
    text = str(result.content[0].text)
    return f"failed: {text}" if failed else text


async def loop(session: Any, ask: Callable[[Any], Any], text: Callable[..., Any]) -> Any:
    """Call the model and tools until it answers.

    Args:
        session: the client of the tools.
        ask: calls the model; returns its message, and what the program makes of it.
        text: calls a tool; returns the text of its result.
    """
    tools = await tools_of(session)
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": QUESTION},
    ]
    while True:
        answer, outcome = await ask({"model": "gpt-5", "messages": messages, "tools": tools})
        if not answer.tool_calls:
            return outcome
        texts = await asyncio.gather(*(text(session, call) for call in answer.tool_calls))
        messages.append(answer.to_dict())
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": result}
            for call, result in zip(answer.tool_calls, texts, strict=True)
        ]


async def whole(client: Any, request: Any) -> tuple[Any, str]:
    """Call the model for an answer at once."""
    answer = (await client.chat.completions.create(**request)).choices[0].message
    return answer, str(answer.content)


async def streamed(client: Any, request: Any) -> tuple[Any, list[str]]:
    """Call the model for a stream; return its pieces too."""
    options = {"stream_options": {"include_usage": True}}
    async with client.chat.completions.stream(**request, **options) as events:
        pieces = [event.delta async for event in events if event.type == "content.delta"]
        final = await events.get_final_completion()
    return final.choices[0].message, pieces


Connect = Callable[[Callable[..., Any]], Any]
"""Returns a context manager of a client whose server has a tool."""


async def run(
    url: str,
    tool: Callable[..., Any] = search_web,
    ask: Any = whole,
    connect: Connect = _session,
    text: Callable[..., Any] = _text,
) -> Any:
    """Run the loop with the tools of a server."""
    import openai

    tracer = trace.get_tracer("program")
    with tracer.start_as_current_span("answer", set_status_on_exception=False):
        async with (
            connect(tool) as session,
            openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client,
        ):
            return await loop(session, lambda request: ask(client, request), text)


def plain(url: str) -> Any:
    return asyncio.run(run(url))


asynchronous = plain
parallel_tools = plain
model_error = plain


def stream(url: str) -> Any:
    return asyncio.run(run(url, ask=streamed))


def failing() -> Callable[..., Any]:
    """The tool of `tool_error`."""

    def search_web(query: str) -> str:
        """Search the web."""
        raise ToolFailed("no network")

    return search_web


def tool_error(url: str) -> Any:
    return asyncio.run(run(url, failing()))


def cancelled(url: str) -> None:
    asyncio.run(cancel_when_asked(run(url)))
