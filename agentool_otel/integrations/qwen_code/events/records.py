"""The events of a session that Qwen Code's records are of.

A tool call has its id in all channels, and a turn the id of its prompt in spans, log records and
the repeated log records of a session file. A model call has the id of its response in the same; a
log record of a request names the span, and a line of the session file only has content. A
sub-agent's id is its name and the id of the call that started it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from agentool_otel.dialects.kit.provider_messages import json_or_text, messages_from
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import Channel, Entry, Kind
from agentool_otel.dialects.kit.session_pairs import with_message_keys
from agentool_otel.ground import json_codec
from agentool_otel.integrations.qwen_code.events.calls import (
    is_housekeeping,
    prompt_in,
    sub_agent_of,
    with_response,
)
from agentool_otel.integrations.qwen_code.events.names import (
    EVENTS,
    FILE,
    PLUMBING_EVENTS,
    PLUMBING_SPANS,
    PREFIX,
    SPANS,
)
from agentool_otel.model.messages import Part, message, text, tool_call
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    Operation,
    ToolExecution,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["entries_of"]

_MS = 1_000_000
_KINDS: dict[str, Kind] = {"invoke_agent": "turn", "chat": "model", "execute_tool": "tool"}
_MODEL = frozenset({"api_request", "api_response", "api_error", "api_cancel"})

Read = Callable[[Reader], Operation]


def entries_of(records: Sequence[SpanRecord], read: Read) -> tuple[list[Entry], list[SpanRecord]]:
    """Return the entries that records are, and the records of unknown names.

    Args:
        records: spans, and log records as spans.
        read: the dialect's reading of one.
    """
    ordered = sorted(records, key=lambda record: (record.start_ns or 0, record.end_ns or 0))
    spans = _Spans(ordered)
    logs = _Logs(ordered, spans, read)
    entries: list[Entry] = []
    unknown: list[SpanRecord] = []
    for record in ordered:
        if record.scope == FILE:
            entries += _of_file(record, read)
            continue
        is_log = "event.name" in record.attributes
        name = _name(record)
        if name not in (EVENTS if is_log else SPANS):
            if name not in (PLUMBING_EVENTS if is_log else PLUMBING_SPANS):
                unknown.append(record)
        elif is_log:
            entries += logs.entries(record, name)
        else:
            entries += _of_span(record, name, read, spans)
    return with_message_keys([_settled(entry) for entry in entries]), unknown


def _name(record: SpanRecord) -> str:
    return str(record.attributes.get("event.name") or record.name).removeprefix(PREFIX)


def _settled(entry: Entry) -> Entry:
    """Return an entry; a model call of an agent that Qwen Code starts for itself is one of the
    session's own, without an answer to the user."""
    call = entry.operation
    if entry.kind != "model" or not is_housekeeping(entry.agent):
        return entry
    if isinstance(call, Inference) and call.output:
        extra = {**call.extra, "response_text": json_codec.dumps(call.output)}
        call = replace(call, output=None, extra=extra)
    return entry._replace(operation=call, agent=None)


# ------------------------------------------------------------------------------------- files


def _of_file(record: SpanRecord, read: Read) -> Iterator[Entry]:
    attributes = record.attributes
    operation = read(Reader(record))
    kind = _KINDS[str(attributes[gen_ai.OPERATION_NAME])]
    agent, name = _text(attributes.get("agent_id")), _text(attributes.get("agent_name"))
    line = _named("line", attributes.get("turn.id"))
    if kind == "turn" and agent is not None:
        yield _agent(operation, record, Channel.FILE, agent, name)
        return
    if kind == "turn":
        yield Entry(kind, operation, record, Channel.FILE, _keys(line))
        return
    response = _text(attributes.get("response_id"))
    prompt = _named("prompt", attributes.get("prompt_id")) if agent is None else None
    turn = line if agent is None else None
    if prompt is not None and line is not None:
        yield _tied(record, line, prompt)
    if kind == "tool":
        keys = _keys(attributes.get(gen_ai.TOOL_CALL_ID))
    elif response is not None:
        keys = (f"response {response}", f"telemetry {response}")
    else:
        keys = _keys(attributes.get("uuid"))
    yield Entry(kind, operation, record, Channel.FILE, keys, agent, turn)


