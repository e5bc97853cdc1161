"""The loop of `mcp` with a FastMCP server, behind a middleware, and a FastMCP client, which raises
the error of a tool.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

from tests.situations.drivers.mcp import failing, run, streamed
from tests.situations.situations import cancel_when_asked

NEEDS = ("openai", "fastmcp")
DISTRIBUTIONS = ("fastmcp",)
IMPOSSIBLE = {"two_agents": "a client of tools has no agents"}


def _client(tool: Callable[..., Any]) -> Any:
    fastmcp = import_module("fastmcp")
    server = fastmcp.FastMCP("web")
    server.add_middleware(import_module("fastmcp.server.middleware").Middleware())
    server.tool(tool)
    return fastmcp.Client(server)


async def _text(client: Any, call: Any) -> str:
    failure: Any = import_module("fastmcp.exceptions").ToolError
    try:
        result = await client.call_tool(call.function.name, json.loads(call.function.arguments))
    except failure as error:
        return f"failed: {error}"
    return str(result.data)


def plain(url: str) -> Any:
    return asyncio.run(run(url, connect=_client, text=_text))


asynchronous = plain
parallel_tools = plain
model_error = plain


def stream(url: str) -> Any:
    return asyncio.run(run(url, ask=streamed, connect=_client, text=_text))


def tool_error(url: str) -> Any:
    return asyncio.run(run(url, failing(), connect=_client, text=_text))


def cancelled(url: str) -> None:
    asyncio.run(cancel_when_asked(run(url, connect=_client, text=_text)))
