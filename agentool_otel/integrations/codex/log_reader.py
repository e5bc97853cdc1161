"""Codex' session files: `~/.codex/sessions/Y/M/D/rollout-<time>-<thread>.jsonl`.

    {"type": "session_meta", "payload": {"id", "session_id", "parent_thread_id", "cwd"}}
    {"type": "event_msg", "payload": {"type": "task_started", "turn_id", "trace_id"}}
    {"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "UserMessage"}}}
    {"type": "response_item", "payload": {"type": "message", "role", "content"}}
    {"type": "response_item", "payload": {"type": "function_call", "call_id", "name", "arguments"}}
    {"type": "token_usage_record", "payload": {"response_id", "usage"}}
    {"type": "event_msg", "payload": {"type": "task_complete", "last_agent_message", "error"}}

- Every line has a `timestamp`.
- The items of a response come before its token counts, and those of its tools' outputs after.
- Texts are there twice, as items of the model's API and as items of Codex' own, which have the exit
  codes of commands. User messages of the model's API hold context as well as prompts.
- A sub-agent has a file of its own, whose `session_id` is that of the session it works for.

Source: files of Codex 0.169.0 and 0.171.0; older ones have `user_message` events, and counts in
`token_count` events alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.integrations.codex.events.names import AGENT, FILE
from agentool_otel.integrations.codex.events.outputs import ended, exit_code_in, output_text
from agentool_otel.model.messages import Part, message, reasoning, text
from agentool_otel.model.messages import tool_call as call_part
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution, Usage
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.session_spans import SessionSpans, count_or_none
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Object

__all__ = ["CodexSession"]

_TYPES = frozenset({
    "compacted", "event_msg", "response_item", "session_meta", "token_usage_record",
    "turn_context", "world_state",
})  # fmt: skip
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})


class CodexSession:
    """Turns the lines of one file into spans, in their order."""

    name = "sessions of Codex"
    members = ("session_meta", "response_item", "event_msg")

    def __init__(self) -> None:
        self._spans = SessionSpans(FILE, AGENT)
        self._thread = self._session = ""
        self._parent: str | None = None
        self._role: str | None = None
        self._cwd: str | None = None
        self._turn, self._trace, self._model = "", "", ""
        self._has_prompt = self._has_records = False
        self._last_ns: int | None = None
        """When the last item came that the next response answers."""
        self._parts: list[Part] = []
        """What the response under way has said."""
        self._parts_ns: int | None = None
        self._calls: dict[str, tuple[ToolExecution, str, int | None]] = {}
        """By id, calls without an output, each with its turn and its start."""
        self._items: dict[str, Object] = {}
        """By id, what Codex' own items have of a call."""

    @staticmethod
    def recognises(event: Object) -> bool:
        """Return whether an object is a line of such a file."""
        return (
            isinstance(event.get("timestamp"), str)
            and isinstance(event.get("payload"), dict)
            and isinstance(event.get("type"), str)
            and (event["type"] in _TYPES or "ordinal" in event)
        )

    def spans(self, event: Object) -> Iterator[SpanRecord]:
        """Yield the spans that a line completes."""
        payload, at_ns = v.obj(event.get("payload")), v.time_ns(event.get("timestamp"))
        kind = v.text(event.get("type"))
        if kind == "session_meta":
            self._read_meta(payload)
        elif kind == "turn_context":
            self._model = v.text(payload.get("model")) or self._model
        elif kind == "response_item":
            yield from self._read_item(payload, at_ns)
        elif kind == "token_usage_record":
            self._has_records = True
            yield self._end_response(v.obj(payload.get("usage")), at_ns, payload)
        elif kind == "event_msg":
            yield from self._read_event(payload, at_ns)

    def rest(self) -> Iterator[SpanRecord]:
        """Yield the spans that were still open at the end of the file."""
        if self._parts:
            yield self._end_response({}, self._parts_ns, {})
        for call_id, (call, turn, start_ns) in self._calls.items():
            yield self._span(call, turn, call_id, start_ns, None)
        self._calls.clear()

    # ----------------------------------------------------------------------------------- lines

    def _read_meta(self, payload: Object) -> None:
        self._thread = v.text(payload.get("id"))
        self._session = v.text(payload.get("session_id")) or self._thread
        self._parent = v.text(payload.get("parent_thread_id")) or None
        if self._parent is None and self._session != self._thread:
            self._parent = self._session
        self._cwd = v.text(payload.get("cwd")) or None
        spawn = v.obj(v.obj(v.obj(payload.get("source")).get("subagent")).get("thread_spawn"))
        self._role = v.text(spawn.get("agent_role")) or None

    def _read_event(self, payload: Object, at_ns: int | None) -> Iterator[SpanRecord]:
        kind = v.text(payload.get("type"))
        if kind == "task_started":
            self._start_turn(v.text(payload.get("turn_id")), v.text(payload.get("trace_id")))
            self._last_ns = at_ns
        elif kind == "user_message":
            yield from self._prompt(v.text(payload.get("message")), at_ns)
        elif kind == "item_completed":
            item = v.obj(payload.get("item"))
            self._items[v.text(item.get("id"))] = item
            if item.get("type") == "UserMessage":
                content = map(v.obj, v.array(item.get("content")))
                words = "\n".join(filter(None, (v.text(part.get("text")) for part in content)))
                yield from self._prompt(words, at_ns)
        elif kind == "token_count" and not self._has_records and self._parts:
            counts = v.obj(v.obj(payload.get("info")).get("last_token_usage"))
            yield self._end_response(counts, at_ns, {})
        elif kind in ("task_complete", "turn_aborted"):
            yield from self._end_turn(payload, at_ns)

    def _start_turn(self, turn: str, trace: str) -> None:
        self._turn, self._trace, self._has_prompt = turn, trace, False

    def _prompt(self, words: str, at_ns: int | None) -> Iterator[SpanRecord]:
        if self._has_prompt:
            return  # said while the turn went on
        if not self._turn:
            self._start_turn(f"{self._thread} {at_ns}", "")
        self._has_prompt, self._last_ns = True, at_ns
        operation = AgentInvocation(
            agent_name=None if self._parent else AGENT,
            conversation_id=self._session,
            input=[message("user", [text(words)])],
        )
        yield self._span(operation, self._turn, "", at_ns, None)

    def _end_turn(self, payload: Object, at_ns: int | None) -> Iterator[SpanRecord]:
        turn, error = self._turn, v.obj(payload.get("error"))
        if error:
            failed = v.obj(json_or_text(error.get("message")))
            words = v.text(v.obj(failed.get("error")).get("message"))
            call = Inference(
                provider="openai",
                request_model=self._model or None,
                error_type=v.text(error.get("codex_error_info")) or "_OTHER",
                error_message=words or v.text(error.get("message")),
                conversation_id=self._session,
            )
            yield self._span(call, turn, "error", self._last_ns, at_ns)
        elif payload.get("type") == "turn_aborted":
            reason = v.text(payload.get("reason")) or "interrupted"
            aborted = AgentInvocation(
                conversation_id=self._session, error_type=reason, error_message=None
            )
            yield self._span(aborted, turn, "end", None, at_ns)
        else:
            answer = v.text(payload.get("last_agent_message"))
            operation = AgentInvocation(
                conversation_id=self._session,
                output=[message("assistant", [text(answer)])] if answer else None,
            )
            yield self._span(operation, turn, "end", None, at_ns)

    def _read_item(self, payload: Object, at_ns: int | None) -> Iterator[SpanRecord]:
        kind = v.text(payload.get("type"))
        if kind in _OUTPUTS:
            yield from self._end_call(payload, at_ns)
            self._last_ns = at_ns
            return
        part: Part | None = None
        if kind == "message" and payload.get("role") == "assistant":
            content = map(v.obj, v.array(payload.get("content")))
            part = text("\n".join(v.text(block.get("text")) for block in content))
        elif kind == "reasoning":
            blocks = [*v.array(payload.get("summary")), *v.array(payload.get("content"))]
            words = "\n".join(filter(None, (v.text(v.obj(block).get("text")) for block in blocks)))
            part = reasoning(words) if words else None
        elif kind in _CALLS:
            part = self._start_call(payload, _CALLS[kind], at_ns)
        if part is not None:
            self._parts.append(part)
            self._parts_ns = at_ns

    def _start_call(self, payload: Object, member: str, at_ns: int | None) -> Part:
        name, call_id = v.text(payload.get("name")), v.text(payload.get("call_id"))
        arguments = json_or_text(payload[member]) if member in payload else UNSET
        call = ToolExecution(
            name=name, call_id=call_id, arguments=arguments, conversation_id=self._session
        )
        self._calls[call_id] = (call, self._turn, at_ns)
        return call_part(name, None if arguments is UNSET else arguments, call_id)

    def _end_call(self, payload: Object, at_ns: int | None) -> Iterator[SpanRecord]:
        call_id = v.text(payload.get("call_id"))
        known = ToolExecution(name="", call_id=call_id, conversation_id=self._session)
        call, turn, start_ns = self._calls.pop(call_id, (known, self._turn, at_ns))
        item = self._items.pop(call_id, {})
        sent = payload.get("output")
        returned = item.get("aggregated_output")
        if not isinstance(returned, str):
            returned = json_or_text(output_text(sent))
        code = item.get("exit_code")
        exit_code = code if type(code) is int else exit_code_in(sent)
        status = item.get("status")
        succeeded = None if status is None else status == "completed"
        if status == "declined" and isinstance(sent, str):
            returned, succeeded = f"Rejected({sent!r}", False
        call = ended(call, returned, exit_code, succeeded)
        yield self._span(call, turn, call_id, start_ns, at_ns, exit_code=exit_code)

    def _end_response(self, counts: Object, at_ns: int | None, payload: Object) -> SpanRecord:
        parts, self._parts = self._parts, []
        asks = any(part["type"] == "tool_call" for part in parts)
        response_id = v.text(payload.get("response_id")) or None
        call = Inference(
            provider="openai",
            request_model=self._model or None,
            response_id=response_id,
            output=[message("assistant", parts)] if parts else None,
            finish_reasons=["tool_call" if asks else "stop"],
            usage=_usage(counts),
            conversation_id=self._session,
        )
        key = response_id or f"{at_ns}"
        start_ns = self._last_ns if self._last_ns is not None else at_ns
        return self._span(call, self._turn, key, start_ns, at_ns)

    def _span(
        self,
        operation: AgentInvocation | Inference | ToolExecution,
        turn: str,
        key: str,
        start_ns: int | None,
        end_ns: int | None,
        exit_code: int | None = None,
    ) -> SpanRecord:
        names: dict[str, Any] = {
            "conversation.id": self._thread,
            "parent.conversation.id": self._parent,
            "agent.role": self._role,
            "turn.id": turn,
            "process.exit.code": exit_code,
        }
        if isinstance(operation, AgentInvocation):
            names |= {"trace.id": self._trace or None, "cwd": self._cwd}
        return self._spans.span(operation, turn, key, start_ns, end_ns, names)


def _usage(counts: Object) -> Usage | None:
    if not counts:
        return None
    return Usage(
        input_tokens=count_or_none(counts.get("input_tokens")),
        output_tokens=count_or_none(counts.get("output_tokens")),
        cache_read_tokens=count_or_none(counts.get("cached_input_tokens")),
        reasoning_tokens=count_or_none(counts.get("reasoning_output_tokens")),
    )
