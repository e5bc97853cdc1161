"""opencode's sessions, as `opencode export` prints them: a session is one document.

    {"info": {"id", "parentID", "directory", "agent"},
     "messages": [{"info": {"role", "id", "parentID", "tokens", "error", "finish", "time"},
                   "parts": [{"type": "text", "text"},
                             {"type": "tool", "callID", "tool",
                              "state": {"status", "input", "output", "error", "metadata"}},
                             {"type": "step-finish", "reason", "tokens"}]}]}

- A message of the assistant is a model call, and the tools that it asked for; from `step-start` to
  `step-finish` if it has several.
- A sub-agent is a session of its own with `parentID`. `metadata.sessionId` of the tool that started
  it is its id.
- A session that was forked begins with copies of the messages of the other one, which have ids of
  their own and the times of the originals: before the session was created.
- Texts with `synthetic` are the harness's.
- Input tokens exclude cached ones, output tokens exclude reasoning.

Source: exports of opencode 1.18.33.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from agentool_otel.dialects.kit.session_entries import DENIED
from agentool_otel.integrations.opencode.events.names import (
    AGENT,
    CALL,
    FILE,
    PARENT,
    SESSION,
    TURN,
)
from agentool_otel.integrations.opencode.events.outputs import (
    exit_code,
    is_denial,
    returned,
    with_error,
)
from agentool_otel.integrations.opencode.events.records import typed
from agentool_otel.model.messages import Part, message, reasoning, text, tool_call
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution, Usage
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.reading.sources.session_spans import SessionSpans, count_or_none
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Object

__all__ = ["OpenCodeSession"]

_MS = 1_000_000


class OpenCodeSession:
    """Turns exports into spans."""

    name = "sessions of opencode"
    members = ("projectID",)

    @staticmethod
    def recognises(event: Object) -> bool:
        """Return whether an object is an export."""
        info, messages = event.get("info"), event.get("messages")
        return (
            isinstance(info, dict)
            and isinstance(messages, list)
            and isinstance(info.get("id"), str)
            and isinstance(info.get("time"), dict)
            and ("directory" in info or "projectID" in info)
        )

    def spans(self, event: Object) -> Iterator[SpanRecord]:
        """Yield the spans of a session."""
        yield from _Export(v.obj(event.get("info"))).spans(v.array(event.get("messages")))

    def rest(self) -> Iterator[SpanRecord]:
        """Yield nothing: a document is whole."""
        yield from ()


class _Export:
    """The session of one document."""

    def __init__(self, info: Object):
        self._spans = SessionSpans(FILE, AGENT)
        self._session = v.text(info.get("id"))
        self._parent = _text(info.get("parentID"))
        self._agent = _text(info.get("agent")) if self._parent is not None else None
        self._cwd = _text(info.get("directory"))
        self._created_ns = _ns(v.obj(info.get("time")).get("created")) or 0
        self._turn = self._session
        """Id of the prompt that is under way."""
        self._turn_of: dict[str, str] = {}
        """By id of a message of the user, the prompt that it belongs to."""

    def spans(self, messages: list[Any]) -> Iterator[SpanRecord]:
        """Yield the spans of all messages, without the copies from the session that this one was
        forked from, which has them."""
        for item in map(v.obj, messages):
            info, parts = v.obj(item.get("info")), [*map(v.obj, v.array(item.get("parts")))]
            if self._is_copy(info):
                continue
            if info.get("role") == "user":
                yield from self._prompt(info, parts)
            elif info.get("role") == "assistant":
                turn = self._turn_of.get(v.text(info.get("parentID")), self._turn)
                steps = [*_steps(parts)]
                for number, step in enumerate(steps):
                    yield self._model_call(info, step, turn, number, len(steps))
                    for part in step:
                        if part.get("type") == "tool":
                            yield from self._tool(part, turn)

    def _is_copy(self, info: Object) -> bool:
        at_ns = _ns(v.obj(info.get("time")).get("created"))
        return at_ns is not None and at_ns < self._created_ns

    def _prompt(self, info: Object, parts: list[Object]) -> Iterator[SpanRecord]:
        own = v.text(info.get("id"))
        words = [v.text(p.get("text")) for p in parts if p.get("type") == "text" and _is_typed(p)]
        has_file = any(part.get("type") == "file" for part in parts)
        if not words and not has_file:
            self._turn_of[own] = self._turn  # the harness goes on by itself
            return
        self._turn = self._turn_of[own] = own
        operation = AgentInvocation(
            agent_name=self._agent,
            conversation_id=self._session,
            input=[message("user", [text(typed("\n".join(words)))])] if words else None,
        )
        yield self._span(operation, own, "", _ns(v.obj(info.get("time")).get("created")), None)

    def _model_call(
        self, info: Object, step: list[Object], turn: str, number: int, count: int
    ) -> SpanRecord:
        """Return the span of a model call.

        Args:
            step: the parts of the message that are of this call.
            turn: the prompt that it belongs to.
            number: its place in the message.
            count: the calls of the message.
        """
        times, is_last = v.obj(info.get("time")), number == count - 1
        finish = next((part for part in step if part.get("type") == "step-finish"), {})
        reason = finish_reason(finish.get("reason") or (info.get("finish") if is_last else None))
        error = v.obj(info.get("error")) if is_last else {}
        data = v.obj(error.get("data"))
        status = data.get("statusCode")
        kind = str(status) if type(status) is int else _text(error.get("name"))
        parts = [*_parts(step)]
        start_ns = _ns(times.get("created")) if number == 0 else _times(step)[0]
        end_ns = _ns(times.get("completed")) if is_last else _times(step)[1]
        model = _text(info.get("modelID"))
        operation = Inference(
            provider=_text(info.get("providerID")),
            request_model=model,
            response_model=model,
            output=[message("assistant", parts)] if parts else None,
            finish_reasons=[reason] if reason else None,
            usage=_usage(v.obj(finish.get("tokens"))),
            cost_usd=_cost(finish.get("cost")),
            conversation_id=self._session,
            error_type=kind,
            error_message=_text(data.get("message")),
        )
        key = f"{v.text(info.get('id'))} {number}"
        return self._span(operation, turn, key, start_ns, end_ns)

    def _tool(self, part: Object, turn: str) -> Iterator[SpanRecord]:
        """Yield the span of a tool call, and one that places the sub-agent that it started."""
        state = v.obj(part.get("state"))
        metadata, times = v.obj(state.get("metadata")), v.obj(state.get("time"))
        call_id, start_ns, end_ns = (
            v.text(part.get("callID")),
            _ns(times.get("start")),
            _ns(times.get("end")),
        )
        arguments = state.get("input", UNSET)
        call = ToolExecution(
            name=v.text(part.get("tool")),
            call_id=call_id,
            arguments=arguments,
            conversation_id=self._session,
            exit_code=exit_code(metadata),
        )
        if state.get("status") == "completed":
            result = returned(state.get("output", UNSET), metadata)
            call = with_error(replace(call, result=result))
        elif state.get("status") == "error":
            words = _text(state.get("error"))
            kind = DENIED if is_denial(words) else "tool_error"
            call = replace(call, error_type=kind, error_message=words)
        started = _text(metadata.get("sessionId"))
        if started is not None:
            named = _text(v.obj(arguments).get("subagent_type"))
            agent = AgentInvocation(agent_name=named, conversation_id=started)
            span = self._span(agent, turn, started, start_ns, None)
            span.attributes |= {SESSION: started, PARENT: self._session, CALL: call_id}
            yield span
        yield self._span(call, turn, call_id, start_ns, end_ns)

    def _span(
        self,
        operation: AgentInvocation | Inference | ToolExecution,
        turn: str,
        key: str,
        start_ns: int | None,
        end_ns: int | None,
    ) -> SpanRecord:
        names: dict[str, Any] = {SESSION: self._session, PARENT: self._parent, TURN: turn}
        if isinstance(operation, AgentInvocation):
            names["cwd"] = self._cwd
        return self._spans.span(operation, turn, key, start_ns, end_ns, names)


def _steps(parts: list[Object]) -> Iterator[list[Object]]:
    """Yield the parts of each model call of a message."""
    step: list[Object] = []
    for part in parts:
        if part.get("type") == "step-start" and any(p.get("type") == "step-finish" for p in step):
            yield step
            step = []
        step.append(part)
    yield step


def _parts(step: list[Object]) -> Iterator[Part]:
    """Yield the parts of a model's message."""
    for part in step:
        words = _text(part.get("text"))
        if part.get("type") == "tool":
            name, call_id = v.text(part.get("tool")), _text(part.get("callID"))
            yield tool_call(name, v.obj(part.get("state")).get("input"), call_id)
        elif words is not None and part.get("type") == "reasoning":
            yield reasoning(words)
        elif words is not None and part.get("type") == "text" and not part.get("synthetic"):
            yield text(words)


