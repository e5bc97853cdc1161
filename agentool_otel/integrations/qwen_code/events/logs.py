"""The events of a session that Qwen Code's log records are of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from agentool_otel.dialects.kit.provider_messages import json_or_text, messages_from
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import (
    Channel,
    Entry,
    begun,
    ids,
    text_or_none,
)
from agentool_otel.integrations.qwen_code.events.calls import (
    is_housekeeping,
    prompt_in,
    sub_agent_of,
    with_response,
)
from agentool_otel.integrations.qwen_code.events.entries import (
    agent_entry,
    asked_for,
    last_parts,
    name_of,
    named,
)
from agentool_otel.integrations.qwen_code.events.spans import Spans
from agentool_otel.model.messages import Part, message, text, tool_call
from agentool_otel.model.operations import AgentInvocation, Inference, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord

__all__ = ["Logs"]

_MODEL = frozenset({"api_request", "api_response", "api_error", "api_cancel"})

Read = Callable[[Reader], Operation]


class Logs:
    """The log records of a session."""

    def __init__(self, records: Sequence[SpanRecord], spans: Spans, read: Read):
        self._spans = spans
        self._read = read
        self._requests: dict[object, list[SpanRecord]] = defaultdict(list)
        """By prompt, requests without an outcome."""
        self._asked: dict[str, list[Part]] = defaultdict(list)
        """By response, the tool calls that it asks for."""
        self._turn_before = _turns_before(records)
        """By turn, the one before in its session."""
        self._begun: set[str | None] = set()
        """The turns that have made a request."""
        for record in records:
            response = text_or_none(record.attributes.get("response_id"))
            if response is not None and name_of(record) == "tool_call":
                attributes = record.attributes
                name, arguments = attributes.get("function_name"), attributes.get("function_args")
                call = text_or_none(attributes.get("call_id"))
                part = tool_call(str(name or ""), json_or_text(arguments), call)
                self._asked[response].append(part)

    def entries(self, record: SpanRecord, name: str) -> Iterator[Entry]:
        """Yield the entries that a record is."""
        attributes = record.attributes
        prompt = attributes.get("prompt_id")
        agent = sub_agent_of(prompt)
        turn = named("prompt", prompt) if agent is None else None
        if name == "user_prompt":
            span = replace(record, end_ns=None)
            yield Entry("turn", self._read(Reader(record)), span, Channel.LOG, ids(turn))
        elif name in _MODEL:
            yield from self._model(record, name, agent, turn)
        elif name == "tool_call":
            call = self._read(Reader(record))
            key = call.call_id if isinstance(call, ToolExecution) else None
            yield Entry("tool", call, begun(record), Channel.LOG, ids(key), agent, turn)
        else:
            yield from self._sub_agent(record)

    def _sub_agent(self, record: SpanRecord) -> Iterator[Entry]:
        """Yield the sub-agent of a record that has no id of it, but may name its span."""
        around = self._spans.around(record, "subagent")
        agent = text_or_none(around.attributes.get("qwen-code.subagent.id")) if around else None
        if agent is not None:
            attributes = record.attributes
            answer = text_or_none(attributes.get("result"))
            told = AgentInvocation(
                agent_name=text_or_none(attributes.get("subagent_name")),
                conversation_id=text_or_none(attributes.get("session.id")),
                output=None if answer is None else [message("assistant", [text(answer)])],
            )
            is_over = attributes.get("status") != "started"
            span = record if is_over else replace(record, end_ns=None)
            yield Entry("agent", told, span, Channel.LOG, (agent,))

    def _model(
        self, record: SpanRecord, name: str, agent: str | None, turn: str | None
    ) -> Iterator[Entry]:
        attributes = record.attributes
        waiting = self._requests[text_or_none(attributes.get("prompt_id"))]
        subagent = text_or_none(attributes.get("subagent_name"))
        session = text_or_none(attributes.get("session.id"))
        if name == "api_request":
            waiting.append(record)
            history = json_or_text(attributes.get("request_text"))
            history = history if isinstance(history, list) else []
            call: Operation = Inference(
                request_model=text_or_none(attributes.get("model")),
                input=messages_from(history, "user") or None,
                conversation_id=session,
            )
            span = replace(record, end_ns=None)
            yield Entry("model", call, span, Channel.LOG, _request_keys(record), agent, turn)
            parts = last_parts(history)
            asked = prompt_in(parts)
            yield from asked_for(record, Channel.LOG, asked, agent, turn)
            is_first = turn not in self._begun
            self._begun.add(turn)
            if asked is None or not is_first:
                yield from _results(record, parts, agent, turn)
            elif turn in self._turn_before:  # results beside its prompt are of an earlier turn
                yield from _results(record, parts, agent, self._turn_before[turn])
        else:
            request = next((r for r in waiting if r.parent_id == record.parent_id), None)
            request = request or (waiting[0] if waiting else None)
            if request is not None:
                waiting.remove(request)
            response = text_or_none(attributes.get("response_id"))
            call = self._answer(record, response)
            keys = ids(
                named("response", response),
                *(_request_keys(request) if request is not None else ()),
                f"log {record.span_id}",
            )
            yield Entry("model", call, begun(record), Channel.LOG, keys, agent, turn)
        if agent is not None and not is_housekeeping(agent):
            told = AgentInvocation(agent_name=subagent, conversation_id=session)
            span = replace(begun(record), span_id=f"{record.span_id}/agent", end_ns=None)
            yield agent_entry(told, span, Channel.LOG, agent, subagent)

    def _answer(self, record: SpanRecord, response: str | None) -> Operation:
        """Return the outcome of a request, with the tools that the answer asks for."""
        call = self._read(Reader(record))
        parts = self._asked.get(response or "")
        if not isinstance(call, Inference) or not parts:
            return call
        said = [part for item in call.output or () for part in item.get("parts", ())]
        return replace(call, output=[message("assistant", [*said, *parts])])


def _request_keys(request: SpanRecord) -> tuple[str, ...]:
    return ids(f"request {request.span_id}", named("span", request.parent_id))


def _turns_before(records: Sequence[SpanRecord]) -> dict[str | None, str]:
    """Return the key of the turn before, by that of each turn that is not the first of its session.

    Args:
        records: those of all channels, in order of time.
    """
    before: dict[str | None, str] = {}
    latest: dict[str, str] = {}
    known: set[str] = set()
    for record in records:
        attributes = record.attributes
        prompt = text_or_none(attributes.get("prompt_id") or attributes.get("qwen-code.prompt_id"))
        turn = named("prompt", prompt)
        if prompt is None or turn is None or turn in known or sub_agent_of(prompt) is not None:
            continue
        known.add(turn)
        session = prompt.partition("#")[0]
        if session in latest:
            before[turn] = latest[session]
        latest[session] = turn
    return before


def _results(
    record: SpanRecord, parts: list[Any], agent: str | None, turn: str | None
) -> Iterator[Entry]:
    """Yield the results of tool calls that a request ends with.

    Args:
        record: the request.
        parts: those of its last message.
        agent: the sub-agent of the request.
        turn: the turn of the calls; None for those of a sub-agent.
    """
    for part in parts:
        sent = part.get("functionResponse") if isinstance(part, dict) else None
        if not isinstance(sent, dict) or (call_id := text_or_none(sent.get("id"))) is None:
            continue
        ended = ToolExecution(name=text_or_none(sent.get("name")) or "", call_id=call_id)
        if isinstance(response := sent.get("response"), dict) and "error" not in response:
            ended = with_response(ended, response)  # an error has its kind elsewhere
        span = replace(record, span_id=f"{record.span_id}/{call_id}", end_ns=None)
        yield Entry("tool", ended, span, Channel.LOG, (call_id,), agent, turn)
