"""mcp 1: the loop of `mcp`, with the older SDK's server and session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from tests.situations.drivers.mcp import failing, run, streamed
from tests.situations.situations import cancel_when_asked

NEEDS = ("openai", "mcp", "mcp.shared.session")
DISTRIBUTIONS = ("mcp",)
IMPOSSIBLE = {"two_agents": "a client of tools has no agents"}


@asynccontextmanager
async def _session(tool: Callable[..., Any]) -> AsyncGenerator[Any]:
    server = import_module("mcp.server.fastmcp").FastMCP("web")
    server.tool()(tool)
    connected = import_module("mcp.shared.memory").create_connected_server_and_client_session
    async with connected(server._mcp_server) as session:
        yield session


def plain(url: str) -> Any:
    return asyncio.run(run(url, connect=_session))


asynchronous = plain
parallel_tools = plain
model_error = plain


def stream(url: str) -> Any:
    return asyncio.run(run(url, ask=streamed, connect=_session))


def tool_error(url: str) -> Any:
    return asyncio.run(run(url, failing(), connect=_session))


def cancelled(url: str) -> None:
    asyncio.run(cancel_when_asked(run(url, connect=_session)))