def _tied(record: SpanRecord, line: str, prompt: str) -> Entry:
    """Return the entry of a turn that ties the line of a prompt to the id of the prompt."""
    session = _text(record.attributes.get(gen_ai.CONVERSATION_ID))
    span = replace(record, span_id=f"{record.span_id}/turn", end_ns=None)
    known = AgentInvocation(conversation_id=session)
    return Entry("turn", known, span, Channel.FILE, (line, prompt))


def _asked_for(
    record: SpanRecord,
    channel: Channel,
    prompt: str | None,
    agent: str | None,
    turn: str | None,
) -> Iterator[Entry]:
    """Yield the turn or the sub-agent of a request with its prompt, which has no record of its own
    where Qwen Code was killed, and none for a sub-agent."""
    if prompt is None or is_housekeeping(agent):
        return
    attributes = record.attributes
    session = attributes.get(gen_ai.CONVERSATION_ID) or attributes.get("session.id")
    asked = AgentInvocation(conversation_id=_text(session), input=[message("user", [text(prompt)])])
    span = replace(record, span_id=f"{record.span_id}/turn", parent_id=None, end_ns=None)
    if agent is not None:
        yield Entry("agent", asked, span, channel, (agent,))
    elif turn is not None:
        yield Entry("turn", asked, span, channel, (turn,))


def _agent(
    operation: Operation, record: SpanRecord, channel: Channel, agent: str, name: str | None
) -> Entry:
    """Return the entry of a sub-agent, which its id places below the call that started it."""
    started_by = agent.removeprefix(f"{name}-") if name is not None else None
    return Entry(
        "agent", operation, record, channel, (agent,),
        started_by=None if started_by == agent else started_by,
    )  # fmt: skip


# ------------------------------------------------------------------------------------- spans


class _Spans:
    """The spans of a session."""

    def __init__(self, records: Sequence[SpanRecord]):
        self._spans = {
            record.span_id: record
            for record in records
            if record.scope != FILE and "event.name" not in record.attributes
        }
        self._prompts: dict[str, str] = {}
        """By trace, the key of the turn that it is of."""
        for record in self._spans.values():
            prompt = record.attributes.get("qwen-code.prompt_id")
            if sub_agent_of(prompt) is None and (key := _named("prompt", prompt)) is not None:
                self._prompts.setdefault(record.trace_id, key)

    def around(self, record: SpanRecord, *wanted: str) -> SpanRecord | None:
        """Return the nearest span of one of some names around a record."""
        seen: set[str] = set()
        above = record.parent_id
        while above is not None and above not in seen and above in self._spans:
            seen.add(above)
            around = self._spans[above]
            if _name(around) in wanted:
                return around
            above = around.parent_id
        return None

    def agent_of(self, record: SpanRecord) -> str | None:
        """Return the id of the sub-agent that a span is of."""
        named = sub_agent_of(record.attributes.get("qwen-code.prompt_id"))
        around = self.around(record, "subagent") if named is None else None
        return named if around is None else _text(around.attributes.get("qwen-code.subagent.id"))

    def turn_of(self, record: SpanRecord) -> str | None:
        """Return the key of the turn that a span is of."""
        around = self.around(record, "interaction")
        if around is None or around.attributes.get("qwen-code.prompt_id") is None:
            return self._prompts.get(record.trace_id)
        return _named("prompt", around.attributes["qwen-code.prompt_id"])


