"""Recognise which provider's shape a value has: messages, content of one, a whole answer.

Every message is matched by itself, because programs mix them: a history in OpenAI's shape with a
block of Anthropic's in it. What no shape fits is kept as text, JSON if it was structured.

All values here are plain JSON (`emit.content.jsonable`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec.structs import replace

from agentool_otel.content.policy import as_text
from agentool_otel.model.messages import Message, Part, message, text
from agentool_otel.model.messages import parts_of as parts_in
from agentool_otel.model.operations import Inference
from agentool_otel.providers import anthropic, google
from agentool_otel.providers import openai_chat as chat
from agentool_otel.providers import openai_responses as responses
from agentool_otel.providers.fields import get, items, record, string
from agentool_otel.providers.openai_values import media
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
    if any(responses.is_item(each) for each in entries):
        return responses.messages_of([each for each in entries if record(each)]) or []
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
    return not any(responses.is_item(each) or _is_message(each) for each in entries)


def parts_of(value: Any) -> list[Part]:
    """Return content without a role: text, or blocks and parts in any shape known here."""
    content = get(value, "parts") if record(value) else None
    return [part for item in messages_of(value if content is None else content)
            for part in item["parts"]]  # fmt: skip


def _is_message(value: Any) -> bool:
    known = record(value)
    if known is None:
        return False
    return "role" in known or isinstance(known.get("parts"), list) or "tool_calls" in known


def _messages(item: dict[str, Any], role: str) -> list[Message]:
    item = {**item, "role": string(item, "role") or role}
    parts = items(item, "parts")
    if parts and all(string(part, "type") for part in parts):
        return [item]  # of the conventions
    if parts:
        return google.messages_of(item)
    if any(string(block, "type") in anthropic.BLOCKS for block in items(item, "content")):
        return anthropic.messages_of(item)
    return [chat.message_of(item)]


_REQUIRED = {
    "text": "content",
    "reasoning": "content",
    "tool_call": "name",
    "tool_call_response": "response",
    "server_tool_call": "server_tool_call",
    "server_tool_call_response": "server_tool_call_response",
    "blob": "content",
    "file": "file_id",
    "uri": "uri",
}
"""The member that tells a part of the conventions from a block of the same type."""


def _parts(value: Any) -> list[Part]:
    known = record(value)
    if known is None:
        return [] if value is None else [text(as_text(value))]
    kind = string(value, "type")
    if kind is None:
        return google.parts_of([value]) if google.is_part(value) else [text(as_text(value))]
    if _REQUIRED.get(kind) in known:
        return [known]
    if kind == "function" and record(known.get("function")) is not None:
        return parts_in(chat.message_of({"role": "assistant", "tool_calls": [value]}))
    if kind in anthropic.BLOCKS:
        return anthropic.parts_of([value])
    return [media(value)]


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
    """Return the shape of an answer, whole or a chunk of a stream; None where it is none."""
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
