"""The events of a session that Qwen Code's records are of.

A tool call has its id in all channels, and a turn the id of its prompt in spans, log records and
the repeated log records of a session file. A model call has the id of its response in the same; a
log record of a request names the span, and a line of the session file only has content. A
sub-agent's id is its name and the id of the call that started it.
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
from agentool_otel.dialects.kit.session_pairs import with_message_keys
from agentool_otel.ground import json_codec
from agentool_otel.integrations.qwen_code.events.calls import is_housekeeping
from agentool_otel.integrations.qwen_code.events.entries import (
    agent_entry,
    name_of,
    named,
)
from agentool_otel.integrations.qwen_code.events.logs import Logs
from agentool_otel.integrations.qwen_code.events.names import (
    EVENTS,
    FILE,
    PLUMBING_EVENTS,
    PLUMBING_SPANS,
    SPANS,
)
from agentool_otel.integrations.qwen_code.events.spans import Spans, of_span
from agentool_otel.model.operations import AgentInvocation, Inference, Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["entries_of"]

_KINDS: dict[str, Kind] = {"invoke_agent": "turn", "chat": "model", "execute_tool": "tool"}

Read = Callable[[Reader], Operation]


def entries_of(records: Sequence[SpanRecord], read: Read) -> tuple[list[Entry], list[SpanRecord]]:
    """Return the entries that records are, and the records of unknown names.

    Args:
        records: spans, and log records as spans.
        read: the dialect's reading of one.
    """
    ordered = sorted(records, key=lambda record: (record.start_ns or 0, record.end_ns or 0))
    spans = Spans(ordered)
    logs = Logs(ordered, spans, read)
    entries: list[Entry] = []
    unknown: list[SpanRecord] = []
    for record in ordered:
        if record.scope == FILE:
            entries += _of_file(record, read)
            continue
        is_log = "event.name" in record.attributes
        name = name_of(record)
        if name not in (EVENTS if is_log else SPANS):
            if name not in (PLUMBING_EVENTS if is_log else PLUMBING_SPANS):
                unknown.append(record)
        elif is_log:
            entries += logs.entries(record, name)
        else:
            entries += of_span(record, name, read, spans)
    return with_message_keys([_settled(entry) for entry in entries]), unknown


def _settled(entry: Entry) -> Entry:
    """Return an entry; a model call of an agent that Qwen Code starts for itself is one of the
    session's own, without an answer to the user."""
    call = entry.operation
    if entry.kind != "model" or not is_housekeeping(entry.agent):
        return entry
    if isinstance(call, Inference) and call.output:
        extra = {**call.extra, "response_text": json_codec.dumps(call.output)}
        call = replace(call, output=None, extra=extra)
    return entry._replace(operation=call, agent=None, is_internal=True)


def _of_file(record: SpanRecord, read: Read) -> Iterator[Entry]:
    attributes = record.attributes
    operation = read(Reader(record))
    kind = _KINDS[str(attributes[gen_ai.OPERATION_NAME])]
    agent, name = (
        text_or_none(attributes.get("agent_id")),
        text_or_none(attributes.get("agent_name")),
    )
    line = named("line", attributes.get("turn.id"))
    if kind == "turn" and agent is not None:
        yield agent_entry(operation, record, Channel.FILE, agent, name)
        return
    if kind == "turn":
        yield Entry(kind, operation, record, Channel.FILE, ids(line))
        return
    response = text_or_none(attributes.get("response_id"))
    prompt = named("prompt", attributes.get("prompt_id")) if agent is None else None
    turn = line if agent is None else None
    if prompt is not None and line is not None:
        yield _tied(record, line, prompt)
    if kind == "tool":
        keys = ids(attributes.get(gen_ai.TOOL_CALL_ID))
    elif response is not None:
        keys = (f"response {response}", f"telemetry {response}")
    else:
        keys = ids(attributes.get("uuid"))
    yield Entry(kind, operation, record, Channel.FILE, keys, agent, turn)


def _tied(record: SpanRecord, line: str, prompt: str) -> Entry:
    """Return the entry of a turn that ties the line of a prompt to the id of the prompt."""
    session = text_or_none(record.attributes.get(gen_ai.CONVERSATION_ID))
    span = replace(record, span_id=f"{record.span_id}/turn", end_ns=None)
    known = AgentInvocation(conversation_id=session)
    return Entry("turn", known, span, Channel.FILE, (line, prompt))