def _of_span(record: SpanRecord, name: str, read: Read, spans: _Spans) -> Iterator[Entry]:
    attributes = record.attributes
    operation = read(Reader(record))
    if name == "interaction":
        key = _named("prompt", attributes.get("qwen-code.prompt_id"))
        keys = _keys(key or f"trace {record.trace_id}")
        yield Entry("turn", operation, record, Channel.SPAN, keys)
        return
    agent, turn = spans.agent_of(record), spans.turn_of(record)
    if name == "subagent":
        key = _text(attributes.get("qwen-code.subagent.id")) or f"span {record.span_id}"
        started_by = _text(attributes.get("qwen-code.subagent.invoking_request_id"))
        yield Entry("agent", operation, record, Channel.SPAN, (key,), agent, turn, started_by)
    elif name == "llm_request":
        response = _named("response", attributes.get(gen_ai.RESPONSE_ID))
        keys = _keys(response, f"span {record.span_id}")
        yield Entry("model", operation, record, Channel.SPAN, keys, agent, turn)
        history = operation.input if isinstance(operation, Inference) else None
        if agent is not None or spans.around(record, "interaction") is None:
            asked = prompt_in(_last_parts(history))
            yield from _asked_for(record, Channel.SPAN, asked, agent, turn)
    else:
        call = operation.call_id if isinstance(operation, ToolExecution) else None
        yield Entry("tool", operation, record, Channel.SPAN, _keys(call), agent, turn)


# --------------------------------------------------------------------------------------- logs


class _Logs:
    """The log records of a session."""

    def __init__(self, records: Sequence[SpanRecord], spans: _Spans, read: Read):
        self._spans = spans
        self._read = read
        self._requests: dict[object, list[SpanRecord]] = defaultdict(list)
        """By prompt, requests without an outcome."""
        self._asked: dict[str, list[Part]] = defaultdict(list)
        """By response, the tool calls that it asks for."""
        for record in records:
            response = _text(record.attributes.get("response_id"))
            if response is not None and _name(record) == "tool_call":
                attributes = record.attributes
                name, arguments = attributes.get("function_name"), attributes.get("function_args")
                call = _text(attributes.get("call_id"))
                part = tool_call(str(name or ""), json_or_text(arguments), call)
                self._asked[response].append(part)

    def entries(self, record: SpanRecord, name: str) -> Iterator[Entry]:
        """Yield the entries that a record is."""
        attributes = record.attributes
        prompt = attributes.get("prompt_id")
        agent = sub_agent_of(prompt)
        turn = _named("prompt", prompt) if agent is None else None
        if name == "user_prompt":
            span = replace(record, end_ns=None)
            yield Entry("turn", self._read(Reader(record)), span, Channel.LOG, _keys(turn))
        elif name in _MODEL:
            yield from self._model(record, name, agent, turn)
        elif name == "tool_call":
            call = self._read(Reader(record))
            key = call.call_id if isinstance(call, ToolExecution) else None
            yield Entry("tool", call, _begun(record), Channel.LOG, _keys(key), agent, turn)
        else:
            yield from self._sub_agent(record)

    def _sub_agent(self, record: SpanRecord) -> Iterator[Entry]:
        """Yield the sub-agent of a record that has no id of it, but may name its span."""
        around = self._spans.around(record, "subagent")
        agent = _text(around.attributes.get("qwen-code.subagent.id")) if around else None
        if agent is not None:
            attributes = record.attributes
            answer = _text(attributes.get("result"))
            told = AgentInvocation(
                agent_name=_text(attributes.get("subagent_name")),
                conversation_id=_text(attributes.get("session.id")),
                output=None if answer is None else [message("assistant", [text(answer)])],
            )
            is_over = attributes.get("status") != "started"
            span = record if is_over else replace(record, end_ns=None)
            yield Entry("agent", told, span, Channel.LOG, (agent,))

    def _model(
        self, record: SpanRecord, name: str, agent: str | None, turn: str | None
    ) -> Iterator[Entry]:
        attributes = record.attributes
        waiting = self._requests[attributes.get("prompt_id")]
        subagent = _text(attributes.get("subagent_name"))
        session = _text(attributes.get("session.id"))
        if name == "api_request":
            waiting.append(record)
            history = json_or_text(attributes.get("request_text"))
            history = history if isinstance(history, list) else []
            call: Operation = Inference(
                request_model=_text(attributes.get("model")),
                input=messages_from(history, "user") or None,
                conversation_id=session,
            )
            span = replace(record, end_ns=None)
            yield Entry("model", call, span, Channel.LOG, _request_keys(record), agent, turn)
            asked = prompt_in(_last_parts(history))
            yield from _asked_for(record, Channel.LOG, asked, agent, turn)
            yield from _results(record, _last_parts(history), agent, turn)
        else:
            request = next((r for r in waiting if r.parent_id == record.parent_id), None)
            request = request or (waiting[0] if waiting else None)
            if request is not None:
                waiting.remove(request)
            response = _text(attributes.get("response_id"))
            call = self._answer(record, response)
            keys = _keys(
                _named("response", response),
                *(_request_keys(request) if request is not None else ()),
                f"log {record.span_id}",
            )
            yield Entry("model", call, _begun(record), Channel.LOG, keys, agent, turn)
        if agent is not None and not is_housekeeping(agent):
            told = AgentInvocation(agent_name=subagent, conversation_id=session)
            span = replace(_begun(record), span_id=f"{record.span_id}/agent", end_ns=None)
            yield _agent(told, span, Channel.LOG, agent, subagent)

    def _answer(self, record: SpanRecord, response: str | None) -> Operation:
        """Return the outcome of a request, with the tools that the answer asks for."""
        call = self._read(Reader(record))
        parts = self._asked.get(response or "")
        if not isinstance(call, Inference) or not parts:
            return call
        said = [part for item in call.output or () for part in item.get("parts", ())]
        return replace(call, output=[message("assistant", [*said, *parts])])


