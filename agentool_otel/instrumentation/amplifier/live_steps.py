"""The steps of a session as OpenTelemetry spans, and which of them the current code is inside."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from opentelemetry.context import attach

from agentool_otel.capture.context import restore
from agentool_otel.emit.owners import CLIENTS
from agentool_otel.emit.session import guarded
from agentool_otel.event_streams.recording import Content
from agentool_otel.instrumentation.kit.step_spans import StepSpan, start_step
from agentool_otel.model.operations import Inference, Operation, Plan, ToolExecution

__all__ = ["LiveRecorder", "LiveStep", "inside", "within"]

_SCOPE = "agentool_otel.instrumentation.amplifier"
_inside: ContextVar[LiveStep | None] = ContextVar("agentool-otel-amplifier-step", default=None)


class LiveStep:
    """A step that is a span."""

    __slots__ = ("span",)

    def __init__(self, span: StepSpan):
        self.span = span

    def set(self, **fields: Any) -> None:
        model = fields.pop("request_model", None)
        if model is not None:
            self.span.rename(request_model=model)
        self.span.set(**fields)

    def add(self, content: Content) -> None:
        self.span.add(content)

    def mark(self, attributes: Mapping[str, Any]) -> None:
        self.span.mark(attributes)

    def note(self, name: str, attributes: Mapping[str, Any], at_ns: int) -> None:
        if self.span.recording and self.span.live is not None:
            with guarded("recording an event of Amplifier"):
                self.span.live.span.add_event(name, attributes, at_ns)

    def end(self, at_ns: int) -> None:
        self.span.end(end_ns=at_ns)


class LiveRecorder:
    """Starts spans: below their step, else below what is current where the event was sent."""

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
            what=_what(operation),
            scope=_SCOPE,
            content=content,
            parent=None if parent is None else parent.span.context,
            # Hooks that redact see the events and not what a client library is given.
            owner=CLIENTS if model_call else None,
            start_ns=at_ns,
        )
        return LiveStep(span)

    def wants_content(self, step: LiveStep) -> bool:
        """No: text on events passes no policy."""
        return False


def _what(operation: Operation) -> str:
    if isinstance(operation, ToolExecution):
        return "a tool of Amplifier"
    if isinstance(operation, Inference):
        return "a model call of Amplifier"
    return "a plan of Amplifier" if isinstance(operation, Plan) else "a turn of Amplifier"


def inside() -> LiveStep | None:
    """Return the step in whose work the current code runs."""
    return _inside.get()


@contextmanager
def within(step: LiveStep) -> Generator[None]:
    """Make a step's span the current one."""
    token = attach(step.span.context)
    before = _inside.set(step)
    try:
        yield
    finally:
        _inside.reset(before)
        restore(token)
