"""Messages as span events, one each, as in the conventions up to 1.36.

Spec: semantic-conventions v1.36, `docs/gen-ai/gen-ai-events.md`. A body has text, an assistant's
tool calls, the id of the call that a tool answers, and a choice's finish reason. What it cannot
hold (reasoning, media, results other than text, the shape of a message) is in a member of ours
beside it, so that reading returns the message that was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentool_otel.dialects.gen_ai.older_names import CHOICE
from agentool_otel.dialects.kit.provider_messages import (
    calls_from,
    json_or_text,
    message_from,
    parts_from,
)
from agentool_otel.dialects.kit.reading import is_placeholder
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.model.messages import Message, Part, message, parts_of
from agentool_otel.providers.finish_reasons import as_openai, finish_reason
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["ROLES", "instructions_in", "message_events", "message_in"]

ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_NAMES = {role: name for name, role in ROLES.items()}
_PLACES = frozenset({"role", "id", "index"})
_NO_REASON = "error"
"""Spec: for a choice without a finish reason; the baseline has that rule, 1.36 none."""

Event = tuple[str, dict[str, Any]]
"""Name and body."""


# --------------------------------------------------------------------------------------- writing


def message_events(attribute: str, text: str) -> list[Event]:
    """Return the events equivalent to a message attribute, in order.

    Args:
        attribute: which of the three.
        text: its value, as JSON text.

    Returns:
        Nothing if the text is not, or no longer, what the attribute should hold.
    """
    messages = json_or_text(text)
    if not isinstance(messages, list) or not all(isinstance(item, dict) for item in messages):
        return []
    if attribute == gen_ai.SYSTEM_INSTRUCTIONS:
        body = {"content": _text_of(messages), agentool.SYSTEM_INSTRUCTIONS: text}
        return [("gen_ai.system.message", body)] if messages else []
    if attribute == gen_ai.OUTPUT_MESSAGES:
        return [
            event
            for n, item in enumerate(messages)
            for event in _add_full_message([_choice(n, item)], item)
        ]
    return [event for item in messages for event in _add_full_message(_input_events(item), item)]


def _add_full_message(events: list[Event], item: Message) -> list[Event]:
    """Add the whole message to the bodies if they cannot hold all of it."""
    name, body = events[0]
    if len(events) > 1 or message_in(name, body) != item:
        for n, (_, other) in enumerate(events):
            other[agentool.MESSAGE] = "null" if n else dumps(item)
    return events


def _input_events(item: Message) -> list[Event]:
    role = str(item.get("role"))
    parts = parts_of(item)
    answers = [part for part in parts if part.get("type") == "tool_call_response"]
    if answers:
        return [("gen_ai.tool.message", _answer(part)) for part in answers]
    name = _NAMES.get(role, "gen_ai.user.message")
    body = {} if role == ROLES[name] else {"role": role}
    return [(name, {**body, **_body_of(parts)})]


def _answer(part: Part) -> dict[str, Any]:
    response = part.get("response")
    body = {"content": response if isinstance(response, str) else dumps(response)}
    if isinstance(part.get("id"), str):
        body["id"] = part["id"]
    return body


def _choice(index: int, item: Message) -> Event:
    role = item.get("role")
    reason = str(item.get("finish_reason") or _NO_REASON)
    content = _body_of(parts_of(item))
    calls = {key: content.pop(key) for key in ("tool_calls",) if key in content}
    inner = content if role == "assistant" else {"role": str(role), **content}
    return CHOICE, {
        "index": index,
        "finish_reason": as_openai(reason),
        "message": inner,
        **calls,
    }


def _body_of(parts: list[Part]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if any(part.get("type") == "text" for part in parts):
        body["content"] = _text_of(parts)
    if calls := [_call(part) for part in parts if part.get("type") == "tool_call"]:
        body["tool_calls"] = calls
    return body


def _call(part: Part) -> dict[str, Any]:
    function = {"name": str(part.get("name")), "arguments": dumps(part.get("arguments"))}
    call: dict[str, Any] = {"type": "function", "function": function}
    return {"id": part["id"], **call} if isinstance(part.get("id"), str) else call


def _text_of(parts: list[Part]) -> str:
    return "\n".join(str(part.get("content")) for part in parts if part.get("type") == "text")


# --------------------------------------------------------------------------------------- reading


def instructions_in(body: Mapping[str, Any]) -> list[Part] | None:
    """Return the system instructions in a body, None if it has none."""
    parts = json_or_text(body.get(agentool.SYSTEM_INSTRUCTIONS))
    return parts if isinstance(parts, list) else None


def message_in(name: str, body: Mapping[str, Any]) -> Message | None:
    """Return the message in an event; None if it has none, or no longer has it."""
    full_message = body.get(agentool.MESSAGE)
    if isinstance(full_message, str):
        try:
            item = loads(full_message)
        except ValueError:
            item = None
        if item is None or isinstance(item, dict):
            return item
    if _is_hidden(body) or (name in ROLES and _is_bare(body)):
        return None
    return message_from(dict(body), ROLES[name]) if name in ROLES else _read_choice(body)


def _is_hidden(body: Mapping[str, Any]) -> bool:
    """Return whether an event has only the fact that there was content or a tool call, not its
    value.
    """
    if is_placeholder(body.get("content")):
        return True
    return any(is_placeholder(call["name"]) for call in calls_from(body.get("tool_calls")))


def _is_bare(body: Mapping[str, Any]) -> bool:
    """Return whether an event has only the position of a message in the conversation, no
    content.
    """
    return all("." in key or key in _PLACES for key in body)


def _read_choice(body: Mapping[str, Any]) -> Message:
    inner = json_or_text(body.get("message"))
    parts: list[Part]
    role = "assistant"
    if isinstance(inner, dict) and not inner.keys().isdisjoint(("role", "content", "tool_calls")):
        role = str(inner.get("role", role))
        parts = parts_from(inner.get("content")) + calls_from(inner.get("tool_calls"))
    else:
        content = json_or_text(inner if inner is not None else body.get("content"))
        if isinstance(content, dict) and "parts" in content:  # of Google's
            parts = list(message_from(content, role)["parts"])
        else:
            parts = parts_from(content)
    parts += calls_from(body.get("tool_calls"))
    return message(role, parts, finish_reason(body.get("finish_reason")))
