"""Copilot CLI's session files: `~/.copilot/session-state/<session>/events.jsonl`, line by line.

    {"type", "data", "id", "timestamp", "parentId", "agentId"}

    session.start            {"sessionId", "context": {"cwd"}}
    user.message             {"content", "interactionId", "messageId", "source"}
    session.usage_record     {"usage": {"apiCallId", "inputTokens", "duration", "finishReason"}}
    assistant.message        {"apiCallId", "content", "reasoningText", "toolRequests"}
    tool.execution_start     {"toolCallId", "toolName", "arguments"}
    tool.execution_complete  {"toolCallId", "success", "result": {"content"}, "error":
                              {"code", "message"}, "shellExecution": {"exitCode"}}
    subagent.started         {"toolCallId", "agentName"}
    session.error            {"errorType", "message", "originatingMessageId"}
    abort                    {"reason"}

- The lines of a sub-agent are in the same file, with `agentId`.
- A request that is sent again leaves no line; the one that ends a turn is a `session.error`.
- Only `user.message` without a source has what the user typed.

Source: files of Copilot CLI 1.0.102.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from agentool_otel.dialects.kit.session_entries import DENIED
from agentool_otel.ground import lazy_re as re
from agentool_otel.integrations.copilot.events.names import (
    FILE,
    INTERACTION,
    PARENT_CALL,
    SUB_AGENT,
)
from agentool_otel.model.messages import Part, message, reasoning, text, tool_call
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution, Usage
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.reading.sources.session_spans import SessionSpans, count_or_none
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Object

__all__ = ["CopilotSession"]

_SERVICE = "github-copilot"
_TYPE = re.compile(r"[a-z]+(\.[a-z_]+)+|abort")
_CANCELLED = "cancelled"
"""The error type that Copilot CLI's spans have."""
_MS = 1_000_000


