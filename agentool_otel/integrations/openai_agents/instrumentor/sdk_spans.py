"""The SDK's own spans, observed where they start and finish.

`start`, `finish`, `__exit__` and `set_error` of its span classes are public, and are called for
every span whichever tracing processors there are, in the frame that the span stands for: what we
make current there is put back in the same frame. A tracing processor of ours would not do. One that
is registered makes the SDK create its uploading processor; `set_trace_processors`, which other
tracing packages call as well, would remove it; it does not get the exception that ends a span, nor
whether a span becomes the current one; and it hears nothing where the user has switched the SDK's
tracing off. There the SDK makes spans that do nothing, and those are heard like the others.

    agent                 invoke_agent, or the span of the run (`runs`)
    function              execute_tool, from the moment its call is known (`ToolContext`)
    handoff               execute_tool, a handoff
    response, generation  chat, unless a client of the model recorded it: that one knows more
    guardrail             the evaluation of its agent
    others                none; what is inside belongs to the span around

Source: openai-agents tracing/spans.py, tracing/span_data.py, run_internal/tool_execution.py and
run_internal/turn_resolution.py at 0.6 and 0.24.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import time_ns
from typing import Any, Literal

from msgspec.structs import replace
from opentelemetry.context import Context, attach, create_key, get_current, set_value

from agentool_otel.content.encoding.introspection import class_name
from agentool_otel.content.policy import jsonable
from agentool_otel.integrations.openai_agents.instrumentor import values
from agentool_otel.integrations.openai_agents.instrumentor.runs import (
    SCOPE,
    TRACE_KEY,
    AgentRun,
    current_run,
)
from agentool_otel.model.operations import (
    EvaluationResult,
    Inference,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.providers.calls import arguments_of
from agentool_otel.providers.fields import get, is_a, string
from agentool_otel.providers.openai_responses import ResponsesReading
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.evaluation_events import EvaluationTarget, emit_evaluation
from agentool_otel.tracing.spans.exceptions import cause_of, error_type_of, str_of
from agentool_otel.tracing.spans.identity import identify, names_of
from agentool_otel.tracing.spans.run import current_run as current_steps
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import (
    OpenSpans,
    StepSpan,
    incomplete,
    start_step,
)

__all__ = [
    "exited",
    "failed",
    "finished",
    "handoff_answered",
    "started",
    "tool_called",
    "trace_finished",
    "trace_started",
]

_CALL_KEY = create_key("agentool-otel-openai-agents-call")
_REJECTED = "was manually rejected by user."
"""How the SDK's error of a call ends that a human has not approved."""


class ObservedSpan:
    """A span of the SDK that has started."""

    def __init__(self, data: Any):
        self.data = data
        self.run: AgentRun | None = current_run()
        self.parent: Context = get_current()
        self.start_ns = time_ns()
        self.error: BaseException | None = None
        """The exception that has left it."""
        self.failure: Any = None
        """Its failure, as the SDK reports it; the run may go on."""
        self.handled_error: BaseException | None = None
        """The exception that was handled when the failure was set."""
        self._token: Any = None

    def context(self) -> Context | None:
        """Return the context that is to be current while it is the SDK's current span."""
        return None

    def enter(self, context: Context | None) -> None:
        if context is not None:
            token = attach(context)
            self._token = self._token or token

    def leave(self) -> None:
        token, self._token = self._token, None
        if token is not None:
            restore(token)

    def finish(self) -> None:
        """Record the data known now."""

    def drop(self) -> None:
        """End a span that was not finished."""


class _Agent(ObservedSpan):
    step: StepSpan | None = None

    def context(self) -> Context | None:
        if self.run is not None:
            self.step = self.run.agent_started(string(self.data, "name"))
        else:  # outside of the SDK's runner
            self.run = AgentRun.of_agent(string(self.data, "name"))
            self.step = self.run.step
        return None if self.step is None else self.step.context

    def finish(self) -> None:
        assert self.run is not None
        if self.step is self.run.step:
            self.run.ended(self.error)
        else:
            self.run.agent_finished(string(self.failure, "message"))

    def drop(self) -> None:
        if self.step is not None:
            self.step.end(extra=incomplete())


