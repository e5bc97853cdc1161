"""Facts about a decorated callable, and its calls in progress.

Names, argument names and the attributes that never change are worked out once; a call only adds its
own values. Sites can be pickled, because decorated callable objects can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import time_ns
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from opentelemetry.context import Context, get_current

from agentool_otel.content.policy import as_text, encode, label, masked_description
from agentool_otel.ground.interruptions import is_interruption
from agentool_otel.ground.json_codec import loads
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import (
    AgentInvocation,
    MemoryOperation,
    Operation,
    ToolExecution,
    records_in,
)
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.capture._arguments import Arguments, name_of, pick, summary_of
from agentool_otel.tracing.capture.generators import Call, Collected
from agentool_otel.tracing.capture.labels import labels, metadata_text
from agentool_otel.tracing.spans.direct_agent import Agent, DirectAgentSpan
from agentool_otel.tracing.spans.direct_call import Direct, Sharing
from agentool_otel.tracing.spans.direct_tool import DirectToolSpan
from agentool_otel.tracing.spans.exceptions import failed_status
from agentool_otel.tracing.spans.failure import cut_off
from agentool_otel.tracing.spans.live import OWNER_KEY, LiveSpan, begin, parent_for
from agentool_otel.tracing.spans.live_tool import Tool, ToolSpan
from agentool_otel.tracing.spans.run import RUN_KEY, current_run
from agentool_otel.tracing.spans.settings import contain, guarded, settings
from agentool_otel.tracing.spans.step_spans import StepSpan

if TYPE_CHECKING:
    from agentool_otel.tracing.loops.loop import Loop

__all__ = ["AgentSite", "StepSite", "StepType", "ToolSite", "add_reasoning"]

StepType = Literal[
    "reasoning", "tool_call", "tool_result", "handoff", "memory_read", "memory_write"
]

_LEFT = "closed"
"""Value of `agentool.interrupted` for a call whose caller stopped early."""
_NOTHING: Mapping[str, Any] = {}
_NULL_OUTPUT = {agentool.OUTPUT: "null"}


class ToolSite:
    """One decorated tool."""

    __slots__ = ("_arguments", "_sharing", "_starting", "finishing", "tool")

    def __init__(
        self, target: Callable[..., Any], name: str | None, description: str | None, kind: str
    ):
        self._arguments = Arguments(target)
        operation = ToolExecution(
            name=label(name or name_of(target)),
            tool_type=kind,
            description=masked_description(
                summary_of(target) if description is None else description
            ),
        )
        self.tool = Tool(operation)
        self._sharing = Sharing()
        self._starting = f"starting tool {operation.name}"
        self.finishing = f"finishing tool {operation.name}"

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
        call: _ToolCall | _DirectCall | None = None
        try:
            outer = get_current()
            parent = parent_for(outer)
            if parent is None:
                return None
            loop: Loop | None = None
            if settings.on_end is not None and parent.get(RUN_KEY) is None:
                loop = self._loop(args, kwargs)
                parent = parent if loop is None else loop.inside(parent)
            tool, sharing = self.tool, self._sharing
            if settings.writer is not sharing.writer and sharing.is_due():
                sharing.make(tool.shared, tool.span_name, tool.kind)
            direct = sharing.direct
            if direct is None or parent.get(OWNER_KEY) is not None:
                call = _ToolCall(self.tool, parent)
                call.site, call.outer, call.loop = self, outer, loop
                if call.recording:
                    call.called(self._arguments.bind(args, kwargs))
                return call
            bound = self._arguments.bind(args, kwargs)
            arguments = settings.policy.encoded(gen_ai.TOOL_CALL_ARGUMENTS, bound)
            call = begun = _DirectCall()
            begun.site, begun.outer, begun.loop = self, outer, loop
            if not begun.begin(direct, tool, parent, bound, arguments):
                call = _ToolCall(self.tool, parent)
                call.site, call.outer, call.loop = self, outer, loop
                if call.recording:
                    call.called_with(bound, arguments)
            return call
        except Exception as error:
            span = getattr(call, "span", None)
            if span is not None and is_interruption(error):
                cut_off(span, error)
            contain(error, self._starting)
            return None

    def _loop(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Loop | None:
        """Return the plain loop that requests a call."""
        from agentool_otel.tracing.loops.placement import tool_loop  # few programs have one

        bound = self._arguments.bind
        return tool_loop(self.tool.name, lambda: loads(encode(bound(args, kwargs))))


class AgentSite:
    """One decorated agent."""

    __slots__ = (
        *("_agent", "_arguments", "_description", "_labels", "_metadata", "_name", "_session_id"),
        *("_sharing", "_starting", "finishing"),
    )

    def __init__(
        self,
        target: Callable[..., Any],
        name: str | None,
        description: str | None,
        session_id: str | None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ):
        self._arguments = Arguments(target)
        self._name = label(name or name_of(target))
        self._labels = labels(tags)
        self._metadata = metadata
        self._description = masked_description(description)
        self._session_id = session_id
        self._starting = f"starting agent {self._name}"
        self.finishing = f"finishing agent {self._name}"
        self._sharing = Sharing()
        self._agent: Agent | None = None

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
        try:
            bound = self._arguments.bind(args, kwargs)
            conversation = self._session_id
            for key in ("session_id", "conversation_id"):
                if conversation is None and type(bound.get(key)) is str:
                    conversation = bound.pop(key)
            given = list(bound.values())
            value = given[0] if len(given) == 1 else bound
            if conversation is None and not self._metadata and given:
                sharing = self._sharing
                if settings.writer is not sharing.writer and sharing.is_due():
                    self._agent = agent = Agent(self._operation())
                    sharing.make(agent.shared, agent.span_name, agent.kind)
                direct = sharing.direct
                if direct is not None and (run := self._begin_direct(direct, value)) is not None:
                    return run
            operation = self._operation(None if conversation is None else label(conversation))
            return _OperationCall.start(
                operation,
                _answer_of,
                lambda: {"input": _as_messages("user", value)} if given else {},
                self._metadata,
            )
        except Exception as error:
            contain(error, self._starting)
            return None

    def _operation(self, conversation: str | None = None) -> AgentInvocation:
        return AgentInvocation(
            agent_name=self._name,
            agent_description=self._description,
            conversation_id=conversation,
            extra=self._labels,
        )

    def _begin_direct(self, direct: Direct, value: Any) -> _DirectRun | None:
        """Begin a direct run; None where it is an unusual one."""
        outer = get_current()
        parent = parent_for(outer)
        if parent is None or self._agent is None:
            return None
        run = _DirectRun(direct, self._agent, parent)
        run.site, run.outer = self, outer
        question = None
        if value is not None and settings.policy.capture:
            question = value if type(value) is str else as_text(value)
        try:
            return run if run.begin(question) else None
        except Exception as error:
            span = getattr(run, "span", None)
            if span is not None and is_interruption(error):
                cut_off(span, error)
            raise


def _answer_of(result: Any) -> dict[str, Any]:
    """Return the result of an agent as fields of its operation."""
    return {"output": _as_messages("assistant", result)}


class StepSite:
    """One callable decorated as a step that is not a tool."""

    __slots__ = ("_arguments", "_kind", "_name", "_starting")

    def __init__(self, target: Callable[..., Any], kind: StepType, name: str | None):
        self._arguments = Arguments(target)
        self._kind = kind
        self._name = name
        self._starting = guarded(f"starting a {kind} step")

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
        with self._starting:
            bound = self._arguments.bind(args, kwargs)
            match self._kind:
                case "reasoning":
                    return _ReasoningCall()
                case "memory_read":
                    query = pick(bound, "query", 0)
                    return _OperationCall.start(
                        MemoryOperation(operation="search_memory", store_id=self._name),
                        _found,
                        lambda: {"query": as_text(query)},
                    )
                case "memory_write":
                    content = pick(bound, "content", None, "value")
                    key = bound.get("key")
                    return _OperationCall.start(
                        MemoryOperation(
                            operation="upsert_memory",
                            store_id=self._name,
                            record_id=None if key is None else label(key),
                            record_count=1,
                        ),
                        lambda _: {},
                        lambda: {"content": _json(content)},
                    )
                case _:
                    target_agent = label(pick(bound, "to_agent", 0, "agent"))
                    said = pick(bound, "message", 1)
                    return _OperationCall.start(
                        ToolExecution(
                            name=f"transfer_to_{target_agent}",
                            tool_type="function",
                            transfer_target=target_agent,
                        ),
                        lambda result: {"result": _json(result)},
                        lambda: {"transfer_message": None if said is None else as_text(said)},
                    )
        return None


# ----------------------------------------------------------------------------- calls in progress


class _ToolCall(ToolSpan):
    """One call of a decorated tool."""

    __slots__ = ("loop", "outer", "site")
    loop: Loop | None
    """The plain loop that requests it."""
    outer: Context
    site: ToolSite

    def end(self, result: str | None, error: BaseException | None) -> None:
        super().end(result, error)
        _leave(self)

    def returned(self, value: Any) -> None:
        try:
            if self.recording:
                if type(value) is Collected:
                    value = value.all()
                self.end(self.encoded_result(value), None)
            else:
                self.end(None, None)
        except Exception as error:
            contain(error, self.site.finishing)

    def raised(self, error: BaseException) -> None:
        try:
            self.end(None, error)
        except Exception as ours:
            contain(ours, self.site.finishing)

    def abandoned(self, yielded: Collected | None) -> None:
        self.interrupted(_LEFT)
        self.returned(yielded)


class _DirectCall(DirectToolSpan):
    """One call of a decorated tool that is direct."""

    __slots__ = ("loop", "outer", "site")
    loop: Loop | None
    """The plain loop that requests it."""
    outer: Context
    site: ToolSite
    recording = True

    def returned(self, value: Any) -> None:
        try:
            if type(value) is Collected:
                value = value.all()
            result = settings.policy.encoded(gen_ai.TOOL_CALL_RESULT, value)
            if not self.end(result):
                self._usual().end(result, None)
            elif self.loop is not None:
                _leave(self)
        except Exception as error:
            contain(error, self.site.finishing)

    def raised(self, error: BaseException) -> None:
        with guarded(self.site.finishing):
            self._usual().raised(error)

    def abandoned(self, yielded: Collected | None) -> None:
        with guarded(self.site.finishing):
            self._usual().abandoned(yielded)

    def _usual(self) -> _ToolCall:
        """Return the same call as one that is not direct."""
        call = _ToolCall.__new__(_ToolCall)
        call.site, call.outer, call.loop = self.site, self.outer, self.loop
        self.loop = None
        call.resume(self)
        self.has_ended = True
        return call


def _leave(call: _ToolCall | _DirectCall) -> None:
    """Note that a tool of a plain loop has ended."""
    loop, call.loop = call.loop, None
    if loop is not None:
        from agentool_otel.tracing.loops.open_loops import open_loops  # few programs have one

        open_loops.tool_ended(loop)


class _DirectRun(DirectAgentSpan):
    """One run of a decorated agent that is direct."""

    __slots__ = ("outer", "site")
    outer: Context
    site: AgentSite
    recording = True

    def returned(self, value: Any) -> None:
        try:
            if type(value) is not str or not self.end(value if settings.policy.capture else None):
                self._usual().returned(value)
        except Exception as error:
            contain(error, self.site.finishing)

    def raised(self, error: BaseException) -> None:
        with guarded(self.site.finishing):
            self._usual().raised(error)

    def abandoned(self, yielded: Collected | None) -> None:
        with guarded(self.site.finishing):
            self._usual().abandoned(yielded)

    def _usual(self) -> _OperationCall:
        """Return the same run as one that is not direct."""
        messages = self.facts.messages
        known = {} if messages is None else {"input": loads(messages)}
        operation = msgspec.structs.replace(self.agent.operation, **known)
        step = StepSpan(LiveSpan.resumed(self, operation), operation, operation.kind, self.parent)
        if self.has_ended:
            step.forget()
        self.has_ended = True
        call = _OperationCall(step, _answer_of)
        call.outer = self.outer
        return call


class _OperationCall:
    """One call that is an agent run, a memory operation or a handoff."""

    __slots__ = ("_finish", "_step", "context", "outer")

    def __init__(self, step: StepSpan, finish: Callable[[Any], dict[str, Any]]):
        self.outer = get_current()
        self._step = step
        self._finish = finish
        self.context = step.context

    @classmethod
    def start(
        cls,
        operation: Operation,
        finish: Callable[[Any], dict[str, Any]],
        content: Callable[[], dict[str, Any]],
        metadata: Mapping[str, Any] | None = None,
    ) -> _OperationCall | None:
        """Begin the operation; None where telemetry is off.

        Args:
            operation: what is known of it, without content.
            finish: returns what the result adds to it.
            content: returns its content, which is encoded now, but only if something needs it.
            metadata: metadata of the run.
        """
        live = begin(operation, content_follows=True)
        if live is None:
            return None
        try:
            step = StepSpan(live, operation, operation.kind)
            step.mark(metadata_text(metadata))
            step.open(content)
            return cls(step, finish)
        except Exception as error:
            if is_interruption(error):
                live.cut_off(error)
            raise

    @property
    def recording(self) -> bool:
        return self._step.recording

    def returned(self, value: Any) -> None:
        self._succeeded(value, is_whole=True)

    def raised(self, error: BaseException) -> None:
        self._step.end(error, extra=self._status(failed_status(error)))

    def abandoned(self, yielded: Collected | None) -> None:
        # A mark, not an interruption: whoever stops early has what was wanted.
        self._step.mark({agentool.INTERRUPTED: _LEFT})
        self._succeeded(yielded, is_whole=False)

    def _succeeded(self, value: Any, is_whole: bool) -> None:
        step = self._step
        extra = self._status("success")
        with guarded(f"reading the result of {step.operation.kind}"):
            if step.recording:
                result = value.joined() if type(value) is Collected else value
                step.set(**self._finish(result))
            if is_whole and isinstance(step.operation, AgentInvocation):
                extra |= _output_of(value)
        step.end(extra=extra)

    def _status(self, status: str) -> dict[str, Any]:
        is_agent = isinstance(self._step.operation, AgentInvocation)
        return {agentool.STATUS: status} if is_agent else {}


class _ReasoningCall:
    """One call whose result is a thought of the current agent."""

    __slots__ = ("_done", "context", "outer", "recording")

    def __init__(self) -> None:
        self.context = self.outer = get_current()
        self.recording = current_run(self.context) is not None
        self._done = False

    def returned(self, value: Any) -> None:
        if self._done:
            return
        self._done = True
        with guarded("recording a reasoning step"):
            run = current_run(self.context)
            if run is not None:
                if type(value) is Collected:
                    value = value.joined()
                add_reasoning(run, as_text(value))

    def raised(self, error: BaseException) -> None:
        """Record nothing: there is no thought, and the run's own span has the error."""
        self._done = True

    def abandoned(self, yielded: Collected | None) -> None:
        """Record the reasoning collected before the stream was abandoned, if any."""
        if yielded is None:
            self._done = True
        else:
            self.returned(yielded)


