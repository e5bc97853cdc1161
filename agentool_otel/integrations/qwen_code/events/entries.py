"""Entries of a session that more than one channel has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from agentool_otel.dialects.kit.session_entries import (
    Channel,
    Entry,
    text_or_none,
)
from agentool_otel.integrations.qwen_code.events.calls import is_housekeeping
from agentool_otel.integrations.qwen_code.events.names import PREFIX
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import AgentInvocation, Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["agent_entry", "asked_for", "last_parts", "name_of", "named"]


def name_of(record: SpanRecord) -> str:
    """Return the name of a span or a log record without the prefix."""
    return str(record.attributes.get("event.name") or record.name).removeprefix(PREFIX)


def named(kind: str, key: object) -> str | None:
    """Return a key of one kind of ids, which are not unique among all kinds."""
    return f"{kind} {key}" if isinstance(key, str) and key else None


def agent_entry(
    operation: Operation, record: SpanRecord, channel: Channel, agent: str, name: str | None
) -> Entry:
    """Return the entry of a sub-agent, which its id places below the call that started it."""
    started_by = agent.removeprefix(f"{name}-") if name is not None else None
    return Entry(
        "agent", operation, record, channel, (agent,),
        started_by=None if started_by == agent else started_by,
    )  # fmt: skip


def asked_for(
    record: SpanRecord,
    channel: Channel,
    prompt: str | None,
    agent: str | None,
    turn: str | None,
) -> Iterator[Entry]:
    """Yield the turn or the sub-agent of a request with its prompt, which has no record of its own
    where Qwen Code was killed, and none for a sub-agent."""
    if prompt is None or is_housekeeping(agent):
        return
    attributes = record.attributes
    session = attributes.get(gen_ai.CONVERSATION_ID) or attributes.get("session.id")
    asked = AgentInvocation(
        conversation_id=text_or_none(session), input=[message("user", [text(prompt)])]
    )
    span = replace(record, span_id=f"{record.span_id}/turn", parent_id=None, end_ns=None)
    if agent is not None:
        yield Entry("agent", asked, span, channel, (agent,))
    elif turn is not None:
        yield Entry("turn", asked, span, channel, (turn,))


def last_parts(history: Any) -> list[Any]:
    """Return the parts of the message that a request ends with, if it is the user's."""
    last = history[-1] if history else None
    if not isinstance(last, dict) or last.get("role") != "user":
        return []
    parts = last.get("parts")
    return parts if isinstance(parts, list) else []
