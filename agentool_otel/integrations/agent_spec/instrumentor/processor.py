"""A span processor for programs that give one to their `Trace` themselves.

    from agentool_otel.integrations.agent_spec.instrumentor.processor import AgentSpecProcessor

    with Trace(name="support", span_processors=[AgentSpecProcessor()]):
        ...

`instrument()` needs none: it observes every span, with or without a `Trace`. Where both are on,
each step is recorded once.
Source: pyagentspec tracing/spanprocessor.py at 26.3.1, of which this is all methods; it is not
derived from it, so that nothing of pyagentspec is imported here.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.integrations.agent_spec.instrumentor.listener import listener

__all__ = ["AgentSpecProcessor"]


class AgentSpecProcessor:
    """Turns the spans and events of a `Trace` into spans of OpenTelemetry. Never raises.

    Args:
        mask_sensitive_information: True, as with pyagentspec's own processors: inputs, outputs,
            prompts, answers and the text of exceptions are left out. False: they are recorded where
            content is captured at all.
    """

    def __init__(self, mask_sensitive_information: bool = True):
        self.mask_sensitive_information = mask_sensitive_information

    @property
    def withholds_content(self) -> bool:
        return self.mask_sensitive_information

    def on_start(self, span: Any) -> None:
        listener.started(span)

    def on_event(self, event: Any, span: Any) -> None:
        listener.event(event, span)

    def on_end(self, span: Any) -> None:
        listener.ended(span)

    async def on_start_async(self, span: Any) -> None:
        listener.started(span)

    async def on_event_async(self, event: Any, span: Any) -> None:
        listener.event(event, span)

    async def on_end_async(self, span: Any) -> None:
        listener.ended(span)

    def startup(self) -> None:
        """Do nothing: events go to the current configuration."""

    def shutdown(self) -> None:
        """Do nothing: the end of the trace's root has ended everything below it."""

    async def startup_async(self) -> None:
        """As `startup`."""

    async def shutdown_async(self) -> None:
        """As `shutdown`."""
