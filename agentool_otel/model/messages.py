"""Messages between an agent and a model, in the JSON shape of the GenAI conventions.

Spec: OpenTelemetry GenAI conventions, `gen-ai-input-messages.json` and siblings, baseline 2026-10.

A message is kept as the JSON object it travels as: `{"role", "parts": [...], "name"?,
"finish_reason"?}` with open keys, and a part as `{"type": ..., ...}`. There are no classes for
them, because everything here either passes them on unchanged or looks at two keys; the functions
below build well-formed ones and take them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

__all__ = [
    "Message",
    "Part",
    "call_id_of",
    "finish_reasons_in",
    "message",
    "only_block",
    "parts_of",
    "reasoning",
    "reasons_of",
    "role_of",
    "text",
    "text_of",
    "thoughts",
    "tool_call",
    "tool_response",
    "with_finish_reasons",
]

Part = dict[str, Any]
Message = dict[str, Any]


def message(role: str, parts: Iterable[Part], finish_reason: str | None = None) -> Message:
    """Build a message; `finish_reason` belongs on output messages only."""
    built: Message = {"role": role, "parts": list(parts)}
    if finish_reason is not None:
        built["finish_reason"] = finish_reason
    return built


def reasons_of(choices: Sequence[str | None]) -> list[str] | None:
    """Return the finish reasons of an answer, one a choice; None if no choice has one.

    Spec: GenAI conventions, `gen_ai.response.finish_reasons`: `error` for a choice that never
    reported one, beside others that have.
    """
    return [reason or "error" for reason in choices] if any(choices) else None


def finish_reasons_in(messages: Iterable[Message]) -> list[str]:
    """Return the finish reasons that output messages have."""
    reasons = (item.get("finish_reason") for item in messages)
    return [reason for reason in reasons if isinstance(reason, str) and reason]


def with_finish_reasons(messages: Sequence[Message], failed: bool) -> list[Message]:
    """Return output messages that all have a finish reason, as older conventions require.

    Args:
        messages: the output of a model or an agent.
        failed: whether it ended before its time, for those that say nothing themselves.
    """
    return [
        item if item.get("finish_reason") else {**item, "finish_reason": _reason(item, failed)}
        for item in messages
    ]


def _reason(message: Message, failed: bool) -> str:
    if failed:
        return "error"
    return (
        "tool_call"
        if any(part.get("type") == "tool_call" for part in parts_of(message))
        else "stop"
    )


def text(content: str) -> Part:
    """Build a text part."""
    return {"type": "text", "content": content}


def reasoning(content: str) -> Part:
    """Build a reasoning (thinking) part."""
    return {"type": "reasoning", "content": content}


def tool_call(name: str, arguments: Any, call_id: str | None = None) -> Part:
    """Build the part that requests a tool; an unknown id is left out."""
    part: Part = {"type": "tool_call", "name": name, "arguments": arguments}
    if call_id is not None:
        part["id"] = call_id
    return part


def tool_response(response: Any, call_id: str | None = None) -> Part:
    """Build the part that answers a tool call."""
    part: Part = {"type": "tool_call_response", "response": response}
    if call_id is not None:
        part["id"] = call_id
    return part


def parts_of(message: Message) -> list[Part]:
    """Return the valid parts of a message: foreign data is not always tidy."""
    parts = message.get("parts") if isinstance(message, dict) else None
    if not isinstance(parts, list):
        return []
    return [part for part in parts if isinstance(part, dict)]


def only_block(content: Any) -> Any:
    """Return the text or JSON of a block of content that is the only one, as in most results of
    tools; else the content itself.
    """
    match content:
        case [{"text": str(value), **rest}] | [{"json": value, **rest}] if rest.keys() <= {"type"}:
            return value
        case _:
            return content


def call_id_of(part: Part, place: int) -> str | None:
    """Return the id of a tool call, or of the response to one; None if it has none.

    Google's models give their calls no ids. Tracers write an empty one then, or, as ADK and the
    contrib instrumentation of google-genai do, one of the tool's name and the part's place among
    the parts: `get_weather_2`, which every other call at that place has, too, and the response to
    it has not.
    """
    call_id = part.get("id")
    if not isinstance(call_id, str) or not call_id or call_id == f"{part.get('name')}_{place}":
        return None
    return call_id


def role_of(message: Message) -> Any:
    """Return the role of a message, None if it has none."""
    return message.get("role") if isinstance(message, dict) else None


def thoughts(message: Message) -> list[Part]:
    """Return the parts of an output message that are the agent's thinking rather than its answer.

    Those are its reasoning parts and, where it requests tools, the text before the calls. A request
    is recognised by the calls, or by the finish reason where the calls are not recorded with it.
    """
    parts = parts_of(message)
    asks = message.get("finish_reason") == "tool_call" or any(
        part.get("type") == "tool_call" for part in parts
    )
    return [
        part
        for part in parts
        if part.get("content")
        and (part.get("type") == "reasoning" or (asks and part.get("type") == "text"))
    ]


def text_of(message: Message) -> str | None:
    """Return the text of a message, its text parts joined by newlines, or None if it has none."""
    texts = [
        part["content"]
        for part in parts_of(message)
        if part.get("type") == "text" and isinstance(part.get("content"), str)
    ]
    return "\n".join(texts) if texts else None
