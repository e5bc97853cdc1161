"""One open MCP request, on either side: its span, and the data of its result.

Three methods have spans: `tools/call`, a step of a trajectory, and `prompts/get` and
`resources/read`, which bring content into it by name. The conventions allow one for every message.
The others are housekeeping of a session (`initialize`, `server/discover`, `ping`, `tools/list`,
also the hidden one that checks a result against its schema): no step of a trajectory, and most of
them, sent before any run begins, would be a trace of one span each. They carry trace context all
the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, cast

from opentelemetry.context import Context, create_key, get_current, set_value

from agentool_otel.content.policy import as_text, jsonable
from agentool_otel.ground.json_codec import loads
from agentool_otel.model.operations import McpRequest
from agentool_otel.providers.fields import get, integer, items, join_texts, record, string
from agentool_otel.semconv import agentool, core, mcp
from agentool_otel.tracing.instrumentation.instrumentor import Wrapper
from agentool_otel.tracing.loops.loop import Loop
from agentool_otel.tracing.loops.open_loops import open_loops
from agentool_otel.tracing.loops.placement import tool_loop
from agentool_otel.tracing.spans.around import executes_tool
from agentool_otel.tracing.spans.run import requested_id
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step

__all__ = [
    "REQUEST_KEY",
    "STARTING",
    "Request",
    "client_method",
    "current_request",
    "start_client_request",
    "start_request",
    "target_of",
]

STARTING = "starting the span of an MCP request"
"""For the log."""

REQUEST_KEY = create_key("agentool-otel-mcp-request")
"""Context key: the innermost request under way."""

_SCOPE = "agentool_otel.instrumentation.mcp"
_TARGETS = {
    mcp.METHOD_TOOLS_CALL: "tool_name",
    mcp.METHOD_PROMPTS_GET: "prompt_name",
    mcp.METHOD_RESOURCES_READ: "resource_uri",
}
"""By method, the field of the operation for the target of the request."""

_TOOL_TYPE = "extension"
"""`gen_ai.tool.type` of a tool that a server has.

