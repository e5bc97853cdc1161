"""Capabilities that are added to a run: their hooks make spans.

One is outside of all others, around the run and its tools: it sees the final values of the program
and the model. The other is inside of all others, next to the model: it sees the requests to the
model, and none where another capability answers in its place.

Each hook attaches a context to the task it runs in and takes it off again. pydantic-ai itself hands
the context of a run on to the code inside `async with agent.iter(...)`, and takes it back.
"""

from __future__ import annotations

import functools
from asyncio import CancelledError, Task, current_task
from collections.abc import Awaitable, Callable
from importlib import import_module
from time import time_ns
from types import TracebackType
from typing import Any, TypeVar

from msgspec.structs import replace
from opentelemetry.context import Context, attach, create_key, get_current, set_value
from opentelemetry.trace import get_current_span, set_span_in_context

from agentool_otel.content.encoding.attributes import allow
from agentool_otel.content.encoding.introspection import class_name, module_name, mro
from agentool_otel.content.policy import as_text, jsonable
from agentool_otel.integrations.pydantic_ai.instrumentor import messages, models
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution
from agentool_otel.model.statuses import INCOMPLETE_STREAM
from agentool_otel.providers.fields import get, is_a, items, string
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.instrumentation import approvals
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.exceptions import cause_of, failed_status, str_of
from agentool_otel.tracing.spans.identity import IDENTITY_KEY
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step
from agentool_otel.tracing.spans.suppression import CLIENTS, MANUAL

__all__ = ["capabilities", "first_chunk_came"]

allow("pydantic_ai", "_usage_responses", "base_url", "description", "model_name", "name")
allow("pydantic_ai", "settings", "system")

SCOPE = "agentool_otel.instrumentation.pydantic_ai"
_STEP_KEY = create_key("agentool-otel-pydantic-ai-request")
_OWNED = frozenset({CLIENTS, MANUAL})
_SIGNALS = (
    *("CallDeferred", "ApprovalRequired"),
    *("ModelRetry", "ToolFailed", "ToolRetryError", "ToolFailedError"),
    *("SkipToolExecution", "SkipModelRequest"),
)
"""Exceptions by which tools and hooks of pydantic-ai control the next step."""
_O = TypeVar("_O", AgentInvocation, Inference, ToolExecution)


def capabilities(conversation_id: str | None, results: Any = None) -> list[Any]:
    """Return new capabilities for one run.

    Args:
        conversation_id: what the caller of the run says it is a part of.
        results: of the tool calls that an earlier run has left open.
    """
    outside, inner = _classes()
    named = None if conversation_id == "new" else conversation_id
    run = _Run(named, _caller(), results)
    return [outside(run), inner(run)]


def _caller() -> Task[Any] | None:
    try:
        return current_task()
    except RuntimeError:  # no event loop runs yet
        return None


@functools.cache
def _classes() -> tuple[Any, Any]:
    """Make the classes when pydantic-ai, which has their base, is imported already."""
    base = import_module("pydantic_ai.capabilities").AbstractCapability
    return (
        type("AgentoolRunCapability", (_Outside, base), {}),
        type("AgentoolModelCapability", (_Inside, base), {}),
    )


def first_chunk_came(seconds: Any) -> None:
    """Note how long the model request that is current has waited for its first chunk."""
    step = get_current().get(_STEP_KEY)
    if isinstance(step, StepSpan) and isinstance(seconds, float):
        step.first_chunk_s = seconds


def _with_fields(operation: _O, fields: Callable[[], dict[str, Any]]) -> _O:
    """Return an operation with the fields that can be read."""
    with guarded("reading a step of pydantic-ai"):
        return replace(operation, **fields())
    return operation


