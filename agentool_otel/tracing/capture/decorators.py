"""`@tool`, `@agent` and `@step`: bare or with options, on any callable."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, get_args, overload

from agentool_otel.errors import ConfigurationError
from agentool_otel.tracing.capture._call_sites import AgentSite, StepSite, StepType, ToolSite
from agentool_otel.tracing.capture._classes import decorate_class
from agentool_otel.tracing.capture.wrapping import wrap

__all__ = ["StepType", "agent", "step", "tool"]

F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(fn: F, /) -> F: ...
@overload
def tool(
    *, name: str | None = None, description: str | None = None, type: str = "function"
) -> Callable[[F], F]: ...
def tool(
    fn: Any = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    type: str = "function",
) -> Any:
    """Record every call of a callable as the execution of a tool.

    Args:
        fn: the callable: a function, method, coroutine, generator, partial, callable object, or the
            result of `classmethod`, `staticmethod` or `property`. For a class with a `__call__`,
            the calls of its instances are recorded; for one without, their creation.
        name: the tool's name, by default the callable's own.
        description: the purpose of the tool, by default the first line of its docstring.
        type: `function`, `extension` or `datastore` (spec: `gen_ai.tool.type`).
    """

    def decorate(target: Callable[..., Any]) -> Callable[..., Any]:
        return wrap(target, ToolSite(target, name, description, type).begin)

    return _apply(fn, decorate)


@overload
def agent(fn: F, /) -> F: ...
@overload
def agent(
    *,
    name: str | None = None,
    description: str | None = None,
    session_id: str | None = None,
    tags: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
) -> Callable[[F], F]: ...
def agent(
    fn: Any = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    session_id: str | None = None,
    tags: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
) -> Any:
    """Record every call of a callable as one run of an agent.

    The run's input is the callable's only argument, or else all arguments as JSON. Its output is
    the return value.

    Args:
        fn: the callable.
        name: the agent's name, by default the callable's own.
        description: the purpose of the agent.
        session_id: the conversation of the runs; by default the value of an argument called
            `session_id` or `conversation_id`.
        tags: short texts for finding and grouping runs, the same for every call.
        metadata: JSON object that is added to every run.

    To set conversation and user for a block of calls, use `with agentool_otel.session("s1",
    user_id="u1"):`.
    """

    def site(target: Callable[..., Any]) -> AgentSite:
        return AgentSite(target, name, description, session_id, tags, metadata)

    def decorate(target: Callable[..., Any]) -> Callable[..., Any]:
        return wrap(target, site(target).begin)

    return _apply(fn, decorate)


def step(kind: StepType, /, *, name: str | None = None) -> Callable[[F], F]:
    """Record every call of a callable as one step of the current run.

    Args:
        kind: the type of the step. `reasoning`: the return value is the thought. `tool_call` and
            `tool_result`: it executes a tool, as with `@tool`. `memory_read`: its argument `query`
            (or the first) is the query, the return value has the results. `memory_write`: its
            arguments `key` and `content` (or `value`, or the last) are written. `handoff`: its
            argument `to_agent` (or the first) names the agent, `message` (or the second) is the
            message.
        name: a name for the step, if it has one.

    Raises:
        ConfigurationError: `kind` is not one of the six step types.
    """
    if kind not in get_args(StepType):
        choices = ", ".join(get_args(StepType))
        argument: object = kind
        if callable(argument):
            name = getattr(argument, "__name__", "the function")
            raise ConfigurationError(
                f"@step needs the type of the step: {choices}"
                f"; hint: @agentool_otel.step('reasoning') above {name}"
            )
        raise ConfigurationError(f"unknown step type {kind!r}: use one of {choices}")
    if kind in ("tool_call", "tool_result"):
        return tool(name=name)

    def decorate(target: Callable[..., Any]) -> Callable[..., Any]:
        return wrap(target, StepSite(target, kind, name).begin)

    return lambda fn: _apply(fn, decorate)


def _apply(fn: Any, decorate: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Any:
    """Decorate a callable or the result of a built-in decorator; or return the decorator."""
    if fn is None:
        return lambda target: _apply(target, decorate)
    if isinstance(fn, (classmethod, staticmethod)):
        return type(fn)(decorate(fn.__func__))
    if isinstance(fn, property):
        return fn if fn.fget is None else fn.getter(decorate(fn.fget))
    if isinstance(fn, functools.cached_property):
        return type(fn)(decorate(fn.func))
    if isinstance(fn, functools.partialmethod):
        return type(fn)(decorate(fn.func), *fn.args, **fn.keywords)
    if isinstance(fn, type):
        return decorate_class(fn, decorate)
    if not callable(fn):
        raise ConfigurationError(f"cannot decorate {fn!r}: it is not callable")
    return decorate(fn)
