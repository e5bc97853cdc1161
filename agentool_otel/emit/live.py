"""Live spans: the only module that starts and ends them.

Everything above asks for an operation to be begun and ended and never sees which span object does
it; a faster recording span can take the SDK span's place here.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import time_ns
from typing import Any

from msgspec.structs import replace
from opentelemetry import trace
from opentelemetry.context import Context, create_key, get_current, set_value
from opentelemetry.trace import SpanKind, Status, StatusCode

from agentool_otel.content.fitting.fitter import NO_CUTS, Cut
from agentool_otel.content.policy import Policy, mask_text
from agentool_otel.emit import exceptions, metrics
from agentool_otel.emit.eval_case import case_attributes
from agentool_otel.emit.exceptions import error_type_of, exception_attributes, str_of
from agentool_otel.emit.identity import as_agent, identity_for, named
from agentool_otel.emit.run import RUN_KEY, Run
from agentool_otel.emit.session import SCOPE, policy_in, session, suppressed
from agentool_otel.emit.spans import context_with, end_span, parent_of, start_span
from agentool_otel.emit.start_attributes import Opening, tell
from agentool_otel.emit.steps import Timeline
from agentool_otel.model.messages import finished, parts_of, thoughts
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    MemoryOperation,
    Operation,
    ToolExecution,
)
from agentool_otel.semconv import agentool, core

__all__ = ["KINDS", "OWNER_KEY", "LiveSpan", "begin", "fail", "parent_for"]

KINDS = {
    "INTERNAL": SpanKind.INTERNAL,
    "CLIENT": SpanKind.CLIENT,
    "SERVER": SpanKind.SERVER,
}

_TRANSFER_KEY = create_key("agentool-otel-transfer")
_WORK = (AgentInvocation, ToolExecution)
OWNER_KEY = create_key("agentool-otel-owner")
"""Context key: the frameworks whose client-level calls are already recorded further up."""


class LiveSpan:
    """A started span and the context in which its work belongs.

    `end` is idempotent: streams, callbacks and finalisers may all call it.
    """

    __slots__ = (
        "_ended",
        "_opening",
        "_outer_run",
        "_parent_id",
        "_told",
        "answers",
        "context",
        "essentials",
        "index",
        "recording",
        "run",
        "span",
        "start_ns",
        "started",
    )

    def __init__(self, span: trace.Span, parent: Context, start_ns: int):
        self.span = span
        self.start_ns = start_ns
        self.started = 0
        """How many attributes the span was given by us so far, -1 if others gave it some."""
        self.recording = span.is_recording()
        self.context = context_with(parent, span)
        run = parent.get(RUN_KEY)
        self._outer_run: Run | None = run  # type: ignore[assignment]
        self.run: Run | None = self._outer_run
        """The run this span is a part of; for an agent's span, the run it is."""
        self.index: int | None = None
        self.answers = True
        """Whether the end of this tool is a step of its own: not for a handoff, nor for a call
        that is never answered."""
        self._parent_id = parent_of(parent)
        self._ended = False
        self.essentials: dict[str, Any] = {}
        """Attributes of ours that every span carries, set when it ends."""
        self._opening: Opening | None = None
        self._told: frozenset[str] = frozenset()
        """Messages that log records have told of, by the names of their attributes."""

    @property
    def span_id(self) -> str:
        return trace.format_span_id(self.span.get_span_context().span_id)

    @property
    def policy(self) -> Policy:
        """What happens to its content."""
        return policy_in(self.context)

    def opened(self, operation: Operation, extra: dict[str, Any] | None = None) -> bool:
        """Set what is known before the user's code runs: an open span is found with it after a
        kill. `end` does not encode the same content again.

        Args:
            operation: the operation as far as it is known.
            extra: further attributes.

        Returns:
            False if nobody asks for it: then `end` is to be given all of it.
        """
        if session.opened is None or not self.recording:
            return False
        policy = self.policy
        self._opening = Opening(operation, {**self.essentials, **(extra or {})}, policy)
        self.essentials.clear()
        attributes = self._opening.fitted()
        if isinstance(operation, Inference) and session.tells_messages:
            self._tell_messages(attributes, self._opening.cuts, time_ns())
        policy.keep_off(attributes)
        self.started = tell(self.span, attributes, self.started)
        return True

    def end(
        self,
        operation: Operation,
        error: BaseException | None = None,
        end_ns: int | None = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        """End the span with what is known of the operation now.

        Args:
            operation: the whole operation; it replaces what was written at the start.
            error: the exception that ended it. Recorded as an event by the innermost span it
                passes through, as status and `error.type` by every one.
            end_ns: when it ended, if not now.
            extra: further `agentool.*` attributes.
        """
        if self._ended:
            return
        self._ended = True
        span = self.span
        if not self.recording:
            span.end()
            return
        end_ns = time_ns() if end_ns is None else end_ns
        if error is not None and operation.error_type is None:
            operation = replace(operation, error_type=error_type_of(error))
        if isinstance(operation, (AgentInvocation, Inference)) and operation.output:
            cut = error is not None or agentool.INTERRUPTED in (extra or ())
            said = finished(operation.output, cut or operation.error_type is not None)
            operation = replace(operation, output=said)
            if cut and isinstance(operation, Inference) and operation.finish_reasons is None:
                # Spec: `error` for a choice whose reason never came
                reasons = [str(it.get("finish_reason", "error")) for it in said]
                operation = replace(operation, finish_reasons=reasons)
        opening = self._opening
        unsaid = operation if opening is None else opening.unsaid(operation)
        attributes = session.dialect.draft(unsaid).attributes
        attributes.update(self.essentials)
        if extra:
            attributes.update(extra)
        run = self._outer_run
        if isinstance(operation, Inference):
            if run is not None:
                self._finish_inference(run, operation, attributes, end_ns)
        elif isinstance(operation, AgentInvocation):
            if self.run is not None and self.run is not run:
                self.run.timeline.flush()
                attributes.update(self.run.totals())
        elif isinstance(operation, ToolExecution) and run is not None and self.answers:
            self._finish_tool(run, operation, attributes, end_ns)
        policy = self.policy
        message = operation.error_message
        if error is None and not (policy.capture and policy.on_spans):
            message = None  # it is what a tool or model said
        failure = (operation.error_type, message)
        fail(span, self.context, self._parent_id, *failure, error, attributes, end_ns)
        if session.copies:
            attributes[agentool.SPAN_END_NS] = end_ns
        policy.clean(attributes)
        if opening is not None:
            attributes = opening.joined(attributes)
        cuts = policy.fit(attributes, NO_CUTS if opening is None else opening.cuts)
        if isinstance(operation, Inference) and session.tells_messages:
            self._tell_messages(attributes, cuts, end_ns)
        if policy.in_events:
            attributes = {**identity_for(operation, self.context), **attributes}
            self._tell_details(attributes, end_ns, isinstance(operation, Inference))
        end_span(span, session.dialect.named(attributes), self.started, end_ns)
        metrics.record(operation, (end_ns - self.start_ns) / 1e9, self.run, self.context)

    def _tell_messages(
        self, attributes: dict[str, Any], cuts: Mapping[str, Cut], now_ns: int
    ) -> None:
        from agentool_otel.emit.message_events import tell  # few programs ask for them

        for key in self._told:
            attributes.pop(key, None)
        told = tell(self.span, self.context, attributes, cuts, self.start_ns, now_ns)
        self._told = self._told | told

    def _tell_details(
        self, attributes: dict[str, Any], end_ns: int, inference: bool = False
    ) -> None:
        from agentool_otel.emit.content_events import tell  # few programs ask for events

        tell(self.span, self.context, attributes, end_ns, inference)

    def became_handoff(self, target: str) -> None:
        """Turn a tool call that is under way into a handoff: one step, without a result."""
        self.answers = False
        if self.run is not None and self.index is not None:
            self.run.tool_calls -= 1
            said = {agentool.TRANSFER_TARGET: target}
            self.run.timeline.amend(self.index, "handoff", said)

    def _finish_inference(
        self, run: Run, operation: Inference, attributes: dict[str, Any], end_ns: int
    ) -> None:
        run.count(operation)
        timeline = run.timeline
        first: int | None = None
        for message in operation.output or ():
            for _ in thoughts(message):
                index = timeline.next_index()
                first = index if first is None else first
                timeline.add(index, "reasoning", end_ns, {agentool.STEP_SPAN_ID: self.span_id})
            for part in parts_of(message):
                if part.get("type") == "tool_call" and isinstance(part.get("id"), str):
                    run.request(str(part.get("name")), part.get("arguments"), part["id"])
        if first is not None:
            attributes[agentool.STEP_INDEX] = first

    def _finish_tool(
        self, run: Run, operation: ToolExecution, attributes: dict[str, Any], end_ns: int
    ) -> None:
        index = run.timeline.next_index()
        attributes[agentool.STEP_RESULT_INDEX] = index
        run.timeline.add_tool(
            index, "tool_result", end_ns, operation.name, operation.call_id, operation.error_type
        )


def fail(
    span: trace.Span,
    context: Context,
    parent_id: int,
    error_type: str | None,
    message: str | None,
    error: BaseException | None,
    attributes: dict[str, Any],
    end_ns: int,
) -> None:
    """Set status and `error.type` of a span that ends; on the innermost one the exception, too.

    Args:
        span: the span.
        context: the context it is current in.
        parent_id: id of its parent, 0 for none.
        error_type: what its operation reports as its failure, if it does.
        message: what the operation says of that.
        error: the exception that ended it.
        attributes: where `error.type` is put.
        end_ns: when the span ends, and so when the exception was recorded: an event happens
            during its span, and printing a stack takes milliseconds.
    """
    if error is not None:
        error_type = error_type or error_type_of(error)
        message = str_of(error) if message is None else message
        if exceptions.is_new(span, parent_id, error):
            _record(span, context, error, end_ns)
    else:
        exceptions.forget(span)
        if error_type is not None and message:
            _record_reported(span, error_type, message, end_ns)
    if error_type is None:
        return
    attributes[core.ERROR_TYPE] = error_type
    span.set_status(Status(StatusCode.ERROR, mask_text(message) if message else None))


def _record_reported(span: trace.Span, error_type: str, message: str, at_ns: int) -> None:
    """Record a failure that was told of, not raised: to some backends a span without an exception
    event has not failed. Source: MLflow 3.17, LangSmith's OTLP ingestion (2026-11)."""
    if session.exceptions.spans:
        said = {core.EXCEPTION_TYPE: error_type, core.EXCEPTION_MESSAGE: mask_text(message)}
        span.add_event(core.EXCEPTION_EVENT, said, at_ns)


def _record(span: trace.Span, context: Context, error: BaseException, at_ns: int) -> None:
    if session.exceptions.logs:
        from agentool_otel.emit.events import record_exception

        record_exception(span, context, error, at_ns)
    else:
        span.add_event(core.EXCEPTION_EVENT, exception_attributes(error), at_ns)


def begin(
    operation: Operation,
    *,
    scope: str = SCOPE,
    parent: Context | None = None,
    start_ns: int | None = None,
    owner: frozenset[str] | None = None,
    announced: bool = True,
    content_follows: bool = False,
) -> LiveSpan | None:
    """Start the span of an operation; None where telemetry is switched off or suppressed.

    Args:
        operation: what is known at the start. Content belongs to `LiveSpan.end`, so that a span
            that is not sampled costs no encoding.
        scope: instrumentation scope, the module that observed the operation.
        parent: context of the parent; the current one by default.
        start_ns: when it started, if not now.
        owner: client libraries whose own calls inside this span are to be left unrecorded.
        announced: False for a tool whose call nobody saw, only its result.
        content_follows: the caller calls `LiveSpan.opened`, once it has encoded what it knows and
            before the user's code runs.
    """
    live = _start(operation, scope, parent, start_ns)
    if live is None:
        return None
    if isinstance(operation, _WORK) and live.context.get(OWNER_KEY) is not None:
        # The calls that a tool or an agent makes are no part of the model call around it.
        live.context = set_value(OWNER_KEY, None, live.context)
    if isinstance(operation, AgentInvocation):
        names = named(operation.conversation_id)
        live.context = as_agent(live.context, operation.agent_name, names)
    if not live.recording:
        return live
    run, essentials, start_ns = live.run, live.essentials, live.start_ns
    if isinstance(operation, AgentInvocation):
        if run is None or live.context.get(_TRANSFER_KEY):
            pass  # nobody hands over, or the transfer around this says so
        elif operation.agent_name is not None and operation.agent_name in run.handed_to:
            run.handed_to.remove(operation.agent_name)
        else:  # an agent inside an agent: the outer one hands over to it
            index = essentials[agentool.STEP_INDEX] = run.timeline.next_index()
            said = {agentool.TRANSFER_TARGET: operation.agent_name or "agent"}
            run.timeline.add(index, "handoff", start_ns, said)
        timeline = Timeline(session.tracer(scope), live.span, live.context)
        live.run = Run(timeline)
        live.context = set_value(RUN_KEY, live.run, set_value(_TRANSFER_KEY, False, live.context))
    elif run is not None and isinstance(operation, MemoryOperation):
        index = essentials[agentool.STEP_INDEX] = run.timeline.next_index()
        run.timeline.add(index, "memory_read" if operation.reads else "memory_write", start_ns)
    elif run is not None and isinstance(operation, ToolExecution) and announced:
        index = essentials[agentool.STEP_INDEX] = run.timeline.next_index()
        if operation.transfer_target is None:
            live.index = index
            run.tool_calls += 1
            name, call_id = operation.name, operation.call_id
            run.timeline.add_tool(index, "tool_call", start_ns, name, call_id)
        else:
            said = {agentool.TRANSFER_TARGET: operation.transfer_target}
            run.timeline.add(index, "handoff", start_ns, said)
            run.handed_to.append(operation.transfer_target)
            live.answers = False
            live.context = set_value(_TRANSFER_KEY, True, live.context)
    if owner:
        held = live.context.get(OWNER_KEY)
        if isinstance(held, frozenset):
            owner = owner | held
        live.context = set_value(OWNER_KEY, owner, live.context)
    if not content_follows:
        live.opened(operation)
    return live


def parent_for(context: Context) -> Context | None:
    """Return the context that a span started in another one has its parent in; None where
    telemetry is switched off or suppressed."""
    if not session.enabled or suppressed(context):
        return None
    if session.inherited is not None and not parent_of(context):
        return Context({**session.inherited, **context})
    return context


def _start(
    operation: Operation, scope: str, parent: Context | None, start_ns: int | None
) -> LiveSpan | None:
    parent = parent_for(get_current() if parent is None else parent)
    if parent is None:
        return None
    name, kind, attributes = session.dialect.draft(operation)
    if around := identity_for(operation, parent):
        attributes = {**around, **attributes}
    if case := case_attributes(parent):
        attributes = {**case, **attributes}
    tracer = session.tracer(scope)
    if start_ns is None:
        start_ns = time_ns()
    attributes = session.dialect.named(attributes)
    span = start_span(tracer, name, parent, KINDS[kind], attributes, start_ns)
    live = LiveSpan(span, parent, start_ns)
    if live.recording:
        live.started = len(attributes)
    if live.recording and session.copies:
        live.essentials[agentool.SPAN_START_NS] = start_ns
        if kind != "INTERNAL":
            live.essentials[agentool.SPAN_KIND] = kind
        if live._parent_id:
            live.essentials[agentool.SPAN_PARENT_ID] = f"{live._parent_id:016x}"
    return live
