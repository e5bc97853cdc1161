"""Begin and end the step of a pyagentspec span.

Step       agents, flows, nodes, and whatever holds others: a span from start to end
ToolStep   begins once its call is known
ModelStep  recorded when it is over, unless a client's instrumentor has recorded the call

A step that another instrumentor records (LangChain's, of the calls that LangGraph makes) has no
span here, and what lies in it belongs to the parent step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import perf_counter, time_ns
from typing import Any

from msgspec.structs import replace
from opentelemetry.context import Context, attach, create_key, get_current, set_value

from agentool_otel.content.policy import jsonable
from agentool_otel.integrations.agent_spec.instrumentor import values
from agentool_otel.integrations.agent_spec.instrumentor.conversations import begun_here
from agentool_otel.integrations.agent_spec.instrumentor.failures import (
    CLOSED,
    HANDED_OVER,
    Failure,
    handled_exception,
    raised_by_tool,
)
from agentool_otel.integrations.agent_spec.instrumentor.span_types import SpanType
from agentool_otel.model.operations import (
    AgentInvocation,
    ToolExecution,
    Unclassified,
    WorkflowInvocation,
)
from agentool_otel.providers.fields import get, integer, is_a, items, record, string
from agentool_otel.semconv import agentool
from agentool_otel.tracing.instrumentation.frames import inside_of
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.exceptions import failed_status
from agentool_otel.tracing.spans.identity import IDENTITY_KEY
from agentool_otel.tracing.spans.requested_calls import call_of, note_answer
from agentool_otel.tracing.spans.run import current_run, requested_id
from agentool_otel.tracing.spans.sdk_spans import parent_of
from agentool_otel.tracing.spans.settings import guarded, policy_in
from agentool_otel.tracing.spans.step_spans import (
    Content,
    StepSpan,
    incomplete,
    start_step,
)
from agentool_otel.tracing.spans.suppression import GRAPHS, CallsBelow, detached

__all__ = ["ModelStep", "Step", "ToolStep", "current_step", "time_of"]

SCOPE = "agentool_otel.instrumentation.agent_spec"

_STEP_KEY = create_key("agentool-otel-agent-spec-step")
_RUNS = (AgentInvocation, WorkflowInvocation)
_OWNS = frozenset({GRAPHS})
_LATEST = 2**63
_CALL_ID = "tcid__"
"""Prefix of a tool span's description in LangGraph's adapter: the id of the call follows."""


def _nothing() -> None:
    pass


def current_step(context: Context | None = None) -> Step | None:
    """Return the step that a context is inside."""
    step = (get_current() if context is None else context).get(_STEP_KEY)
    return step if isinstance(step, Step) else None


class Step:
    """A span of pyagentspec that is under way."""

    def __init__(self, source: Any, span_type: SpanType, above: Step | None, context: Context):
        self.source = source
        self.span_type = span_type
        self.above = above
        """The step around it that has a span."""
        self.parent_context = context
        """The context of its parent."""
        self.start_ns = time_ns()
        self.span: StepSpan | None = None
        self.below: CallsBelow | None = None
        self.open: set[Step] = set()
        """Open steps below this one."""
        self.failure: Failure | None = None
        self.prompt: Any = None
        """The prompt of the first model call below it."""
        self.response: Any = None
        """The response to the last."""
        self.last_event: Any = None
        """The last event that it has received."""
        self.forget: Callable[[], object] = _nothing
        """Called once when it ends."""
        self.ended = False
        self._handled = handled_exception()
        self._held_by: set[Step] | None = None
        self._token: Any = None

    @property
    def exception(self) -> BaseException | None:
        """The exception that is on its way, unless it was when the step began."""
        return self.new_exception(handled_exception())

    def new_exception(self, error: BaseException | None) -> BaseException | None:
        """Return an exception, unless it was on its way when the step began."""
        return None if error is self._handled else error

    @property
    def context(self) -> Context:
        """The context in which its work belongs."""
        return self.parent_context if self.span is None else self.span.context

    @property
    def recorded(self) -> bool:
        """Return whether it has a span of its own while it is open."""
        return True

    def outward(self) -> Iterator[Step]:
        """Yield the step and its ancestors."""
        step: Step | None = self
        while step is not None:
            yield step
            step = step.above

    # ------------------------------------------------------------------------------ beginning

    def start(self) -> None:
        self._join()
        self._begin(
            self.span_type.operation(self.source), lambda: self.span_type.content(self.source)
        )

    def _begin(self, operation: Any, content: Content | None = None) -> None:
        runtime = values.runtime(self.source)
        if runtime is not None and isinstance(operation, _RUNS):
            operation = replace(operation, extra={**operation.extra, "agentspec.runtime": runtime})
        names = self.parent_context.get(IDENTITY_KEY)
        parent = self.parent_context
        if isinstance(operation, Unclassified):  # GenAI attributes belong to GenAI operations
            parent = set_value(IDENTITY_KEY, None, parent)
        span = start_step(
            operation,
            description=self.span_type.what,
            scope=SCOPE,
            content=content,
            parent=parent,
            owner=_OWNS if self.span_type.executed else None,
            start_ns=self.start_ns,
        )
        name = self.span_type.name(self.source)
        if name is not None and span.live is not None:
            span.live.name(name)
        context = set_value(_STEP_KEY, self, span.context)
        if isinstance(operation, Unclassified):
            context = set_value(IDENTITY_KEY, names, context)
        if isinstance(operation, ToolExecution):
            context = detached(context)
        else:
            self.below = CallsBelow(context)
            context = self.below.context
        span.context = context
        self.span = span
        self._token = attach(context)

    def _join(self) -> None:
        """Register with the parent, whose end ends this step if nothing else has."""
        self._held_by = begun_here() if self.above is None else self.above.open
        if self._held_by is not None:
            self._held_by.add(self)

    # --------------------------------------------------------------------------- what is said

    @property
    def wants_content(self) -> bool:
        return policy_in(self.context).capture

    @property
    def _shows_errors(self) -> bool:
        """Return whether to record exceptions: Agent Spec treats their text and stack as
        content.
        """
        policy = policy_in(self.context)
        return policy.capture and policy.on_spans

    def add(self, content: Content) -> None:
        if self.span is not None:
            self.span.add(content)

    def mark(self, attributes: Mapping[str, Any]) -> None:
        if self.span is not None:
            self.span.mark(
                {key: attribute for key, attribute in attributes.items() if attribute is not None}
            )

    def note(self, name: str, attributes: Mapping[str, Any], at_ns: int) -> None:
        """Add a span event; to the parent step, where this one has no span yet."""
        for step in self.outward():
            if step.span is not None and step.span.live is not None:
                if step.span.recording:
                    step.span.live.span.add_event(name, attributes, at_ns)
                return

    # --------------------------------------------------------------------------------- ending

    def leave(self) -> None:
        """Restore the context before it, and before open steps below it."""
        for step in list(self.open):
            step.leave()
        token, self._token = self._token, None
        if token is not None:
            restore(token)

    def end(self, end_ns: int, failure: Failure | None = None, finished: bool = True) -> None:
        """End the span, and open steps below it.

        Args:
            end_ns: when.
            failure: what has ended it, if no event has reported it.
            finished: False if its end was not reported.
        """
        if self.ended:
            return
        self.ended = True
        self.forget()
        failure = self.failure or failure
        for step in list(self.open):
            with guarded(f"closing {step.span_type.what}"):
                step.end(end_ns, failure, finished=False)
        self.leave()
        try:
            self._close(end_ns, failure, finished)
        finally:
            if self._held_by is not None:
                self._held_by.discard(self)
            self._release()

    def _release(self) -> None:
        """Keep nothing of the program's: contexts that have been copied keep the step."""
        self.source = self.prompt = self.response = self.last_event = None
        self.failure = self._handled = None

    def _close(self, end_ns: int, failure: Failure | None, finished: bool) -> None:
        if self.span is not None:
            self._finish(self.span, end_ns, failure, finished)

    def _finish(self, span: StepSpan, end_ns: int, failure: Failure | None, finished: bool) -> None:
        if isinstance(span.operation, AgentInvocation):
            self._repeat_what_models_said(span)
        interrupted = None if failure is None else failure.interrupted
        if interrupted == CLOSED and self._has_answered:  # its stream was left after its end
            failure = interrupted = None
        error = None
        extra: dict[str, Any] = {} if finished or failure is not None else incomplete()
        if failure is not None and interrupted is None:
            if self._shows_errors:
                error = failure.error
            if error is None:
                span.set(error_type=failure.error_type, error_message=failure.text)
        if interrupted is not None and isinstance(span.operation, ToolExecution):
            span.leave_unanswered()  # it is called again on resumption
        if isinstance(span.operation, _RUNS) and not extra:
            done = "success" if interrupted in (None, HANDED_OVER) else "in_progress"
            if failure is not None and interrupted is None:
                extra[agentool.STATUS] = failed_status(error, failure.error_type)
            else:
                extra[agentool.STATUS] = done
        span.end(error, interrupted=interrupted, extra=extra, end_ns=end_ns)

    @property
    def _has_answered(self) -> bool:
        """Return whether it is an agent, other than a team of agents, that has its final answer."""
        is_agent = "AgentExecutionSpan" in values.class_names(self.source)
        return is_agent and self.response is not None and not items(self.response, "tool_calls")

    def _repeat_what_models_said(self, span: StepSpan) -> None:
        """Use the models' input and output: runtimes report those of an agent only if it declares
        some.
        """

        def content() -> Mapping[str, Any]:
            content: dict[str, Any] = {}
            if "input" not in span.fields and self.prompt is not None:
                conversation = values.conversation(items(self.prompt, "prompt"))
                content["input"] = [item for item in conversation if item["role"] == "user"][
                    -1:
                ] or None
            if "output" not in span.fields and not items(self.response, "tool_calls"):
                content["output"] = values.answer(self.response)
            return content

        span.add(content)


