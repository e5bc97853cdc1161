"""Live spans: the only module that starts and ends them.

Everything above begins and ends an operation and never sees the span object; a faster recording
span can replace the SDK's here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import time_ns
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from opentelemetry import trace
from opentelemetry.context import Context, create_key, get_current, set_value
from opentelemetry.trace import SpanKind

from agentool_otel.content.fitting.fitter import NO_CUTS, Cut
from agentool_otel.content.policy import Policy, clean_start, span_name
from agentool_otel.ground.interruptions import is_interruption
from agentool_otel.model.messages import Message, reasons_of, thoughts, with_finish_reasons
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    Retrieval,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.semconv import agentool, gen_ai, mcp
from agentool_otel.tracing.spans import metrics
from agentool_otel.tracing.spans.around import executes_tool, execution_of
from agentool_otel.tracing.spans.attempts import note_attempt
from agentool_otel.tracing.spans.eval_case import case_attributes
from agentool_otel.tracing.spans.exceptions import error_type_of
from agentool_otel.tracing.spans.failure import cut_off, fail
from agentool_otel.tracing.spans.identity import as_agent, identity_for, names_of
from agentool_otel.tracing.spans.requested_calls import (
    Answer,
    answered_ids,
    await_results,
    calls_in,
    note_answer,
    retire,
)
from agentool_otel.tracing.spans.run import RUN_KEY, Run
from agentool_otel.tracing.spans.sdk_spans import (
    OURS_KEY,
    SPAN_KEY,
    context_with,
    end_span,
    parent_of,
    parent_of_our_provider,
    start_span,
)
from agentool_otel.tracing.spans.settings import SCOPE, SUPPRESS_KEY, policy_in, settings
from agentool_otel.tracing.spans.start_attributes import StartAttributes, report_open
from agentool_otel.tracing.spans.steps import Timeline

if TYPE_CHECKING:
    from agentool_otel.tracing.spans.direct_agent import DirectAgentSpan

__all__ = ["KINDS", "OWNER_KEY", "TRANSFER_KEY", "LiveSpan", "begin", "parent_for"]

KINDS = {
    "INTERNAL": SpanKind.INTERNAL,
    "CLIENT": SpanKind.CLIENT,
    "SERVER": SpanKind.SERVER,
}

TRANSFER_KEY = create_key("agentool-otel-transfer")
"""Context key: whether an agent that begins is that of a handoff under way."""
_WORK = (AgentInvocation, ToolExecution, McpRequest)
_STEPS = (Inference, ToolExecution, Retrieval, MemoryOperation)
"""Operations that are steps of a run, beside calls of a tool over MCP."""
OWNER_KEY = create_key("agentool-otel-owner")
"""Context key: the frameworks whose client-level calls are already recorded further up."""


class LiveSpan:
    """A started span and the context in which its work belongs.

    `end` is idempotent: streams, callbacks and finalisers may all call it.
    """

    __slots__ = (
        "_at_start",
        "_emitted",
        "_ended",
        "_outer_run",
        "_parent_id",
        "answers",
        "context",
        "essentials",
        "index",
        "input_key",
        "is_timed",
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
        """Number of attributes that we have set on the span so far, -1 if others have set some."""
        self.recording = span.is_recording()
        self.context = context_with(parent, span)
        run = parent.get(RUN_KEY)
        self._outer_run: Run | None = run  # type: ignore[assignment]
        self.run: Run | None = self._outer_run
        """The run this span is a part of; for an agent's span, the run it is."""
        self.index: int | None = None
        self.answers = True
        """Whether the end of this tool is a step of its own. It is not for a handoff, nor for a
        call that gets no answer.
        """
        self.input_key: int | None = None
        """Hash of the input of this model call, where it is known without content."""
        self.is_timed = True
        """Whether its duration is known: it is not for a tool that only messages report."""
        self._parent_id = parent_of(parent)
        self._ended = False
        self.essentials: dict[str, Any] = {}
        """Attributes of ours that every span carries, set when it ends."""
        self._at_start: StartAttributes | None = None
        self._emitted: frozenset[str] = frozenset()
        """Attributes whose messages are in log records already."""

    @property
    def span_id(self) -> str:
        return trace.format_span_id(self.span.get_span_context().span_id)

    @property
    def policy(self) -> Policy:
        """Return the policy for its content."""
        return policy_in(self.context)

    def opened(self, operation: Operation, extra: dict[str, Any] | None = None) -> bool:
        """Set the attributes known before the user's code runs: an open span has them after a kill.
        `end` does not encode the same content again.

        Args:
            operation: the operation as far as it is known.
            extra: further attributes.

        Returns:
            False if nobody keeps open spans: then all of it has to come with `end`.
        """
        if settings.on_described is None or not self.recording:
            return False
        policy = self.policy
        self._at_start = StartAttributes(operation, {**self.essentials, **(extra or {})}, policy)
        self.essentials.clear()
        attributes = self._at_start.fitted()
        if isinstance(operation, Inference) and settings.tells_messages:
            self._emit_messages(attributes, self._at_start.cuts, time_ns())
        policy.keep_off(attributes)
        self.started = report_open(self.span, attributes, self.started)
        return True

    def end(
        self,
        operation: Operation,
        error: BaseException | None = None,
        end_ns: int | None = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        """End the span with the operation as known now.

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
        try:
            self._end(operation, error, end_ns, extra)
        except BaseException as interruption:
            if is_interruption(interruption):
                self.cut_off(interruption)
            raise

    @classmethod
    def resumed(cls, begun: DirectAgentSpan, operation: AgentInvocation) -> LiveSpan:
        """Return the span of a direct run, to go on with as with others.

        Args:
            begun: the direct run.
            operation: what was known of it when it began.
        """
        facts, span, shared = begun.facts, begun.span, begun.direct.attributes
        live = cls(span, begun.parent, facts.start_ns)
        live.recording, live.context, live.run = True, begun.context, begun.run
        own = facts.own()
        own.pop(gen_ai.INPUT_MESSAGES, None)
        live._at_start = StartAttributes(operation, own, live.policy)
        live._at_start.fitted()
        span.agentool_shared = (facts.identity, shared) if facts.identity else (shared,)
        span.agentool_beginning, span.agentool_first = begun.beginning, begun.first
        span.agentool_written = len(facts.identity or ()) + len(shared) + len(facts.own())
        return live

    def cut_off(self, error: BaseException) -> None:
        """End the span where an exception for the program has interrupted its end."""
        self._ended = True
        cut_off(self.span, error)

    def _end(
        self,
        operation: Operation,
        error: BaseException | None,
        end_ns: int | None,
        extra: dict[str, Any] | None,
    ) -> None:
        span = self.span
        if not self.recording:
            span.end()
            return
        end_ns = time_ns() if end_ns is None else end_ns
        operation = _outcome(operation, error, extra)
        if isinstance(operation, AgentInvocation):
            operation = self._rolled_up(operation)
        start = self._at_start
        new = operation if start is None else start.without_encoded(operation)
        policy = self.policy
        attributes = settings.dialect.draft(policy.without_media(new)).attributes
        attributes.update(self.essentials)
        if extra:
            attributes.update(extra)
        self._end_steps(operation, attributes, end_ns)
        error_type, message = operation.error_type, operation.error_message
        fail(span, self.context, self._parent_id, error_type, message, error, attributes, end_ns)
        if settings.repeat_times:
            attributes[agentool.SPAN_END_NS] = end_ns
        attributes, cuts = self._fitted(attributes, policy)
        if isinstance(operation, Inference) and settings.tells_messages:
            self._emit_messages(attributes, cuts, end_ns)
        if policy.in_events:
            attributes = {**identity_for(operation, self.context), **attributes}
            self._emit_content(attributes, end_ns, isinstance(operation, Inference))
        end_span(span, settings.dialect.named(attributes), self.started, end_ns)
        if self.is_timed:
            metrics.record(operation, (end_ns - self.start_ns) / 1e9, self.run, self.context)

    def _fitted(
        self, attributes: dict[str, Any], policy: Policy
    ) -> tuple[dict[str, Any], Mapping[str, Cut]]:
        """Return the attributes of start and end, masked and fitted, and their cuts."""
        at_start = self._at_start
        policy.clean(attributes)
        if at_start is None:
            return attributes, policy.fit(attributes, NO_CUTS)
        attributes = at_start.joined(attributes)
        return attributes, policy.fit(attributes, at_start.cuts)

    def _emit_messages(
        self, attributes: dict[str, Any], cuts: Mapping[str, Cut], now_ns: int
    ) -> None:
        from agentool_otel.tracing.spans.message_events import (
            emit_messages,  # few programs ask for them
        )

        for key in self._emitted:
            attributes.pop(key, None)
        emitted = emit_messages(self.span, self.context, attributes, cuts, self.start_ns, now_ns)
        self._emitted = self._emitted | emitted

    def _emit_content(
        self, attributes: dict[str, Any], end_ns: int, inference: bool = False
    ) -> None:
        from agentool_otel.tracing.spans.content_events import (
            emit_content,  # few programs ask for events
        )

        emit_content(self.span, self.context, attributes, end_ns, inference)

    def answers_calls(self, input: Sequence[Message] | None) -> None:
        """Set the ids of the calls whose results a model call sends, where content is off."""
        if ids := answered_ids(input):
            self.essentials[agentool.CALLS_ANSWERED] = ids

    def rename(self, operation: Operation) -> None:
        """Name the span as it would be if it began with an operation, which has no content."""
        self.name(settings.dialect.draft(operation).name)

    def name(self, name: str) -> None:
        """Name the span, which is known better than when it began."""
        self.span.update_name(span_name(name))

    def became_handoff(self, target: str) -> None:
        """Turn a tool call that is under way into a handoff: one step, without a result."""
        self.answers = False
        if self.run is not None and self.index is not None:
            self.run.tool_calls -= 1
            attributes = {agentool.TRANSFER_TARGET: target}
            self.run.timeline.amend(self.index, "handoff", attributes)

    def _end_steps(self, operation: Operation, attributes: dict[str, Any], end_ns: int) -> None:
        """Add to the run the steps that an operation is known to be at its end."""
        run = self._outer_run
        if isinstance(operation, AgentInvocation):
            if self.run is not None and self.run is not run:
                self.run.timeline.flush()
                attributes.update(self.run.totals())
        elif isinstance(operation, Inference):
            calls = calls_in(operation.output)
            answer = note_answer(calls, self._parent_id)
            if run is not None:
                self._end_inference(run, operation, attributes, end_ns, answer)
                return
            times = self.start_ns, end_ns
            note_attempt(operation, attributes, self.span, self._parent_id, times, self.input_key)
            if calls and not self.policy.capture:
                ids = attributes[agentool.CALLS_REQUESTED] = [call.id for call in calls]
                await_results(ids)
        elif run is None:
            return
        elif isinstance(operation, ToolExecution) and self.answers:
            self._end_tool(run, operation, operation.name, operation.call_id, attributes, end_ns)
        elif isinstance(operation, McpRequest) and self.index is not None:
            name = operation.tool_name or "unknown"
            self._end_tool(run, operation, name, operation.call_id, attributes, end_ns)

    def _rolled_up(self, operation: AgentInvocation) -> AgentInvocation:
        """Return a run with the sums of its children, and add them to the parent run."""
        run, outer = self.run, self._outer_run
        if run is None or run is outer:
            return operation
        if outer is not None:
            outer.include(run)
        return run.rolled_up(operation, settings.agent_usage)

    @staticmethod
    def _end_tool(
        run: Run,
        operation: Operation,
        name: str,
        call_id: str | None,
        attributes: dict[str, Any],
        end_ns: int,
    ) -> None:
        if attributes.get(agentool.TOOL_INCOMPLETE) == "call_only":
            return
        index = attributes[agentool.STEP_RESULT_INDEX] = run.timeline.next_index()
        run.timeline.add_tool(index, "tool_result", end_ns, name, call_id, operation.error_type)

    def _end_inference(
        self,
        run: Run,
        operation: Inference,
        attributes: dict[str, Any],
        end_ns: int,
        answer: Answer | None,
    ) -> None:
        run.count(operation)
        if answer is not None:
            run.answers.append(answer)
        timeline = run.timeline
        first: int | None = None
        for message in operation.output or ():
            for _ in thoughts(message):
                index = timeline.next_index()
                first = index if first is None else first
                timeline.add(index, "reasoning", end_ns, {agentool.STEP_SPAN_ID: self.span_id})
        if first is not None:
            attributes[agentool.STEP_INDEX] = first

    def begin_agent(self, run: Run | None, operation: AgentInvocation, scope: str) -> None:
        """Begin a run of its own, to which an agent around it hands over."""
        if run is not None and not self.context.get(TRANSFER_KEY):
            name = operation.agent_name
            if name is not None and name in run.handed_to:
                run.handed_to.remove(name)
            else:
                self._add_handoff(run, name or "agent")
        self.run = Run(Timeline(settings.tracer(scope), self.span, self.context))
        self.context = set_value(RUN_KEY, self.run, set_value(TRANSFER_KEY, False, self.context))

    def begin_memory(self, run: Run, operation: MemoryOperation) -> None:
        """Add the step that a memory operation is."""
        index = self.essentials[agentool.STEP_INDEX] = run.timeline.next_index()
        kind = "memory_read" if operation.reads else "memory_write"
        run.timeline.add(index, kind, self.start_ns)

    def begin_tool(self, run: Run, operation: ToolExecution) -> None:
        """Add the tool call, or the handoff that it stands for."""
        target = operation.transfer_target
        if target is not None:
            self._add_handoff(run, target)
            run.handed_to.append(target)
            self.answers = False
            self.context = set_value(TRANSFER_KEY, True, self.context)
            return
        self._add_call(run, operation.name, operation.call_id)

    def begin_request(self, run: Run, operation: McpRequest) -> None:
        """Add the tool call that a request to an MCP server is."""
        self._add_call(run, operation.tool_name or "unknown", operation.call_id)

    def _add_call(self, run: Run, name: str, call_id: str | None) -> None:
        index = self.essentials[agentool.STEP_INDEX] = run.timeline.next_index()
        self.index = index
        run.tool_calls += 1
        run.timeline.add_tool(index, "tool_call", self.start_ns, name, call_id)

    def _add_handoff(self, run: Run, target: str) -> None:
        index = self.essentials[agentool.STEP_INDEX] = run.timeline.next_index()
        run.timeline.add(index, "handoff", self.start_ns, {agentool.TRANSFER_TARGET: target})


def _outcome(
    operation: Operation, error: BaseException | None, extra: dict[str, Any] | None
) -> Operation:
    """Return an operation with the error and the finish reasons that its end gives it."""
    if error is not None and operation.error_type is None:
        operation = replace(operation, error_type=error_type_of(error))
    if not isinstance(operation, (AgentInvocation, Inference, WorkflowInvocation)):
        return operation
    output = operation.output or ()
    if isinstance(operation, Inference) and operation.finish_reasons is None:
        reasons = reasons_of([item.get("finish_reason") for item in output])
        operation = replace(operation, finish_reasons=reasons)
    if output and (settings.dialect.needs_finish_reasons or not isinstance(operation, Inference)):
        interrupted = agentool.INTERRUPTED in (extra or ())
        failed = error is not None or interrupted or operation.error_type is not None
        operation = replace(operation, output=with_finish_reasons(output, failed))
    return operation


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
    """Start the span of an operation; None if telemetry is switched off or suppressed.

    Args:
        operation: what is known at the start. Content belongs to `LiveSpan.end`, so that a span
            that is not sampled costs no encoding.
        scope: instrumentation scope, the module that observed the operation.
        parent: context of the parent; the current one by default.
        start_ns: when it started, if not now.
        owner: what this span records already: calls by these inside it are left unrecorded.
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
        names = names_of(operation.conversation_id)
        live.context = as_agent(live.context, operation.agent_name, names)
    if not live.recording:
        return live
    run = live.run
    if run is None:
        _note_last_call(live.span, operation)
    if isinstance(operation, AgentInvocation):
        live.begin_agent(run, operation, scope)
    elif isinstance(operation, ToolExecution):
        if operation.call_id is not None:
            retire(() if run is None else run.answers, operation.call_id)
        if run is not None and announced:
            live.begin_tool(run, operation)
        if scope != SCOPE:
            owner = (owner or frozenset()) | {execution_of(operation.name)}
    elif run is None:
        pass  # steps belong to runs
    elif isinstance(operation, MemoryOperation):
        live.begin_memory(run, operation)
    elif isinstance(operation, McpRequest) and _is_step(operation, parent):
        live.begin_request(run, operation)
    if owner:
        held = live.context.get(OWNER_KEY)
        if isinstance(held, frozenset):
            owner = owner | held
        live.context = set_value(OWNER_KEY, owner, live.context)
    if not content_follows:
        live.opened(operation)
    return live


def _note_last_call(span: trace.Span, operation: Operation) -> None:
    """Note a span outside any run, whose failure would be that of the program."""
    if isinstance(operation, (AgentInvocation, WorkflowInvocation)):
        settings.last_call = None  # a run has its own failure
    elif isinstance(operation, McpRequest):
        if operation.method == mcp.METHOD_TOOLS_CALL:
            settings.last_call = span.get_span_context()
    elif isinstance(operation, _STEPS):
        settings.last_call = span.get_span_context()


def _is_step(operation: McpRequest, parent: Context | None) -> bool:
    """Return whether a request is a tool call of the current run. It is not if the parent span is
    of that call already, nor on the side of the server.
    """
    if operation.side != "client" or operation.method != mcp.METHOD_TOOLS_CALL:
        return False
    return not executes_tool(parent)


def parent_for(context: Context) -> Context | None:
    """Return the context that a span started in another one has its parent in; None if telemetry is
    switched off or suppressed.
    """
    if not settings.enabled or context.get(SUPPRESS_KEY):
        return None
    ours = context.get(OURS_KEY)
    if ours is not None and ours is context.get(SPAN_KEY):
        return context
    if settings.inherited is not None and not parent_of(context):
        return Context({**settings.inherited, **context})
    return parent_of_our_provider(context)


def _start(
    operation: Operation, scope: str, parent: Context | None, start_ns: int | None
) -> LiveSpan | None:
    parent = parent_for(get_current() if parent is None else parent)
    if parent is None:
        return None
    name, kind, attributes = settings.dialect.draft(operation)
    if around := identity_for(operation, parent):
        attributes = {**around, **attributes}
    if case := case_attributes(parent):
        attributes = {**case, **attributes}
    tracer = settings.tracer(scope)
    if start_ns is None:
        start_ns = time_ns()
    clean_start(attributes)
    attributes = settings.dialect.named(attributes)
    span = start_span(tracer, span_name(name), parent, KINDS[kind], attributes, start_ns)
    live = LiveSpan(span, parent, start_ns)
    if live.recording:
        live.started = len(attributes)
    if live.recording and settings.repeat_times:
        live.essentials[agentool.SPAN_START_NS] = start_ns
        if kind != "INTERNAL":
            live.essentials[agentool.SPAN_KIND] = kind
        if live._parent_id:
            live.essentials[agentool.SPAN_PARENT_ID] = f"{live._parent_id:016x}"
    return live