Spec: `gen_ai.tool.type`: an extension is a tool by which an agent reaches other systems.
"""

_INVALID_PARAMS = -32602
"""Spec: JSON-RPC 2.0, error codes."""

Side = Literal["client", "server"]
_Args = tuple[Any, ...]


class Request:
    """A request that has a span."""

    __slots__ = ("_loop", "method", "sends", "side", "step", "target")

    def __init__(
        self,
        side: Side,
        method: str,
        target: str | None,
        step: StepSpan,
        loop: Loop | None = None,
    ):
        self._loop = loop
        self.side = side
        self.method = method
        self.target = target
        self.sends = True
        """Whether the client's next message is the request, not one of its own (`tools/list`)."""
        self.step = step
        step.context = set_value(REQUEST_KEY, self, step.context)

    def is_part_of(self, method: str, target: str | None) -> bool:
        """Return whether a client's current request is this one: a client's method calls the
        session's, perhaps several times until there is an answer, and the session sends.
        """
        if self.side != "client" or self.method != method:
            return False
        return target == self.target or method != mcp.METHOD_TOOLS_CALL

    def numbered(self, request_id: Any) -> None:
        """Note the id under which it is sent; of a call in several rounds the last one."""
        if request_id is not None and self.sends:
            self.step.set(request_id=str(request_id))

    def answered(self, result: Any) -> None:
        """Record the result: the SDK's object, or the members that are sent; None has no effect."""
        if result is None or not self.step.recording:
            return
        with guarded("reading an MCP result"):
            result = get(result, "root") or result  # mcp 1 wraps what a server answers
            if _member(result, "result_type", "resultType") == "input_required":
                # The call is made again, with what it asks for.
                self.step.mark({agentool.TOOL_INCOMPLETE: "call_only"})
                return
            if self.method != mcp.METHOD_TOOLS_CALL:
                return
            failed = _member(result, "is_error", "isError") is True
            if failed:
                self.step.set(error_type=mcp.ERROR_TYPE_TOOL)
            self.step.add(lambda: _content(result, failed))

    def failed(self, error: BaseException) -> bool:
        """End with an exception. Returns whether the exception is left out of the span: its text
        may come from the other side.
        """
        with guarded("reading an MCP error"):
            if self.side == "server" and type(error).__name__ == "ValidationError":
                self.refused(_INVALID_PARAMS, "Invalid request parameters")
                return True
            code = integer(get(error, "error"), "code")
            if code is not None:
                self.refused(code, string(get(error, "error"), "message"))
        return False

    def refused(self, code: int, message: str | None) -> None:
        """Take the JSON-RPC error that answers it."""
        self.step.mark({core.RPC_RESPONSE_STATUS_CODE: str(code)})
        self.step.set(error_type=str(code), error_message=message)

    async def around(
        self,
        wrapped: Callable[..., Awaitable[Any]],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Make the request, or handle it, inside its span."""
        try:
            with self.step:
                try:
                    result = await wrapped(*args, **(kwargs or {}))
                except Exception as error:
                    if self.failed(error):
                        self.step.end()
                    raise
                self.answered(result)
                return result
        finally:
            if self._loop is not None:
                open_loops.tool_ended(self._loop)


def current_request() -> Request | None:
    """Return the innermost request under way."""
    request = get_current().get(REQUEST_KEY)
    return request if isinstance(request, Request) else None


def target_of(args: tuple[Any, ...], kwargs: Mapping[str, Any], parameter: str) -> tuple[Any, Any]:
    """Return the first two arguments of a method that makes or handles a request: the target, under
    the name of its parameter, and the tool's or prompt's `arguments`.
    """
    target = args[0] if args else kwargs.get(parameter)
    return target, args[1] if len(args) > 1 else kwargs.get("arguments")


def start_request(
    side: Side,
    method: str,
    target: Any,
    arguments: Any,
    *,
    parent: Context | None = None,
    attributes: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Request | None:
    """Start the span of a request; None for a method without one, and where telemetry is off.

    Args:
        side: whose span it is.
        method: of the protocol, e.g. `tools/call`.
        target: name of the tool or prompt, or address of the resource.
        arguments: of a tool.
        parent: context of the parent, the current one by default.
        attributes: what no field stands for.
        fields: further fields of the operation; None for what is unknown.
    """
    if method not in _TARGETS:
        return None
    name = None if target is None else as_text(target)
    members: dict[str, Any] = {**fields, _TARGETS[method]: name}
    content = None
    loop: Loop | None = None
    if method == mcp.METHOD_TOOLS_CALL:
        members["tool_type"] = _TOOL_TYPE

        def sent() -> Any:
            return {} if arguments is None else jsonable(arguments)

        content = lambda: {"arguments": sent()}  # noqa: E731
        context = get_current() if parent is None else parent
        if side == "client" and name is not None and not executes_tool(context):
            if parent is None:
                loop = tool_loop(name, sent)
                parent = None if loop is None else loop.inside(context)
                context = context if parent is None else parent
            members["call_id"] = requested_id(context, name, sent)
    operation = McpRequest(side=side, method=method, **members)
    step = start_step(
        operation, description="an MCP request", scope=_SCOPE, content=content, parent=parent
    )
    if step.live is None:
        return None
    step.mark(attributes or {})
    return Request(side, method, name, step, loop)


def _member(result: Any, name: str, wire_name: str) -> Any:
    """Return a member of a result by its name in mcp 2, or else by that of the wire and of mcp 1,
    which some versions warn of."""
    member = get(result, name)
    return get(result, wire_name) if member is None else member


def _content(result: Any, failed: bool) -> dict[str, Any]:
    sent = record(result)
    if sent is None:
        sent = cast(
            "dict[str, Any]", result.model_dump(by_alias=True, mode="json", exclude_none=True)
        )
    if failed:
        return {"error_message": join_texts(map(_text, items(sent, "content")))}
    return {"result": _returned(sent)}


def _returned(sent: dict[str, Any]) -> Any:
    """Return the value of a tool from a result that has it as content, as structure, or both.

    A tool that returns no object has its value wrapped in one with the single member `result`.
    The text of a tool that returns such an object itself is that object as JSON.
    """
    if "content" not in sent:  # of an extension of the protocol
        return sent
    blocks = items(sent, "content")
    text = _text(blocks[0]) if len(blocks) == 1 else None
    structured = _member(sent, "structured_content", "structuredContent")
    if structured is None:
        return blocks if text is None else text
    wrapped = record(structured)
    if wrapped is None or wrapped.keys() != {"result"}:
        return structured
    return wrapped if text is not None and _parsed(text) == wrapped else wrapped["result"]


def _text(block: Any) -> str | None:
    return string(block, "text") if string(block, "type") == "text" else None


def _parsed(text: str) -> Any:
    try:
        return loads(text)
    except ValueError:
        return None


def start_client_request(
    sender: Any, method: str, target: Any, arguments: Any, session_id: str | None = None
) -> Request | None:
    """Start the span of a request unless it has one already."""
    current = current_request()
    name = None if target is None else as_text(target)
    if current is not None and current.is_part_of(method, name):
        return None
    version = string(sender, "protocol_version")
    return start_request(
        "client", method, target, arguments, protocol_version=version, session_id=session_id
    )


def client_method(
    method: str, parameter: str, session_id: Callable[[Any], str | None] | None = None
) -> Wrapper:
    """Return the wrapper of a client's method that makes requests of one kind.

    Args:
        method: of the protocol.
        parameter: the method's first one, which says what is requested.
        session_id: returns the id of a client's session.
    """

    async def observed(
        wrapped: Callable[..., Any], instance: Any, args: _Args, kwargs: dict[str, Any]
    ) -> Any:
        request = None
        with guarded(STARTING):
            known_id = None if session_id is None else session_id(instance)
            request = start_client_request(
                instance, method, *target_of(args, kwargs, parameter), known_id
            )
        if request is None:
            return await wrapped(*args, **kwargs)
        return await request.around(wrapped, args, kwargs)

    def wrapper(
        wrapped: Callable[..., Any], instance: Any, args: _Args, kwargs: dict[str, Any]
    ) -> Any:
        return observed(wrapped, instance, args, kwargs)

    return wrapper
