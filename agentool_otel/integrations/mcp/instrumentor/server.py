"""Requests that a server handles, over any transport.

All servers of the SDK pass here: the low-level one, `MCPServer` and, of mcp 1, `FastMCP`. A span is
around everything that happens to a request, its refusal by a middleware too, and ends before the
task that has handled it does anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentool_otel.content.policy import as_text
from agentool_otel.integrations.mcp.instrumentor.propagation import context_of
from agentool_otel.providers.fields import get, integer, record, string
from agentool_otel.semconv import core, mcp
from agentool_otel.tracing.instrumentation.instrumentor import Patch
from agentool_otel.tracing.instrumentation.mcp_requests import (
    Request,
    current_request,
    start_request,
)
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["PATCHES_1", "PATCHES_2"]

_Args = tuple[Any, ...]
_STARTING = "starting the span of an MCP request"
_CANCELLED = "cancelled"
"""`error.type` of a request that its client has cancelled without an exception."""


def _record_handling(
    wrapped: Callable[..., Any], instance: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    return _observe(wrapped, instance, args, kwargs)


async def _observe(
    wrapped: Callable[..., Any], runner: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    request = None
    with guarded(_STARTING):
        request = _start(runner, *args, **kwargs)
    if request is None:
        return await wrapped(*args, **kwargs)
    return await request.around(wrapped, args, kwargs)


def _start(runner: Any, dctx: Any, method: str, params: Mapping[str, Any] | None) -> Request | None:
    connection = get(runner, "connection")
    http = get(get(dctx, "message_metadata"), "request_context")
    session_id, attributes, transport = _of_http(http)
    return _start_handling(
        method,
        params or {},
        record(get(params, "_meta")),
        get(dctx, "request_id"),
        attributes,
        session_id=session_id or string(connection, "session_id"),
        protocol_version=string(connection, "protocol_version"),
        transport=transport,
    )


def _start_handling(
    method: str,
    params: Any,
    meta: Mapping[str, Any] | None,
    request_id: Any,
    attributes: Mapping[str, Any],
    **fields: Any,
) -> Request | None:
    target = get(params, "uri" if method == mcp.METHOD_RESOURCES_READ else "name")
    return start_request(
        "server",
        method,
        target,
        get(params, "arguments"),
        parent=context_of(meta),
        attributes=attributes,
        request_id=None if request_id is None else as_text(request_id),
        **fields,
    )


def _of_http(request: Any) -> tuple[str | None, dict[str, Any], str | None]:
    """Return session id, client data and transport of a request that came by HTTP."""
    headers = get(request, "headers")
    if headers is None:
        return None, {}, None
    client = get(request, "client")
    fields = {
        core.CLIENT_ADDRESS: string(client, "host"),
        core.CLIENT_PORT: integer(client, "port"),
        core.NETWORK_PROTOCOL_NAME: "http",
    }
    attributes = {key: value for key, value in fields.items() if value is not None}
    return headers.get("mcp-session-id"), attributes, "tcp"


def _extract_context(
    wrapped: Callable[..., Any], _: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    """Make the SDK's own span of a request, and its handling, children of ours, which is below the
    client's already.
    """
    request = current_request()
    if request is not None and request.side == "server":
        return None
    return wrapped(*args, **kwargs)


# ---- mcp 1


def _handled_by_1(wrapped: Callable[..., Any], _: Any, args: _Args, kwargs: dict[str, Any]) -> Any:
    return _observe_1(wrapped, args, kwargs)


async def _observe_1(wrapped: Callable[..., Any], args: _Args, kwargs: dict[str, Any]) -> Any:
    request, message = None, args[0] if args else kwargs.get("message")
    with guarded(_STARTING):
        request = _start_1(message, args[1] if len(args) > 1 else kwargs.get("req"))
    if request is None:
        return await wrapped(*args, **kwargs)

    async def handle() -> None:
        await wrapped(*args, **kwargs)
        # The SDK swallows the exception: until 1.26 also where its transport was closed.
        if get(message, "cancelled") is True or get(message, "in_flight") is True:
            request.step.set(error_type=_CANCELLED)

    return await request.around(handle)


def _start_1(message: Any, req: Any) -> Request | None:
    http = get(get(message, "message_metadata"), "request_context")
    session_id, attributes, transport = _of_http(http)
    version = http.headers.get("mcp-protocol-version") if transport else None
    return _start_handling(
        string(req, "method") or "",
        get(req, "params"),
        get(get(message, "request_meta"), "model_extra"),
        get(message, "request_id"),
        attributes,
        session_id=session_id,
        protocol_version=version,
        transport=transport,
    )


def _record_response(
    wrapped: Callable[..., Any], _: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    """Record the response that a server of mcp 1 sends."""
    with guarded("reading an MCP response"):
        request = current_request()
        if request is not None and request.side == "server":
            response = args[0] if args else kwargs.get("response")
            code = integer(response, "code")
            if code is None:
                request.answered(response)
            else:
                request.refused(code, string(response, "message"))
    return wrapped(*args, **kwargs)


PATCHES_1 = (
    Patch("mcp.server.lowlevel.server", "Server._handle_request", _handled_by_1),
    Patch("mcp.shared.session", "RequestResponder.respond", _record_response),
)
PATCHES_2 = (
    Patch("mcp.server.runner", "ServerRunner._on_request", _record_handling),
    Patch("mcp.server._otel", "extract_trace_context", _extract_context, optional=True),
)
