"""Steps of a system that reports its work by events, as OpenTelemetry spans, and the step that the
current code is inside of.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from opentelemetry import trace
from opentelemetry.context import attach, get_current
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, TraceFlags

from agentool_otel.content.fitting.fitter import NO_CUTS
from agentool_otel.content.policy import Policy
from agentool_otel.model.operations import Inference, Operation, Plan, ToolExecution, Unclassified
from agentool_otel.model.recorder import Content
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.sdk_spans import context_with
from agentool_otel.tracing.spans.settings import guarded, policy_in, settings
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step
from agentool_otel.tracing.spans.steps import event_room
from agentool_otel.tracing.spans.suppression import CLIENTS

__all__ = ["LiveRecorder", "LiveStep", "as_current", "current_step"]

_inside: ContextVar[LiveStep | None] = ContextVar("agentool-otel-live-step", default=None)


_NAMING = ("request_model", "name")
_MODEL_CALL = frozenset({CLIENTS})
"""Fields of operations that spans are named by."""


class LiveStep:
    """A step that is a span."""

    __slots__ = ("_start_ns", "span")

    def __init__(self, span: StepSpan, start_ns: int = 0):
        self.span = span
        self._start_ns = start_ns

    @property
    def ids(self) -> tuple[str, str] | None:
        if self.span.live is None or not self.span.live.recording:
            return None
        context = self.span.live.span.get_span_context()
        return trace.format_trace_id(context.trace_id), trace.format_span_id(context.span_id)

    def set(self, **fields: Any) -> None:
        naming = {name: fields.pop(name) for name in _NAMING if fields.get(name) is not None}
        if naming:
            self.span.rename(**naming)
        self.span.set(**fields)

    def add(self, content: Content) -> None:
        self.span.add(content)

    def mark(self, attributes: Mapping[str, Any]) -> None:
        self.span.mark(attributes)

    def note(self, name: str, attributes: Mapping[str, Any], at_ns: int) -> None:
        if self.span.recording and self.span.live is not None:
            with guarded("recording a span event"):
                _add_event(self.span.live.span, self.span.live.policy, name, attributes, at_ns)

    def link(self, trace_id: str, span_id: str) -> None:
        if self.span.recording and self.span.live is not None:
            with guarded("recording a link"):
                ids = int(trace_id, 16), int(span_id, 16)
                self.span.live.span.add_link(
                    SpanContext(*ids, True, TraceFlags(TraceFlags.SAMPLED))
                )

    def end(self, at_ns: int) -> None:
        # Two clocks: events have microseconds, what has no event the time of now.
        self.span.end(end_ns=max(at_ns, self._start_ns))

    def as_parent(self) -> LiveStep:
        context = self.span.context
        ended = NonRecordingSpan(trace.get_current_span(context).get_span_context())
        below = context_with(context, ended)
        return LiveStep(StepSpan(None, Unclassified(), "a step that has ended", below))


class _ForeignStep(LiveStep):
    """Somebody else's span, to which span events are added."""

    __slots__ = ("_span",)

    def __init__(self, span: Span):
        super().__init__(StepSpan(None, Unclassified(), "a span around"))
        self._span = span

    def note(self, name: str, attributes: Mapping[str, Any], at_ns: int) -> None:
        with guarded("recording a span event"):
            _add_event(self._span, policy_in(get_current()), name, attributes, at_ns)


def _add_event(
    span: Span, policy: Policy, name: str, attributes: Mapping[str, Any], at_ns: int
) -> None:
    """Add a span event, its content masked, shortened or left out as that of spans is."""
    event = dict(attributes)
    policy.clean(event)
    policy.keep_off(event)
    policy.fit(event, NO_CUTS)
    span.add_event(name, event, at_ns)


class LiveRecorder:
    """Starts the spans of a system's events. The parent of a span is the step that the event
    belongs to, or without one the span that is current when the event is sent.
    """

    def __init__(self, system: str, scope: str, *, free_text: bool):
        """
        Args:
            system: whose steps they are, for the log.
            scope: instrumentation scope of the spans.
            free_text: whether text that no field of an operation stands for is under names that
                the policy knows as content. If not, it is not wanted, since nothing would mask it.
        """
        self._system = system
        self._scope = scope
        self._free_text = free_text

    def start(
        self,
        operation: Operation,
        parent: LiveStep | None,
        at_ns: int,
        content: Content | None = None,
    ) -> LiveStep:
        model_call = isinstance(operation, Inference)
        span = start_step(
            operation,
            description=f"{_description(operation)} of {self._system}",
            scope=self._scope,
            content=content,
            parent=None if parent is None else parent.span.context,
            # Hooks that redact see the events and not what a client library is given.
            owner=_MODEL_CALL if model_call else None,
            start_ns=at_ns,
        )
        return LiveStep(span, at_ns)

    def wants_content(self, step: LiveStep) -> bool:
        return self._free_text and step.span.wants_content

    def current_foreign(self) -> LiveStep | None:
        current = trace.get_current_span()
        if isinstance(current, NonRecordingSpan) or not current.is_recording():
            return None
        return _ForeignStep(current)

    def events_left(self) -> int | None:
        return event_room(settings.tracer(self._scope))


def _description(operation: Operation) -> str:
    if isinstance(operation, ToolExecution):
        return "a tool"
    if isinstance(operation, Inference):
        return "a model call"
    return "a plan" if isinstance(operation, Plan) else "a turn"


def current_step() -> LiveStep | None:
    """Return the step in whose work the current code runs."""
    return _inside.get()


@contextmanager
def as_current(step: LiveStep) -> Generator[None]:
    """Make a step's span the current one."""
    token = attach(step.span.context)
    before = _inside.set(step)
    try:
        yield
    finally:
        _inside.reset(before)
        restore(token)
