"""Automatic function calling: its run is the invocation of an agent, and its functions are tools.

The run is an `invoke_agent` without a name: a loop of model and functions until there is an answer
is what the conventions call an agent in this process. Without it every step would be a trace of its
own. Right inside the span of an agent it is the loop of that agent, and has no span.

Source: python-genai google/genai/_extra_utils.py, models.py and chats.py at 1.24, 2.34 and 3.6.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from opentelemetry.context import attach, create_key, get_current, get_value, set_value

from agentool_otel.content.encoding.introspection import has_method
from agentool_otel.content.policy import jsonable
from agentool_otel.integrations.google_genai.instrumentor.model_calls import (
    SCOPE,
    LastCall,
    server_fields,
)
from agentool_otel.model.operations import AgentInvocation, ToolExecution
from agentool_otel.providers import google
from agentool_otel.providers.fields import get, items, plain_text, string
from agentool_otel.tracing.capture.generators import (
    Call,
    Collected,
    as_async_generator,
    as_generator,
    async_generator,
    coroutine,
    generator,
)
from agentool_otel.tracing.instrumentation.instrumentor import Patch
from agentool_otel.tracing.loops.chat_objects import context_in_chat
from agentool_otel.tracing.spans.around import invokes_agent
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step
from agentool_otel.tracing.spans.suppression import recorded_above

__all__ = ["PATCHES"]


# ---------------------------------------------------------------------------------------- the run


class _Run:
    """One run, as the driver of its call sees it. Its messages are those of its model calls."""

    recording = False
    """Its items are not recorded."""

    def __init__(self, step: StepSpan, is_chat: bool):
        self.outer = get_current()
        self._step = step
        self._calls = LastCall()
        self._is_chat = is_chat
        self.context = self._calls.within(step.context)

    def returned(self, value: Any) -> None:
        self._end()

    def raised(self, error: BaseException) -> None:
        self._end(error)

    def abandoned(self, yielded: Collected | None) -> None:
        self._end(interrupted="closed")

    def _end(self, error: BaseException | None = None, interrupted: str | None = None) -> None:
        with guarded("reading the end of a run of functions"):
            reading = self._calls.reading
            if reading is not None:
                answer = reading.operation()
                self._step.set(finish_reasons=answer.finish_reasons)
                self._step.add(output=answer.output)
            self._step.add(self._request)
        self._step.end_run(error, interrupted=interrupted)

    def _request(self) -> dict[str, Any]:
        body = self._calls.body or {}
        if self._is_chat:  # what was said before is in the model calls
            body = body | {"contents": items(body, "contents")[-1:]}
        return google.content(body)


def _begin(client: Any, model: Any, config: Any, chat: Any = None) -> Call | None:
    with guarded("starting the span of a run of functions"):
        if not _calls_functions(config) or recorded_above() or invokes_agent():
            return None
        operation = AgentInvocation(
            request_model=(plain_text(model) or "").removeprefix("models/") or None,
            **server_fields(client),
        )
        parent = None if chat is None else context_in_chat(chat)
        step = start_step(operation, description="a run of functions", scope=SCOPE, parent=parent)
        return _Run(step, chat is not None)
    return None


def _calls_functions(config: Any) -> bool:
    """Return whether the SDK calls what the model asks for: functions, or tools of MCP sessions."""
    automatic = get(config, "automatic_function_calling")
    if get(automatic, "disable") is True:
        return False
    return any(callable(tool) or _is_session(tool) for tool in items(config, "tools"))


def _is_session(tool: Any) -> bool:
    return has_method(tool, "call_tool")


def _begin_models(models: Any, kwargs: dict[str, Any]) -> Call | None:
    return _begin(get(models, "_api_client"), kwargs.get("model"), kwargs.get("config"))


def _begin_chat(chat: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
    config = args[1] if len(args) > 1 else kwargs.get("config")
    client = get(get(chat, "_modules"), "_api_client")
    config = get(chat, "_config") if config is None else config
    return _begin(client, get(chat, "_model"), config, chat)


def _begin_call(owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
    is_chat = get(owner, "_modules") is not None
    return _begin_chat(owner, args, kwargs) if is_chat else _begin_models(owner, kwargs)


def _run(wrapped: Callable[..., Any], owner: Any, args: Any, kwargs: Any) -> Any:
    run = _begin_call(owner, args, kwargs)
    if run is None:
        return wrapped(*args, **kwargs)
    token = attach(run.context)
    try:
        result = wrapped(*args, **kwargs)
    except BaseException as error:
        restore(token)
        run.raised(error)
        raise
    restore(token)
    run.returned(result)
    return result


def _run_async(wrapped: Callable[..., Any], owner: Any, args: Any, kwargs: Any) -> Any:
    return coroutine(wrapped, lambda *_: _begin_call(owner, args, kwargs), args, kwargs)


def _stream(wrapped: Callable[..., Any], owner: Any, args: Any, kwargs: Any) -> Any:
    return generator(
        lambda: as_generator(wrapped(*args, **kwargs)),
        lambda *_: _begin_call(owner, args, kwargs),
        (),
        {},
    )


async def _stream_async(wrapped: Callable[..., Any], owner: Any, args: Any, kwargs: Any) -> Any:
    stream = as_async_generator(await wrapped(*args, **kwargs))
    return async_generator(lambda: stream, lambda *_: _begin_call(owner, args, kwargs), (), {})


# ----------------------------------------------------------------------------------- the functions


class _Requested:
    """The calls of one answer that no function has executed yet, with the function of each."""

    __slots__ = ("_calls",)

    def __init__(self, response: Any, functions: Any):
        # The SDK's own objects.
        content = response.candidates[0].content if response.candidates else None
        parts = () if content is None else content.parts or ()
        calls = [part.function_call for part in parts]
        self._calls = [(call, functions.get(call.name)) for call in calls if call is not None]

    def take(self, function: Any) -> Any:
        """Return and remove the first call of a function; None if the answer has none."""
        for index, (call, target) in enumerate(self._calls):
            if target is function:
                del self._calls[index]
                return call
        return None


_REQUESTED = create_key("agentool-otel-google-genai-requested")
_WHAT = "a function of a run"


def _requesting(wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
    token = attach(_requested(*args, **kwargs))
    try:
        return wrapped(*args, **kwargs)
    finally:
        restore(token)


async def _requesting_async(wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
    token = attach(_requested(*args, **kwargs))
    try:
        return await wrapped(*args, **kwargs)
    finally:
        restore(token)


def _requested(response: Any = None, function_map: Any = None, *_: Any, **__: Any) -> Any:
    with guarded("reading the function calls of an answer"):
        if function_map:
            return set_value(_REQUESTED, _Requested(response, function_map))
    return get_current()


def _start(function: Any, name: str | None, arguments: Any, call: Any, kind: str) -> StepSpan:
    return start_step(
        ToolExecution(
            name=name or "unknown",
            call_id=None if call is None else call.id,
            tool_type=kind,
            description=_description(function),
        ),
        description=_WHAT,
        scope=SCOPE,
        content=lambda: {"arguments": jsonable(arguments)},
    )


def _description(function: Any) -> str | None:
    words = function.__doc__ if type(function) is FunctionType else get(function, "__doc__")
    return words.strip() or None if type(words) is str else None


def _execution(args: tuple[Any, ...], kwargs: dict[str, Any]) -> StepSpan | None:
    with guarded(f"starting the span of {_WHAT}"):
        arguments = args[0] if args else kwargs.get("args")
        function = args[1] if len(args) > 1 else kwargs.get("function_to_invoke")
        requested: Any = get_value(_REQUESTED)
        call = requested.take(function) if isinstance(requested, _Requested) else None
        name = plain_text(get(function, "__name__")) if call is None else call.name
        return _start(function, name, arguments, call, "function")
    return None


def _invoke(wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
    step = _execution(args, kwargs)
    if step is None:
        return wrapped(*args, **kwargs)
    with step:
        try:
            result = wrapped(*args, **kwargs)
        except Exception as error:
            step.end(_cause(error))
            raise
        step.add(lambda: {"result": jsonable(result)})
        return result


async def _invoke_async(wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
    step = _execution(args, kwargs)
    if step is None:
        return await wrapped(*args, **kwargs)
    with step:
        try:
            result = await wrapped(*args, **kwargs)
        except Exception as error:
            step.end(_cause(error))
            raise
        step.add(lambda: {"result": jsonable(result)})
        return result


def _cause(error: BaseException) -> BaseException:
    """Return what a function raised, which the SDK puts into an exception of its own."""
    is_wrapped = type(error).__name__ == "FunctionInvocationError"
    return error.__context__ if is_wrapped and error.__context__ is not None else error


async def _mcp_tool(wrapped: Callable[..., Any], adapter: Any, args: Any, kwargs: Any) -> Any:
    call = args[0] if args else kwargs.get("function_call")
    step = None
    with guarded(f"starting the span of {_WHAT}"):
        requested: Any = get_value(_REQUESTED)
        # The SDK makes a new object of the call, without its id.
        found = requested.take(adapter) if isinstance(requested, _Requested) else None
        step = _start(None, string(call, "name"), get(call, "args"), found, "extension")
    if step is None:
        return await wrapped(*args, **kwargs)
    with step:
        result = await wrapped(*args, **kwargs)
        if get(result, "is_error") is True or get(result, "isError") is True:
            step.set(error_type="tool_error")
            step.add(lambda: {"tool_error": _texts_of(result)})
        step.add(lambda: {"result": jsonable(get(result, "content"))})
    return result


def _texts_of(result: Any) -> str:
    return "\n".join(text for item in items(result, "content") if (text := string(item, "text")))


_UTILS = "google.genai._extra_utils"

PATCHES = (
    Patch("google.genai.models", "Models.generate_content", _run),
    Patch("google.genai.models", "Models.generate_content_stream", _stream),
    Patch("google.genai.models", "AsyncModels.generate_content", _run_async),
    Patch("google.genai.models", "AsyncModels.generate_content_stream", _stream_async),
    Patch("google.genai.chats", "Chat.send_message", _run),
    Patch("google.genai.chats", "Chat.send_message_stream", _stream),
    Patch("google.genai.chats", "AsyncChat.send_message", _run_async),
    Patch("google.genai.chats", "AsyncChat.send_message_stream", _stream_async),
    Patch(_UTILS, "get_function_response_parts", _requesting),
    Patch(_UTILS, "get_function_response_parts_async", _requesting_async),
    Patch(_UTILS, "invoke_function_from_dict_args", _invoke),
    Patch(_UTILS, "invoke_function_from_dict_args_async", _invoke_async),
    Patch("google.genai._adapters", "McpToGenAiToolAdapter.call_tool", _mcp_tool, optional=True),
)
