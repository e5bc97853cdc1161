"""The events of a session that opencode's records are of.

A tool call has its id in spans and exports, a session too. A turn is a message of the user in
exports and a trace in spans. A model call has no id that both have: it is known by the tools that
it asks for, else by its tokens and its text.

A sub-agent is a session of its own, known by the tool that started it.

Spans are exported in part: the process ends before the last ones are sent. A turn has ended where
its own span has, or where an answer shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from agentool_otel.dialects.kit.dialect import classify
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import (
    DENIED,
    Channel,
    Entry,
    ids,
    paired,
    text_or_none,
)
from agentool_otel.ground import lazy_re as re
from agentool_otel.integrations.opencode.events.names import (
    CALL,
    FILE,
    PARENT,
    PLUMBING_SPANS,
    SESSION,
    SPANS,
    TITLE,
    TURN,
)
from agentool_otel.integrations.opencode.events.outputs import (
    exit_code,
    is_denial,
    returned,
    with_error,
)
from agentool_otel.model.messages import Message, message, parts_of, text
from agentool_otel.model.operations import AgentInvocation, Inference, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord

__all__ = ["entries_of", "typed"]

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_REMINDER = "<system-reminder>"
_TITLER = "You are a title generator."
_TASK = "task"

Read = Callable[[Reader], Operation]


def entries_of(records: Sequence[SpanRecord], read: Read) -> tuple[list[Entry], list[SpanRecord]]:
    """Return the entries that records are, and the records of unknown names.

    Args:
        records: spans, and parts of exports as spans.
        read: the dialect's reading of one.
    """
    session = _Session(records, read)
    entries: list[Entry] = []
    unknown: list[SpanRecord] = []
    for record in records:
        if record.scope == FILE:
            entries.append(session.of_file(record))
        elif record.name in SPANS:
            entries += session.of_span(record)
        elif PLUMBING_SPANS.fullmatch(record.name) is None:
            unknown.append(record)
    entries = [*_before_tools(entries)]
    entries.sort(key=lambda entry: entry.span.start_ns or 0)
    return [*paired(entries, _content)], unknown


def _before_tools(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yield entries, those of model calls with an end before the tools that they asked for: both
    channels have the end of all work on the answer."""
    starts = {
        (entry.channel, f"asks {entry.operation.call_id}"): entry.span.start_ns
        for entry in entries
        if isinstance(entry.operation, ToolExecution)
    }
    for entry in entries:
        asked = [starts.get((entry.channel, key)) for key in entry.keys]
        known = [start for start in asked if start is not None]
        if isinstance(entry.operation, Inference) and known:
            end_ns = min(filter(None, (*known, entry.span.end_ns)))
            entry = entry._replace(span=replace(entry.span, end_ns=end_ns))
        yield entry


def typed(words: str) -> str:
    """Return what the user typed: `opencode run` puts it into quotation marks."""
    quoted = _QUOTED.fullmatch(words.strip())
    return quoted[1].replace('\\"', '"') if quoted is not None and " " in words else words


def _content(entry: Entry) -> str | None:
    """Return what a model call is known by where its records have no id in common."""
    call = entry.operation
    if entry.is_internal or not isinstance(call, Inference):
        return None
    if call.error_type is not None:
        return f"failed {call.error_message}"
    if entry.keys or call.usage is None:
        return None
    words = [str(part.get("content")) for part in _parts(call.output) if part["type"] == "text"]
    return f"{call.usage.input_tokens} {call.usage.output_tokens} {words}"


class _Started(NamedTuple):
    """How a sub-agent came to be."""

    parent: str
    """The session that it works for."""
    call: str | None = None
    name: str | None = None