def _request_keys(request: SpanRecord) -> tuple[str, ...]:
    return _keys(f"request {request.span_id}", _named("span", request.parent_id))


def _last_parts(history: Any) -> list[Any]:
    """Return the parts of the message that a request ends with, if it is the user's."""
    last = history[-1] if history else None
    if not isinstance(last, dict) or last.get("role") != "user":
        return []
    parts = last.get("parts")
    return parts if isinstance(parts, list) else []


def _results(
    record: SpanRecord, parts: list[Any], agent: str | None, turn: str | None
) -> Iterator[Entry]:
    """Yield the results of tool calls that a request ends with."""
    for part in parts:
        sent = part.get("functionResponse") if isinstance(part, dict) else None
        if not isinstance(sent, dict) or (call_id := _text(sent.get("id"))) is None:
            continue
        ended = ToolExecution(name=_text(sent.get("name")) or "", call_id=call_id)
        if isinstance(response := sent.get("response"), dict) and "error" not in response:
            ended = with_response(ended, response)  # an error has its kind elsewhere
        span = replace(record, span_id=f"{record.span_id}/{call_id}", end_ns=None)
        yield Entry("tool", ended, span, Channel.LOG, (call_id,), agent, turn)


def _begun(record: SpanRecord) -> SpanRecord:
    """Return a log record with the time of its event, which it is written at the end of."""
    took, end_ns = record.attributes.get("duration_ms"), record.end_ns
    if not isinstance(took, (int, float)) or end_ns is None or not 0 < took * _MS < end_ns:
        return record
    return replace(record, start_ns=end_ns - int(took * _MS))


def _named(kind: str, key: object) -> str | None:
    return f"{kind} {key}" if isinstance(key, str) and key else None


def _keys(*ids: object) -> tuple[str, ...]:
    return tuple(item for item in ids if isinstance(item, str) and item)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
