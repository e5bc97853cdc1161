"""FastMCP: clients and servers on top of the MCP SDK, which `integrations.mcp` sees.

What FastMCP adds: a client's call in several rounds as one span, with its session's id, and calls
of a server's own components that pass no protocol (`server.call_tool(...)`), as a SERVER span.
Inside a request these are the request: `FastMCP.call_tool` runs twice for one call where there are
middlewares, and once more in each mounted server.

Needs the instrumentor of `mcp` beside it, without which requests between client and server are
not seen.

Source: fastmcp 4.1 (client/mixins, server/server.py, server/telemetry.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentool_otel.content.encoding.attributes import allow
from agentool_otel.semconv import mcp
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor, Patch, Wrapper
from agentool_otel.tracing.instrumentation.mcp_requests import (
    client_method,
    current_request,
    start_request,
    target_of,
)
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["FastMCPInstrumentor"]

allow("fastmcp", "protocol_version")

_MIXINS = "fastmcp.client.mixins."
_SERVER = "fastmcp.server.server"


def _session_id(client: Any) -> str | None:
    session_id = client.transport.get_session_id()
    return session_id if isinstance(session_id, str) else None


def _own_call(method: str, parameter: str) -> Wrapper:
    """Return the wrapper of a server's method that programs also call without a client."""

    async def observed(
        wrapped: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        request = None
        with guarded("starting the span of an MCP request"):
            current = current_request()
            if current is None or current.side == "client":
                request = start_request("server", method, *target_of(args, kwargs, parameter))
        if request is None:
            return await wrapped(*args, **kwargs)
        return await request.around(wrapped, args, kwargs)

    def wrapper(
        wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return observed(wrapped, args, kwargs)

    return wrapper


def _client(module: str, target: str, method: str, parameter: str) -> Patch:
    return Patch(_MIXINS + module, target, client_method(method, parameter, _session_id))


class FastMCPInstrumentor(AgentInstrumentor):
    """Clients and servers of FastMCP, above those of the Python SDK: patches."""

    framework = "fastmcp"
    supports = ("fastmcp >= 4",)
    patches = (
        _client("tools", "ClientToolsMixin.call_tool_mcp", mcp.METHOD_TOOLS_CALL, "name"),
        _client("prompts", "ClientPromptsMixin.get_prompt_mcp", mcp.METHOD_PROMPTS_GET, "name"),
        _client(
            "resources", "ClientResourcesMixin.read_resource_mcp", mcp.METHOD_RESOURCES_READ, "uri"
        ),
        Patch(_SERVER, "FastMCP.call_tool", _own_call(mcp.METHOD_TOOLS_CALL, "name")),
        Patch(_SERVER, "FastMCP.render_prompt", _own_call(mcp.METHOD_PROMPTS_GET, "name")),
        Patch(_SERVER, "FastMCP.read_resource", _own_call(mcp.METHOD_RESOURCES_READ, "uri")),
    )
    native_scopes = ("fastmcp",)