class _Tool(ObservedSpan):
    """A tool whose span begins once its call is known; some tools of the SDK never show
    their call.
    """

    step: StepSpan | None = None
    call_id: str | None = None

    def context(self) -> Context | None:
        return set_value(_CALL_KEY, self, self.parent)

    def called(self, call: Any) -> None:
        """Begin with the call: a `ToolContext`."""
        if self.step is None:
            self.call_id = string(call, "tool_call_id")
            self.step = self._begin(get(call, "tool_arguments"))
            if get_current().get(_CALL_KEY) is self:
                self.enter(self.step.context)

    def _begin(self, arguments: Any) -> StepSpan:
        return start_step(
            ToolExecution(
                name=string(self.data, "name") or "unknown",
                call_id=self.call_id,
                tool_type="function",
            ),
            description="a tool",
            scope=SCOPE,
            parent=self.parent,
            start_ns=self.start_ns,
            content=lambda: {"arguments": arguments_of(arguments)},
        )

    def finish(self) -> None:
        step = self.step or self._begin(get(self.data, "input"))
        error, result = self.error, get(self.data, "output")
        if error is not None:
            cause = cause_of(error) if class_name(type(error)) == "UserError" else None
            error = error if cause is None else cause
            if is_a(error, Exception):
                step.add(tool_error=str_of(error))
            step.end(error)
        elif self.failure is not None:
            self._end_with_failure(step, result)
        elif result is None and self.run is not None:
            self.run.unanswered(step, self.call_id)
        else:
            step.add(lambda: {"result": jsonable(result)})
            step.end()

    def _end_with_failure(self, step: StepSpan, result: Any) -> None:
        """End with a failure that the model receives in place of a result."""
        why = string(get(self.failure, "data"), "error") or string(self.failure, "message") or ""
        kind = "tool_error"
        if why.endswith(_REJECTED):
            kind = "rejected"
        elif self.handled_error is not None:  # of which the SDK says nothing by default
            why, kind = str_of(self.handled_error), error_type_of(self.handled_error)
        step.set(error_type=kind)
        step.add(lambda: {"result": jsonable(result), "tool_error": why, "error_message": why})
        step.end()

    def drop(self) -> None:
        if self.step is not None:
            self.step.end(extra=incomplete())


class _Handoff(ObservedSpan):
    """Recorded when it is over: only then is it known whose call it was, and to whom it led."""

    call: Any = None
    """The model's call of the tool."""

    def context(self) -> Context | None:
        return set_value(_CALL_KEY, self, self.parent)

    def finish(self) -> None:
        name, call_id = string(self.call, "name"), string(self.call, "call_id")
        steps = current_steps(self.parent)
        pending = [] if self.call is not None or steps is None else steps.pending()
        if len(pending) == 1:  # it failed before the SDK answered the call
            name, call_id = pending[0].name, pending[0].id
        error = self.error
        step = start_step(
            ToolExecution(
                name=name or "handoff",
                call_id=call_id,
                tool_type="function",
                transfer_target=None if error is not None else string(self.data, "to_agent"),
            ),
            description="a handoff",
            scope=SCOPE,
            parent=self.parent,
            start_ns=self.start_ns,
            content=lambda: (
                {}
                if self.call is None
                else {"arguments": arguments_of(get(self.call, "arguments"))}
            ),
        )
        if is_a(error, Exception):
            step.add(tool_error=str_of(error))
        step.end(error)


class _ModelCall(ObservedSpan):
    def __init__(self, data: Any):
        super().__init__(data)
        self._recorded = 0
        if self.run is not None:
            self.run.settle()
            self._recorded = self.run.calls.count

    def finish(self) -> None:
        if self.run is None or self.run.calls.count != self._recorded:
            return
        inference = Inference(
            request_model=string(self.data, "model"), usage=values.usage(self.data)
        )
        with guarded("reading a model call"):
            inference = self._read(inference)
        step = start_step(
            Inference(request_model=inference.request_model),
            description="a model call",
            scope=SCOPE,
            parent=self.parent,
            start_ns=self.start_ns,
            content=lambda: {"input": values.conversation(get(self.data, "input"))},
        )
        step.set(
            usage=inference.usage,
            response_model=inference.response_model,
            response_id=inference.response_id,
            finish_reasons=inference.finish_reasons,
        )
        step.add(output=inference.output)
        if self.failure is not None and self.error is None:
            step.set(error_type="error")
            step.add(error_message=string(self.failure, "message"))
        step.end(self.error)

    def _read(self, inference: Inference) -> Inference:
        response = get(self.data, "response")
        if response is None:
            return replace(inference, output=values.output_of_model(self.data))
        reading = ResponsesReading(replace(inference, request_model=string(response, "model")))
        reading.whole(response)
        return reading.operation()