class _Run:
    """State that the two capabilities of a run share."""

    def __init__(self, conversation_id: str | None, caller: Task[Any] | None, results: Any):
        self.conversation_id = conversation_id
        self.results = results
        self._caller = caller
        self.step: StepSpan | None = None
        self.failure: BaseException | None = None
        """Exception that ended the run, from pydantic-ai's hook."""
        self.cut: list[tuple[StepSpan, int]] = []
        """Model requests that were cancelled, and when: a stream is cancelled whether its model
        failed or its reader did, and only the end of the run shows which.
        """
        self.over = False
        """Whether the run has ended; later ends are ignored."""
        self.called: set[str] = set()
        """Ids of the tool calls that have a span."""

    @property
    def cancelled(self) -> bool:
        """Return whether the caller is cancelled. Where it only leaves the run, ours are cancelled
        too.
        """
        cancelling: Any = getattr(self._caller, "cancelling", None)  # from Python 3.11 on
        return cancelling is None or cancelling() > 0

    def invocation(self, ctx: Any) -> dict[str, Any]:
        names: Any = get_current().get(IDENTITY_KEY) or {}
        conversation_id = names.get(gen_ai.CONVERSATION_ID)
        agent = get(ctx, "agent")
        model = models.identity(models.tried_in_turn(get(ctx, "model"))[0])
        return {
            "agent_name": string(agent, "name") or "agent",
            "agent_description": string(agent, "description"),
            "conversation_id": self.conversation_id
            or conversation_id
            or string(ctx, "conversation_id"),
            "request_model": model["request_model"],
            "provider": model["provider"],
        }

    def returned(self, step: StepSpan, output: Any) -> None:
        self.end_cut(None)
        if is_a(output, import_module("pydantic_ai").DeferredToolRequests):
            for call in (*items(output, "calls"), *items(output, "approvals")):
                self._leave_open(call)
            approvals.record_questions(step, lambda: messages.deferred_calls(output))
            step.end(interrupted="DeferredToolRequests", extra={agentool.STATUS: "in_progress"})
            return
        step.add(lambda: {"output": messages.output_of(output)})
        step.end(extra={agentool.STATUS: "success"})

    def _leave_open(self, call: Any) -> None:
        """Record a tool call that someone else makes, or has to approve, after this run."""
        if string(call, "tool_call_id") not in self.called:
            self.start_tool(call, None, lambda: _arguments(call)).left_open()

    def raised(self, step: StepSpan, error: BaseException) -> None:
        untold = self.failure is None and not self.cancelled
        closed = is_a(error, CancelledError) and untold
        self.end_cut(None if closed else error)
        if closed:  # the caller has gone on without the rest
            step.end(interrupted="closed", extra={agentool.STATUS: "in_progress"})
        else:
            step.end(error, extra={agentool.STATUS: failed_status(error)})

    def end_cut(self, error: BaseException | None) -> None:
        """End the model requests that were cancelled, with the error of the run if it is theirs."""
        cut, self.cut = self.cut, []
        self.failure, self.over = None, True
        for step, at_ns in cut:
            if _from_model(error):
                step.end(error, end_ns=at_ns)
            else:
                step.end(interrupted="closed", end_ns=at_ns)

    def start_tool(
        self,
        call: Any,
        description: str | None,
        arguments: Callable[[], Any],
    ) -> _ToolStep:
        operation = _with_fields(
            ToolExecution(tool_type="function"),
            lambda: {
                "name": string(call, "tool_name") or "unknown",
                "call_id": string(call, "tool_call_id"),
                "description": description,
            },
        )
        if operation.call_id is not None:
            self.called.add(operation.call_id)
        step = start_step(
            operation,
            description="a tool of pydantic-ai",
            scope=SCOPE,
            content=lambda: {"arguments": jsonable(arguments())},
        )
        return _ToolStep(step)


class _ToolStep:
    """A tool call that has begun."""

    def __init__(self, step: StepSpan):
        self.step = step

    async def around(self, work: Callable[[], Awaitable[Any]]) -> Any:
        with self.step as step:
            try:
                result = await work()
            except BaseException as error:
                with guarded("finishing a tool of pydantic-ai"):
                    self.raised(error)
                raise
            step.add(lambda: {"result": messages.result_of(result)})
        return result

    def raised(self, error: BaseException) -> None:
        kind = _signal(error)
        if kind in ("CallDeferred", "ApprovalRequired"):
            self.left_open(kind)
        elif kind == "SkipToolExecution":  # another capability has answered instead
            self.step.add(lambda: {"result": messages.result_of(get(error, "result"))})
        else:
            self.failed(error)

    def failed(self, error: BaseException) -> None:
        """End with an error, and with the text that the model receives, if any."""
        reply = get(error, "tool_retry")
        reply = get(error, "tool_failed") if reply is None else reply
        if reply is not None:
            words = _reply_text(reply)
            self.step.add(tool_error=words, result=words)
            cause = cause_of(error)
            self.step.end(error if cause is None else cause)
            return
        words = str_of(error)
        self.step.add(tool_error=words)
        if _signal(error) is not None:
            self.step.add(result=words)
        self.step.end(error)

    def left_open(self, why: str = "DeferredToolRequests") -> None:
        """End without a result: the call is answered by a later run."""
        self.step.leave_unanswered()
        self.step.end(interrupted=why)


