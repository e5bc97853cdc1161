"""The events of a session that Copilot CLI's records are of.

Ids are the same in spans and files: the response's of a model call, the call's of a tool,
`interactionId` of a turn. A sub-agent is known by the tool call that started it, and has an id of
its own in files. Of a killed agent, the spans that enclose others are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import (
    Channel,
    Entry,
    ids,
    text_or_none,
)
from agentool_otel.ground import lazy_re as re
from agentool_otel.integrations.copilot.events.names import (
    FILE,
    INTERACTION,
    PARENT_CALL,
    PLUMBING_SPANS,
    SCOPE,
    SPANS,
    SUB_AGENT,
)
from agentool_otel.model.messages import Message, message, parts_of, text
from agentool_otel.model.operations import AgentInvocation, Inference, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["entries_of", "without_time"]

_PROMPT = SCOPE + ".user.message"
_INITIATOR = SCOPE + ".initiator"
_TIME = re.compile(r"\A<current_datetime>[^<]*</current_datetime>\s*")

Read = Callable[[Reader], Operation]


def entries_of(records: Sequence[SpanRecord], read: Read) -> tuple[list[Entry], list[SpanRecord]]:
    """Return the entries that records are, and the records of unknown names.

    Args:
        records: spans, and lines of files as spans.
        read: the dialect's reading of one.
    """
    spans = _Spans(records, read)
    entries: list[Entry] = []
    unknown: list[SpanRecord] = []
    for record in records:
        if record.scope == FILE:
            entries.append(_of_file(record, read(Reader(record))))
        elif _kind(record) is not None:
            entries += spans.entries(record)
        elif record.name.partition(" ")[0] not in PLUMBING_SPANS:
            unknown.append(record)
    return entries, unknown


def without_time(messages: list[Message]) -> list[Message]:
    """Return messages without the time that Copilot CLI writes before what the user typed."""
    return [
        {**item, "parts": [_typed(part) for part in parts_of(item)]}
        if item.get("role") == "user"
        else item
        for item in messages
    ]


def _typed(part: dict[str, object]) -> dict[str, object]:
    words = part.get("content")
    if part.get("type") != "text" or not isinstance(words, str):
        return part
    return {**part, "content": _TIME.sub("", words)}


def _kind(record: SpanRecord) -> str | None:
    return SPANS.get(str(record.attributes.get(gen_ai.OPERATION_NAME)))


def _of_file(record: SpanRecord, operation: Operation) -> Entry:
    attributes = record.attributes
    turn, agent = text_or_none(attributes.get(INTERACTION)), text_or_none(attributes.get(SUB_AGENT))
    if isinstance(operation, Inference):
        keys = ids(operation.response_id)
        return Entry("model", operation, record, Channel.FILE, keys, agent, turn)
    if isinstance(operation, ToolExecution):
        keys = ids(operation.call_id)
        return Entry("tool", operation, record, Channel.FILE, keys, agent, turn)
    call = text_or_none(attributes.get(PARENT_CALL))
    if agent is not None:
        keys = (agent, *ids(call and f"call {call}"))
        return Entry("agent", operation, record, Channel.FILE, keys, None, turn, call)
    return Entry("turn", operation, record, Channel.FILE, ids(turn))


class _Spans:
    """The spans of a session."""

    def __init__(self, records: Sequence[SpanRecord], read: Read):
        self._spans = {record.span_id: record for record in records if record.scope != FILE}
        self._read = read

    def entries(self, record: SpanRecord) -> Iterator[Entry]:
        """Yield the entries that a span is; a model call has those of its turn, too, where the
        turn's span is missing."""
        operation = self._read(Reader(record))
        if isinstance(operation, AgentInvocation):
            yield self._agent(record, operation)
            return
        above = self._agent_around(record)
        agent, turn = None, None
        if above is not None and self._call_around(above) is not None:
            agent = self._key(above)
        elif above is not None:
            turn = f"span {above.span_id}"
        elif _is_of_sub_agent(record):
            agent = f"span {record.parent_id}"
        else:
            turn = f"span {record.parent_id}"
            if (interaction := text_or_none(record.attributes.get(INTERACTION))) is not None:
                yield _killed_turn(record, operation, (interaction, turn))
        if isinstance(operation, Inference):
            keys = ids(operation.response_id)
            yield Entry("model", operation, record, Channel.SPAN, keys, agent, turn)
        elif isinstance(operation, ToolExecution):
            keys = ids(operation.call_id)
            yield Entry("tool", operation, record, Channel.SPAN, keys, agent, turn)

    def _agent(self, record: SpanRecord, operation: AgentInvocation) -> Entry:
        call = self._call_around(record)
        own = f"span {record.span_id}"
        if call is None:
            asked = (e.attributes for e in record.events if e.name == _PROMPT)
            named = (attributes.get(_PROMPT + ".interaction_id") for attributes in asked)
            keys = (own, *ids(next(named, None)))
            return Entry("turn", operation, record, Channel.SPAN, keys)
        key, call_id = self._key(record), text_or_none(call.attributes.get(gen_ai.TOOL_CALL_ID))
        called = self._read(Reader(call))
        if not operation.input and isinstance(called, ToolExecution):
            operation = replace(operation, input=_task(called.arguments))
        keys = tuple(dict.fromkeys((own, key)))
        return Entry("agent", operation, record, Channel.SPAN, keys, started_by=call_id)

    def _key(self, agent: SpanRecord) -> str:
        """Return the key of a sub-agent."""
        call = self._call_around(agent)
        attributes = call.attributes if call is not None else {}
        call_id = text_or_none(attributes.get(gen_ai.TOOL_CALL_ID))
        return f"span {agent.span_id}" if call_id is None else f"call {call_id}"

    def _call_around(self, agent: SpanRecord) -> SpanRecord | None:
        """Return the tool call that an agent was started by; None if it is none's."""
        above = self._spans.get(agent.parent_id or "")
        return above if above is not None and _kind(above) == "tool" else None

    def _agent_around(self, record: SpanRecord) -> SpanRecord | None:
        """Return the agent that a span is part of; None if its span is missing."""
        seen: set[str] = set()
        above = self._spans.get(record.parent_id or "")
        while above is not None and above.span_id not in seen:
            if _kind(above) == "turn":
                return above
            seen.add(above.span_id)
            above = self._spans.get(above.parent_id or "")
        return None


def _is_of_sub_agent(record: SpanRecord) -> bool:
    """Return whether a span is a sub-agent's; only its own tool calls have the agent's name."""
    attributes = record.attributes
    return attributes.get(_INITIATOR) == "sub-agent" or gen_ai.AGENT_NAME in attributes


def _killed_turn(record: SpanRecord, operation: Operation, keys: tuple[str, ...]) -> Entry:
    """Return the entry of a turn without a span, of the model call that has the prompt."""
    sent = operation.input if isinstance(operation, Inference) else None
    prompt = [item for item in sent or () if item.get("role") == "user"]
    turn = AgentInvocation(
        conversation_id=operation.conversation_id, input=without_time(prompt) or None
    )
    span = replace(record, span_id=f"{record.span_id}/turn", parent_id=None, end_ns=None)
    return Entry("turn", turn, span, Channel.SPAN, keys)


def _task(arguments: object) -> list[Message] | None:
    match arguments:
        case {"prompt": str(words)}:
            return [message("user", [text(words)])]
        case _:
            return None