class _Guardrail(ObservedSpan):
    def finish(self) -> None:
        agent = None if self.run is None else self.run.agent or self.run.step
        if agent is None or agent.live is None or self.error is not None:
            return
        tripped = get(self.data, "triggered") is True
        emit_evaluation(
            EvaluationTarget(agent.live.span),
            EvaluationResult(
                name=string(self.data, "name") or "guardrail",
                score=0.0 if tripped else 1.0,
                label="tripped" if tripped else "passed",
            ),
        )


_KINDS: dict[str, Callable[[Any], ObservedSpan]] = {
    "agent": _Agent,
    "function": _Tool,
    "handoff": _Handoff,
    "response": _ModelCall,
    "generation": _ModelCall,
    "guardrail": _Guardrail,
}
_open: OpenSpans[ObservedSpan] = OpenSpans(ObservedSpan.drop)
_traces: OpenSpans[ObservedSpan] = OpenSpans(ObservedSpan.drop)


# ------------------------------------------------------------------------------------- wrappers


def started(
    wrapped: Callable[..., Any], span: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`Span.start`."""
    result = wrapped(*args, **kwargs)
    with guarded("hearing of the start of a span"):
        data = get(span, "span_data")
        kind = _KINDS.get(string(data, "type") or "")
        if kind is not None and _open.get(span) is None:
            observed_span = kind(data)
            _open.add(span, observed_span)
            context = observed_span.context()
            if _first(args, kwargs, "mark_as_current") is True:
                observed_span.enter(context)
    return result


def finished(
    wrapped: Callable[..., Any], span: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`Span.finish`."""
    return _finish(_open.take(span), wrapped, args, kwargs)


def _finish(
    observed_span: ObservedSpan | None,
    wrapped: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Finish a span. Contexts that other libraries attached at its start are below ours."""
    if observed_span is None:
        return wrapped(*args, **kwargs)
    observed_span.leave()
    try:
        return wrapped(*args, **kwargs)
    finally:
        with guarded("hearing of the end of a span"):
            observed_span.finish()


def exited(
    wrapped: Callable[..., Any], span: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`Span.__exit__`, and that of a trace."""
    observed_span = _open.get(span) or _traces.get(span)
    if observed_span is not None and len(args) > 1 and not is_a(args[1], GeneratorExit):
        observed_span.error = args[1]
    return wrapped(*args, **kwargs)


def failed(
    wrapped: Callable[..., Any], span: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`Span.set_error`, which a span that does nothing forgets at once."""
    observed_span = _open.get(span)
    if observed_span is not None:
        observed_span.failure = _first(args, kwargs, "error")
        observed_span.handled_error = sys.exc_info()[1]
    return wrapped(*args, **kwargs)


def tool_called(
    wrapped: Callable[..., Any], call: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`ToolContext.__init__`, right after the start of a tool's span."""
    result = wrapped(*args, **kwargs)
    with guarded("reading the call of a tool"):
        tool = get_current().get(_CALL_KEY)
        if isinstance(tool, _Tool):
            tool.called(call)
    return result


def handoff_answered(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`ItemHelpers.tool_call_output_item`, which answers the call that requested a handoff."""
    with guarded("reading the call of a handoff"):
        handoff = get_current().get(_CALL_KEY)
        if isinstance(handoff, _Handoff) and handoff.call is None:
            handoff.call = _first(args, kwargs, "tool_call")
    return wrapped(*args, **kwargs)


class _Workflow(ObservedSpan):
    """A trace that the user has opened for several runs."""

    def context(self) -> Context | None:
        group = string(self.data, "group_id")
        self.step = start_step(
            WorkflowInvocation(workflow_name=string(self.data, "name"), conversation_id=group),
            description="a workflow",
            scope=SCOPE,
        )
        return set_value(TRACE_KEY, True, identify(self.step.context, names_of(group)))

    def finish(self) -> None:
        self.step.end(self.error)

    def drop(self) -> None:
        self.step.end(extra=incomplete())


def trace_started(
    wrapped: Callable[..., Any], trace: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`Trace.start`; the trace that a run opens for itself is that run."""
    result = wrapped(*args, **kwargs)
    with guarded("hearing of the start of a trace"):
        marked = _first(args, kwargs, "mark_as_current") is True
        if marked and current_run() is None and _traces.get(trace) is None:
            workflow = _Workflow(trace)
            _traces.add(trace, workflow)
            workflow.enter(workflow.context())
    return result


def trace_finished(
    wrapped: Callable[..., Any], trace: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`Trace.finish`."""
    return _finish(_traces.take(trace), wrapped, args, kwargs)


def _first(
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    name: Literal["mark_as_current", "error", "tool_call"],
) -> Any:
    return args[0] if args else kwargs.get(name)
