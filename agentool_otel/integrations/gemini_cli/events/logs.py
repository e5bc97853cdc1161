"""The events of a session that Gemini CLI's log records are of."""

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
from agentool_otel.dialects.kit.session_pairs import plain
from agentool_otel.integrations.gemini_cli.events.calls import (
    call_id_of,
    model_entry,
    sub_agent_of,
    with_ending,
    with_response,
)
from agentool_otel.integrations.gemini_cli.events.names import AGENT
from agentool_otel.model.messages import message, parts_of, text
from agentool_otel.model.operations import AgentInvocation, Inference, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord

__all__ = ["of_logs"]

_PLACE = ("prompt_id", "model", "role")
"""What the records of one request have in common."""
_DELEGATION = "invoke_agent"
_REQUEST_NS = 50 * 10**6
"""Longest time between the record of a request and the start that its outcome shows."""

Read = Callable[[Reader], Operation]


def of_logs(logs: Sequence[tuple[str, SpanRecord]], read: Read) -> Iterator[Entry]:
    """Yield the entries of log records, each with its name, in order of time."""
    requests: dict[tuple[object, ...], list[SpanRecord]] = defaultdict(list)
    delegated: list[tuple[str | None, str]] = []
    """Calls that start a sub-agent, each with the name of that."""
    for name, record in logs:
        attributes = record.attributes
        agent = sub_agent_of(attributes.get("prompt_id"))
        if name in ("api_request", "api_response", "api_error"):
            place = tuple(text_or_none(attributes.get(key)) for key in _PLACE)
            entries = list(_of_model(name, record, agent, read, requests[place]))
            delegated += filter(None, map(_delegated, entries))
            yield from entries
        elif name == "tool_call":
            yield Entry("tool", read(Reader(record)), begun(record), Channel.LOG, (), agent)
            yield from _started(record)
        elif name.startswith("agent."):
            told = AgentInvocation(agent_name=text_or_none(attributes.get("agent_name")))
            told = with_ending(told, attributes.get("terminate_reason"))
            span = record if name == "agent.finish" else replace(record, end_ns=None)
            keys = ids(attributes.get("agent_id"))
            started_by = _taken(delegated, told.agent_name) if name == "agent.start" else None
            yield Entry("agent", told, begun(span), Channel.LOG, keys, started_by=started_by)
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
    return text_or_none(arguments.get("agent_name")), call.call_id


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
            request_model=text_or_none(record.attributes.get("model")),
            input=messages_from(history, "user") or None,
            conversation_id=text_or_none(record.attributes.get("session.id")),
        )
        span = replace(record, end_ns=None)
        yield model_entry(asked, span, Channel.LOG, ids(_key(record)), agent)
        yield from _results(record, history[-1:], agent)
        return
    request = _request_of(record, requests, agent)
    if request is not record:
        requests.remove(request)
    # A response in a sub-agent names the span of the sub-agent, not that of the request.
    is_alone = request is record and agent is not None
    key = f"log {record.span_id}" if is_alone else _key(request)
    outcome = model_entry(read(Reader(record)), begun(record), Channel.LOG, ids(key), agent)
    yield outcome
    if isinstance(outcome.operation, Inference):
        yield from _asked(record, outcome.operation, agent)


def _request_of(record: SpanRecord, requests: list[SpanRecord], agent: str | None) -> SpanRecord:
    """Return the request of an outcome, which has its duration; the outcome itself if there is
    none. Both name the same span, but for the outcomes in a sub-agent."""
    start_ns = begun(record).start_ns or 0
    ranked = sorted(
        (item.parent_id != record.parent_id, abs((item.start_ns or 0) - start_ns), number)
        for number, item in enumerate(requests)
        if agent is not None
        or None in (item.parent_id, record.parent_id)
        or item.parent_id == record.parent_id
    )
    if not ranked:
        return record
    has_other_parent, distance_ns, number = ranked[0]
    is_other = has_other_parent or record.parent_id is None
    is_far = distance_ns > _REQUEST_NS and "duration_ms" in record.attributes
    return record if is_other and is_far else requests[number]


def _key(request: SpanRecord) -> str:
    return f"span {request.parent_id}" if request.parent_id else f"log {request.span_id}"


def _asked(record: SpanRecord, call: Inference, agent: str | None) -> Iterator[Entry]:
    """Yield the tool calls that an answer asks for."""
    for item in call.output or ():
        for part in parts_of(item):
            if part.get("type") == "tool_call" and (call_id := text_or_none(part.get("id"))):
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
        if not isinstance(sent, dict) or (call_id := text_or_none(sent.get("id"))) is None:
            continue
        name, response = text_or_none(sent.get("name")) or "", sent.get("response")
        call_id = call_id_of(name, call_id)
        session = text_or_none(record.attributes.get("session.id"))
        ended = ToolExecution(name=name, call_id=call_id, conversation_id=session)
        if isinstance(response, dict):
            ended = with_response(ended, response)
        span = replace(record, span_id=f"{record.span_id}/{call_id}", end_ns=None)
        yield Entry("tool", ended, span, Channel.LOG, (call_id,), agent)


def _started(record: SpanRecord) -> Iterator[Entry]:
    """Yield the sub-agent that a tool call has started."""
    metadata = json_or_text(record.attributes.get("metadata"))
    agent = text_or_none(metadata.get("agentId")) if isinstance(metadata, dict) else None
    if agent is not None:
        asked = json_or_text(record.attributes.get("function_args"))
        asked = asked if isinstance(asked, dict) else {}
        prompt = text_or_none(asked.get("prompt"))
        told = AgentInvocation(
            agent_name=text_or_none(asked.get("agent_name")),
            conversation_id=text_or_none(record.attributes.get("session.id")),
            input=None if prompt is None else [message("user", [text(prompt)])],
        )
        span = replace(begun(record), span_id=f"{record.span_id}/agent")
        yield Entry("agent", told, span, Channel.LOG, (agent,), started_by=record.span_id)
