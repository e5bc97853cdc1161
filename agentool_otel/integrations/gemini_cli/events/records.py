"""The events of a session that Gemini CLI's records are of.

A tool call has an id in spans and files, and a model call one in spans; log records name the span
of a request, and of nothing else. A sub-agent has an id that its prompts begin with, `<id>#<n>`.
Turns have no id at all: a prompt of the user begins one, and later records are of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from agentool_otel.dialects.kit.provider_messages import json_or_text, messages_from
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import Channel, Entry, Kind
from agentool_otel.dialects.kit.session_pairs import plain, with_calls, with_message_keys
from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.integrations.gemini_cli.events.calls import (
    call_id_of,
    ended_call,
    with_response,
)
from agentool_otel.integrations.gemini_cli.events.names import (
    AGENT,
    EVENTS,
    FILE,
    PLUMBING_EVENTS,
    PLUMBING_SPANS,
    PREFIX,
    SPANS,
)
from agentool_otel.integrations.gemini_cli.events.turns import with_turns
from agentool_otel.model.messages import message, parts_of, text
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    Operation,
    ToolExecution,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["entries_of", "sub_agent_of"]

_MS = 1_000_000
_PROMPT = "gen_ai.prompt.name"
_KINDS: dict[str, Kind] = {"invoke_agent": "turn", "chat": "model", "execute_tool": "tool"}
_OF_SUB_AGENT = re.compile(r"(.*[^#])#\d+")
_DELEGATION = "invoke_agent"
_REPORT = "complete_task"
"""The tool by which a sub-agent answers."""

Read = Callable[[Reader], Operation]


def entries_of(records: Sequence[SpanRecord], read: Read) -> tuple[list[Entry], list[SpanRecord]]:
    """Return the entries that records are, and the records of unknown names.

    Args:
        records: spans, and log records as spans.
        read: the dialect's reading of one.
    """
    ordered = sorted(records, key=lambda record: (record.start_ns or 0, record.end_ns or 0))
    files, logs, spans, unknown = _assigned(ordered)
    entries = [*_of_spans(spans, read), *_of_logs(logs, read), *(_of_file(f, read) for f in files)]
    entries = with_turns(_with_whole_counts(with_message_keys(with_calls(entries))))
    entries += [answer for entry in entries if (answer := _report_of(entry)) is not None]
    return list(_with_session(entries)), unknown


def sub_agent_of(prompt: object) -> str | None:
    """Return the id of the sub-agent in the id of a prompt; None for the session's own, which is
    its id, or that with `########` and a number."""
    found = _OF_SUB_AGENT.fullmatch(prompt) if isinstance(prompt, str) else None
    return None if found is None else found[1]


def _assigned(
    records: Sequence[SpanRecord],
) -> tuple[
    list[SpanRecord], list[tuple[str, SpanRecord]], list[tuple[str, SpanRecord]], list[SpanRecord]
]:
    files: list[SpanRecord] = []
    logs: list[tuple[str, SpanRecord]] = []
    spans: list[tuple[str, SpanRecord]] = []
    unknown: list[SpanRecord] = []
    for record in records:
        if record.scope == FILE:
            files.append(record)
            continue
        is_log = "event.name" in record.attributes or record.name.startswith(PREFIX)
        name = _name(record)
        if name in (EVENTS if is_log else SPANS):
            (logs if is_log else spans).append((name, record))
        elif name and name not in (PLUMBING_EVENTS if is_log else PLUMBING_SPANS):
            unknown.append(record)
    return files, logs, spans, unknown


def _name(record: SpanRecord) -> str:
    attributes = record.attributes
    name = attributes.get("event.name") or attributes.get(gen_ai.OPERATION_NAME) or record.name
    return str(name).removeprefix(PREFIX)


def _report_of(entry: Entry) -> Entry | None:
    """Return the answer of a sub-agent, which is the argument of a tool call."""
    call = entry.operation
    if not isinstance(call, ToolExecution) or call.name != _REPORT or entry.agent is None:
        return None
    arguments = plain(call.arguments)
    answer = arguments.get("result") if isinstance(arguments, dict) else None
    if isinstance(answer, dict) and answer.keys() == {"response"}:
        answer = answer["response"]
    if answer is None:
        return None
    words = answer if isinstance(answer, str) else json_codec.dumps(answer)
    told = AgentInvocation(output=[message("assistant", [text(words)])])
    span = replace(entry.span, span_id=f"{entry.span.span_id}/report")
    return Entry("agent", told, span, entry.channel, (entry.agent,), turn=entry.turn)


def _with_whole_counts(entries: list[Entry]) -> list[Entry]:
    """Return entries with one source of token counts for each model call: those of spans lack the
    thoughts and the cached ones."""
    counted = {
        key
        for entry in entries
        if isinstance(entry.operation, Inference) and entry.operation.usage is not None
        if entry.channel is not Channel.SPAN
        for key in entry.keys
    }
    return [_with_whole_count(entry, counted) for entry in entries]


def _with_whole_count(entry: Entry, counted: set[str]) -> Entry:
    call = entry.operation
    if not isinstance(call, Inference) or entry.channel is not Channel.SPAN or call.usage is None:
        return entry
    if not counted.isdisjoint(entry.keys):
        return entry._replace(operation=replace(call, usage=None))
    parts = (part for item in call.output or () for part in parts_of(item))
    thinks = any(part.get("type") == "reasoning" for part in parts)
    return entry._replace(partial=entry.partial | {"usage"}) if thinks else entry


def _with_session(entries: list[Entry]) -> Iterator[Entry]:
    """Yield entries with the id of the session, which the file of a sub-agent does not have."""
    ids = (entry.operation.conversation_id for entry in entries)
    session = next(filter(None, ids), None)
    for entry in entries:
        if entry.operation.conversation_id is None and session is not None:
            entry = entry._replace(operation=replace(entry.operation, conversation_id=session))
        yield entry


# ------------------------------------------------------------------------------------- files


def _of_file(record: SpanRecord, read: Read) -> Entry:
    attributes = record.attributes
    operation = read(Reader(record))
    kind = _KINDS[str(attributes[gen_ai.OPERATION_NAME])]
    agent, turn = _text(attributes.get("agent_id")), _text(attributes.get("turn.id"))
    named = f"line {turn}" if turn is not None else None
    if kind == "turn" and agent is not None:
        started_by = _text(attributes.get("started_by"))
        own = named if started_by is not None else None
        return Entry("agent", operation, record, Channel.FILE, (agent,), None, own, started_by)
    if kind == "turn":
        return Entry(kind, operation, record, Channel.FILE, _keys(named))
    key = attributes.get("id") if kind == "model" else attributes.get(gen_ai.TOOL_CALL_ID)
    own = named if agent is None else None
    return Entry(kind, operation, record, Channel.FILE, _keys(key), agent, own)


# ------------------------------------------------------------------------------------- spans


class _Tree:
    """The spans of a session by their parents."""

    def __init__(self, spans: Sequence[tuple[str, SpanRecord]]):
        self._spans = {record.span_id: (name, record) for name, record in spans}
        self._agents: dict[str, str] = {}
        for name, record in spans:
            around = self.around(record, "agent_call") if name == "llm_call" else None
            agent = sub_agent_of(record.attributes.get(_PROMPT))
            if around is not None and agent is not None:
                self._agents[around.span_id] = agent

    def around(self, record: SpanRecord, wanted: str) -> SpanRecord | None:
        """Return the nearest span of a name around a span."""
        seen: set[str] = set()
        above = record.parent_id
        while above is not None and above not in seen and above in self._spans:
            seen.add(above)
            name, around = self._spans[above]
            if name == wanted:
                return around
            above = around.parent_id
        return None

    def id_of(self, agent_call: SpanRecord) -> str:
        """Return the id of a sub-agent, or one of its span."""
        return self._agents.get(agent_call.span_id, f"span {agent_call.span_id}")

    def agent_of(self, record: SpanRecord) -> str | None:
        """Return the id of the sub-agent that a span is of."""
        around = self.around(record, "agent_call")
        if around is not None:
            return self.id_of(around)
        return sub_agent_of(record.attributes.get(_PROMPT))


def _of_spans(spans: Sequence[tuple[str, SpanRecord]], read: Read) -> Iterator[Entry]:
    tree = _Tree(spans)
    with_span = {record.attributes.get("gen_ai.tool.call_id") for _, record in spans}
    for name, record in spans:
        agent = tree.agent_of(record)
        if name == "llm_call":
            call = _without_answer(record, read(Reader(record)))
            yield Entry("model", call, record, Channel.SPAN, (f"span {record.span_id}",), agent)
        elif name == "tool_call":
            tool = read(Reader(record))
            keys = _keys(tool.call_id if isinstance(tool, ToolExecution) else None)
            yield Entry("tool", tool, record, Channel.SPAN, keys, agent)
        elif name == "schedule_tool_calls":
            yield from _not_executed(record, agent, with_span)
        elif name == "agent_call":
            caller = tree.around(record, "tool_call")
            yield _agent_call(record, tree.id_of(record), agent, caller)
        else:
            yield Entry("turn", read(Reader(record)), record, Channel.SPAN, (record.span_id,))


def _without_answer(record: SpanRecord, call: Operation) -> Operation:
    """Return a model call without an answer, where Gemini CLI asked for itself: which model to use,
    for example. Such a request offers no tools."""
    attributes = record.attributes
    role = attributes.get("role")
    is_own = role is None and attributes.get(gen_ai.TOOL_DEFINITIONS) == "[]"
    if not is_own and not str(role or "").startswith("utility"):
        return call
    if not isinstance(call, Inference) or not call.output:
        return call
    extra = {**call.extra, "response_text": json_codec.dumps(call.output)}
    return replace(call, output=None, extra=extra)


def _not_executed(record: SpanRecord, agent: str | None, with_span: set[Any]) -> Iterator[Entry]:
    """Yield the calls that have no span of their own: those that were not allowed."""
    ended = json_or_text(record.attributes.get(gen_ai.OUTPUT_MESSAGES))
    for number, item in enumerate(ended if isinstance(ended, list) else ()):
        request = item.get("request") if isinstance(item, dict) else None
        response = item.get("response") if isinstance(item, dict) else None
        if not isinstance(request, dict) or request.get("callId") in with_span:
            continue
        name = str(request.get("name") or "")
        call = ToolExecution(
            name=name,
            call_id=call_id_of(name, str(request.get("callId") or "")) or None,
            arguments=request.get("args"),
            conversation_id=_text(record.attributes.get(gen_ai.CONVERSATION_ID)),
        )
        if isinstance(response, dict):
            call = ended_call(call, response)
        span = replace(record, span_id=f"{record.span_id}/{number}")
        yield Entry("tool", call, span, Channel.SPAN, _keys(call.call_id), agent)


def _agent_call(record: SpanRecord, key: str, caller: str | None, tool: SpanRecord | None) -> Entry:
    asked = json_or_text(record.attributes.get(gen_ai.INPUT_MESSAGES))
    asked = asked if isinstance(asked, dict) else {}
    prompt = _text(asked.get("prompt"))
    operation = AgentInvocation(
        agent_name=_text(asked.get("agent_name")),
        conversation_id=_text(record.attributes.get(gen_ai.CONVERSATION_ID)),
        input=None if prompt is None else [message("user", [text(prompt)])],
    )
    attributes = tool.attributes if tool is not None else {}
    call = _text(attributes.get("gen_ai.tool.call_id"))
    named = _text(attributes.get(gen_ai.TOOL_NAME))
    started_by = None if call is None else call_id_of(named, call)
    return Entry("agent", operation, record, Channel.SPAN, (key,), caller, started_by=started_by)


# --------------------------------------------------------------------------------------- logs


def _of_logs(logs: Sequence[tuple[str, SpanRecord]], read: Read) -> Iterator[Entry]:
    requests: dict[tuple[object, ...], list[SpanRecord]] = defaultdict(list)
    delegated: list[tuple[str | None, str]] = []
    """Calls that start a sub-agent, each with the name of that."""
    for name, record in logs:
        attributes = record.attributes
        agent = sub_agent_of(attributes.get("prompt_id"))
        if name in ("api_request", "api_response", "api_error"):
            place = tuple(map(attributes.get, ("prompt_id", "model", "role")))
            entries = list(_of_model(name, record, agent, read, requests[place]))
            delegated += filter(None, map(_delegated, entries))
            yield from entries
        elif name == "tool_call":
            yield Entry("tool", read(Reader(record)), _begun(record), Channel.LOG, (), agent)
            yield from _started(record)
        elif name.startswith("agent."):
            told = AgentInvocation(agent_name=_text(attributes.get("agent_name")))
            span = record if name == "agent.finish" else replace(record, end_ns=None)
            keys = _keys(attributes.get("agent_id"))
            started_by = _taken(delegated, told.agent_name) if name == "agent.start" else None
            yield Entry("agent", told, _begun(span), Channel.LOG, keys, started_by=started_by)
        elif name == "user_prompt":
            span = replace(record, end_ns=None)
            keys = (f"log {record.span_id}",)
            yield Entry("turn", read(Reader(record)), span, Channel.LOG, keys)
        else:
            found = AgentInvocation(error_type=name, agent_name=AGENT)
            yield Entry("turn", found, replace(record, end_ns=None), Channel.LOG)


def _delegated(entry: Entry) -> tuple[str | None, str] | None:
    """Return the name of the sub-agent that a call starts, and the id of the call."""
    call = entry.operation
    if not isinstance(call, ToolExecution) or call.name != _DELEGATION or entry.span.end_ns:
        return None
    arguments = plain(call.arguments)
    if call.call_id is None or not isinstance(arguments, dict):
        return None
    return _text(arguments.get("agent_name")), call.call_id


def _taken(delegated: list[tuple[str | None, str]], name: str | None) -> str | None:
    """Return the id of the first call that started a sub-agent of a name, and forget it."""
    found = next((item for item in delegated if item[0] == name), None)
    if found is None:
        return None
    delegated.remove(found)
    return found[1]


def _of_model(
    name: str, record: SpanRecord, agent: str | None, read: Read, requests: list[SpanRecord]
) -> Iterator[Entry]:
    """Yield the model call of a request or its outcome, and the tool calls that it has.

    Args:
        name: that of the record.
        record: the record.
        agent: the sub-agent that it is of.
        read: the dialect's reading.
        requests: those before it without an outcome.
    """
    if name == "api_request":
        requests.append(record)
        history = json_or_text(record.attributes.get("request_text"))
        history = history if isinstance(history, list) else []
        asked = Inference(
            request_model=_text(record.attributes.get("model")),
            input=messages_from(history, "user") or None,
            conversation_id=_text(record.attributes.get("session.id")),
        )
        span = replace(record, end_ns=None)
        call = _without_answer(record, asked)
        yield Entry("model", call, span, Channel.LOG, _keys(_key(record)), agent)
        yield from _results(record, history[-1:], agent)
        return
    same = [item for item in requests if item.parent_id == record.parent_id]
    request = (same or requests or [record])[0]
    if request is not record:
        requests.remove(request)
    outcome = _without_answer(record, read(Reader(record)))
    yield Entry("model", outcome, _begun(record), Channel.LOG, _keys(_key(request)), agent)
    if isinstance(outcome, Inference):
        yield from _asked(record, outcome, agent)


def _key(request: SpanRecord) -> str:
    return f"span {request.parent_id}" if request.parent_id else f"log {request.span_id}"


def _asked(record: SpanRecord, call: Inference, agent: str | None) -> Iterator[Entry]:
    """Yield the tool calls that an answer asks for."""
    for item in call.output or ():
        for part in parts_of(item):
            if part.get("type") == "tool_call" and (call_id := _text(part.get("id"))):
                tool = ToolExecution(
                    name=str(part.get("name") or ""),
                    call_id=call_id,
                    arguments=part.get("arguments"),
                    conversation_id=call.conversation_id,
                )
                span = replace(
                    record, span_id=f"{record.span_id}/{call_id}", start_ns=record.end_ns,
                    end_ns=None,
                )  # fmt: skip
                yield Entry("tool", tool, span, Channel.LOG, (call_id,), agent)


def _results(record: SpanRecord, history: list[Any], agent: str | None) -> Iterator[Entry]:
    """Yield the results of tool calls that a request ends with."""
    parts = history[0].get("parts") if history and isinstance(history[0], dict) else None
    for part in parts if isinstance(parts, list) else ():
        sent = part.get("functionResponse") if isinstance(part, dict) else None
        if not isinstance(sent, dict) or (call_id := _text(sent.get("id"))) is None:
            continue
        name, response = _text(sent.get("name")) or "", sent.get("response")
        call_id = call_id_of(name, call_id)
        ended = ToolExecution(name=name, call_id=call_id)
        if isinstance(response, dict):
            ended = with_response(ended, response)
        span = replace(record, span_id=f"{record.span_id}/{call_id}", end_ns=None)
        yield Entry("tool", ended, span, Channel.LOG, (call_id,), agent)


def _started(record: SpanRecord) -> Iterator[Entry]:
    """Yield the sub-agent that a tool call has started."""
    metadata = json_or_text(record.attributes.get("metadata"))
    agent = _text(metadata.get("agentId")) if isinstance(metadata, dict) else None
    if agent is not None:
        asked = json_or_text(record.attributes.get("function_args"))
        asked = asked if isinstance(asked, dict) else {}
        prompt = _text(asked.get("prompt"))
        told = AgentInvocation(
            agent_name=_text(asked.get("agent_name")),
            conversation_id=_text(record.attributes.get("session.id")),
            input=None if prompt is None else [message("user", [text(prompt)])],
        )
        span = replace(_begun(record), span_id=f"{record.span_id}/agent")
        yield Entry("agent", told, span, Channel.LOG, (agent,), started_by=record.span_id)


def _begun(record: SpanRecord) -> SpanRecord:
    """Return a log record with the time of its event, which it is written at the end of."""
    took, end_ns = record.attributes.get("duration_ms"), record.end_ns
    if not isinstance(took, (int, float)) or end_ns is None or not 0 < took * _MS < end_ns:
        return record
    return replace(record, start_ns=end_ns - int(took * _MS))


def _keys(*ids: object) -> tuple[str, ...]:
    return tuple(item for item in ids if isinstance(item, str) and item)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
