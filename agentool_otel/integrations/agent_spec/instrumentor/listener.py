"""Open steps and their parents.

The parent of a pyagentspec span is the step on top of its own stack of spans, or something deeper
if the current context of OpenTelemetry is inside that step: a span of the user's, a tool of another
framework. A span or event that arrives twice counts once.
"""

from __future__ import annotations

import sys
from functools import partial
from time import time_ns
from typing import Any

from opentelemetry.context import Context, get_current

from agentool_otel.integrations.agent_spec.instrumentor.events import tell
from agentool_otel.integrations.agent_spec.instrumentor.failures import Failure
from agentool_otel.integrations.agent_spec.instrumentor.span_types import SpanType, span_type_of
from agentool_otel.integrations.agent_spec.instrumentor.steps import (
    ModelStep,
    Step,
    ToolStep,
    current_step,
)
from agentool_otel.providers.fields import is_a, items, string
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.settings import guarded, withholding_content
from agentool_otel.tracing.spans.step_spans import OpenSpans

__all__ = ["Listener", "listener"]

_SPANS = "pyagentspec.tracing.spans.span"
_TRACE = "pyagentspec.tracing.trace"
_STEPS: dict[str, type[Step]] = {"ToolExecutionSpan": ToolStep, "LlmGenerationSpan": ModelStep}


class Listener:
    """Observer of spans and events, in the frame in which they happen; never raises."""

    def __init__(self) -> None:
        self._open = OpenSpans[Step](_abandon)

    def started(self, span: Any) -> None:
        """Take a span that begins, before it is the innermost of pyagentspec's stack."""
        with guarded("reading the start of a span of Agent Spec"):
            key = string(span, "id")
            span_type = span_type_of(span)
            if span_type is None or key is None or self._open.get(key) is not None:
                return
            step = self._step(span, *span_type)
            step.forget = partial(self._open.take, key)
            self._open.add(key, step)
            step.start()

    def _step(self, span: Any, name: str, span_type: SpanType) -> Step:
        above, context = self._place()
        if _masks():
            context = withholding_content(context)
        return _STEPS.get(name, Step)(span, span_type, above, context)

    def _place(self) -> tuple[Step | None, Context]:
        """Return the current step, and the context of the span that begins."""
        step = current_step()
        stated = self._innermost_step()
        if stated is None or (step is not None and stated in step.outward()):
            return step, get_current()
        return stated, stated.context

    def _innermost_step(self) -> Step | None:
        """Return the innermost step by pyagentspec's own stack."""
        stack = getattr(sys.modules.get(_SPANS), "get_active_span_stack", None)
        if stack is None:
            return None
        for span in reversed(stack(return_copy=False)):
            step = self._open.get(string(span, "id"))
            if step is not None and step.recorded:
                return step
        return None

    def event(self, event: Any, span: Any) -> None:
        """Take an event of a span."""
        with guarded("reading an event of Agent Spec"):
            step = self._open.get(string(span, "id"))
            if step is not None:
                tell(step, event)

    def ended(self, span: Any, error: BaseException | None = None) -> None:
        """Take the end of a span.

        Args:
            span: of pyagentspec.
            error: the exception that left it. By default the one that is handled here.
        """
        with guarded("reading the end of a span of Agent Spec"):
            step = self._open.get(string(span, "id"))
            if step is not None:
                error = step.new_exception(error)
                error = step.exception if error is None else error
                failure = None if error is None else Failure.from_exception(error)
                if is_a(error, GeneratorExit):  # perhaps of the garbage collector
                    step.leave()
                    when_safe(_end, step, time_ns(), failure)
                else:
                    _end(step, time_ns(), failure)


def _masks() -> bool:
    """Return whether a processor of ours in the current `Trace` is to record no content."""
    get_trace = getattr(sys.modules.get(_TRACE), "get_trace", None)
    processors = items(get_trace(), "span_processors") if get_trace is not None else []
    return any(
        hasattr(type(processor), "withholds_content") and processor.withholds_content
        for processor in processors
    )


def _end(step: Step, end_ns: int, failure: Failure | None) -> None:
    with guarded(f"ending {step.span_type.what}"):
        step.end(end_ns, failure)


def _abandon(step: Step) -> None:
    step.end(time_ns(), finished=False)


listener = Listener()
"""One for the process."""
