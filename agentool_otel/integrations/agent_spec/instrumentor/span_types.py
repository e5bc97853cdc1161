"""Map each type of span to a step.

    RootSpan                     invoke_workflow, named as the trace
    AgentExecutionSpan           invoke_agent
    SwarmExecutionSpan           invoke_agent
    ManagerWorkersExecutionSpan  invoke_agent
    FlowExecutionSpan            invoke_workflow
    NodeExecutionSpan            a span without an operation, named as the node
    ToolExecutionSpan            execute_tool
    LlmGenerationSpan            chat

Spans of other types have no step: what lies in them belongs to the parent step.
Source: pyagentspec tracing/spans at 26.3.1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from agentool_otel.integrations.agent_spec.instrumentor import values
from agentool_otel.model.messages import text
from agentool_otel.model.operations import Operation, Unclassified, WorkflowInvocation
from agentool_otel.providers.fields import get, items, string

__all__ = ["SPAN_TYPES", "SpanType", "span_type_of"]

_TRACE = "pyagentspec.tracing.trace"


def _no_content(_: Any) -> Mapping[str, Any]:
    return {}


def _no_name(_: Any) -> str | None:
    return None


class SpanType(NamedTuple):
    """The step that a type of pyagentspec's spans maps to."""

    what: str
    """In words, with its article, for the log."""
    operation: Callable[[Any], Operation]
    """Returns what is known when it starts, without content."""
    content: Callable[[Any], Mapping[str, Any]] = _no_content
    name: Callable[[Any], str | None] = _no_name
    """Returns the name of its span, where that does not follow from the operation."""
    executed: bool = False
    """Whether a LangGraph graph may execute it. The graph is no agent then."""


def _root(span: Any) -> Operation:
    get_trace = getattr(sys.modules.get(_TRACE), "get_trace", None)
    trace = None if get_trace is None else get_trace()
    extra = {"agentspec.trace.id": identity} if (identity := string(trace, "id")) else {}
    return WorkflowInvocation(
        workflow_name=string(trace, "name") or string(span, "name"), extra=extra
    )


def _flow(span: Any) -> Operation:
    flow = get(span, "flow")
    return WorkflowInvocation(workflow_name=string(flow, "name"), extra=values.labels(flow))


def _node(span: Any) -> Operation:
    node = get(span, "node")
    return Unclassified(
        extra={
            "agentspec.node.type": values.component_type(node) or "Node",
            "agentspec.node.name": string(node, "name") or "",
        }
    )


def _several(member: str) -> Callable[[Any], Operation]:
    return lambda span: values.agent(get(span, member))


def _agent_content(span: Any) -> Mapping[str, Any]:
    agent = get(span, "agent")
    system = string(agent, "system_prompt")
    return {
        "agent_description": string(agent, "description"),
        "system": [text(system)] if system else None,
        "tools": values.definitions(items(agent, "tools")),
    }


def _tool(span: Any) -> Operation:
    return values.tool(get(span, "tool"), None)


def _model(span: Any) -> Operation:
    config = get(span, "llm_config")
    return values.inference(config, get(config, "default_generation_parameters"))


SPAN_TYPES: dict[str, SpanType] = {
    "RootSpan": SpanType("a trace of Agent Spec", _root),
    "AgentExecutionSpan": SpanType(
        "an agent of Agent Spec", _several("agent"), _agent_content, executed=True
    ),
    "SwarmExecutionSpan": SpanType("a swarm of Agent Spec", _several("swarm"), executed=True),
    "ManagerWorkersExecutionSpan": SpanType(
        "a manager of Agent Spec with workers", _several("managerworkers"), executed=True
    ),
    "FlowExecutionSpan": SpanType("a flow of Agent Spec", _flow, executed=True),
    "NodeExecutionSpan": SpanType(
        "a node of Agent Spec",
        _node,
        name=lambda span: string(get(span, "node"), "name"),
        executed=True,
    ),
    "ToolExecutionSpan": SpanType("a tool of Agent Spec", _tool),
    "LlmGenerationSpan": SpanType("a model call of Agent Spec", _model),
}
"""By the name of the class."""


def span_type_of(span: Any) -> tuple[str, SpanType] | None:
    """Return the type of a span and its name; None if it has no step."""
    for name in values.class_names(span):
        if name in SPAN_TYPES:
            return name, SPAN_TYPES[name]
    return None
