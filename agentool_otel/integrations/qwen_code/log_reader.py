"""Qwen Code's session files: `~/.qwen/projects/<folder>/chats/<session>.jsonl`.

    {"type": "user", "message": {"parts": [{"text"}]}, "provenance", "uuid", "parentUuid",
     "sessionId", "timestamp", "cwd", "version"}
    {"type": "assistant", "model", "message": {"parts": [{"text", "thought"}, {"functionCall"}]},
     "usageMetadata": {"promptTokenCount", "candidatesTokenCount", "totalTokenCount"}}
    {"type": "tool_result", "message": {"parts": [{"functionResponse"}]},
     "toolCallResult": {"callId", "status", "errorType", "resultDisplay"}}
    {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": {"event.name"}}}

- A sub-agent has a file of its own, `subagents/<session>/agent-<id>.jsonl`, whose lines have
  `agentId` and `agentName`: the id is the name and the id of the call that started it. There a
  message of the model is a line with its token counts, and others with its calls.
- `ui_telemetry` repeats log records: of the model calls, with the id of each, of sub-agents too.
- Lines of other types hold notes and totals, and are no events of the session.
- A session that was forked begins with the lines of the other one, each with `forkedFrom`.

Source: files of Qwen Code 0.24.4; `services/chatRecordingService.ts` of 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from agentool_otel.integrations.qwen_code.events.calls import (
    CANCELLED,
    prompt_in,
    sub_agent_of,
    usage_of,
    with_response,
)
from agentool_otel.integrations.qwen_code.events.names import AGENT, FILE, PREFIX
from agentool_otel.model.messages import Part, message, reasoning, text, tool_call
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    Operation,
    ToolExecution,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.session_spans import SessionSpans
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Object

__all__ = ["QwenCodeSession"]

_MS = 1_000_000
_NO_PROMPTS = frozenset({
    "agent_bootstrap", "agent_launch_prompt", "agent_retry", "mid_turn_user_message",
    "notification", "realtime_message",
})  # fmt: skip
"""Subtypes of lines of the user that begin no turn."""


class QwenCodeSession:
    """Turns the lines of one file into spans, in their order."""

    name = "sessions of Qwen Code"
    members = ("parentUuid", "uiEvent")

    def __init__(self) -> None:
        self._spans = SessionSpans(FILE, AGENT)
        self._turn = ""
        self._last_ns: int | None = None
        self._message: list[Object] = []
        """The lines of the message that is under way."""
        self._calls: dict[str, tuple[ToolExecution, Object, str, int | None]] = {}
        """By id, calls without a result, each with its line, its turn and its start."""

    @staticmethod
    def recognises(event: Object) -> bool:
        """Return whether an object is a line of such a file."""
        names = ("uuid", "sessionId", "type", "timestamp", "version")
        is_line = all(isinstance(event.get(name), str) for name in names)
        return is_line and "parentUuid" in event and "userType" not in event  # of Claude Code

    def spans(self, event: Object) -> Iterator[SpanRecord]:
        """Yield the spans that a line completes; none for a copy from the session that this one was
        forked from, whose file has it."""
        if "forkedFrom" in event:
            return
        kind = event.get("type")
        if kind == "assistant":
            if self._message and "usageMetadata" in event:
                yield from self._end_message()
            self._message.append(event)
            return
        if kind == "system":
            yield from self._telemetry(event)
            return
        yield from self._end_message()
        at_ns = v.time_ns(event.get("timestamp"))
        if kind == "tool_result":
            yield from self._end_call(event, at_ns)
        elif kind == "user" and event.get("subtype") not in _NO_PROMPTS:
            yield from self._start_turn(event, at_ns)
        self._last_ns = at_ns

    def rest(self) -> Iterator[SpanRecord]:
        """Yield the spans that were still open at the end of the file."""
        yield from self._end_message()
        for call, line, turn, start_ns in self._calls.values():
            yield self._span(call, line, turn, str(call.call_id), start_ns, None)
        self._calls.clear()

    def _start_turn(self, event: Object, at_ns: int | None) -> Iterator[SpanRecord]:
        prompt = prompt_in(v.obj(event.get("message")).get("parts"))
        if prompt is None:
            return
        self._turn = v.text(event.get("promptId")) or v.text(event.get("uuid"))
        agent = v.text(event.get("agentId"))
        asked = AgentInvocation(
            agent_name=v.text(event.get("agentName")) or AGENT,
            conversation_id=v.text(event.get("sessionId")),
            input=[message("user", [text(prompt)])],
        )
        names = {"agent_name": event.get("agentName"), "cwd": event.get("cwd")}
        yield self._span(asked, event, self._turn, agent, at_ns, None, names)

    def _end_message(self) -> Iterator[SpanRecord]:
        """Yield the model call whose lines have been read, and keep the tools that it asks for."""
        lines, self._message = self._message, []
        if not lines:
            return
        first, end_ns = lines[0], v.time_ns(lines[0].get("timestamp"))
        parts = [part for line in lines for part in _parts_of(line)]
        counts = v.obj(first.get("usageMetadata"))
        model = v.text(first.get("model")) or None
        said = Inference(
            request_model=model,
            output=[message("assistant", list(map(_part, parts)))],
            usage=usage_of(
                *(
                    counts.get(name + "TokenCount")
                    for name in ("prompt", "candidates", "cachedContent", "thoughts", "total")
                )
            ),
            conversation_id=v.text(first.get("sessionId")),
        )
        key = v.text(first.get("uuid"))
        start_ns = self._last_ns or end_ns
        yield self._span(said, first, self._turn, key, start_ns, end_ns, {"uuid": key})
        for line in lines:
            for call in (v.obj(part.get("functionCall")) for part in _parts_of(line)):
                if call_id := v.text(call.get("id")):
                    asked = ToolExecution(
                        name=v.text(call.get("name")),
                        call_id=call_id,
                        arguments=call.get("args", UNSET),
                        conversation_id=said.conversation_id,
                    )
                    at_ns = v.time_ns(line.get("timestamp"))
                    self._calls[call_id] = asked, line, self._turn, at_ns

    def _end_call(self, event: Object, end_ns: int | None) -> Iterator[SpanRecord]:
        ended = v.obj(event.get("toolCallResult"))
        code = v.obj(ended.get("resultDisplay")).get("exitCode")
        kind = CANCELLED if ended.get("status") == CANCELLED else ended.get("errorType")
        for part in _parts_of(event):
            sent = v.obj(part.get("functionResponse"))
            call_id = v.text(sent.get("id")) or v.text(ended.get("callId"))
            if not call_id:
                continue
            known = ToolExecution(
                name=v.text(sent.get("name")),
                call_id=call_id,
                conversation_id=v.text(event.get("sessionId")),
            )
            waiting = self._calls.pop(call_id, (known, event, self._turn, end_ns))
            call, line, turn, start_ns = waiting
            call = with_response(call, v.obj(sent.get("response")), kind, code)
            yield self._span(call, line, turn, call_id, start_ns, end_ns)

    def _telemetry(self, event: Object) -> Iterator[SpanRecord]:
        """Yield the model call of a repeated log record."""
        told = v.obj(v.obj(event.get("systemPayload")).get("uiEvent"))
        name = v.text(told.get("event.name")).removeprefix(PREFIX)
        response = v.text(told.get("response_id"))
        if name not in ("api_response", "api_error") or not response:
            return
        end_ns = v.time_ns(told.get("event.timestamp"))
        failed = name == "api_error"
        status, words = told.get("status_code"), v.text(told.get("error_message"))
        call = Inference(
            request_model=v.text(told.get("model")) or None,
            response_id=None if failed else response,
            usage=usage_of(
                *(
                    told.get(name + "_token_count")
                    for name in ("input", "output", "cached_content", "thoughts", "total")
                )
            ),
            error_type=str(status or told.get("error_type") or "_OTHER") if failed else None,
            error_message=words or None,
            conversation_id=v.text(event.get("sessionId")),
        )
        prompt = told.get("prompt_id")
        names = {
            "response_id": response,
            "prompt_id": prompt,
            "agent_id": sub_agent_of(prompt),
            "agent_name": told.get("subagent_name"),
        }
        took = told.get("duration_ms")
        start_ns = end_ns - took * _MS if end_ns and isinstance(took, int) else end_ns
        yield self._span(call, event, self._turn, response, start_ns, end_ns, names)

    def _span(
        self,
        operation: Operation,
        line: Object,
        turn: str,
        key: str,
        start_ns: int | None,
        end_ns: int | None,
        names: dict[str, Any] | None = None,
    ) -> SpanRecord:
        agent = v.text(line.get("agentId")) or None
        names = {"agent_id": agent, "turn.id": turn, **(names or {})}
        session = v.text(line.get("sessionId"))
        return self._spans.span(operation, f"{session}\0{turn}", key, start_ns, end_ns, names)


def _parts_of(line: Object) -> list[Object]:
    return [v.obj(part) for part in v.array(v.obj(line.get("message")).get("parts"))]


def _part(part: Object) -> Part:
    if isinstance(call := part.get("functionCall"), dict):
        return tool_call(v.text(call.get("name")), call.get("args"), v.text(call.get("id")) or None)
    words = v.text(part.get("text"))
    return reasoning(words) if part.get("thought") is True else text(words)
