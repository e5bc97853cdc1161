"""Oracle's Open Agent Specification: the spans that its runtimes report to
`pyagentspec.tracing`.

Hooked are the public methods of its spans. So every span is observed: inside the program's own
`Trace`, beside other processors, and where there is no `Trace` at all. A `Trace` that we opened
would make the program's own one an error ("cannot create two nested Traces").

    Trace                   invoke_workflow
    agent, swarm, managers  invoke_agent
    flow                    invoke_workflow
    node                    a span of its own, with its branch
    tool                    execute_tool, under the id of the model's request
    evaluation              a span of its own, with the judgements below it
    model call              chat, unless a client of ours, or LangChain's instrumentor, has it

LangGraph's and WayFlow's adapters report all of this; before 26.1.2, LangGraph's reports model and
tool calls only: its agents are graphs to LangChain's instrumentor. The runs of other runtimes are
not reported: OpenAI's Agents SDK and CrewAI have instrumentors of their own, AutoGen and Agent
Framework spans of their own; each is below the `Trace` that the program has opened.

Not seen: what a thread does that has no copy of the context has no parent, as for pyagentspec.
What WayFlow's own tracing hands to exporters of OpenTelemetry comes from no tracer, so it cannot be
replaced: spans without GenAI names, in a trace of their own, of which a rebuild makes no run.

Source: pyagentspec tracing/spans/span.py at 26.1.0 and 26.3.1, adapters/langgraph at 26.1.0 and
26.1.2; wayflowcore tracing/opentelemetry/span.py at 26.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentool_otel.integrations.agent_spec.instrumentor import graphs
from agentool_otel.integrations.agent_spec.instrumentor.conversations import (
    executed,
    executed_async,
)
from agentool_otel.integrations.agent_spec.instrumentor.evaluations import evaluated
from agentool_otel.integrations.agent_spec.instrumentor.failures import handled_exception
from agentool_otel.integrations.agent_spec.instrumentor.listener import listener
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor, Patch

__all__ = ["AgentSpecInstrumentor"]

_SPANS = "pyagentspec.tracing.spans.span"
_TOOLS = "pyagentspec.adapters.langgraph.tracing"
_HANDLER = "AgentSpecToolCallbackHandler"
_EVALUATOR = "pyagentspec.evaluation.evaluator.evaluator"
_WAYFLOW = "wayflowcore.conversation"
_LANGGRAPH = "pyagentspec.adapters.langgraph.agentspecloader"


def _start(
    wrapped: Callable[..., Any], span: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    listener.started(span)
    try:
        return wrapped(*args, **kwargs)
    except BaseException:  # a span that could not start is not ended by anybody
        listener.ended(span)
        raise


async def _start_async(
    wrapped: Callable[..., Any], span: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    listener.started(span)
    try:
        return await wrapped(*args, **kwargs)
    except BaseException:
        listener.ended(span)
        raise


def _event(
    wrapped: Callable[..., Any], span: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    listener.event(args[0] if args else kwargs.get("event"), span)
    return wrapped(*args, **kwargs)


async def _event_async(
    wrapped: Callable[..., Any], span: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    listener.event(args[0] if args else kwargs.get("event"), span)
    return await wrapped(*args, **kwargs)


def _end(
    wrapped: Callable[..., Any], span: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """End a span. Contexts that other processors attached are restored before ours, which is
    below. The exception that leaves the span is the one before `end`: `end` can raise another.
    """
    error = handled_exception()
    try:
        return wrapped(*args, **kwargs)
    finally:
        listener.ended(span, error)


async def _end_async(
    wrapped: Callable[..., Any], span: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    error = handled_exception()
    try:
        return await wrapped(*args, **kwargs)
    finally:
        listener.ended(span, error)


def _load(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`AgentSpecLoader.load_component`, through which the other ways to load one go."""
    component = wrapped(*args, **kwargs)
    graphs.patch_graph(component, lambda: AgentSpecInstrumentor().enabled)
    return component


class AgentSpecInstrumentor(AgentInstrumentor):
    """Open Agent Spec on LangGraph and WayFlow: agents, swarms, flows and their nodes, tools, model
    calls; the methods of pyagentspec's spans."""

    framework = "pyagentspec"
    supports = ("pyagentspec >= 26.1.2",)
    patches = (
        Patch(_SPANS, "Span.start", _start),
        Patch(_SPANS, "Span.start_async", _start_async, optional=True),
        Patch(_SPANS, "Span.add_event", _event),
        Patch(_SPANS, "Span.add_event_async", _event_async, optional=True),
        Patch(_SPANS, "Span.end", _end),
        Patch(_SPANS, "Span.end_async", _end_async, optional=True),
        Patch(_LANGGRAPH, "AgentSpecLoader.load_component", _load, optional=True),
        Patch(_TOOLS, f"{_HANDLER}.on_tool_error", graphs.tool_failed, optional=True),
        Patch(_TOOLS, f"{_HANDLER}.on_tool_error_async", graphs.tool_failed_async, optional=True),
        Patch(_EVALUATOR, "Evaluator.evaluate", evaluated, optional=True),
        Patch(_WAYFLOW, "Conversation.execute", executed, optional=True),
        Patch(_WAYFLOW, "Conversation.execute_async", executed_async, optional=True),
    )
