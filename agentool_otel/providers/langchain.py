"""LangChain's messages: objects, dicts, pairs of role and content; usage and finish reasons.

Source: langchain-core messages/{base,ai,tool,content}.py at 1.0 and 1.7; provider packages add
content blocks of their own, which are read as those of the provider.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.model.messages import Message, Part, message, reasoning, text, tool_response
from agentool_otel.model.operations import Usage
from agentool_otel.providers import finish_reasons
from agentool_otel.providers.blocks import CALLS, parts_of
from agentool_otel.providers.calls import call_of, calls_of, parse_structured, with_calls
from agentool_otel.providers.fields import get, integer, is_a, items, plain_text, record, string
from agentool_otel.providers.roles import role_of

__all__ = ["finish_reason", "from_message", "is_message", "pair_in", "refusal", "usage_of"]

_TYPES = frozenset({"human", "ai", "system", "tool", "function"})
_OWN = frozenset({"additional_kwargs", "response_metadata", "usage_metadata", "invalid_tool_calls"})
"""Members that only LangChain's messages have."""


def is_message(value: Any) -> bool:
    """True for the JSON of a message that only LangChain has; others may be OpenAI's."""
    members = record(value) or {}
    if not members.keys().isdisjoint(_OWN):
        return True
    kind = string(value, "type")
    return kind is not None and "content" in members and _type(kind) in _TYPES


def _type(name: str) -> str:
    """Return the type of a message by it, or by the name of its class."""
    return name.removesuffix("Chunk").removesuffix("Message").lower()


def from_message(value: Any, finish: str | None = None) -> Message:
    """Return one message; users may give dicts, tuples and plain text for one."""
    if (words := plain_text(value)) is not None:
        return message("user", [text(words)])
    if (pair := pair_in(value)) is not None:
        return message(role_of(pair[0]), parts_of(pair[1]))
    role = role_of(string(value, "role") or _type(string(value, "type") or "user"))
    if role == "tool":
        response = tool_response(
            parse_structured(get(value, "content")), string(value, "tool_call_id")
        )
        failed = {"is_error": True} if string(value, "status") == "error" else {}
        result = message("tool", [response | failed])
    else:
        result = message(role, _parts(value), finish)
    name = string(value, "name")
    if name:
        result["name"] = name
    return result


def pair_in(value: Any) -> tuple[str, Any] | None:
    """Return role and content of a message that is given as a pair, None for any other value."""
    pair = items(value) if is_a(value, tuple) else []
    role = plain_text(pair[0]) if len(pair) == 2 else None
    return None if role is None else (role, pair[1])


def _parts(value: Any) -> list[Part]:
    others = get(value, "additional_kwargs")
    thought = string(others, "reasoning_content")
    calls = calls_of(value) + [call_of(each) for each in items(value, "invalid_tool_calls")]
    calls = calls or calls_of(others)
    content = get(value, "content")
    if calls:  # the content may repeat them, with arguments as far as a stream had got
        content = [item for item in items(content) if string(item, "type") not in CALLS] or (
            plain_text(content)
        )
    parts = [reasoning(thought)] if thought else []
    parts += with_calls(parts_of(content), calls)
    if refused := refusal(value):
        parts.append(text(refused))
    return parts


def refusal(value: Any) -> str | None:
    """Return the refusal that a model of OpenAI's chat completions gave in place of an answer."""
    return string(get(value, "additional_kwargs"), "refusal") or None


def finish_reason(*sources: Any) -> str | None:
    """Return why a model stopped, in the conventions' words where they have one."""
    for source in sources:
        for name in ("finish_reason", "stop_reason", "stopReason"):
            if (why := finish_reasons.finish_reason(string(source, name))) is not None:
                return why
    return None


def usage_of(counts: Any) -> Usage | None:
    """Return token counts as LangChain has them for every provider: subsets are in the totals."""
    input_details, output_details = (
        get(counts, "input_token_details"),
        get(counts, "output_token_details"),
    )
    usage = Usage(
        input_tokens=integer(counts, "input_tokens"),
        output_tokens=integer(counts, "output_tokens"),
        cache_read_tokens=integer(input_details, "cache_read") or None,
        cache_write_tokens=integer(input_details, "cache_creation") or None,
        reasoning_tokens=integer(output_details, "reasoning") or None,
        audio_input_tokens=integer(input_details, "audio") or None,
        audio_output_tokens=integer(output_details, "audio") or None,
    )
    return None if usage == Usage() else usage
