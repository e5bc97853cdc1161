"""The events of a session that Claude Code's records are of.

Ids are the same in all three channels: `request_id` of a model call, `tool_use_id` of a tool call,
`agent_id` of a sub-agent. A turn has `prompt.id` in log records and files, and a trace in spans and
log records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import (
    DENIED,
    Channel,
    Entry,
    Kind,
    begun,
    ids,
    text_or_none,
)
from agentool_otel.integrations.claude_code.events.names import (
    EVENTS,
    FILE,
    PLUMBING_EVENTS,
    PLUMBING_SPANS,
    PREFIX,
    SPANS,
    is_notification,
)
from agentool_otel.model.messages import Part, message, parts_of, text, tool_call
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    Operation,
    ToolExecution,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["entries_of", "tool_name"]

_PARTIAL = frozenset({"arguments"})
"""Spans, and log records of decisions, have some of a tool's arguments."""
_CALL_ID, _AGENT_ID, _REQUEST_ID = "tool_use_id", "agent_id", "request_id"
_KINDS: dict[str, Kind] = {"invoke_agent": "turn", "chat": "model", "execute_tool": "tool"}

Read = Callable[[Reader], Operation]


def entries_of(records: Sequence[SpanRecord], read: Read) -> tuple[list[Entry], list[SpanRecord]]:
    """Return the entries that records are, and the records of unknown names.

    Args:
        records: spans, and log records as spans.
        read: the dialect's reading of one.
    """
    tools = _Tools(records)
    entries: list[Entry] = []
    unknown: list[SpanRecord] = []
    for record in records:
        if record.scope == FILE:
            entries.append(_of_file(record, read))
            continue
        is_log = "event.name" in record.attributes
        name = _name(record)
        kind: Any = (EVENTS if is_log else SPANS).get(name)
        if kind is None:
            if name not in (PLUMBING_EVENTS if is_log else PLUMBING_SPANS):
                unknown.append(record)
        elif is_log:
            entries += _of_log(record, name, kind, read, tools)
        else:
            entries += _of_span(record, name, kind, read, tools)
    return list(_without_notifications(entries)), unknown


def _without_notifications(entries: list[Entry]) -> Iterator[Entry]:
    """Yield entries, those of a notification with the keys of the turn before it: the user did not
    write it, and its answer is a part of that turn."""
    last_turn: dict[Channel, Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.span.start_ns or 0):
        invocation = entry.operation
        if entry.kind == "turn" and isinstance(invocation, AgentInvocation):
            before = last_turn.get(entry.channel)
            if before is not None and _is_notification(invocation):
                keys = dict.fromkeys((*entry.keys, *before.keys))
                entry = entry._replace(keys=(*keys,), operation=replace(invocation, input=None))
            last_turn[entry.channel] = entry
        yield entry


def _is_notification(turn: AgentInvocation) -> bool:
    parts = [part for item in turn.input or () for part in parts_of(item)]
    return any(is_notification(str(part.get("content"))) for part in parts[:1])


class _Tools:
    """The tool calls of a session, by what other records have of them."""

    def __init__(self, records: Sequence[SpanRecord]):
        self._spans = {record.span_id: record for record in records}
        self._asked: dict[object, dict[str, Part]] = defaultdict(dict)
        for record in records:
            call = record.attributes.get(_CALL_ID)
            if record.attributes.get("event.name") == "tool_decision" and isinstance(call, str):
                part = tool_call(tool_name(record.attributes), None, call)
                self._asked[text_or_none(record.attributes.get(_REQUEST_ID))][call] = part

    def asked_for(self, request: object) -> Iterable[Part]:
        """Return the parts of a model's message that ask for tools."""
        return self._asked[request].values() if isinstance(request, str) else ()

    def around(self, record: SpanRecord) -> SpanRecord | None:
        """Return the nearest span around a span that names a tool call."""
        seen: set[str] = set()
        above = self._spans.get(record.parent_id or "")
        while above is not None and above.span_id not in seen:
            if isinstance(above.attributes.get("tool_name"), str):
                return above
            seen.add(above.span_id)
            above = self._spans.get(above.parent_id or "")
        return None


def _name(record: SpanRecord) -> str:
    attributes = record.attributes
    name = attributes.get("span.type") or attributes.get("event.name") or record.name
    return str(name).removeprefix(PREFIX)


def _of_span(
    record: SpanRecord, name: str, kind: Kind, read: Read, tools: _Tools
) -> Iterator[Entry]:
    attributes = record.attributes
    turn = f"trace {record.trace_id}"
    agent = text_or_none(attributes.get(_AGENT_ID))
    around = tools.around(record)
    if name == "interaction":
        yield Entry(kind, read(Reader(record)), record, Channel.SPAN, (turn,))
        return
    if name == "tool.blocked_on_user":
        if attributes.get("decision") == "reject" and around is not None:
            keys = ids(around.attributes.get(_CALL_ID))
            denied = _denied(around.attributes, attributes.get("source"))
            yield Entry(kind, denied, record, Channel.SPAN, keys, agent, turn)
        return
    operation = read(Reader(record))
    if name == "tool.execution" and _CALL_ID not in attributes and around is not None:
        attributes = around.attributes
    keys = ids(attributes.get({"model": _REQUEST_ID, "agent": _AGENT_ID}.get(kind, _CALL_ID)))
    if kind == "agent":
        started_by = text_or_none(around.attributes.get(_CALL_ID)) if around is not None else None
        yield Entry(kind, operation, record, Channel.SPAN, keys, None, turn, started_by)
        return
    if kind == "model" and agent is not None and around is not None:
        yield _started_by(around, record, agent, turn)
    partial = _PARTIAL if name == "tool" and "tool_input" not in attributes else frozenset[str]()
    yield Entry(kind, operation, record, Channel.SPAN, keys, agent, turn, partial=partial)


