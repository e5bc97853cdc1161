"""The timeline of a run: one event per step on the agent's span, in order.

The SDK keeps 128 events per span by default and drops the oldest beyond that. A long run therefore
continues in child spans named `agentool.steps`, each holding as many events as the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind

from agentool_otel.ground import environment
from agentool_otel.otlp.span_parts import Events
from agentool_otel.semconv import agentool, core, gen_ai
from agentool_otel.tracing.spans.sdk_spans import add_events, end_span, start_span

__all__ = ["Timeline", "event_room", "tool_step"]

_RESERVED = 28
"""Places left on the agent's span for exceptions and the user's own events."""

Step = tuple[int, int, Mapping[str, Any]]
"""Time in nanoseconds, index, and the event's other attributes."""


class Timeline:
    """Collects step events of one run and writes them in blocks.

    Writing waits until a block is full or the run ends, because one event at a time costs as much
    as the rest of a traced call; a block bounds what is held.
    """

    __slots__ = ("_block", "_context", "_pending", "_span", "_tracer", "count")

    def __init__(self, tracer: trace.Tracer, span: trace.Span, context: Context):
        self._tracer = tracer
        self._span: trace.Span | None = span
        self._context = context
        self._block = event_room(tracer)
        self._pending: list[Step] = []
        self.count = 0
        """Steps so far; the index the next one gets."""

    def next_index(self) -> int:
        index = self.count
        self.count = index + 1
        return index

    def add(
        self,
        index: int,
        kind: str,
        time_ns: int,
        attributes: dict[str, Any] | None = None,
    ) -> None:
        """Add one step under an index taken before."""
        self.add_shared(index, time_ns, {agentool.STEP_TYPE: kind, **(attributes or {})})

    def add_tool(
        self,
        index: int,
        kind: str,
        time_ns: int,
        name: str,
        call_id: str | None,
        error_type: str | None = None,
    ) -> None:
        """Add a tool's call or its result."""
        self.add_shared(index, time_ns, tool_step(kind, name, call_id, error_type))

    def add_shared(self, index: int, time_ns: int, attributes: Mapping[str, Any]) -> None:
        """Add one step with attributes that others may have, too: its kind first."""
        self._pending.append((time_ns, index, attributes))
        if len(self._pending) >= self._block:
            self.flush()

    def add_next(self, time_ns: int, attributes: Mapping[str, Any]) -> int:
        """Add one step as `add_shared` does, under the next index; return that."""
        index = self.count
        self.count = index + 1
        self._pending.append((time_ns, index, attributes))
        if len(self._pending) >= self._block:
            self.flush()
        return index

    def add_beside(self, index: int, kind: str, time_ns: int, attributes: dict[str, Any]) -> None:
        """Add one step as an event beside the agent's span, which is to hold no content."""
        from agentool_otel.tracing.spans import events  # few programs ask for them

        event = {agentool.STEP_INDEX: index, agentool.STEP_TYPE: kind, **attributes}
        events.emit(agentool.STEP_EVENT, events.Masked(event), self._context, time_ns=time_ns)

    def amend(self, index: int, kind: str, attributes: dict[str, Any]) -> None:
        """Change the kind and attributes of a step that turned out to be something else.

        An event that is written already stays; the step's span is what the rebuild goes by.
        """
        for at, (time_ns, number, event) in enumerate(self._pending):
            if number == index:
                amended = {**event, agentool.STEP_TYPE: kind, **attributes}
                self._pending[at] = time_ns, index, amended

    def take(self) -> Events:
        """Remove and return the pending events."""
        pending, self._pending = self._pending, []
        return Events(agentool.STEP_EVENT, agentool.STEP_INDEX, pending)

    def flush(self) -> None:
        """Write pending events: on the agent's span first, then on continuation spans."""
        pending = self._pending
        if not pending:
            return
        events = self.take()
        span, self._span = self._span, None
        if span is not None:
            add_events(span, events)
            return
        start_ns, first, _ = pending[0]
        attributes = {agentool.STEP_INDEX: first}
        span = start_span(
            self._tracer,
            agentool.STEPS_SPAN,
            self._context,
            SpanKind.INTERNAL,
            attributes,
            start_ns,
        )
        add_events(span, events)
        end_span(span, {}, len(attributes), max(time_ns for time_ns, _, _ in pending))


def event_room(tracer: trace.Tracer) -> int:
    """Return how many events of ours fit on one span, so that there is room for those of others."""
    return max(1, _event_limit(tracer) - _RESERVED)


def _event_limit(tracer: trace.Tracer) -> int:
    limits = getattr(tracer, "_span_limits", None)
    limit = getattr(limits, "max_events", None)
    if not isinstance(limit, int):
        return environment.event_limit()
    return limit


def tool_step(
    kind: str, name: str, call_id: str | None = None, error_type: str | None = None
) -> dict[str, str]:
    """Return the attributes of the step that is a tool's call or its result."""
    event = {agentool.STEP_TYPE: kind, gen_ai.TOOL_NAME: name}
    if call_id is not None:
        event[gen_ai.TOOL_CALL_ID] = call_id
    if error_type is not None:
        event[core.ERROR_TYPE] = error_type
    return event
