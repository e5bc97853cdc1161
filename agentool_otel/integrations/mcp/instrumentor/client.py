"""Requests that a client sends.

`ClientSession.send_request` is where all of them pass, also those of programs that make the
request object themselves. The methods above it (`call_tool`, `get_prompt`, `read_resource` of a
session, and of mcp 2's `Client`, which asks again until there is an answer) know more: how the call
ended for the caller. So the outermost of them has the span, and the ones inside add the id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentool_otel.integrations.mcp.instrumentor.propagation import CarryingRequest
from agentool_otel.providers.fields import get, string
from agentool_otel.semconv import mcp
from agentool_otel.tracing.capture.context import inject
from agentool_otel.tracing.instrumentation.instrumentor import Patch
from agentool_otel.tracing.instrumentation.mcp_requests import (
    STARTING,
    Request,
    client_method,
    current_request,
    start_client_request,
)
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["METHODS", "PATCHES", "PATCHES_1", "PATCHES_2"]

_Args = tuple[Any, ...]


def _start_sent(session: Any, args: _Args, kwargs: dict[str, Any]) -> Request | None:
    """Start the span of a request object that is sent."""
    sent = args[0] if args else kwargs.get("request")
    root = get(sent, "root")  # mcp 1 wraps it
    sent = sent if root is None else root
    params = get(sent, "params")
    method = string(sent, "method") or ""
    target = get(params, "uri" if method == mcp.METHOD_RESOURCES_READ else "name")
    if (current := current_request()) is not None:
        current.sends = current.method == method
    return start_client_request(session, method, target, get(params, "arguments"))


async def _observe_sent(
    wrapped: Callable[..., Any], instance: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    request = None
    with guarded(STARTING):
        request = _start_sent(instance, args, kwargs)
    if request is None:
        return await wrapped(*args, **kwargs)
    return await request.around(wrapped, args, kwargs)


def _record_send(
    wrapped: Callable[..., Any], instance: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    return _observe_sent(wrapped, instance, args, kwargs)


def _sent_by_1(
    wrapped: Callable[..., Any], instance: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    """mcp 1 does not send the trace context itself."""

    async def carrying(*args: Any, **kwargs: Any) -> Any:
        with guarded("sending the trace context of an MCP request"):
            if (request := current_request()) is not None:
                request.numbered(get(instance, "_request_id"))
            args, kwargs = _with_context(args, kwargs)
        return await wrapped(*args, **kwargs)

    return _observe_sent(carrying, instance, args, kwargs)


def _with_context(args: _Args, kwargs: dict[str, Any]) -> tuple[_Args, dict[str, Any]]:
    carrier: dict[str, str] = {}
    inject(carrier)
    if not carrier:
        return args, kwargs
    if args:
        return (CarryingRequest(args[0], carrier), *args[1:]), kwargs
    return args, {**kwargs, "request": CarryingRequest(kwargs["request"], carrier)}


def _record_id(wrapped: Callable[..., Any], _: Any, args: _Args, kwargs: dict[str, Any]) -> Any:
    request_id = wrapped(*args, **kwargs)
    with guarded("reading the id of an MCP request"):
        if (request := current_request()) is not None and request.side == "client":
            request.numbered(request_id)
    return request_id


_SESSION = "mcp.client.session"
METHODS = (
    ("call_tool", mcp.METHOD_TOOLS_CALL, "name"),
    ("get_prompt", mcp.METHOD_PROMPTS_GET, "name"),
    ("read_resource", mcp.METHOD_RESOURCES_READ, "uri"),
)
PATCHES = tuple(
    Patch(_SESSION, f"ClientSession.{name}", client_method(method, target))
    for name, method, target in METHODS
)
PATCHES_1 = (Patch("mcp.shared.session", "BaseSession.send_request", _sent_by_1),)
PATCHES_2 = (
    *(
        Patch("mcp.client.client", f"Client.{name}", client_method(method, target))
        for name, method, target in METHODS
    ),
    Patch(_SESSION, "ClientSession.send_request", _record_send),
    Patch(
        "mcp.shared.jsonrpc_dispatcher", "JSONRPCDispatcher._allocate_id", _record_id, optional=True
    ),
)
