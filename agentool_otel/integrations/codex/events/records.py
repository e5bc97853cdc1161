"""The events of a session that Codex' records are of.

A tool call has the same `call_id` in all channels. A turn has `turn.id` in spans and files, and a
trace in spans and log records, which it shares with the turns of its sub-agents. A sub-agent is a
conversation of its own. A model call has no id that all channels have: calls with the same token
counts are the same if they ended at nearly the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import (
    Channel,
    Entry,
    Kind,
    begun,
    ids,
    paired,
    text_or_none,
)
from agentool_otel.integrations.codex.events.names import (
    AGENT,
    FILE,
    LOGS,
    PLUMBING_LOGS,
    PLUMBING_SPANS,
)
from agentool_otel.integrations.codex.events.outputs import ended, exit_code_in, output_text
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    Operation,
    ToolExecution,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["entries_of"]

_CONVERSATION, _PARENT = "conversation.id", "parent.conversation.id"
_ROLE = "agent.role"
_TURN, _CALL_ID, _TRACE = "turn.id", "call_id", "trace.id"
_KINDS: dict[str, Kind] = {"invoke_agent": "turn", "chat": "model", "execute_tool": "tool"}
_RESULT = "codex.tool_result"
_BEFORE_CALL = "guardian_scoring_observation"
"""A span of the decision whether a call may run, which has the id of the call."""
_USAGE = "gen_ai.usage.output_tokens"

Read = Callable[[Reader], Operation]


class _SubAgent(NamedTuple):
    parent: str
    """The conversation that started it."""
    call_id: str | None
    """The tool call by which it was started."""
    role: str | None = None
    """Its role, such as `explorer`; its nickname is drawn at random."""


def entries_of(records: Sequence[SpanRecord], read: Read) -> tuple[list[Entry], list[SpanRecord]]:
    """Return the entries that records are, and the records of unknown names.

    Args:
        records: spans, and log records as spans.
        read: the dialect's reading of one.
    """
    session = _Session(records, read)
    ordered = sorted(session.entries(), key=lambda entry: entry.span.start_ns or 0)
    return list(paired(ordered, _token_counts)), session.unknown


def _token_counts(entry: Entry) -> str | None:
    usage = entry.operation.usage if isinstance(entry.operation, Inference) else None
    return f"{usage.input_tokens}/{usage.output_tokens}" if usage is not None else None


class _Session:
    def __init__(self, records: Sequence[SpanRecord], read: Read):
        self._records = records
        self._read = read
        self._spans = {record.span_id: record for record in records}
        self._conversations: dict[str, str | None] = {}
        """By span, the conversation that it is part of."""
        self._sub_agents = dict(self._find_sub_agents())
        self._traces = {
            record.trace_id
            for record in records
            if LOGS.get(str(record.attributes.get("event.name"))) in ("turn", "tool")
        }
        """Traces of prompts and tools; most records of responses name none."""
        self.unknown: list[SpanRecord] = []

    # ------------------------------------------------------------------------------ sub-agents

    def _find_sub_agents(self) -> Iterator[tuple[str, _SubAgent]]:
        """Yield the conversations of sub-agents; of what several records have, the last counts."""
        known: dict[str, _SubAgent] = {}
        roles: dict[str, str] = {}
        for record in self._records:
            attributes = record.attributes
            own = text_or_none(attributes.get(_CONVERSATION))
            parent = text_or_none(attributes.get(_PARENT))
            if own is not None and (role := text_or_none(attributes.get(_ROLE))) is not None:
                roles[own] = role
            if own is not None and parent is not None and own not in known:
                known[own] = _SubAgent(parent, None)
            if record.name == "codex.turn_input" and own is not None:
                around = self._around(record, lambda span: _CALL_ID in span.attributes)
                outer = around.attributes if around is not None else {}
                above = text_or_none(outer.get(_CONVERSATION))
                if above is not None and above != own:
                    known[own] = _SubAgent(above, text_or_none(outer.get(_CALL_ID)))
            if own is not None and (started := _started(attributes)) is not None:
                call_id = attributes.get(_CALL_ID) or attributes.get(gen_ai.TOOL_CALL_ID)
                known[started] = _SubAgent(own, text_or_none(call_id))
                if (role := _started_role(attributes)) is not None:
                    roles[started] = role
        for agent, about in known.items():
            yield agent, about._replace(role=roles.get(agent))

    def _around(self, record: SpanRecord, is_it: Callable[[SpanRecord], bool]) -> SpanRecord | None:
        """Return the nearest span around a span with a property."""
        seen: set[str] = set()
        above = self._spans.get(record.parent_id or "")
        while above is not None and above.span_id not in seen:
            if is_it(above):
                return above
            seen.add(above.span_id)
            above = self._spans.get(above.parent_id or "")
        return None

    def _found(self, record: SpanRecord, *names: str) -> str | None:
        """Return an attribute of a span, or of the nearest one around it that has it."""
        for name in names:
            if (own := text_or_none(record.attributes.get(name))) is not None:
                return own
        around = self._around(record, lambda span: any(name in span.attributes for name in names))
        return self._found(around, *names) if around is not None else None

    def _agent(self, conversation: str | None) -> str | None:
        return conversation if conversation in self._sub_agents else None

    def _root(self, conversation: str | None) -> str | None:
        seen: set[str] = set()
        while conversation in self._sub_agents and conversation not in seen:
            seen.add(conversation)
            conversation = self._sub_agents[conversation].parent
        return conversation

    # --------------------------------------------------------------------------------- entries

    def entries(self) -> Iterator[Entry]:
        for record in self._records:
            if record.scope == FILE:
                yield self._of_file(record)
            elif "event.name" in record.attributes:
                yield from self._of_log(record)
            else:
                yield from self._of_span(record)

    def _entry(
        self, kind: Kind, operation: Operation, record: SpanRecord, channel: Channel,
        keys: tuple[str, ...], conversation: str | None, turn: str | None,
    ) -> Entry:  # fmt: skip
        """Return an entry; a turn of a sub-agent's conversation is the sub-agent's."""
        agent = self._agent(conversation)
        if (root := self._root(conversation)) is not None:
            operation = replace(operation, conversation_id=root)
        if kind != "turn" or agent is None:
            of_turn = turn if agent is None else None
            return Entry(kind, operation, record, channel, keys, agent, of_turn)
        about = self._sub_agents[agent]
        if isinstance(operation, AgentInvocation):
            operation = replace(operation, agent_name=about.role or AGENT)
        of_caller = self._agent(about.parent)
        return Entry("agent", operation, record, channel, (agent,), of_caller, None, about.call_id)

    def _of_span(self, record: SpanRecord) -> Iterator[Entry]:
        conversation = self._found(record, _CONVERSATION)
        turn_id = self._found(record, _TURN, "turn_id")
        if conversation is None and record.name.startswith("session_task.turn"):
            conversation = self._below(record)
        in_trace = _in_trace(record.trace_id, conversation)
        turn = f"turn {turn_id}" if turn_id is not None else in_trace
        if record.name.startswith("session_task.turn"):
            keys = ids(turn, in_trace)
            yield self._entry(
                "turn", self._read(Reader(record)), record, Channel.SPAN, keys, conversation, None
            )
        elif record.name == "run_turn":  # the span around it may be lost when the process ends
            ran = AgentInvocation(agent_name=AGENT)
            keys = ids(turn, in_trace)
            yield self._entry("turn", ran, record, Channel.SPAN, keys, conversation, None)
        elif record.name.startswith("handle_responses"):
            if _USAGE in record.attributes:
                call = self._read(Reader(record))
                yield self._entry("model", call, record, Channel.SPAN, (), conversation, turn)
        elif _CALL_ID in record.attributes:
            keys = ids(record.attributes.get(_CALL_ID))
            call = ToolExecution(name=_tool_name(record), call_id=keys[0] if keys else None)
            if record.name == _BEFORE_CALL:
                record = replace(record, end_ns=None)
            yield self._entry("tool", call, record, Channel.SPAN, keys, conversation, turn)
        elif record.name not in PLUMBING_SPANS and not record.events:
            self.unknown.append(record)
        for event in record.events:
            if event.attributes.get("event.name") == _RESULT:
                keys = ids(event.attributes.get(_CALL_ID))
                outcome = ended(
                    ToolExecution(name="", call_id=keys[0] if keys else None),
                    UNSET, None, _boolean(event.attributes.get("success")),
                )  # fmt: skip
                of_event = text_or_none(event.attributes.get(_CONVERSATION)) or conversation
                yield self._entry("tool", outcome, record, Channel.SPAN, keys, of_event, turn)

    def _below(self, record: SpanRecord) -> str | None:
        """Return the conversation of a turn whose spans around it never came."""
        return next(
            (
                text_or_none(other.attributes.get(_CONVERSATION))
                for other in self._records
                if other.trace_id == record.trace_id and _CONVERSATION in other.attributes
            ),
            None,
        )

    def _of_log(self, record: SpanRecord) -> Iterator[Entry]:
        attributes = record.attributes
        name = str(attributes["event.name"])
        conversation = text_or_none(attributes.get(_CONVERSATION))
        has_trace = name != "codex.sse_event" or record.trace_id in self._traces
        in_trace = _in_trace(record.trace_id, conversation) if has_trace else None
        if name not in LOGS:
            if name not in PLUMBING_LOGS:
                self.unknown.append(record)
            return
        if name == "codex.user_prompt":
            keys = ids(in_trace)
            prompt = self._read(Reader(record))
            record = replace(record, end_ns=None)
            yield self._entry("turn", prompt, record, Channel.LOG, keys, conversation, None)
        elif name == "codex.agent_response":
            words = Reader(record).text("response")
            answer = [message("assistant", [text(words)])] if words is not None else None
            said = AgentInvocation(output=answer)
            record = replace(record, start_ns=None)
            keys = ids(in_trace)
            yield self._entry("turn", said, record, Channel.LOG, keys, conversation, None)
        elif name == "codex.sse_event":
            if "input_token_count" in attributes:
                call = self._read(Reader(record))
                yield self._entry("model", call, record, Channel.LOG, (), conversation, in_trace)
        elif name == "codex.tool_result":
            keys = ids(attributes.get(_CALL_ID))
            call = _log_call(record)
            record = begun(record)
            yield self._entry("tool", call, record, Channel.LOG, keys, conversation, in_trace)
        else:
            keys = ids(attributes.get(_CALL_ID))
            decided = ToolExecution(name=_tool_name(record), call_id=keys[0] if keys else None)
            record = replace(record, end_ns=None)
            yield self._entry("tool", decided, record, Channel.LOG, keys, conversation, in_trace)

    def _of_file(self, record: SpanRecord) -> Entry:
        attributes = record.attributes
        operation = self._read(Reader(record))
        kind = _KINDS[str(attributes[gen_ai.OPERATION_NAME])]
        conversation = text_or_none(attributes.get(_CONVERSATION))
        turn = f"turn {attributes.get(_TURN)}"
        keys: tuple[str, ...] = ()
        if kind == "turn":
            keys = ids(turn, _in_trace(str(attributes.get(_TRACE)), conversation))
        elif kind == "tool":
            keys = ids(attributes.get(gen_ai.TOOL_CALL_ID))
        return self._entry(kind, operation, record, Channel.FILE, keys, conversation, turn)


def _in_trace(trace_id: str, conversation: str | None) -> str | None:
    return f"trace {trace_id} {conversation}" if conversation is not None else None


def _started(attributes: dict[str, Any]) -> str | None:
    """Return the conversation of the sub-agent that a tool call has started."""
    output = json_or_text(attributes.get("output") or attributes.get(gen_ai.TOOL_CALL_RESULT))
    if isinstance(output, dict) and "spawn_agent" in str(
        attributes.get("tool_name") or attributes.get(gen_ai.TOOL_NAME)
    ):
        return text_or_none(output.get("agent_id"))
    return None


def _started_role(attributes: dict[str, Any]) -> str | None:
    """Return the role that a tool call asks for."""
    arguments = json_or_text(
        attributes.get("arguments") or attributes.get(gen_ai.TOOL_CALL_ARGUMENTS)
    )
    return text_or_none(arguments.get("agent_type")) if isinstance(arguments, dict) else None


def _tool_name(record: SpanRecord) -> str:
    """Return the name of a tool; that of a span begins with the namespace."""
    for event in record.events:
        if isinstance(name := event.attributes.get("tool_name"), str):
            return name
    return text_or_none(record.attributes.get("tool_name")) or ""


def _log_call(record: SpanRecord) -> ToolExecution:
    attributes = Reader(record)
    call_id, name = attributes.text("call_id"), attributes.text("tool_name")
    arguments = attributes.json("arguments")
    output, succeeded = attributes.text("output"), attributes.boolean("success")
    call = ToolExecution(name=name or "", call_id=call_id, arguments=arguments)
    words = json_or_text(output_text(output)) if output is not None else UNSET
    return ended(call, words, exit_code_in(output), succeeded)


def _boolean(value: object) -> bool | None:
    return value in (True, "true") if value in (True, False, "true", "false") else None