class _Session:
    """The records of a session and of its sub-agents."""

    def __init__(self, records: Sequence[SpanRecord], read: Read):
        self._read = read
        self._spans = {record.span_id: record for record in records if record.scope != FILE}
        self._started: dict[str, _Started] = {}
        """By the session of a sub-agent."""
        self._ended = {
            record.trace_id
            for record in self._spans.values()
            if SPANS.get(record.name) == "turn" and self._tool_around(record) is None
        }
        """Traces with the span of a whole turn."""
        self._turns: set[str] = set()
        """Traces and sub-agents of which the prompt is known."""
        for record in records:
            self._add_sub_agents(record)
        self._add_unknown_sub_agents()

    # ------------------------------------------------------------------------------ sub-agents

    def _add_sub_agents(self, record: SpanRecord) -> None:
        attributes = record.attributes
        own, parent = text_or_none(attributes.get(SESSION)), text_or_none(attributes.get(PARENT))
        if own is not None and parent is not None:
            self._start(own, _Started(parent, text_or_none(attributes.get(CALL))))
        if own is None or record.scope == FILE:
            return
        result = json_or_text(attributes.get("ai.toolCall.result"))
        match result:
            case {"metadata": {"sessionId": str(started)}} if started != own:
                arguments = json_or_text(attributes.get("ai.toolCall.args"))
                name = arguments.get("subagent_type") if isinstance(arguments, dict) else None
                call = text_or_none(attributes.get("ai.toolCall.id"))
                self._start(started, _Started(own, call, text_or_none(name)))
            case _:
                pass
        above = self._tool_around(record)
        of = text_or_none(above.attributes.get(SESSION)) if above is not None else None
        if above is not None and of not in (own, None):
            call = text_or_none(above.attributes.get("tool.call_id"))
            self._start(own, _Started(of or "", call))

    def _start(self, session: str, started: _Started) -> None:
        known = self._started.get(session, started)
        self._started[session] = _Started(
            known.parent, known.call or started.call, known.name or started.name
        )

    def _add_unknown_sub_agents(self) -> None:
        """Take every further session of a trace for a sub-agent of the first."""
        first: dict[str, str] = {}
        for record in sorted(self._spans.values(), key=lambda span: span.start_ns or 0):
            own = text_or_none(record.attributes.get(SESSION))
            if own is None or own in self._started:
                continue
            main = first.setdefault(record.trace_id, own)
            if own != main:
                self._start(own, _Started(main))

    def _tool_around(self, record: SpanRecord) -> SpanRecord | None:
        """Return the tool call that a span is part of."""
        seen: set[str] = set()
        above = self._spans.get(record.parent_id or "")
        while above is not None and above.span_id not in seen:
            if above.name == "Tool.execute":
                return above
            seen.add(above.span_id)
            above = self._spans.get(above.parent_id or "")
        return None

    def _main(self, session: str | None) -> str | None:
        """Return the session of the user that a session is part of."""
        seen: set[str] = set()
        while session in self._started and session not in seen:
            seen.add(session)
            session = self._started[session].parent
        return session

    # --------------------------------------------------------------------------------- records

    def of_file(self, record: SpanRecord) -> Entry:
        """Return the entry that a part of an export is."""
        attributes = record.attributes
        own = text_or_none(attributes.get(SESSION))
        operation = self._read(Reader(record))
        operation = replace(operation, conversation_id=self._main(own))
        agent = own if own in self._started else None
        turn = text_or_none(attributes.get(TURN)) if agent is None else None
        if isinstance(operation, Inference):
            return Entry("model", operation, record, Channel.FILE, _asked(operation), agent, turn)
        if isinstance(operation, ToolExecution):
            keys = ids(operation.call_id)
            return Entry("tool", operation, record, Channel.FILE, keys, agent, turn)
        if agent is not None:
            return self._agent(agent, operation, record, Channel.FILE)
        return Entry("turn", operation, record, Channel.FILE, ids(turn))

    def of_span(self, record: SpanRecord) -> Iterator[Entry]:
        """Yield the entries that a span is, and that of its turn or its sub-agent."""
        turn = f"trace {record.trace_id}"
        if SPANS[record.name] == "turn":
            if self._tool_around(record) is None:
                yield Entry("turn", AgentInvocation(), record, Channel.SPAN, (turn,))
            return
        own = text_or_none(record.attributes.get(SESSION))
        agent = own if own in self._started else None
        operation = replace(self._operation(record), conversation_id=self._main(own))
        if isinstance(operation, ToolExecution):
            keys = ids(operation.call_id)
            yield Entry("tool", operation, record, Channel.SPAN, keys, agent, turn)
        elif isinstance(operation, Inference):
            yield from self._beginning(record, operation, agent, turn)
            is_title = self._is_title(record, operation)
            if is_title:  # no step of the session
                operation = replace(operation, input=None, output=None)
            is_sent_again = operation.error_type is not None and record.trace_id not in self._ended
            yield Entry(
                "model", operation, record, Channel.SPAN, _asked(operation), agent, turn,
                is_internal=is_title or is_sent_again,
            )  # fmt: skip

    def _operation(self, record: SpanRecord) -> Operation:
        """Return the reading of a span, which is the Vercel AI SDK's where it wrote the span."""
        _, operation = classify(record)
        if isinstance(operation, ToolExecution):
            return _with_outcome(operation)
        return operation

    def _is_title(self, record: SpanRecord, operation: Inference) -> bool:
        above = self._spans.get(record.parent_id or "")
        for _ in range(3):
            if above is None:
                break
            if above.name == TITLE:
                return True
            above = self._spans.get(above.parent_id or "")
        first = next((str(part.get("content")) for part in _parts(operation.input)), "")
        return first.startswith(_TITLER)

    def _beginning(
        self, record: SpanRecord, call: Inference, agent: str | None, turn: str
    ) -> Iterator[Entry]:
        """Yield the turn or the sub-agent of the first model call that has its prompt."""
        prompt = _prompt(call.input)
        if prompt is None or (agent or turn) in self._turns:
            return
        self._turns.add(agent or turn)
        operation = AgentInvocation(
            conversation_id=call.conversation_id, input=[message("user", [text(prompt)])]
        )
        span = replace(record, span_id=f"{record.span_id}/turn", parent_id=None, end_ns=None)
        if agent is None:
            yield Entry("turn", operation, span, Channel.SPAN, (turn,))
        else:
            yield self._agent(agent, operation, span, Channel.SPAN)._replace(turn=turn)

    def _agent(
        self, session: str, operation: Operation, record: SpanRecord, channel: Channel
    ) -> Entry:
        started = self._started[session]
        around = started.parent if started.parent in self._started else None
        if isinstance(operation, AgentInvocation) and operation.agent_name is None:
            operation = replace(operation, agent_name=started.name)
        return Entry(
            "agent", operation, record, channel, (session,), around, started_by=started.call
        )


