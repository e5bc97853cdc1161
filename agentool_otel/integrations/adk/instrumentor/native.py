"""Writes of ADK to the current span, which its functions until 2.9 take for a span of its own.

Where its own spans are replaced, the current span is that of our agent. These functions then see a
span that records nothing, or requests and results would be on ours, with content off as well.

Source: google-adk telemetry/tracing.py at 1.19 and 2.9.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry.context import attach, get_current
from opentelemetry.trace import NonRecordingSpan, get_current_span, set_span_in_context

from agentool_otel.integrations.adk.instrumentor.work import at_work
from agentool_otel.tracing.instrumentation.instrumentor import Patch
from agentool_otel.tracing.spans.attaching import restore

__all__ = ["PATCHES"]


def _aside(wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
    work, span = at_work(get_current()), get_current_span()
    if work is None or work.step.live is None or work.step.live.span is not span:
        return wrapped(*args, **kwargs)
    token = attach(set_span_in_context(NonRecordingSpan(span.get_span_context())))
    try:
        return wrapped(*args, **kwargs)
    finally:
        restore(token)


_FLOWS = "google.adk.flows.llm_flows"
_FUNCTIONS = {
    # Modules that are imported before they are attached to have copies.
    "google.adk.telemetry.tracing": (
        *("trace_tool_call", "trace_merged_tool_calls", "trace_call_llm", "trace_send_data"),
    ),
    f"{_FLOWS}.functions": ("trace_tool_call", "trace_merged_tool_calls"),
    f"{_FLOWS}.base_llm_flow": ("trace_call_llm", "trace_send_data"),
}

PATCHES = tuple(
    Patch(module, function, _aside, optional=True)
    for module, functions in _FUNCTIONS.items()
    for function in functions
)
