"""The events of a session that Gemini CLI's spans are of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import (
    Channel,
    Entry,
    ids,
    text_or_none,
)
from agentool_otel.integrations.gemini_cli.events.calls import (
    call_id_of,
    ended_call,
    ending_in,
    model_entry,
    sub_agent_of,
    with_ending,
)
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import AgentInvocation, Inference, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["of_spans"]

_PROMPT = "gen_ai.prompt.name"

Read = Callable[[Reader], Operation]


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


def of_spans(spans: Sequence[tuple[str, SpanRecord]], read: Read) -> Iterator[Entry]:
    """Yield the entries of spans, each with its name, in order of time."""
    tree = _Tree(spans)
    with_span = {text_or_none(record.attributes.get("gen_ai.tool.call_id")) for _, record in spans}
    for name, record in spans:
        agent = tree.agent_of(record)
        if name == "llm_call":
            key, call = f"span {record.span_id}", read(Reader(record))
            if _is_cut_short(record, call):
                record = replace(record, end_ns=None)
            yield model_entry(call, record, Channel.SPAN, (key,), agent)
        elif name == "tool_call":
            tool = read(Reader(record))
            keys = ids(tool.call_id if isinstance(tool, ToolExecution) else None)
            yield Entry("tool", tool, record, Channel.SPAN, keys, agent)
        elif name == "schedule_tool_calls":
            yield from _not_executed(record, agent, with_span)
        elif name == "agent_call":
            caller = tree.around(record, "tool_call")
            yield _agent_call(record, tree.id_of(record), agent, caller)
        else:
            yield Entry("turn", read(Reader(record)), record, Channel.SPAN, (record.span_id,))


def _is_cut_short(record: SpanRecord, call: Operation) -> bool:
    """Return whether the agent left a response before its end, as it does in a loop: the span is
    without an error, and has the input alone. Where no content is recorded, it has neither."""
    is_empty = isinstance(call, Inference) and call.output is None and call.error_type is None
    has_input = gen_ai.INPUT_MESSAGES in record.attributes
    return is_empty and has_input and gen_ai.USAGE_OUTPUT_TOKENS not in record.attributes


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
            conversation_id=text_or_none(record.attributes.get(gen_ai.CONVERSATION_ID)),
        )
        if isinstance(response, dict):
            call = ended_call(call, response)
        span = replace(record, span_id=f"{record.span_id}/{number}")
        yield Entry("tool", call, span, Channel.SPAN, ids(call.call_id), agent)


def _agent_call(record: SpanRecord, key: str, caller: str | None, tool: SpanRecord | None) -> Entry:
    asked = json_or_text(record.attributes.get(gen_ai.INPUT_MESSAGES))
    asked = asked if isinstance(asked, dict) else {}
    prompt = text_or_none(asked.get("prompt"))
    operation = AgentInvocation(
        agent_name=text_or_none(asked.get("agent_name")),
        conversation_id=text_or_none(record.attributes.get(gen_ai.CONVERSATION_ID)),
        input=None if prompt is None else [message("user", [text(prompt)])],
    )
    ended = json_or_text(record.attributes.get(gen_ai.OUTPUT_MESSAGES))
    operation = with_ending(operation, ending_in(ended))
    attributes = tool.attributes if tool is not None else {}
    call = text_or_none(attributes.get("gen_ai.tool.call_id"))
    named = text_or_none(attributes.get(gen_ai.TOOL_NAME))
    started_by = None if call is None else call_id_of(named, call)
    return Entry("agent", operation, record, Channel.SPAN, (key,), caller, started_by=started_by)
