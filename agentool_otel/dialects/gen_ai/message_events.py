"""Messages as events, one each: how the conventions had them up to 1.36.

Spec: semantic-conventions v1.36, `docs/gen-ai/gen-ai-events.md`. A body has a text, the tool calls
of an assistant, the id of the call a tool answers, and in a choice a reason to stop. What it cannot
say (reasoning, media, results that are no text, the shape of a message) is in a member of ours
beside it, so that the message that is read is the one that was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentool_otel.dialects.kit.provider_messages import (
    calls_from,
    finish_reason,
    json_or_text,
    message_from,
    parts_from,
)
from agentool_otel.dialects.kit.reading import is_placeholder
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.model.messages import Message, Part, message, parts_of
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["CHOICE", "ROLES", "instructions_in", "message_events", "message_in"]

CHOICE = "gen_ai.choice"
ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_NAMES = {role: name for name, role in ROLES.items()}
_FINISH = {"tool_call": "tool_calls"}
_NO_REASON = "error"
"""Spec: for a choice that never said why it ended; the baseline has that rule, 1.36 none."""

Event = tuple[str, dict[str, Any]]
"""Name and body."""


# --------------------------------------------------------------------------------------- writing


def message_events(attribute: str, text: str) -> list[Event]:
    """Return the events that say what a message attribute does, in order.

    Args:
        attribute: which of the three.
        text: its value, as JSON text.

    Returns:
        Nothing where the text is not, or not any more, what the attribute should hold.
    """
    said = json_or_text(text)
    if not isinstance(said, list) or not all(isinstance(item, dict) for item in said):
        return []
    if attribute == gen_ai.SYSTEM_INSTRUCTIONS:
        body = {"content": _text_of(said), agentool.SYSTEM_INSTRUCTIONS: text}
        return [("gen_ai.system.message", body)] if said else []
    if attribute == gen_ai.OUTPUT_MESSAGES:
        return [event for n, item in enumerate(said) for event in _whole([_choice(n, item)], item)]
    return [event for item in said for event in _whole(_asked(item), item)]


def _whole(events: list[Event], said: Message) -> list[Event]:
    """Put the message into the bodies that cannot say all of it."""
    name, body = events[0]
    if len(events) > 1 or message_in(name, body) != said:
        for n, (_, other) in enumerate(events):
            other[agentool.MESSAGE] = "null" if n else dumps(said)
    return events


def _asked(said: Message) -> list[Event]:
    role = str(said.get("role"))
    parts = parts_of(said)
    answers = [part for part in parts if part.get("type") == "tool_call_response"]
    if answers:
        return [("gen_ai.tool.message", _answer(part)) for part in answers]
    name = _NAMES.get(role, "gen_ai.user.message")
    body = {} if role == ROLES[name] else {"role": role}
    return [(name, {**body, **_spoken(parts)})]


def _answer(part: Part) -> dict[str, Any]:
    response = part.get("response")
    body = {"content": response if isinstance(response, str) else dumps(response)}
    if isinstance(part.get("id"), str):
        body["id"] = part["id"]
    return body


def _choice(index: int, said: Message) -> Event:
    role = said.get("role")
    reason = str(said.get("finish_reason") or _NO_REASON)
    spoken = _spoken(parts_of(said))
    calls = {key: spoken.pop(key) for key in ("tool_calls",) if key in spoken}
    inner = spoken if role == "assistant" else {"role": str(role), **spoken}
    return CHOICE, {
        "index": index,
        "finish_reason": _FINISH.get(reason, reason),
        "message": inner,
        **calls,
    }


def _spoken(parts: list[Part]) -> dict[str, Any]:
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
    """Return the instructions that were given apart from the messages, if a body holds those."""
    said = json_or_text(body.get(agentool.SYSTEM_INSTRUCTIONS))
    return said if isinstance(said, list) else None


def message_in(name: str, body: Mapping[str, Any]) -> Message | None:
    """Return the message that an event says; None where it says none, or not any more."""
    whole = body.get(agentool.MESSAGE)
    if isinstance(whole, str):
        try:
            said = loads(whole)
        except ValueError:
            said = None
        if said is None or isinstance(said, dict):
            return said
    if _is_hidden(body):
        return None
    return message_from(dict(body), ROLES[name]) if name in ROLES else _read_choice(body)


def _is_hidden(body: Mapping[str, Any]) -> bool:
    """Whether an event only tells that something was said, or that some tool was asked for."""
    if is_placeholder(body.get("content")):
        return True
    return any(is_placeholder(call["name"]) for call in calls_from(body.get("tool_calls")))


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
