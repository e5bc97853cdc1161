"""The events of a session that Qwen Code's spans are of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import (
    Channel,
    Entry,
    ids,
    text_or_none,
)
from agentool_otel.integrations.qwen_code.events.calls import (
    prompt_in,
    refusal_in,
    sub_agent_of,
)
from agentool_otel.integrations.qwen_code.events.entries import (
    asked_for,
    last_parts,
    name_of,
    named,
)
from agentool_otel.integrations.qwen_code.events.names import FILE
from agentool_otel.model.messages import Message, Part, parts_of
from agentool_otel.model.operations import Inference, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["Spans", "of_span"]

Read = Callable[[Reader], Operation]


_CALL_IDS = (gen_ai.TOOL_CALL_ID, "tool.call_id", "call_id")


class Spans:
    """The spans of a session."""

    def __init__(self, records: Sequence[SpanRecord]):
        self._spans = {
            record.span_id: record
            for record in records
            if record.scope != FILE and "event.name" not in record.attributes
        }
        self.calls = {
            call_id
            for record in self._spans.values()
            if name_of(record) == "tool"
            for call_id in ids(*map(record.attributes.get, _CALL_IDS))
        }
        """Ids of the tool calls that have a span."""
        self._prompts: dict[str, str] = {}
        """By trace, the key of the turn that it is of."""
        for record in self._spans.values():
            prompt = record.attributes.get("qwen-code.prompt_id")
            if sub_agent_of(prompt) is None and (key := named("prompt", prompt)) is not None:
                self._prompts.setdefault(record.trace_id, key)

    def around(self, record: SpanRecord, *wanted: str) -> SpanRecord | None:
        """Return the nearest span of one of some names around a record."""
        seen: set[str] = set()
        above = record.parent_id
        while above is not None and above not in seen and above in self._spans:
            seen.add(above)
            around = self._spans[above]
            if name_of(around) in wanted:
                return around
            above = around.parent_id
        return None

    def agent_of(self, record: SpanRecord) -> str | None:
        """Return the id of the sub-agent that a span is of."""
        agent = sub_agent_of(record.attributes.get("qwen-code.prompt_id"))
        around = self.around(record, "subagent") if agent is None else None
        return (
            agent
            if around is None
            else text_or_none(around.attributes.get("qwen-code.subagent.id"))
        )

    def turn_of(self, record: SpanRecord) -> str | None:
        """Return the key of the turn that a span is of."""
        around = self.around(record, "interaction")
        if around is None or around.attributes.get("qwen-code.prompt_id") is None:
            return self._prompts.get(record.trace_id)
        return named("prompt", around.attributes["qwen-code.prompt_id"])


def of_span(record: SpanRecord, name: str, read: Read, spans: Spans) -> Iterator[Entry]:
    """Yield the entries of a span."""
    attributes = record.attributes
    operation = read(Reader(record))
    if name == "interaction":
        key = named("prompt", attributes.get("qwen-code.prompt_id"))
        keys = ids(key or f"trace {record.trace_id}")
        yield Entry("turn", operation, record, Channel.SPAN, keys)
        return
    agent, turn = spans.agent_of(record), spans.turn_of(record)
    if name == "subagent":
        key = text_or_none(attributes.get("qwen-code.subagent.id")) or f"span {record.span_id}"
        started_by = text_or_none(attributes.get("qwen-code.subagent.invoking_request_id"))
        yield Entry("agent", operation, record, Channel.SPAN, (key,), agent, turn, started_by)
    elif name == "llm_request":
        response = named("response", attributes.get(gen_ai.RESPONSE_ID))
        keys = ids(response, f"span {record.span_id}")
        yield Entry("model", operation, record, Channel.SPAN, keys, agent, turn)
        history = operation.input if isinstance(operation, Inference) else None
        yield from _refused(record, history or [], agent, turn, spans)
        if agent is not None or spans.around(record, "interaction") is None:
            asked = prompt_in(last_parts(history))
            yield from asked_for(record, Channel.SPAN, asked, agent, turn)
    else:
        call = operation.call_id if isinstance(operation, ToolExecution) else None
        yield Entry("tool", operation, record, Channel.SPAN, ids(call), agent, turn)


def _refused(
    record: SpanRecord,
    history: Sequence[Message],
    agent: str | None,
    turn: str | None,
    spans: Spans,
) -> Iterator[Entry]:
    """Yield the calls that never started, so that they have no span, by their results at the end of
    a request."""
    results: list[Part] = []
    asked: list[Part] = []
    for item in reversed(history):
        if item.get("role") != "tool":
            asked = parts_of(item)
            break
        results += parts_of(item)
    calls = {
        text_or_none(part.get("id")): part for part in asked if part.get("type") == "tool_call"
    }
    for part in reversed(results):
        call_id, words = text_or_none(part.get("id")), part.get("response")
        kind = refusal_in(words)
        call = calls.get(call_id)
        if kind is None or call_id is None or call is None or call_id in spans.calls:
            continue
        refused = ToolExecution(
            name=str(call.get("name") or ""),
            call_id=call_id,
            arguments=call.get("arguments", UNSET),
            error_type=kind,
            error_message=str(words),
        )
        span = replace(record, span_id=f"{record.span_id}/{call_id}", end_ns=record.start_ns)
        yield Entry("tool", refused, span, Channel.SPAN, (call_id,), agent, turn)