def _with_outcome(call: ToolExecution) -> ToolExecution:
    """Return a tool call of a span with the parts of its result apart."""
    if call.error_type is not None and is_denial(call.error_message):
        return replace(call, error_type=DENIED)
    match call.result:
        case {"output": output, "metadata": metadata}:
            result = returned(output, metadata)
            return with_error(replace(call, result=result, exit_code=exit_code(metadata)))
        case {"output": output}:
            return with_error(replace(call, result=output))
        case _:
            return call


def _asked(call: Inference) -> tuple[str, ...]:
    """Return the keys of the tools that a model call asks for."""
    ids = (part.get("id") for part in _parts(call.output) if part["type"] == "tool_call")
    return tuple(f"asks {call_id}" for call_id in ids if isinstance(call_id, str))


def _prompt(messages: Sequence[Message] | None) -> str | None:
    """Return the text of the user's last message that the user typed."""
    users = [item for item in messages or () if item.get("role") == "user"]
    words = [str(part.get("content")) for part in _parts(users[-1:]) if part["type"] == "text"]
    own = (text for text in words if not text.lstrip().startswith(_REMINDER))
    prompt = next(own, None)
    return None if prompt is None else typed(prompt)


def _parts(messages: Sequence[Message] | None) -> list[dict[str, Any]]:
    return [part for item in messages or () for part in parts_of(item)]