def _signal(error: BaseException) -> str | None:
    """Return which of pydantic-ai's signals an exception is, None for any other."""
    bases = (item for item in mro(type(error)) if module_name(item) == "pydantic_ai.exceptions")
    names = map(class_name, bases)
    return next((name for name in names if name in _SIGNALS), None)


def _reply_text(reply: Any) -> str:
    """Return the text that answers a tool call which has failed."""
    if string(reply, "part_kind") == "retry-prompt":
        return messages.retry(reply)
    return as_text(get(reply, "content"))


def _arguments(call: Any) -> Any:
    arguments = get(call, "args")
    return arguments if is_a(arguments, dict) else call.args_as_dict()


def _from_model(error: BaseException | None) -> bool:
    """True for an error that a model has raised, not the program that reads its stream."""
    frame: TracebackType | None = None if error is None else error.__traceback__
    while frame is not None:
        if str(frame.tb_frame.f_globals.get("__name__")).startswith("pydantic_ai.models."):
            return True
        frame = frame.tb_next
    return False


class _Hooks:
    """Methods that pydantic-ai expects of a capability which has nothing but hooks."""

    _safe_at_runtime = True
    """A run under a durable engine may be given it. Source: `Instrumentation` of 2.x."""

    def __init__(self, run: _Run):
        self._agentool_run = run


class _Outside(_Hooks):
    """Around runs and tools."""

    def get_ordering(self) -> Any:
        ordering = import_module("pydantic_ai.capabilities.abstract").CapabilityOrdering
        return ordering(position="outermost")

    async def wrap_run(self, ctx: Any, *, handler: Callable[[], Awaitable[Any]]) -> Any:
        run = self._agentool_run
        step = run.step = start_step(
            _with_fields(AgentInvocation(), lambda: run.invocation(ctx)),
            description="a run of pydantic-ai",
            scope=SCOPE,
            content=lambda: {"input": messages.prompt(get(ctx, "prompt"))},
        )
        if get(ctx, "prompt") is None:
            approvals.record_decisions(step, lambda: messages.results(run.results))
        with step:
            try:
                result = await handler()
            except BaseException as error:
                with guarded("finishing a run of pydantic-ai"):
                    run.raised(step, error)
                raise
            with guarded("finishing a run of pydantic-ai"):
                run.returned(step, get(result, "output"))
        return result

    async def on_run_error(self, ctx: Any, *, error: BaseException) -> Any:
        self._agentool_run.failure = error
        try:
            raise error
        finally:
            del error  # its traceback holds this frame

    async def wrap_tool_execute(
        self,
        ctx: Any,
        *,
        call: Any,
        tool_def: Any,
        args: Any,
        handler: Callable[[Any], Awaitable[Any]],
    ) -> Any:
        description = string(tool_def, "description")
        step = self._agentool_run.start_tool(call, description, lambda: args)
        return await step.around(lambda: handler(args))

    async def on_tool_validate_error(
        self, ctx: Any, *, call: Any, tool_def: Any, args: Any, error: Exception
    ) -> Any:
        """A call that the model is to make again, because its arguments do not fit."""
        if get(ctx, "partial_output") is not True:
            with guarded("recording a tool call of pydantic-ai that does not fit"):
                step = self._agentool_run.start_tool(
                    call, string(tool_def, "description"), lambda: _arguments(call)
                )
                step.failed(error)
        try:
            raise error
        finally:
            del error  # its traceback holds this frame

    async def wrap_output_process(
        self,
        ctx: Any,
        *,
        output_context: Any,
        output: Any,
        handler: Callable[[Any], Awaitable[Any]],
    ) -> Any:
        call = get(output_context, "tool_call")
        if (
            call is None
            or get(output_context, "has_function") is not True
            or get(ctx, "partial_output") is True
        ):
            return await handler(output)
        description = string(get(output_context, "tool_def"), "description")
        step = self._agentool_run.start_tool(call, description, lambda: _arguments(call))
        return await step.around(lambda: handler(output))