def _started_by(around: SpanRecord, record: SpanRecord, agent: str, turn: str) -> Entry:
    """Return the entry that places a sub-agent below the tool around its model call."""
    named = text_or_none(around.attributes.get("subagent_type"))
    session = text_or_none(around.attributes.get("session.id"))
    operation = AgentInvocation(agent_name=named, conversation_id=session)
    span = replace(record, span_id=f"{record.span_id}/agent", end_ns=None)
    caller = text_or_none(around.attributes.get(_AGENT_ID))
    started_by = text_or_none(around.attributes.get(_CALL_ID))
    return Entry("agent", operation, span, Channel.SPAN, (agent,), caller, turn, started_by)


def _of_log(
    record: SpanRecord, name: str, kind: Kind, read: Read, tools: _Tools
) -> Iterator[Entry]:
    attributes = record.attributes
    prompt = attributes.get("prompt.id")
    turn = f"prompt {prompt}" if isinstance(prompt, str) else None
    agent = text_or_none(attributes.get(_AGENT_ID))
    record = begun(record)
    if name == "user_prompt":
        keys = ids(turn, f"trace {record.trace_id}" if record.parent_id is not None else None)
        record = replace(record, end_ns=None)
        yield Entry(kind, read(Reader(record)), record, Channel.LOG, keys)
    elif kind == "agent":
        done = AgentInvocation(agent_name=text_or_none(attributes.get("agent_type")))
        yield Entry(kind, done, record, Channel.LOG, ids(agent), turn=turn)
    elif kind == "model":
        request = attributes.get(_REQUEST_ID)
        call = _answer(record, tools) if name == "assistant_response" else read(Reader(record))
        yield Entry(kind, call, record, Channel.LOG, ids(request), agent, turn)
        if agent is not None and (named := text_or_none(attributes.get("agent.name"))) is not None:
            session = text_or_none(attributes.get("session.id"))
            known = AgentInvocation(agent_name=named, conversation_id=session)
            span = replace(record, span_id=f"{record.span_id}/agent", end_ns=None)
            yield Entry("agent", known, span, Channel.LOG, (agent,), turn=turn)
    else:
        keys = ids(attributes.get(_CALL_ID))
        partial = _PARTIAL if "tool_input" not in attributes else frozenset[str]()
        operation: Operation
        if name == "tool_result":
            operation = read(Reader(record))
        elif attributes.get("decision") == "reject":
            operation = _denied(attributes, attributes.get("source"))
        else:
            operation = _called(attributes)
            record = replace(record, end_ns=None)
        yield Entry(kind, operation, record, Channel.LOG, keys, agent, turn, partial=partial)


def _answer(record: SpanRecord, tools: _Tools) -> Inference:
    """Return the text of a model's message, and the tools that it asks for."""
    attributes = Reader(record)
    answer = attributes.text("response")
    parts = [text(answer)] if answer is not None else []
    asked = [*tools.asked_for(record.attributes.get(_REQUEST_ID))]
    output = [message("assistant", [*parts, *asked])] if parts else None
    return Inference(
        request_model=attributes.text("model"),
        output=output,
        conversation_id=attributes.text("session.id"),
    )


def _called(attributes: dict[str, Any]) -> ToolExecution:
    """Return a tool call as the decision about it has it."""
    parameters = _object(attributes.get("tool_parameters"))
    command = text_or_none(parameters.get("full_command"))
    return ToolExecution(
        name=tool_name(attributes),
        call_id=text_or_none(attributes.get(_CALL_ID)),
        arguments=UNSET if command is None else {"command": command},
        conversation_id=text_or_none(attributes.get("session.id")),
    )


def _denied(attributes: dict[str, Any], source: object) -> ToolExecution:
    why = f"denied by {source}" if isinstance(source, str) else "denied"
    return replace(_called(attributes), error_type=DENIED, error_message=why)


def tool_name(attributes: dict[str, Any]) -> str:
    """Return the name of a tool; log records have `mcp_tool` for those of all MCP servers."""
    parameters = _object(attributes.get("tool_parameters"))
    server, tool = parameters.get("mcp_server_name"), parameters.get("mcp_tool_name")
    if isinstance(server, str) and isinstance(tool, str):
        return f"mcp__{server}__{tool}"
    return text_or_none(attributes.get("tool_name")) or ""


def _of_file(record: SpanRecord, read: Read) -> Entry:
    attributes = record.attributes
    operation = read(Reader(record))
    kind = _KINDS[str(attributes[gen_ai.OPERATION_NAME])]
    agent = text_or_none(attributes.get(_AGENT_ID))
    prompt = attributes.get("prompt.id")
    turn = f"prompt {prompt}" if isinstance(prompt, str) else None
    if kind == "turn" and agent is not None:
        started_by = text_or_none(attributes.get(_CALL_ID))
        caller = text_or_none(attributes.get("parent_agent_id"))
        keys = ids(agent)
        return Entry("agent", operation, record, Channel.FILE, keys, caller, turn, started_by)
    own = {"turn": turn, "model": attributes.get(_REQUEST_ID)}
    keys = ids(own.get(kind, attributes.get(_CALL_ID)))
    return Entry(
        kind, operation, record, Channel.FILE, keys, agent, None if kind == "turn" else turn
    )


def _object(value: object) -> dict[str, Any]:
    read = json_or_text(value)
    return read if isinstance(read, dict) else {}
