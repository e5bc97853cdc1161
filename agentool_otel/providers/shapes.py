"""Telling which provider's shape a value is in: messages, the content of one, a whole answer.

Every message is judged by itself, because programs mix them: a history in OpenAI's shape with a
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
from agentool_otel.providers.openai_values import get, items, media, record, string
from agentool_otel.providers.reading import Reading
from agentool_otel.semconv import openai as names
from agentool_otel.semconv.gen_ai import Provider

__all__ = ["Shape", "is_content", "messages_of", "parts_of", "shape_of"]


# ------------------------------------------------------------------------------------- messages


def messages_of(given: Any, role: str = "user") -> list[Message]:
    """Return messages: text, one message or content in any shape known here, or a list of them.

    Args:
        given: plain JSON.
        role: whose words they are where they do not say.
    """
    entries: list[Any] = given if isinstance(given, list) else [given]
    if any(responses.is_item(each) for each in entries):
        return responses.messages_of([each for each in entries if record(each)]) or []
    made: list[Message] = []
    loose: list[Part] = []
    for entry in entries:
        if _is_message(entry):
            if loose:
                made.append(message(role, loose))
                loose = []
            made += _messages(entry, role)
        else:
            loose += _parts(entry)
    return [*made, message(role, loose)] if loose else made


def is_content(given: Any) -> bool:
    """True for text, blocks and parts, of which none says whose message it is."""
    entries: list[Any] = given if isinstance(given, list) else [given]
    return not any(responses.is_item(each) or _is_message(each) for each in entries)


def parts_of(given: Any) -> list[Part]:
    """Return content without a role: text, or blocks and parts in any shape known here."""
    content = get(given, "parts") if record(given) else None
    return [part for said in messages_of(given if content is None else content)
            for part in said["parts"]]  # fmt: skip


def _is_message(value: Any) -> bool:
    known = record(value)
    if known is None:
        return False
    return "role" in known or isinstance(known.get("parts"), list) or "tool_calls" in known


def _messages(given: dict[str, Any], role: str) -> list[Message]:
    given = {**given, "role": string(given, "role") or role}
    parts = items(given, "parts")
    if parts and all(string(part, "type") for part in parts):
        return [given]  # of the conventions
    if parts:
        return google.messages_of(given)
    if any(string(block, "type") in anthropic.BLOCKS for block in items(given, "content")):
        return anthropic.messages_of(given)
    return [chat.message_of(given)]


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
    """The value of `gen_ai.provider.name` where nothing better is known."""
    reading: Callable[[Inference], Reading]
    streamed: bool | None
    """Whether it is a chunk, which goes on with what came before, or all of it; None where it may
    be either."""
    api: str | None = None
    """The value of `openai.api.type`."""

    def begin(self, asked: Inference) -> Reading:
        """Return what takes in an answer of this shape."""
        known = replace(asked, provider=asked.provider or self.provider)
        if self.api is not None:
            known = replace(known, extra={**known.extra, names.API_TYPE: self.api})
        return self.reading(known)


def shape_of(said: Any) -> Shape | None:
    """Return the shape of an answer, whole or a chunk of a stream; None where it is none."""
    known = record(said)
    if known is None:
        return None
    kind = string(said, "type") or ""
    if chat.is_answer(said):
        return Shape(Provider.OPENAI, chat.ChatReading, _is_chunk(known), "chat_completions")
    if known.get("object") == "response" and isinstance(known.get("output"), list):
        return Shape(Provider.OPENAI, responses.ResponsesReading, False, "responses")
    if kind.startswith("response."):
        return Shape(Provider.OPENAI, responses.ResponsesReading, True, "responses")
    if kind in anthropic.EVENTS:
        return Shape(Provider.ANTHROPIC, anthropic.MessagesReading, True)
    if kind == "message" and isinstance(known.get("content"), list) and "stop_reason" in known:
        return Shape(Provider.ANTHROPIC, anthropic.MessagesReading, False)
    if google.is_answer(said):
        return Shape(Provider.GCP_GEMINI, google.GenerateContentReading, None)
    return None


def _is_chunk(said: dict[str, Any]) -> bool:
    if said.get("object") == "chat.completion.chunk":
        return True
    return any(get(choice, "delta") is not None for choice in items(said, "choices"))