class ToolStep(Step):
    """Its span begins with the request, which has the arguments and follows at once."""

    def __init__(self, source: Any, span_type: SpanType, above: Step | None, context: Context):
        super().__init__(source, span_type, above, context)
        self.elsewhere = inside_of("tool")
        """Whether LangChain's instrumentor records this call."""
        self.chunks = 0

    @property
    def recorded(self) -> bool:
        return not self.elsewhere

    def start(self) -> None:
        self._join()

    def requested(self, event: Any) -> None:
        """Begin with the request: a `ToolExecutionRequest`, or None if there was none."""
        if self.elsewhere or self.span is not None:
            return
        inputs = get(event, "inputs")
        call_id = self._call_id(event, inputs)

        def arguments() -> Mapping[str, Any]:
            return {} if inputs is None else {"arguments": jsonable(inputs)}

        self._begin(values.tool(get(self.source, "tool"), call_id), arguments)

    def _call_id(self, event: Any, inputs: Any) -> str | None:
        """Return the id of the model's request for the call."""
        described = string(self.source, "description") or ""
        if described.startswith(_CALL_ID):
            return described.removeprefix(_CALL_ID)
        run = current_run(self.parent_context)
        request_id = string(event, "request_id")
        if run is None or request_id in {call.id for call in run.pending()}:
            return request_id
        name = string(get(self.source, "tool"), "name") or ""
        return requested_id(self.parent_context, name, lambda: jsonable(inputs))

    def responded(self, outputs: Any) -> None:
        """Take the result: outputs by name, and exceptions among them."""
        self.requested(None)
        if self.span is None:
            return
        by_name = record(outputs)
        returned = [outputs] if by_name is None else list(by_name.values())
        error = next((item for item in returned if is_a(item, BaseException)), None)
        if error is None and all(item is None for item in returned):
            error = raised_by_tool()
            error = self.exception if error is None else error
        if error is not None:
            self._failed(error)
            return
        result = returned[0] if len(returned) == 1 else outputs
        self.add(lambda: {"result": jsonable(result)})

    def _failed(self, error: BaseException) -> None:
        self.failure = failure = Failure.from_exception(error)
        if failure.interrupted is None and is_a(error, Exception):
            self.add(lambda: {"tool_error": failure.text})

    def rejected(self) -> None:
        """Nobody has let it be executed."""
        self.requested(None)
        if self.span is not None:
            self.span.set(error_type="rejected")

    def _close(self, end_ns: int, failure: Failure | None, finished: bool) -> None:
        self.requested(None)
        self.leave()
        if self.chunks:
            self.mark({"agentspec.tool.chunks": self.chunks})
        super()._close(end_ns, failure, finished)


