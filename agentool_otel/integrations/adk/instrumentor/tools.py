"""Tools, by the callbacks of plugins.

The methods that call the plugins are wrapped, and no plugin is registered: a plugin of the
program's may answer first, and runners that exist already would have none of ours. The methods run
in the context of the tool, in a task of its own. A tool whose end ADK does not report, because it
raises or is cancelled, ends with its agent.

Source: google-adk plugins/plugin_manager.py, flows/llm_flows/functions.py at 1.19,
flows/llm_flows/tools/_caller.py at 2.13.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from time import time_ns
from typing import Any

from opentelemetry.context import Context, attach, create_key, get_current, set_value

from agentool_otel.content.encoding.introspection import class_name, mro
from agentool_otel.content.policy import jsonable
from agentool_otel.integrations.adk.instrumentor import contents
from agentool_otel.integrations.adk.instrumentor.work import SCOPE, Work, at_work
from agentool_otel.model.operations import ToolExecution
from agentool_otel.providers.fields import get, record, string
from agentool_otel.tracing.instrumentation.instrumentor import Patch
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.exceptions import str_of
from agentool_otel.tracing.spans.identity import agent_of
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step

__all__ = ["PATCHES", "arguments_around", "inside_tool", "outside_tools"]

_TOOL_KEY = create_key("agentool-otel-adk-tool")
_open: ContextVar[_Tool | None] = ContextVar("agentool-otel-adk-tool", default=None)
"""The tool that the current code runs in. ADK 2 makes older contexts of OpenTelemetry current."""
_TRANSFER = "transfer_to_agent"


class _Tool:
    """A tool that is executed."""

    __slots__ = (
        *("_context", "_end_ns", "_error", "_token", "_tool", "arguments", "is_over", "step"),
        "work",
    )

    def __init__(self, step: StepSpan, tool: Any, arguments: Any, context: Any, work: Work | None):
        """
        Args:
            step: its span.
            tool: the tool.
            arguments: those of the call.
            context: the `ToolContext` of the call.
            work: the agent that calls it.
        """
        self.step = step
        self.work = work
        self.arguments = arguments
        self.is_over = False
        self._tool = tool
        self._context = context
        self._error: BaseException | None = None
        self._end_ns: int | None = None
        self._token: Any = None

    @property
    def context(self) -> Context:
        """Return the context that its work belongs in."""
        return set_value(_TOOL_KEY, self, self.step.context)

    def enter(self) -> None:
        """Make it current until it ends, or until its task does."""
        self._token = attach(self.context)
        _open.set(self)
        if self.work is not None:
            self.work.opened(self)

    def is_of(self, context: Any) -> bool:
        return self._context is context

    def failed(self, error: BaseException) -> None:
        """Note an exception: a callback may still answer in place of the tool."""
        self._error, self._end_ns = error, time_ns()

    def returned(self, result: Any) -> None:
        """End with what the tool, or a callback in its place, returns."""
        if self._token is not None:
            restore(self._token)
        if _open.get() is self:
            _open.set(None)
        if _is_empty(result) and get(self._tool, "is_long_running") is True:
            self.step.leave_unanswered()
            self._end(interrupted="long_running_tool")
        elif self._waits():
            self.step.leave_unanswered()
            self._end(interrupted="approval")
        else:
            target = self._hand_over()
            if result is not None or target is None:
                self.step.add(lambda: {"result": contents.unwrapped(result)})
            told = string(result, "error") if len(record(result) or ()) == 1 else None
            if self._error is None and told is not None:
                self.step.set(error_type="tool_error")
                self.step.add(tool_error=told)
            self._end(self._error)

    def _waits(self) -> bool:
        """Return whether the call waits for a human to confirm it."""
        asked = record(get(_actions(self._context), "requested_tool_confirmations"))
        return asked is not None and _call_id(self._context) in asked

    def _hand_over(self) -> str | None:
        """Return the agent that the call hands over to; any tool may name one."""
        target = string(_actions(self._context), "transfer_to_agent")
        if target is not None:
            if self.work is not None:
                self.work.handed_to = target
            if getattr(self.step.operation, "transfer_target", None) is None:
                self.step.hand_over(target)
        return target

    def leave(self, error: BaseException | None, interrupted: str | None) -> None:
        """End with the agent, which ends without it."""
        self._end(self._error or error, interrupted)

    def _end(self, error: BaseException | None = None, interrupted: str | None = None) -> None:
        if self.is_over:
            return
        self.is_over = True
        if self.work is not None:
            self.work.ended(self)
        if error is not None:
            self.step.add(lambda: {"tool_error": str_of(error) or None})
        self.step.end(error, interrupted=interrupted, end_ns=self._end_ns if self._error else None)


def _is_empty(result: Any) -> bool:
    """Return whether a result is none for ADK, where a tool runs long."""
    return result is None or (type(result) in (dict, str, list) and not result)


def _call_id(context: Any) -> str | None:
    """Return the id of a call, from its `ToolContext`: of ADK 1, or of ADK 2."""
    return string(context, "function_call_id") or string(context, "_function_call_id")


def _actions(context: Any) -> Any:
    """Return the requests of a call to its agent, beside its result."""
    return get(context, "_event_actions")


def outside_tools(context: Context) -> Context:
    """Return a context in which nothing is inside of a tool: that of a run."""
    return context if context.get(_TOOL_KEY) is None else set_value(_TOOL_KEY, None, context)


def arguments_around(context: Context) -> Any:
    """Return the arguments of the tool that a context is inside of; None for none."""
    tool: Any = context.get(_TOOL_KEY)
    return tool.arguments if isinstance(tool, _Tool) else None


def inside_tool(context: Context) -> Context:
    """Return a context, or that of the tool in which the current code runs, if ADK has made one
    current again that was so before the tool."""
    tool = _open.get()
    if tool is None or tool.is_over or context.get(_TOOL_KEY) is tool:
        return context
    return tool.context if at_work(context) is tool.work else context


def _start(tool: Any, arguments: Any, context: Any) -> _Tool | None:
    with guarded("starting the span of a tool of ADK"):
        current = get_current()
        name = string(tool, "name") or "unknown"
        target = string(arguments, "agent_name") if name == _TRANSFER else None
        operation = ToolExecution(
            name=name,
            call_id=_call_id(context),
            tool_type="extension" if _is_remote(tool) else "function",
            description=string(tool, "description") or None,
            agent_name=agent_of(current),
            transfer_target=target,
        )

        def content() -> dict[str, Any]:
            fields: dict[str, Any] = {"arguments": jsonable(arguments)}
            if target is not None:
                fields["transfer_message"] = string(arguments, "transfer_reason") or None
            return fields

        step = start_step(operation, description="a tool of ADK", scope=SCOPE, content=content)
        started = _Tool(step, tool, arguments, context, at_work(current))
        started.enter()
        return started
    return None


def _is_remote(tool: Any) -> bool:
    return any(class_name(base) in ("McpTool", "MCPTool") for base in mro(type(tool)))


def _current(context: Any) -> _Tool | None:
    tool = _open.get()
    return tool if tool is not None and not tool.is_over and tool.is_of(context) else None


async def _before(wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
    _start(*(kwargs.get(name) for name in ("tool", "tool_args", "tool_context")))
    return await wrapped(*args, **kwargs)


async def _after(wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
    tool = _current(kwargs.get("tool_context"))
    altered = await wrapped(*args, **kwargs)
    if tool is not None:
        with guarded("reading the result of a tool of ADK"):
            tool.returned(kwargs.get("result") if altered is None else altered)
    return altered


async def _failed(wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
    context, error = kwargs.get("tool_context"), kwargs.get("error")
    tool = _current(context)
    answer = await wrapped(*args, **kwargs)
    with guarded("reading the error of a tool of ADK"):
        if isinstance(error, BaseException):
            if tool is None:  # of a name that no tool has, in ADK 1
                tool = _start(kwargs.get("tool"), kwargs.get("tool_args"), context)
            if tool is not None:
                tool.failed(error)
    return answer


_PLUGINS = "google.adk.plugins.plugin_manager"

PATCHES = (
    Patch(_PLUGINS, "PluginManager.run_before_tool_callback", _before),
    Patch(_PLUGINS, "PluginManager.run_after_tool_callback", _after),
    Patch(_PLUGINS, "PluginManager.run_on_tool_error_callback", _failed),
)