class CopilotSession:
    """Turns the lines of one file into spans, in their order."""

    name = "sessions of Copilot CLI"
    members = ("copilotVersion",)

    def __init__(self) -> None:
        self._spans = SessionSpans(FILE, _SERVICE)
        self._session: str | None = None
        self._cwd: str | None = None
        self._turn: str | None = None
        """The user's turn that is under way."""
        self._called_by: dict[str, str] = {}
        """By sub-agent, the tool call that started it."""
        self._began_ns: dict[str | None, int | None] = {}
        """By sub-agent, when its model was called."""
        self._usage: dict[str, tuple[Object, Object]] = {}
        """By id of the response, the line with its token counts, and these."""
        self._calls: dict[str, tuple[ToolExecution, Object, str | None]] = {}
        """By id, calls without a result, each with its line and its turn."""
        self._failure: tuple[Object, str | None] | None = None
        """The line of an error that may have ended the turn, and the turn."""

    @staticmethod
    def recognises(event: Object) -> bool:
        """Return whether an object is a line of such a file."""
        kind = event.get("type")
        return (
            isinstance(kind, str)
            and "parentId" in event
            and isinstance(event.get("data"), dict)
            and isinstance(event.get("id"), str)
            and isinstance(event.get("timestamp"), str)
            and _TYPE.fullmatch(kind) is not None
        )

    def spans(self, event: Object) -> Iterator[SpanRecord]:
        """Yield the spans that a line completes."""
        data = v.obj(event.get("data"))
        match event.get("type"):
            case "session.start" | "session.resume":
                self._session = _text(data.get("sessionId")) or self._session
                self._cwd = _text(v.obj(data.get("context")).get("cwd"))
            case "user.message":
                yield from self._start_turn(event, data)
            case "assistant.turn_start":
                self._began_ns[_agent(event)] = _time_ns(event)
            case "session.usage_record":
                usage = v.obj(data.get("usage"))
                self._usage[v.text(usage.get("apiCallId"))] = event, usage
            case "assistant.message":
                self._failure = None
                yield self._model_call(event, data)
            case "tool.execution_start":
                self._start_call(event, data)
            case "tool.execution_complete":
                yield self._end_call(event, data)
            case "subagent.started" | "subagent.completed" | "subagent.failed":
                yield self._sub_agent(event, data)
            case "session.error":
                self._failure = event, self._turn
            case "abort":
                yield from self._cancel(event, data)
            case _:
                pass

    def rest(self) -> Iterator[SpanRecord]:
        """Yield the spans that were still open at the end of the file."""
        for event, usage in [*self._usage.values()]:
            yield self._model_call(event, {"apiCallId": usage.get("apiCallId")})
        for call, event, turn in self._calls.values():
            yield self._span(call, event, turn, call.call_id or "", _time_ns(event), None)
        yield from self._failed_turn()
        self._calls.clear()

    def _start_turn(self, event: Object, data: Object) -> Iterator[SpanRecord]:
        agent, source = _agent(event), _text(data.get("source"))
        if agent is None and source in (None, "user"):
            yield from self._failed_turn()
            self._turn = _text(data.get("interactionId")) or v.text(event.get("id"))
        elif agent is None:
            return  # of the harness
        words = _text(data.get("content"))
        operation = AgentInvocation(
            conversation_id=self._session,
            input=[message("user", [text(words)])] if words else None,
        )
        yield self._span(operation, event, self._turn, "prompt", _time_ns(event), None)

    def _failed_turn(self) -> Iterator[SpanRecord]:
        """Yield the end of a turn whose last model call has failed."""
        if self._failure is None:
            return
        (event, turn), self._failure = self._failure, None
        data = v.obj(event.get("data"))
        operation = AgentInvocation(
            conversation_id=self._session,
            error_type=_text(data.get("errorType")) or "_OTHER",
            error_message=_text(data.get("message")),
        )
        at_ns = _time_ns(event)
        yield self._span(operation, event, turn, "failure", None, at_ns)

    def _cancel(self, event: Object, data: Object) -> Iterator[SpanRecord]:
        """Yield the end of a turn that the user stopped, and of the calls that were under way."""
        agent, at_ns, reason = _agent(event), _time_ns(event), _text(data.get("reason"))
        for call_id, (call, started, turn) in [*self._calls.items()]:
            if agent is None or _agent(started) == agent:
                del self._calls[call_id]
                call = replace(call, error_type=_CANCELLED, error_message=reason)
                yield self._span(call, started, turn, call_id, _time_ns(started), at_ns)
        operation = AgentInvocation(
            conversation_id=self._session, error_type=_CANCELLED, error_message=reason
        )
        yield self._span(operation, event, self._turn, "abort", None, at_ns)

    def _model_call(self, event: Object, data: Object) -> SpanRecord:
        """Return the span of a model call: its message, and its token counts."""
        call_id = v.text(data.get("apiCallId"))
        counted, usage = self._usage.pop(call_id, (event, {}))
        model = _text(data.get("model")) or _text(usage.get("model"))
        reason = finish_reason(usage.get("finishReason"))
        parts = [*_parts(data)]
        operation = Inference(
            provider=_text(usage.get("providerType")),
            request_model=model,
            response_model=model,
            response_id=call_id or v.text(data.get("messageId")) or None,
            output=[message("assistant", parts)] if parts else None,
            finish_reasons=[reason] if reason else None,
            usage=_usage(usage),
            conversation_id=self._session,
        )
        end_ns, took = _time_ns(counted), count_or_none(usage.get("duration"))
        start_ns = self._began_ns.get(_agent(event), end_ns)
        if end_ns is not None and took is not None:
            start_ns = end_ns - took * _MS
        return self._span(
            operation, event, self._turn, operation.response_id or "", start_ns, end_ns
        )

    def _start_call(self, event: Object, data: Object) -> None:
        call_id = v.text(data.get("toolCallId"))
        call = ToolExecution(
            name=v.text(data.get("toolName")),
            call_id=call_id,
            arguments=data.get("arguments", UNSET),
            conversation_id=self._session,
        )
        self._calls[call_id] = call, event, self._turn

    def _end_call(self, event: Object, data: Object) -> SpanRecord:
        call_id = v.text(data.get("toolCallId"))
        known = ToolExecution(name="", call_id=call_id, conversation_id=self._session)
        call, started, turn = self._calls.pop(call_id, (known, event, self._turn))
        result, code = v.obj(data.get("result")), v.obj(data.get("shellExecution")).get("exitCode")
        call = replace(
            call, result=result.get("content", UNSET), exit_code=code if type(code) is int else None
        )
        if data.get("success") is False:
            error = v.obj(data.get("error"))
            kind = _text(error.get("code")) or "_OTHER"
            kind = DENIED if kind == "denied" else kind
            call = replace(call, error_type=kind, error_message=_text(error.get("message")))
        return self._span(call, event, turn, call_id, _time_ns(started), _time_ns(event))

    def _sub_agent(self, event: Object, data: Object) -> SpanRecord:
        """Return a span of a sub-agent: of its start, which names its call, or of its end."""
        agent, call = _agent(event) or v.text(data.get("toolCallId")), _text(data.get("toolCallId"))
        if call is not None:
            self._called_by[agent] = call
        error = data.get("error")
        described = error if isinstance(error, str) else _text(v.obj(error).get("message"))
        failed = event.get("type") == "subagent.failed"
        operation = AgentInvocation(
            agent_name=_text(data.get("agentName")),
            conversation_id=self._session,
            error_type="_OTHER" if failed else None,
            error_message=described if failed else None,
        )
        at_ns = _time_ns(event)
        started = event.get("type") == "subagent.started"
        key = v.text(event.get("type"))
        times = (at_ns, None) if started else (None, at_ns)
        return self._span(operation, event, self._turn, key, *times)

    def _span(
        self,
        operation: AgentInvocation | Inference | ToolExecution,
        event: Object,
        turn: str | None,
        key: str,
        start_ns: int | None,
        end_ns: int | None,
    ) -> SpanRecord:
        agent = _agent(event)
        names: dict[str, Any] = {INTERACTION: turn, SUB_AGENT: agent}
        if isinstance(operation, AgentInvocation):
            names |= {PARENT_CALL: self._called_by.get(agent or ""), "cwd": self._cwd}
        of = turn or self._session or ""
        return self._spans.span(operation, of, f"{agent or ''}\0{key}", start_ns, end_ns, names)


def _agent(event: Object) -> str | None:
    return _text(event.get("agentId"))


def _time_ns(event: Object) -> int | None:
    return v.time_ns(event.get("timestamp"))


def _parts(data: Object) -> Iterator[Part]:
    """Yield the parts of a model's message."""
    if (thought := _text(data.get("reasoningText"))) is not None:
        yield reasoning(thought)
    if (words := _text(data.get("content"))) is not None:
        yield text(words)
    for asked in map(v.obj, v.array(data.get("toolRequests"))):
        arguments = asked.get("arguments")
        yield tool_call(v.text(asked.get("name")), arguments, _text(asked.get("toolCallId")))


def _usage(counts: Object) -> Usage | None:
    """Return token counts: those of the input include cached ones, of the output reasoning."""
    usage = Usage(
        input_tokens=count_or_none(counts.get("inputTokens")),
        output_tokens=count_or_none(counts.get("outputTokens")),
        cache_read_tokens=count_or_none(counts.get("cacheReadTokens")),
        cache_write_tokens=count_or_none(counts.get("cacheWriteTokens")),
        reasoning_tokens=count_or_none(counts.get("reasoningTokens")),
    )
    return usage if usage != Usage() else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
