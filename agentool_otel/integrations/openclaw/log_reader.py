"""OpenClaw's telemetry: a line of JSON per event, without ids and often without times.

    {"type": "agent.start", "sessionKey": "agent:main:main", "agentId", "prompt", "messages"}
    {"type": "tool.start", "toolName", "params"}   {"type": "tool.end", "toolName", "durationMs"}
    {"type": "message.in", "content", "timestamp"} {"type": "agent.end", "success", "messages"}

- A run is from one `agent.start` of a session to its `agent.end`, or to the next start.
- `messages` is the whole history so far, so every later event repeats a turn; its span id is a
  hash of its content, so the copies are one. A model call is an assistant's turn.
- `tool.start` and `tool.end` have no id: they belong together by name, in order. A call that a turn
  asks for has the same name and arguments. A subagent's prompt holds the task its tool was given.
- An event without a time takes that of the last one that had any: the order of the lines counts.

Source: knostic/openclaw-telemetry and sage-princeton/openclaw-telemetry-hal, the second with
contents; recorded events in meridianlabs-ai/inspect_scout, examples/sources/openclaw_telemetry_hal.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from agentool_otel.ground import json_codec
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.messages import Message, Part, message, reasoning, text
from agentool_otel.model.messages import tool_call as call_part
from agentool_otel.model.messages import tool_response as response_part
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Object
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["OpenClaw"]

_TYPES = frozenset({
    "message.in", "message.sending", "message.out", "agent.start", "agent.end", "tool.start",
    "tool.end", "llm.usage",
})  # fmt: skip
_SCOPE = "openclaw"
_LATE = 1 << 63
_SPAWN = "sessions_spawn"
_USAGE = {
    "output": gen_ai.USAGE_OUTPUT_TOKENS,
    "cacheRead": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    "cacheWrite": gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS,
}
_IN = ("input", "cacheRead", "cacheWrite")
"""Parts of the input, whose count excludes cached tokens."""


class OpenClaw:
    """Turns the events of one file into spans, in their order."""

    name = "logs of OpenClaw"
    members = ("sessionKey",)

    def __init__(self) -> None:
        self._runs: dict[str, SpanRecord] = {}
        """By session, the run that is open."""
        self._before: dict[str, SpanRecord] = {}
        """By session, the run before that one."""
        self._tools: dict[tuple[str, str], deque[SpanRecord]] = defaultdict(deque)
        self._spawned: dict[str, SpanRecord] = {}
        """By its task, the tool that started a subagent."""
        self._read_turns: set[str] = set()
        """Span ids of turns that have been read."""
        self._now_ns: int | None = None
        self._count = 0

    @staticmethod
    def recognises(event: Object) -> bool:
        """Return whether an object is an event of such a log."""
        return v.text(event.get("type")) in _TYPES and (
            "sessionKey" in event or "channel" in event or "agentId" in event
        )

    def spans(self, event: Object) -> Iterator[SpanRecord]:
        """Yield the spans that an event completes."""
        self._count += 1
        own_time = v.time_ns(v.first(event, "ts", "timestamp"))
        if own_time is not None or self._now_ns is not None:
            self._now_ns = own_time if own_time is not None else (self._now_ns or 0) + 1
        kind, session = event["type"], v.text(event.get("sessionKey"))
        if kind == "agent.start":
            yield from self._start(session, event)
        elif kind == "agent.end":
            yield from self._end(session, event)
        elif kind == "tool.start":
            self._start_tool(session, event)
        elif kind == "tool.end":
            yield self._end_tool(session, event)

    def rest(self) -> Iterator[SpanRecord]:
        """Yield the spans that were still open at the end of the file."""
        for waiting in self._tools.values():
            yield from waiting
        yield from self._runs.values()
        self._tools.clear()
        self._runs.clear()

    def _start(self, session: str, event: Object) -> Iterator[SpanRecord]:
        """Begin a run. Its history belongs to the run before."""
        prompt = v.text(event.get("prompt"))
        input_messages = [message("user", [text(prompt)])] if prompt else None
        before = self._runs.get(session)
        if before is not None and before.attributes.get(gen_ai.INPUT_MESSAGES) != input_messages:
            before.end_ns = self._now_ns
            yield before
            self._before[session] = self._runs.pop(session)
        yield from self._turns(session, event, self._before.get(session))
        if session in self._runs:
            return  # the same start, repeated with the history
        spawned = next((tool for task, tool in self._spawned.items() if task in prompt), None)
        run = self._span(
            "agent.start", session, event, spawned if ":subagent:" in session else None
        )
        name = v.text(event.get("agentId"))
        if spawned is not None and run.parent_id is not None:
            name = (
                v.text(v.obj(spawned.attributes[gen_ai.TOOL_CALL_ARGUMENTS]).get("label")) or name
            )
        run.attributes |= {gen_ai.OPERATION_NAME: "invoke_agent", gen_ai.CONVERSATION_ID: session}
        _put(run.attributes, gen_ai.AGENT_NAME, name)
        _put(run.attributes, gen_ai.INPUT_MESSAGES, input_messages)
        self._runs[session] = run

    def _end(self, session: str, event: Object) -> Iterator[SpanRecord]:
        run = self._runs.pop(session, None)
        yield from self._turns(session, event, run)
        if run is not None:
            self._before[session] = run
            run.end_ns = self._now_ns
            _end_with_event(run, event)
            yield run

    def _start_tool(self, session: str, event: Object) -> None:
        name = v.text(event.get("toolName"))
        span = self._span("tool.start", session, event, self._run_of(session))
        span.attributes |= {gen_ai.OPERATION_NAME: "execute_tool", gen_ai.TOOL_NAME: name}
        if "params" in event:
            span.attributes[gen_ai.TOOL_CALL_ARGUMENTS] = v.bounded_value(event["params"])
        if name == _SPAWN and (task := v.text(v.obj(event.get("params")).get("task"))):
            self._spawned[task] = span
        self._tools[session, name].append(span)

    def _end_tool(self, session: str, event: Object) -> SpanRecord:
        waiting = self._tools[session, v.text(event.get("toolName"))]
        if not waiting:
            self._start_tool(session, {**event, "type": "tool.start"})
        span = waiting.popleft()
        span.end_ns = self._now_ns
        _put(span.attributes, agentool.TOOL_DURATION_MS, event.get("durationMs"))
        _end_with_event(span, event)
        return span

    def _run_of(self, session: str) -> SpanRecord | None:
        """The run a tool is part of: of its session, else the last one of its agent, whose tools
        are recorded under the channel of the request."""
        if session in self._runs or ":subagent:" in session:
            return self._runs.get(session)
        agent = session.split(":")[:2]
        others = [run for key, run in self._runs.items()
                  if key.split(":")[:2] == agent and ":subagent:" not in key]  # fmt: skip
        return others[-1] if others else None

    def _turns(self, session: str, event: Object, run: SpanRecord | None) -> Iterator[SpanRecord]:
        """Yield the new model calls of a history, each with its new messages.

        They belong to a run unless they are older: then their own run was not recorded.
        """
        trace_id = run.trace_id if run is not None else _digest(session, 16)
        since: list[Message] = []
        before: Json = None
        for turn in map(v.obj, v.array(event.get("messages"))):
            if turn.get("role") != "assistant":
                since.append(_message(turn))
                before = turn.get("timestamp")
                continue
            key = turn.get("responseId") or [turn.get("timestamp"), turn.get("content")]
            span = SpanRecord(
                trace_id, _digest([session, key], 8), None, "assistant", "CLIENT",
                v.time_ns(v.first({"at": before, "or": turn.get("timestamp")}, "at", "or")),
                v.time_ns(turn.get("timestamp")), _call(turn, since), scope=_SCOPE,
            )  # fmt: skip
            if turn.get("stopReason") == "error":
                span.status, span.status_message = STATUS_ERROR, v.text(turn.get("errorMessage"))
            if span.end_ns is not None and span.end_ns > (self._now_ns or 0):
                self._now_ns = span.end_ns
            if run is not None and (span.end_ns or _LATE) >= (run.start_ns or 0):
                span.parent_id = run.span_id
            if span.span_id not in self._read_turns:
                self._read_turns.add(span.span_id)
                yield span
            since = []

    def _span(
        self, name: str, session: str, event: Object, parent: SpanRecord | None
    ) -> SpanRecord:
        """Begin a span. Ids sort like the lines, for where there are no times."""
        return SpanRecord(
            parent.trace_id if parent else _digest(session, 16),
            f"{self._count % (1 << 32):08x}" + _digest([self._count, event], 4),
            parent.span_id if parent else None, name, start_ns=self._now_ns, scope=_SCOPE,
            resource={"service.name": "openclaw"},
        )  # fmt: skip


def _end_with_event(span: SpanRecord, event: Object) -> None:
    if event.get("success") is False or event.get("error"):
        span.status, span.status_message = STATUS_ERROR, v.text(event.get("error")) or None


def _call(turn: Object, input_messages: list[Message]) -> Attributes:
    """Return the attributes of a model call from the assistant's message."""
    usage = v.obj(turn.get("usage"))
    attributes: Attributes = {
        gen_ai.OPERATION_NAME: "chat",
        gen_ai.OUTPUT_MESSAGES: [_message(turn)],
    }
    _put(attributes, gen_ai.INPUT_MESSAGES, input_messages or None)
    _put(attributes, gen_ai.PROVIDER_NAME, turn.get("provider"))
    _put(attributes, gen_ai.REQUEST_MODEL, turn.get("model"))
    _put(attributes, gen_ai.RESPONSE_MODEL, turn.get("responseModel"))
    _put(attributes, gen_ai.RESPONSE_ID, turn.get("responseId"))
    for name, attribute in _USAGE.items():
        _put(attributes, attribute, usage.get(name))
    counted = [count for name in _IN if type(count := usage.get(name)) is int]
    _put(attributes, gen_ai.USAGE_INPUT_TOKENS, sum(counted) if counted else None)
    cost = v.obj(usage.get("cost")).get("total")
    _put(attributes, agentool.COST_USD, cost or None)  # 0: not priced
    return attributes


def _message(turn: Object) -> Message:
    role, content = v.text(turn.get("role")), turn.get("content")
    if role == "toolResult":
        texts = [v.text(v.obj(block).get("text")) for block in v.array(content)]
        response = "\n".join(texts) if texts and all(texts) else content
        return message("tool", [response_part(response, v.text(turn.get("toolCallId")) or None)])
    blocks: list[Json] = content if isinstance(content, list) else [content]
    parts = [part for block in blocks if (part := _part(block)) is not None]
    return message(role or "user", parts, finish_reason(turn.get("stopReason")))


def _part(block: Json) -> Part | None:
    match block:
        case str(words) | {"type": "text", "text": str(words)}:
            return text(words)
        case {"type": "thinking", "thinking": str(thought)}:
            return reasoning(thought)
        case {"type": "toolCall", "name": str(name)}:
            return call_part(name, block.get("arguments"), v.text(block.get("id")) or None)
        case {"type": str()}:
            return dict(block)
        case _:
            return None


def _put(attributes: Attributes, name: str, value: Any) -> None:
    if value is not None and value != "":
        attributes[name] = v.bounded_value(value)


def _digest(value: Json, size: int) -> str:
    data = json_codec.dumps(value).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=size).hexdigest()
