"""The tool runner: its run is the invocation of an agent, and its executions are tools.

The run is an `invoke_agent` without a name: a loop of model and tools until there is an answer is
what the conventions call an agent in this process, and what the SDK calls its own span of it.
Without it every step of a run would be a trace of its own. Right inside the span of an agent it is
the loop of that agent, and has no span.

A tool is executed by its `call`, which knows nothing of the model. The methods of the runner that
execute tools know the calls: `_run_tool` has one, `_generate_tool_call_response` all of an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import MethodType
from typing import Any
from weakref import WeakKeyDictionary

from opentelemetry.context import Context, attach, create_key, get_current, get_value, set_value
from opentelemetry.trace import get_current_span, set_span_in_context

from agentool_otel.content.policy import jsonable
from agentool_otel.integrations.anthropic.instrumentor.clients import client_fields
from agentool_otel.model.messages import message
from agentool_otel.model.operations import AgentInvocation, ToolExecution
from agentool_otel.providers import anthropic as messages
from agentool_otel.providers.fields import get, is_a, items, plain_text, record, string
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.tracing.capture.generators import Call, Collected, async_generator, generator
from agentool_otel.tracing.instrumentation.instrumentor import Patch
from agentool_otel.tracing.spans.around import invokes_agent
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step
from agentool_otel.tracing.spans.suppression import recorded_above

__all__ = ["PATCHES", "SCOPE"]

SCOPE = "com.anthropic.sdk.python"
"""Of the SDK's own spans; that of a client for another platform goes on with its name."""
_OUR_SCOPE = "agentool_otel.instrumentation.anthropic.tool_runner"
"""Recordings hold this name, so it stays when the module moves."""

_contexts: WeakKeyDictionary[Any, Context] = WeakKeyDictionary()
"""The context of a runner's run, once that has begun."""


# ---------------------------------------------------------------------------------------- the run


class _Run:
    """One run, as the driver of its generator sees it."""

    recording = False
    """Its items are not recorded."""

    def __init__(self, step: StepSpan, runner: Any):
        self.outer = get_current()
        self._step = step
        self._runner = runner

    @property
    def context(self) -> Context:
        return self._step.context

    def returned(self, value: Any) -> None:
        self._end()

    def raised(self, error: BaseException) -> None:
        self._end(error)

    def abandoned(self, yielded: Collected | None) -> None:
        self._end(interrupted="closed")

    def _end(self, error: BaseException | None = None, interrupted: str | None = None) -> None:
        with guarded("reading the end of a tool runner"):
            final = _last_message(self._runner)
            reason = finish_reason(string(final, "stop_reason"))
            if reason is not None:
                self._step.set(finish_reasons=[reason])
            self._step.add(lambda: _output(final, reason))
        self._step.end(error, interrupted=interrupted)


def _output(final: Any, reason: str | None) -> dict[str, Any]:
    parts = messages.parts_of(items(final, "content"))
    return {"output": [message("assistant", parts, reason)]} if parts else {}


def _last_message(runner: Any) -> Any:
    """Return the newest answer; of a streaming runner, the part of it that was read."""
    last = get(runner, "_last_message")
    stream = (
        last.__self__ if type(last) is MethodType else None
    )  # it has the method that reads the stream to its end
    return last if stream is None else get(stream, "current_message_snapshot")


def _begin(runner: Any) -> Call | None:
    with guarded("starting the span of a tool runner"):
        if recorded_above() or invokes_agent():
            return None
        parameters = record(get(runner, "_params")) or {}
        request = messages.request(parameters)
        operation = AgentInvocation(
            request_model=request["request_model"],
            output_type=request["output_type"],
            **client_fields(get(runner, "_client")),
        )
        step = start_step(
            operation,
            description="a tool runner",
            scope=_OUR_SCOPE,
            content=lambda: messages.content(parameters),
        )
        _contexts[runner] = step.context
        return _Run(step, runner)
    return None


def _run(wrapped: Callable[..., Any], runner: Any, args: Any, kwargs: Any) -> Any:
    return generator(wrapped, lambda *_: _begin(runner), args, kwargs)


def _run_async(wrapped: Callable[..., Any], runner: Any, args: Any, kwargs: Any) -> Any:
    return async_generator(wrapped, lambda *_: _begin(runner), args, kwargs)


# ----------------------------------------------------------------------------------------- tools


class _Executing:
    """The model's calls that are being executed; in the context of their execution."""

    __slots__ = ("calls", "error", "step")

    def __init__(self, calls: list[Any], step: StepSpan | None = None):
        self.calls = calls
        self.step = step
        """The step of the only call, if it has begun."""
        self.error: Exception | None = None
        """Exception of its tool. The runner passes it to the model only."""

    def context(self, context: Context) -> Context:
        return set_value(_EXECUTING, self, context)

    @staticmethod
    def now(arguments: Any) -> tuple[_Executing | None, Any]:
        """Return the execution in progress that has this arguments object, and its call."""
        present: Any = get_value(_EXECUTING)
        calls = present.calls if isinstance(present, _Executing) else ()
        call = next((call for call in calls if get(call, "input") is arguments), None)
        return (None, None) if call is None else (present, call)


_EXECUTING = create_key("agentool-otel-anthropic-executing")


def _start(
    call: Any, name: str | None, arguments: Any, tool: Any, parent: Context | None = None
) -> StepSpan:
    return start_step(
        ToolExecution(
            name=name or "unknown",
            call_id=string(call, "id"),
            tool_type="function",
            description=string(tool, "description") or None,
        ),
        description=_WHAT,
        scope=_OUR_SCOPE,
        content=lambda: {"arguments": jsonable(arguments)},
        parent=parent,
    )


_WHAT = "a tool of Anthropic's tool runner"


