"""Recognise which provider's shape a value has: messages, content of one, a whole answer.

Every message is matched by itself, because programs mix them: a history in OpenAI's shape with a
block of Anthropic's in it. What no shape fits is kept as text, JSON if it was structured.

All values here are plain JSON (`content.policy.jsonable`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec.structs import replace

from agentool_otel.content.values import as_text
from agentool_otel.model.messages import Message, Part, message, text
from agentool_otel.model.operations import Inference
from agentool_otel.providers import anthropic, google, langchain
from agentool_otel.providers import openai_chat as chat
from agentool_otel.providers import openai_responses as responses
from agentool_otel.providers.blocks import block_parts
from agentool_otel.providers.fields import get, items, record, string
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.reading import Reading
from agentool_otel.semconv import openai as names
from agentool_otel.semconv.gen_ai import Provider

__all__ = ["Shape", "is_content", "messages_of", "parts_of", "shape_of"]


# ------------------------------------------------------------------------------------- messages


def messages_of(value: Any, role: str = "user") -> list[Message]:
    """Return messages: text, one message or content in any shape known here, or a list of them.

    Args:
        value: plain JSON.
        role: the role of messages that do not name one.
    """
    entries: list[Any] = value if isinstance(value, list) else [value]
    if any(map(responses.is_item, entries)) and not any(map(_is_chat, entries)):
        return responses.messages_of([each for each in entries if record(each)], role) or []
    messages: list[Message] = []
    loose: list[Part] = []
    for entry in entries:
        if _is_message(entry):
            if loose:
                messages.append(message(role, loose))
                loose = []
            messages += _messages(entry, role)
        else:
            loose += _parts(entry)
    return [*messages, message(role, loose)] if loose else messages


def is_content(value: Any) -> bool:
    """True for text, blocks and parts, none of which names a role."""
    entries: list[Any] = value if isinstance(value, list) else [value]
    return not any(_is_message(each) for each in entries)


def parts_of(value: Any) -> list[Part]:
    """Return content without a role: text, or blocks and parts in any shape known here."""
    content = get(value, "parts") if record(value) else None
    return [part for item in messages_of(value if content is None else content)
            for part in item["parts"]]  # fmt: skip


def _is_chat(value: Any) -> bool:
    """True for a message that only chat completions have."""
    return string(value, "role") in ("tool", "function") or get(value, "tool_calls") is not None


def _is_message(value: Any) -> bool:
    members = record(value)
    if members is None:
        return False
    if isinstance(members.get("parts"), list) or not members.keys().isdisjoint(
        ("role", "tool_calls")
    ):
        return True
    if "content" in members and "type" not in members:
        return True
    return responses.is_item(value) or langchain.is_message(value)


def _messages(item: dict[str, Any], role: str) -> list[Message]:
    parts = items(item, "parts")
    reason = finish_reason(item.get("finish_reason") or item.get("stop_reason"))
    named = {**item, "role": string(item, "role") or role}
    if parts and all(string(part, "type") for part in parts):
        return [named]  # of the conventions
    if langchain.is_message(item):
        return [langchain.from_message(item if "type" in item else named, reason)]
    if parts:
        return [google.message_of(named)]
    if responses.is_item(item) and item.get("type") != "message":
        return responses.messages_of([item]) or []
    converted = chat.message_of(named)
    if reason is not None:
        converted["finish_reason"] = reason
    return [converted]


def _parts(value: Any) -> list[Part]:
    parts = None if record(value) is None else block_parts(value)
    return parts if parts is not None else [] if value is None else [text(as_text(value))]


# -------------------------------------------------------------------------------------- answers


class Shape(NamedTuple):
    """The shape of an answer."""

    provider: str
    """The default of `gen_ai.provider.name`."""
    reading: Callable[[Inference], Reading]
    streamed: bool | None
    """True for a chunk, which continues what came before, False for a whole answer, None if it may
    be either."""
    api: str | None = None
    """The value of `openai.api.type`."""

    def begin(self, request: Inference) -> Reading:
        """Return a reader for an answer of this shape."""
        base = replace(request, provider=request.provider or self.provider)
        if self.api is not None:
            base = replace(base, extra={**base.extra, names.API_TYPE: self.api})
        return self.reading(base)


def shape_of(answer: Any) -> Shape | None:
    """Return the shape of an answer, complete or a chunk of a stream; None if it is none."""
    fields = record(answer)
    if fields is None:
        return None
    kind = string(answer, "type") or ""
    if chat.is_answer(answer):
        return Shape(Provider.OPENAI, chat.ChatReading, _is_chunk(fields), "chat_completions")
    if fields.get("object") == "response" and isinstance(fields.get("output"), list):
        return Shape(Provider.OPENAI, responses.ResponsesReading, False, "responses")
    if kind.startswith("response."):
        return Shape(Provider.OPENAI, responses.ResponsesReading, True, "responses")
    if kind in anthropic.EVENTS:
        return Shape(Provider.ANTHROPIC, anthropic.MessagesReading, True)
    if kind == "message" and isinstance(fields.get("content"), list) and "stop_reason" in fields:
        return Shape(Provider.ANTHROPIC, anthropic.MessagesReading, False)
    if google.is_answer(answer):
        return Shape(Provider.GCP_GEMINI, google.GenerateContentReading, None)
    return None


def _is_chunk(answer: dict[str, Any]) -> bool:
    if answer.get("object") == "chat.completion.chunk":
        return True
    return any(get(choice, "delta") is not None for choice in items(answer, "choices"))
