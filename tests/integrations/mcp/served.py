"""A server of either major version of the SDK, and clients of it; also a program:

python served.py             serves over stdio
python served.py 8123        serves over streamable HTTP
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

VERSION = 2 if find_spec("mcp") and find_spec("mcp.server.mcpserver") else 1
RESULT = "OpenTelemetry: traces, metrics and logs."


def search_web(query: str) -> str:
    """Search the web."""
    return RESULT


def totals(query: str) -> dict[str, Any]:
    """Return an object."""
    return {"result": 2}


def fails(query: str) -> str:
    """Fail as tools do."""
    raise RuntimeError("no network")


def refuses(query: str) -> str:
    """Answer with an error of the protocol."""
    if VERSION == 2:
        raise import_module("mcp.shared.exceptions").MCPError(-32001, "not today")
    types = import_module("mcp.types")
    raise import_module("mcp.shared.exceptions").UrlElicitationRequiredError(
        [types.ElicitRequestURLParams(message="m", url="https://e", elicitationId="1")]
    )


waiting: list[str] = []
"""The calls of `waits` so far."""


async def waits(query: str) -> str:
    """Wait until it is cancelled."""
    waiting.append(query)
    await asyncio.sleep(60)
    return RESULT


TOOLS: tuple[Callable[..., Any], ...] = (search_web, totals, fails, refuses, waits)


def server(*tools: Callable[..., Any], **settings: Any) -> Any:
    """A server with some tools, a prompt and a resource."""
    if VERSION == 2:
        mcpserver = import_module("mcp.server.mcpserver").MCPServer("web")
    else:
        mcpserver = import_module("mcp.server.fastmcp").FastMCP("web", **settings)
    for tool in tools or TOOLS:
        mcpserver.tool()(tool)

    def greet(name: str) -> str:
        return f"Hello {name}"

    def notes() -> str:
        return "a note"

    mcpserver.prompt()(greet)
    mcpserver.resource("notes://all")(notes)
    return mcpserver


@asynccontextmanager
async def in_memory(served: Any, **options: Any) -> AsyncGenerator[Any]:
    if VERSION == 2:
        async with import_module("mcp.client.client").Client(served, **options) as client:
            yield client
    else:
        connected = import_module("mcp.shared.memory").create_connected_server_and_client_session
        async with connected(served._mcp_server) as session:
            yield session


@asynccontextmanager
async def over_http(port: int) -> AsyncGenerator[Any]:
    module = import_module("mcp.client.streamable_http")
    # Until 1.23 under another name.
    streams = getattr(module, "streamable_http_client", None) or module.streamablehttp_client
    session_class = import_module("mcp.client.session").ClientSession
    async with (
        streams(f"http://127.0.0.1:{port}/mcp") as (read, write, *_),
        session_class(read, write) as session,
    ):
        await session.initialize()
        yield session


def main(arguments: list[str]) -> None:
    if not arguments:
        server().run(transport="stdio")
    elif VERSION == 2:
        server().run(transport="streamable-http", port=int(arguments[0]))
    else:
        server(port=int(arguments[0])).run(transport="streamable-http")


if __name__ == "__main__":
    main(sys.argv[1:])
