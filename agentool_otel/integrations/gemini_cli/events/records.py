"""The events of a session that Gemini CLI's records are of.

A tool call has an id in spans and files, and a model call one in spans; log records name the span
of a request, and of nothing else. A sub-agent has an id that its prompts begin with, `<id>#<n>`.
Turns have no id at all: a prompt of the user begins one, and later records are of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import (
    Channel,
    Entry,
    Kind,
    ids,
    text_or_none,
)
from agentool_otel.dialects.kit.session_pairs import (
    plain,
    with_calls,
    with_message_keys,
    with_span_keys,
)
from agentool_otel.ground import json_codec
from agentool_otel.integrations.gemini_cli.events.logs import of_logs
from agentool_otel.integrations.gemini_cli.events.names import (
    EVENTS,
    FILE,
    PLUMBING_EVENTS,
    PLUMBING_SPANS,
    PREFIX,
    SPANS,
)
from agentool_otel.integrations.gemini_cli.events.spans import of_spans
from agentool_otel.integrations.gemini_cli.events.turns import with_turns
from agentool_otel.model.messages import message, parts_of, text
from agentool_otel.model.operations import AgentInvocation, Inference, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["entries_of"]

_KINDS: dict[str, Kind] = {"invoke_agent": "turn", "chat": "model", "execute_tool": "tool"}
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
    entries = [*of_spans(spans, read), *of_logs(logs, read), *(_of_file(f, read) for f in files)]
    entries = with_turns(_with_whole_counts(with_message_keys(with_span_keys(with_calls(entries)))))
    entries += [answer for entry in entries if (answer := _report_of(entry)) is not None]
    return list(_with_session(entries)), unknown


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
    sessions = (entry.operation.conversation_id for entry in entries)
    session = next(filter(None, sessions), None)
    for entry in entries:
        if entry.operation.conversation_id is None and session is not None:
            entry = entry._replace(operation=replace(entry.operation, conversation_id=session))
        yield entry


def _of_file(record: SpanRecord, read: Read) -> Entry:
    attributes = record.attributes
    operation = read(Reader(record))
    kind = _KINDS[str(attributes[gen_ai.OPERATION_NAME])]
    agent, turn = text_or_none(attributes.get("agent_id")), text_or_none(attributes.get("turn.id"))
    named = f"line {turn}" if turn is not None else None
    if kind == "turn" and agent is not None:
        started_by = text_or_none(attributes.get("started_by"))
        own = named if started_by is not None else None
        return Entry("agent", operation, record, Channel.FILE, (agent,), None, own, started_by)
    if kind == "turn":
        return Entry(kind, operation, record, Channel.FILE, ids(named))
    key = attributes.get("id") if kind == "model" else attributes.get(gen_ai.TOOL_CALL_ID)
    own = named if agent is None else None
    return Entry(kind, operation, record, Channel.FILE, ids(key), agent, own)
