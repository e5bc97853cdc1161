"""What a context is inside of."""

from __future__ import annotations

from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context

from agentool_otel.semconv import gen_ai

__all__ = ["executes_tool", "execution_of", "invokes_agent"]


def executes_tool(context: Context | None = None) -> bool:
    """Return whether the span of a context, by default the current one, is that of a tool call."""
    return _is_span_of(gen_ai.OP_EXECUTE_TOOL, context)


def invokes_agent(context: Context | None = None) -> bool:
    """Return whether the span of a context, by default the current one, is that of an agent."""
    return _is_span_of(gen_ai.OP_INVOKE_AGENT, context)


def _is_span_of(operation: str, context: Context | None) -> bool:
    attributes: Any = getattr(trace.get_current_span(context), "attributes", None) or {}
    return bool(attributes.get(gen_ai.OPERATION_NAME) == operation)


def execution_of(tool: str) -> str:
    """Return the name under which the step of a framework owns the execution of a tool: a decorated
    function of that name is the call that the framework makes, and no second one.
    """
    return f"tool {tool}"