class _Inside(_Hooks):
    """Around model requests."""

    def __init__(self, run: _Run):
        super().__init__(run)
        self._agentool_step: StepSpan | None = None
        self._agentool_asked: list[int] = []

    async def wrap_model_request(
        self, ctx: Any, *, request_context: Any, handler: Callable[[Any], Awaitable[Any]]
    ) -> Any:
        parent = get_current()
        step = start_step(
            _with_fields(Inference(), lambda: models.request_fields(request_context)),
            description="a model request of pydantic-ai",
            scope=SCOPE,
            content=lambda: self._content(request_context),
            owner=_OWNED,
        )
        self._agentool_step = step
        context = step.context
        with guarded("starting a model request of pydantic-ai"):
            context = _request_context(step, parent)
        token = attach(context)
        try:
            response = await handler(request_context)
        except BaseException as error:
            with guarded("finishing a model request of pydantic-ai"):
                attempts = items(error, "attempts")
                if attempts:
                    _made_to(step, models.tried_in_turn(get(request_context, "model"))[-1])
                for attempt in attempts[:-1]:  # the last is this request
                    _record_attempt(attempt, parent)
                self._raised(step, request_context, error)
            raise
        else:
            with guarded("finishing a model request of pydantic-ai"):
                _made_to(step, models.answering(get(request_context, "model"), response))
                _record_response(step, response)
                if messages.has_broken_off(request_context, response):
                    step.set(error_type=INCOMPLETE_STREAM)
                for attempt in items(response, "failed_attempts"):
                    _record_attempt(attempt, parent)
            # A stream whose reader has had enough of it ends without an exception.
            cut = string(response, "state") in ("incomplete", "interrupted")
            step.end(interrupted="closed" if cut else None)
        finally:
            self._agentool_step = None
            restore(token)
        return response

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Other capabilities may have changed the messages since (2.x)."""
        step = self._agentool_step
        if step is not None and self._agentool_asked != _ids(request_context):
            step.add(lambda: self._content(request_context))
        return request_context

    def _content(self, request_context: Any) -> dict[str, Any]:
        self._agentool_asked = _ids(request_context)
        fields = models.content(request_context)
        run = self._agentool_run.step
        if run is not None and "system" not in run.fields:
            run.add(system=fields["system"])
        return fields

    def _raised(self, step: StepSpan, request_context: Any, error: BaseException) -> None:
        # What came of a stream before it was cut, or a response that a hook has rejected (2.x).
        for response in items(request_context, "_usage_responses")[-1:]:
            _record_response(step, response)
        run = self._agentool_run
        if is_a(error, CancelledError) and not run.cancelled:
            run.cut.append((step, time_ns()))
            if run.over:
                run.end_cut(None)
        elif _signal(error) == "SkipModelRequest":  # a hook has answered instead
            step.end(interrupted="SkipModelRequest")
        else:
            step.end(error)


def _ids(request_context: Any) -> list[int]:
    return [id(message) for message in items(request_context, "messages")]


def _request_context(step: StepSpan, context: Context) -> Context:
    """Return the context of a model request.

    pydantic-ai's own span of the request stays the current one: a `FallbackModel` writes on it.
    """
    above = get_current_span(context)
    if getattr(getattr(above, "instrumentation_scope", None), "name", None) == "pydantic-ai":
        return set_value(_STEP_KEY, step, set_span_in_context(above, step.context))
    return set_value(_STEP_KEY, step, step.context)


def _made_to(step: StepSpan, model: Any) -> None:
    """Name the model of a request once it is known which one of several that was."""
    fields = models.identity(model)
    if fields["request_model"] != getattr(step.operation, "request_model", None):
        step.set(**fields)
        if step.live is not None:
            step.live.name(f"chat {fields['request_model']}")


def _record_response(step: StepSpan, response: Any) -> None:
    step.set(**models.response_fields(response))
    step.add(lambda: {"output": [messages.answer(response)]})


def _record_attempt(attempt: Any, context: Context) -> None:
    operation, began, ended = models.attempt_fields(attempt)
    step = start_step(
        operation,
        description="an attempt at a model request of pydantic-ai",
        scope=SCOPE,
        parent=context,
        start_ns=began,
    )
    step.end(end_ns=ended)