def _is_typed(part: Object) -> bool:
    return not part.get("synthetic") and not part.get("ignored")


def _times(step: list[Object]) -> tuple[int | None, int | None]:
    """Return the first and the last time of parts."""
    times = [v.obj(part.get("time") or v.obj(part.get("state")).get("time")) for part in step]
    starts = [_ns(time.get("start")) for time in times]
    ends = [_ns(time.get("end")) for time in times]
    return min(filter(None, starts), default=None), max(filter(None, ends), default=None)


def _usage(counts: Object) -> Usage | None:
    """Return token counts: those of an export are of disjoint kinds."""
    cache = v.obj(counts.get("cache"))
    read, written = count_or_none(cache.get("read")), count_or_none(cache.get("write"))
    thought = count_or_none(counts.get("reasoning"))
    usage = Usage(
        input_tokens=_sum(count_or_none(counts.get("input")), read, written),
        output_tokens=_sum(count_or_none(counts.get("output")), thought),
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=thought,
    )
    return usage if usage != Usage() else None


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _cost(value: Any) -> float | None:
    """Return a cost; opencode has 0 where it knows no price."""
    return float(value) if type(value) in (int, float) and value > 0 else None


def _ns(value: Any) -> int | None:
    return value * _MS if type(value) is int and value > 0 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
