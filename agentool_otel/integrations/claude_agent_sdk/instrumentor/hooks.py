"""The wrappers of the SDK's functions."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

import wrapt
from opentelemetry.context import Context, attach, get_current

from agentool_otel.content.encoding.introspection import has_method
from agentool_otel.ground.json_codec import loads
from agentool_otel.integrations.claude_agent_sdk.instrumentor.sessions import (
    Session,
    current_session,
)
from agentool_otel.providers.fields import get, plain_text, string
from agentool_otel.tracing.capture.generators import first_step
from agentool_otel.tracing.instrumentation.instrumentor import Patch
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.settings import guarded, settings

if TYPE_CHECKING:

    class _Proxy:
        """Types of wrapt's proxy for type checkers."""

        __wrapped__: Any

        def __init__(self, wrapped: Any) -> None: ...

else:
    _Proxy = wrapt.ObjectProxy

__all__ = ["PATCHES"]

_Args = tuple[Any, ...]
_STARTING = "starting the span of a run of an agent"
_ATTRIBUTE = "_agentool_session"


# ---- query()


def _process_query(
    wrapped: Callable[..., AsyncIterator[Any]], _: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    if not settings.enabled:
        return wrapped(*args, **kwargs)
    return _followed(wrapped, args, kwargs)


async def _followed(
    wrapped: Callable[..., Any], args: _Args, kwargs: dict[str, Any]
) -> AsyncIterator[Any]:
    """Iterate over the messages of a query inside its run."""
    session: Session | None = None
    with guarded(_STARTING):
        given = dict(zip(("prompt", "options"), args, strict=False)) | kwargs
        prompt = given.get("prompt")
        single = plain_text(prompt) is not None
        session = Session(given.get("options"), single)
        session.follows_iterator = True
        if single:
            session.prompt(prompt)
        else:
            session.begin([])
    messages = wrapped(*args, **kwargs)
    error: BaseException | None = None
    # Whatever is raised where a message is handed over comes of closing: of a loop that ends, too,
    # which cancels the closing.
    interrupted: str | None = "closed"
    # Unknown to the event loop, which would close both at the same time.
    step = first_step(messages)
    try:
        while True:
            token = None if session is None else attach(session.context())
            try:
                item = await step
            except StopAsyncIteration:
                interrupted = None
                return
            except BaseException as raised:
                error = raised
                raise
            finally:
                if token is not None:
                    restore(token)
            yield item
            step = messages.__anext__()
    finally:
        if session is not None:
            session.close(error, None if error is not None else interrupted)
        await messages.aclose()


# ---- ClaudeSDKClient


async def _connect(
    wrapped: Callable[..., Awaitable[Any]], client: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    session: Session | None = None
    with guarded(_STARTING):
        if settings.enabled:
            session = Session(get(client, "options"), single=False)
            prompt = args[0] if args else kwargs.get("prompt")
            if plain_text(prompt) is not None:
                session.prompt(prompt)
    if session is None:
        return await wrapped(*args, **kwargs)
    token = attach(session.context())
    try:
        return await wrapped(*args, **kwargs)
    except BaseException as error:
        session.close(error)
        raise
    finally:
        restore(token)


async def _query(
    wrapped: Callable[..., Awaitable[Any]], client: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    session = _session_of(get(client, "_query"))
    if session is None:
        return await wrapped(*args, **kwargs)
    with guarded(_STARTING):
        prompt = args[0] if args else kwargs.get("prompt")
        if plain_text(prompt) is not None:
            session.prompt(prompt, get_current())
        elif has_method(prompt, "__aiter__"):
            watched = _watched(cast("AsyncIterable[Any]", prompt), session)
            if args:
                args = (watched, *args[1:])
            else:
                kwargs = {**kwargs, "prompt": watched}
    return await wrapped(*args, **kwargs)


async def _exit(
    wrapped: Callable[..., Awaitable[Any]], client: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    """`__aexit__`, which knows the exception that leaves the block."""
    session = _session_of(get(client, "_query"))
    if session is not None:
        error = args[1] if len(args) > 1 else kwargs.get("exc_val")
        session.close(error, None if error is not None else "closed")
    return await wrapped(*args, **kwargs)


async def _watched(prompts: AsyncIterable[Any], session: Session) -> AsyncIterator[Any]:
    """Iterate over prompts that the program sends."""
    async for prompt in prompts:
        with guarded(_STARTING):
            session.prompt(prompt)
        yield prompt


# ---- the connection


def _connection(
    wrapped: Callable[..., None], query: Any, args: _Args, kwargs: dict[str, Any]
) -> None:
    """`Query.__init__`: what it reads and writes is read by its session as well."""
    session = current_session()
    if session is not None:
        with guarded(_STARTING):
            transport = kwargs.get("transport", args[0] if args else None)
            watched = _Transport(transport, session)
            if "transport" in kwargs:
                kwargs = {**kwargs, "transport": watched}
            else:
                args = (watched, *args[1:])
            if kwargs.get("forward_subagent_text") is False:
                kwargs = {**kwargs, "forward_subagent_text": True}
                session.hides_texts = True
    wrapped(*args, **kwargs)
    if session is not None:
        with guarded(_STARTING):
            setattr(query, _ATTRIBUTE, session)


def _session_of(query: Any) -> Session | None:
    session = getattr(query, "__dict__", {}).get(_ATTRIBUTE)
    return session if isinstance(session, Session) else None


class _Transport(_Proxy):
    """A transport whose frames are read on their way."""

    _self_session: Session

    def __init__(self, transport: Any, session: Session):
        super().__init__(transport)
        self._self_session = session

    async def read_messages(self) -> AsyncIterator[Any]:
        session = self._self_session
        async for frame in self.__wrapped__.read_messages():
            session.read(frame)
            hidden = False
            with guarded("hiding a frame of the Claude Code CLI"):
                hidden = session.hides(frame)
            if not hidden:
                yield frame

    async def write(self, data: str) -> None:
        with guarded("reading the answer to a request of the Claude Code CLI"):
            if '"control_response"' in data and '"deny"' in data:
                self._self_session.answered(loads(data))
        await self.__wrapped__.write(data)


def _subprocess(wrapped: Callable[..., None], _: Any, args: _Args, kwargs: dict[str, Any]) -> None:
    """`SubprocessCLITransport.__init__`: the CLI writes the events of streams, too. Only these
    have the tokens that a model has written, and why it stopped.
    """
    session = current_session()
    if session is not None:
        with guarded(_STARTING):
            parameters = dict(zip(("prompt", "options"), args, strict=False)) | kwargs
            options: Any = copy.copy(parameters.get("options"))
            if get(options, "include_partial_messages") is False:
                options.include_partial_messages = True
                args, kwargs = (), {**parameters, "options": options}
                session.hides_events = True
    wrapped(*args, **kwargs)


async def _stream_input(
    wrapped: Callable[..., Awaitable[Any]], query: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    """`Query.stream_input`: prompts of an iterator."""
    session = _session_of(query)
    if session is not None and args:
        args = (_watched(args[0], session), *args[1:])
    return await wrapped(*args, **kwargs)


async def _close(
    wrapped: Callable[..., Awaitable[Any]], query: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    """`Query.close`: the end of a client's connection; `query()` ends by its iterator."""
    session = _session_of(query)
    try:
        return await wrapped(*args, **kwargs)
    finally:
        if session is not None and not session.follows_iterator:
            session.close(interrupted="closed")


async def _mcp_request(
    wrapped: Callable[..., Awaitable[Any]], query: Any, args: _Args, kwargs: dict[str, Any]
) -> Any:
    """`Query._handle_sdk_mcp_request`: a message to a server in this process."""
    session = _session_of(query)
    if session is None or len(args) != 2:
        return await wrapped(*args, **kwargs)
    server, request = args
    context: Context | None = None
    with guarded("passing trace context to a tool"):
        context, request = session.joined(request)
    # Until 0.2.82 the tool is called here; later, the request goes to a task of the server's.
    token = None if context is None else attach(context)
    try:
        response = await wrapped(server, request, **kwargs)
    finally:
        if token is not None:
            restore(token)
    if string(request, "method") == "tools/list":
        with guarded("reading a list of tools"):
            session.listed(server, response)
    return response


_QUERY = "claude_agent_sdk._internal.query"
PATCHES = (
    Patch("claude_agent_sdk._internal.client", "InternalClient.process_query", _process_query),
    Patch("claude_agent_sdk.client", "ClaudeSDKClient.connect", _connect),
    Patch("claude_agent_sdk.client", "ClaudeSDKClient.query", _query),
    Patch("claude_agent_sdk.client", "ClaudeSDKClient.__aexit__", _exit),
    Patch(_QUERY, "Query.__init__", _connection),
    Patch(_QUERY, "Query.stream_input", _stream_input),
    Patch(_QUERY, "Query.close", _close),
    Patch(_QUERY, "Query._handle_sdk_mcp_request", _mcp_request),
    Patch(
        "claude_agent_sdk._internal.transport.subprocess_cli",
        "SubprocessCLITransport.__init__",
        _subprocess,
    ),
)