# `_run_tool` and `_run_toolset_member`: one call, and the block that the model gets


def _execution(runner: Any, tool: Any, call: Any) -> _Executing | None:
    with guarded(f"starting the span of {_WHAT}"):
        step = _start(call, string(call, "name"), get(call, "input"), tool, _parent(runner))
        executing = _Executing([call], step)
        step.context = executing.context(step.context)
        return executing
    return None


def _parent(runner: Any) -> Context | None:
    """Return the context that a tool belongs in, None for the current one.

    A tool that runs while an answer is streamed finds the program's own context, in which the SDK
    makes at most its own span of the tool the current one.
    """
    context = _contexts.get(runner)
    if context is None or get(runner, "_running_eager_tool") is not True:
        return None
    span = get_current_span()
    scope = string(get(span, "instrumentation_scope"), "name") or ""
    return set_span_in_context(span, context) if scope.startswith(SCOPE) else context


def _record_result(executing: _Executing, block: Any) -> Any:
    step = executing.step
    with guarded(f"reading the result of {_WHAT}"):
        if step is None:
            return block
        result = get(block, "content")
        if executing.error is not None:
            step.end(executing.error)
        elif get(block, "is_error") is True:
            step.set(error_type="tool_error")
            step.add(tool_error=plain_text(result))
        else:
            step.add(lambda: {"result": jsonable(result)})
    return block


def _executes(wrapped: Callable[..., Any], runner: Any, args: Any, kwargs: Any) -> Any:
    executing = _execution(runner, args[0] if args else None, args[-1] if args else None)
    if executing is None or executing.step is None:
        return wrapped(*args, **kwargs)
    with executing.step:
        return _record_result(executing, wrapped(*args, **kwargs))


async def _executes_async(wrapped: Callable[..., Any], runner: Any, args: Any, kwargs: Any) -> Any:
    executing = _execution(runner, args[0] if args else None, args[-1] if args else None)
    if executing is None or executing.step is None:
        return await wrapped(*args, **kwargs)
    with executing.step:
        return _record_result(executing, await wrapped(*args, **kwargs))


# `_generate_tool_call_response`: all calls of an answer


def _context_of_calls(runner: Any) -> Context:
    with guarded("reading the tool calls of an answer"):
        blocks = items(_last_message(runner), "content")
        calls = [block for block in blocks if string(block, "type") == "tool_use"]
        return _Executing(calls).context(get_current())
    return get_current()


def _responds(wrapped: Callable[..., Any], runner: Any, args: Any, kwargs: Any) -> Any:
    token = attach(_context_of_calls(runner))
    try:
        return wrapped(*args, **kwargs)
    finally:
        restore(token)


async def _responds_async(wrapped: Callable[..., Any], runner: Any, args: Any, kwargs: Any) -> Any:
    token = attach(_context_of_calls(runner))
    try:
        return await wrapped(*args, **kwargs)
    finally:
        restore(token)


# `call` of a tool


def _calling(tool: Any, args: Any, kwargs: Any) -> AbstractContextManager[Any] | None:
    """Return the wrapper of the call: a step of its own, unless the runner's has begun."""
    with guarded(f"starting the span of {_WHAT}"):
        arguments = args[0] if args else kwargs.get("input")
        executing, call = _Executing.now(arguments)
        if executing is not None and executing.step is not None:
            return _Noting(executing)
        return _start(call, string(tool, "name"), arguments, tool)
    return None


class _Noting:
    """Records the exception of a tool."""

    def __init__(self, executing: _Executing):
        self._executing = executing

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if is_a(error, Exception):
            self._executing.error = error


def _call_tool(wrapped: Callable[..., Any], tool: Any, args: Any, kwargs: Any) -> Any:
    frame = _calling(tool, args, kwargs)
    if frame is None:
        return wrapped(*args, **kwargs)
    with frame as step:
        result = wrapped(*args, **kwargs)
        if step is not None:
            step.add(lambda: {"result": jsonable(result)})
        return result


async def _called_async(wrapped: Callable[..., Any], tool: Any, args: Any, kwargs: Any) -> Any:
    frame = _calling(tool, args, kwargs)
    if frame is None:
        return await wrapped(*args, **kwargs)
    with frame as step:
        result = await wrapped(*args, **kwargs)
        if step is not None:
            step.add(lambda: {"result": jsonable(result)})
        return result


_RUNNER = "anthropic.lib.tools._beta_runner"
_TOOLS = "anthropic.lib.tools._beta_functions"
_MEMORY = "anthropic.lib.tools._beta_builtin_memory_tool"

PATCHES = (
    Patch(_RUNNER, "BaseSyncToolRunner.__run__", _run),
    Patch(_RUNNER, "BaseAsyncToolRunner.__run__", _run_async),
    Patch(_RUNNER, "BaseSyncToolRunner._generate_tool_call_response", _responds),
    Patch(_RUNNER, "BaseAsyncToolRunner._generate_tool_call_response", _responds_async),
    # since 1.13
    Patch(_RUNNER, "BaseSyncToolRunner._run_tool", _executes, optional=True),
    Patch(_RUNNER, "BaseAsyncToolRunner._run_tool", _executes_async, optional=True),
    Patch(_RUNNER, "BaseSyncToolRunner._run_toolset_member", _executes, optional=True),
    Patch(_RUNNER, "BaseAsyncToolRunner._run_toolset_member", _executes_async, optional=True),
    Patch(_TOOLS, "BetaFunctionTool.call", _call_tool),
    Patch(_TOOLS, "BetaAsyncFunctionTool.call", _called_async),
    Patch(_MEMORY, "BetaAbstractMemoryTool.call", _call_tool, optional=True),
    Patch(_MEMORY, "BetaAsyncAbstractMemoryTool.call", _called_async, optional=True),
)
