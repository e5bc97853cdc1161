"""LangGraph's adapter: the graphs it gives to the program, and the errors it keeps to itself.

Their `stream` and `astream` are generators around which the adapter opens the agent's span: what it
makes current would stay so between two values, in the program's own code, and for ever where the
program forgets the generator. So each step runs inside a frame that puts back what was current
before. The `thread_id` of the call is the conversation.

For a tool that raises it reports the result None.

Source: pyagentspec adapters/langgraph/_langgraphconverter.py, agentspecloader.py,
tracing.py at 26.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any
from weakref import WeakSet

from opentelemetry.context import get_current

from agentool_otel.content.encoding.introspection import instance_dict
from agentool_otel.integrations.agent_spec.instrumentor.failures import set_tool_exception
from agentool_otel.providers.fields import get, is_a
from agentool_otel.tracing.instrumentation.frames import Frame, resumed, steps, steps_async
from agentool_otel.tracing.spans.identity import identify, names_of
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["patch_graph", "tool_failed", "tool_failed_async"]


_framed: WeakSet[Callable[..., Any]] = WeakSet()
"""Methods of graphs that have frames. Plain functions: a graph with them can be copied."""


def patch_graph(component: Any, enabled: Callable[[], bool]) -> None:
    """Run the stream of a graph inside frames whenever `enabled` returns True."""
    with guarded("reading a graph of Agent Spec"):
        for name, wrapper in (("stream", _streamed), ("astream", _streamed_async)):
            members = instance_dict(component)
            method = None if members is None else members.get(name)
            if callable(method) and method not in _framed:  # the adapter's, which opens the span
                framed = wrapper(method, enabled)
                _framed.add(framed)
                with suppress(AttributeError, TypeError, ValueError):
                    setattr(component, name, framed)


def tool_failed(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`AgentSpecToolCallbackHandler.on_tool_error`."""
    with set_tool_exception(_error(args, kwargs)):
        return wrapped(*args, **kwargs)


async def tool_failed_async(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The same for coroutines."""
    with set_tool_exception(_error(args, kwargs)):
        return await wrapped(*args, **kwargs)


def _error(args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException | None:
    error = args[0] if args else kwargs.get("error")
    return error if is_a(error, BaseException) else None


def _streamed(method: Callable[..., Any], enabled: Callable[[], bool]) -> Callable[..., Any]:
    @wraps(method)
    def stream(*args: Any, **kwargs: Any) -> Any:
        values = method(*args, **kwargs)
        return steps(values, _frame(args, kwargs)) if enabled() else values

    return stream


def _streamed_async(method: Callable[..., Any], enabled: Callable[[], bool]) -> Callable[..., Any]:
    @wraps(method)
    def astream(*args: Any, **kwargs: Any) -> Any:
        values = method(*args, **kwargs)
        return steps_async(values, _frame(args, kwargs)) if enabled() else values

    return astream


def _frame(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Frame:
    context = get_current()
    with guarded("reading the config of a graph"):
        config = kwargs.get("config", args[1] if len(args) > 1 else None)
        thread_id = get(get(config, "configurable"), "thread_id")
        context = identify(context, names_of(thread_id))
    return resumed(context, "graph")