def add_reasoning(run: Any, content: str, context_tokens: int | None = None) -> None:
    """Add a thought that has no span of its own to a run's timeline."""
    said: dict[str, Any] = {agentool.STEP_CONTENT: content}
    settings.policy.clean(said)
    settings.policy.fit(said)
    if context_tokens is not None:
        said[agentool.STEP_CONTEXT_TOKENS] = context_tokens
    beside = agentool.STEP_CONTENT in said and not settings.policy.on_spans
    add = run.timeline.add_beside if beside else run.timeline.add
    add(run.timeline.next_index(), "reasoning", time_ns(), said)


# -------------------------------------------------------------------------------------- helpers


def _found(results: Any) -> dict[str, Any]:
    """Return the results of a memory search as attributes."""
    plain = _json(results)
    return {"results": plain, "record_count": records_in(plain)}


def _json(value: Any) -> Any:
    from agentool_otel.content.policy import jsonable

    return jsonable(value)


def _output_of(value: Any) -> Mapping[str, Any]:
    """Return the output of an agent that is not text as an attribute. None is an output, too: a
    rebuild looks for no other.
    """
    if type(value) is str or type(value) is Collected or not settings.policy.capture:
        return _NOTHING
    if value is None:
        return _NULL_OUTPUT
    plain = _json(value)
    return _NOTHING if type(plain) is str else {agentool.OUTPUT: encode(plain)}


def _as_messages(role: str, value: Any) -> list[dict[str, Any]] | None:
    """Return a run's input or output as one message; None without content."""
    if value is None or not settings.policy.capture:
        return None
    return [message(role, [text(as_text(value))])]