class ModelStep(Step):
    """A model call."""

    def __init__(self, source: Any, span_type: SpanType, above: Step | None, context: Context):
        super().__init__(source, span_type, above, context)
        self.elsewhere = inside_of("model")
        self.request: Any = None
        self.response: Any = None
        self._started_s = perf_counter()
        self._first_chunk_s: float | None = None
        self._before = self._counted()

    @property
    def recorded(self) -> bool:
        return False

    def _let_go(self) -> None:
        super()._release()
        self.request = self.response = None

    def _counted(self) -> int:
        """Return how many model calls clients have recorded inside the parent step."""
        below = None if self.above is None else self.above.below
        return 0 if below is None else below.count

    def start(self) -> None:
        self.below = CallsBelow(self.parent_context)
        self._join()
        self._token = attach(self.below.context)

    def chunk(self) -> None:
        if self._first_chunk_s is None:
            self._first_chunk_s = perf_counter() - self._started_s

    @property
    def _recorded_by_client(self) -> bool:
        number_below = 0 if self.below is None else self.below.count
        return self.elsewhere or bool(number_below) or self._counted() != self._before

    def _close(self, end_ns: int, failure: Failure | None, finished: bool) -> None:
        if self._recorded_by_client:
            return
        span = start_step(
            self.span_type.operation(self.source) if self.request is None else self._operation(),
            description=self.span_type.what,
            scope=SCOPE,
            content=self._asked,
            parent=self.parent_context,
            start_ns=self.start_ns,
        )
        span.set(usage=values.usage(self.response))
        span.first_chunk_s = self._first_chunk_s
        span.add(lambda: {"output": values.answer(self.response)})
        self._remember_calls()
        self._finish(span, end_ns, failure, finished)

    def _operation(self) -> Any:
        config = get(self.request, "llm_config")
        config = get(self.source, "llm_config") if config is None else config
        return values.inference(config, get(self.request, "llm_generation_config"))

    def _asked(self) -> Mapping[str, Any]:
        if self.request is None:
            return {}
        return {
            "input": values.conversation(items(self.request, "prompt")),
            "tools": values.definitions(items(self.request, "tools")),
        }

    def _remember_calls(self) -> None:
        """Keep the ids of calls, where the answer that has them is not recorded."""
        run = current_run(self.parent_context)
        if run is None or self.wants_content:
            return
        calls = [
            call_of(name, call_id, values.arguments_of(get(call, "arguments")))
            for call in items(self.response, "tool_calls")
            if (name := string(call, "tool_name")) and (call_id := string(call, "call_id"))
        ]
        if (answer := note_answer(calls, parent_of(self.parent_context))) is not None:
            run.answers.append(answer)


def time_of(event: Any) -> int:
    """Return the time of an event; the current time if it has none that OTLP can represent."""
    stated = integer(event, "timestamp")
    return stated if stated is not None and 0 < stated < _LATEST else time_ns()
