"""Convert LlamaIndex's messages, blocks, events and documents to the conventions.

Source: llama-index-core base/llms/types.py, schema.py at 0.13 and 0.14.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from agentool_otel.content.encoding.attributes import allow
from agentool_otel.content.encoding.introspection import instance_dict
from agentool_otel.content.policy import as_text, encode, jsonable
from agentool_otel.model.messages import Message, Part, message, reasoning, text, tool_response
from agentool_otel.providers.calls import call_part, calls_of
from agentool_otel.providers.fields import get, is_a, items, plain_text, record, string

__all__ = [
    "as_input",
    "as_output",
    "conversation",
    "document",
    "event_fields",
    "message_of",
    "text_in",
]

allow("llama_index")
allow("workflows")

_MEDIA = ("image", "audio", "video", "document")
_TYPES = ("image_mimetype", "video_mimetype", "document_mimetype")


def conversation(messages: Any) -> list[Message]:
    """Return the messages of a request."""
    return [message_of(item) for item in items(messages)]


def message_of(item: Any, finish_reason: str | None = None) -> Message:
    """Return one `ChatMessage`."""
    role = get(item, "role")
    name = plain_text(role) or string(role, "value") or "user"
    extra = get(item, "additional_kwargs")
    parts = [part for block in items(item, "blocks") for part in _parts(block)]
    if name in ("tool", "function"):
        call_id = string(extra, "tool_call_id")
        return message("tool", [tool_response(_joined(parts), call_id)])
    if not any(part["type"] == "tool_call" for part in parts):
        parts += calls_of(extra)  # as the provider's client returned them
    return message(_ROLES.get(name, name), parts, finish_reason)


_ROLES = {"chatbot": "assistant", "model": "assistant", "developer": "system"}
"""Roles of LlamaIndex that the conventions call otherwise."""


def _joined(parts: list[Part]) -> Any:
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["content"] for part in parts)
    return parts


def _parts(block: Any) -> list[Part]:
    kind = string(block, "block_type")
    if kind == "text":
        words = string(block, "text")
        return [text(words)] if words else []
    if kind == "thinking":
        thought = string(block, "content")
        return [reasoning(thought)] if thought else []
    if kind == "tool_call":
        arguments, call_id = get(block, "tool_kwargs"), string(block, "tool_call_id")
        return [call_part(string(block, "tool_name"), arguments, call_id)]
    if kind in _MEDIA:
        return [_medium(block, kind)]
    if kind == "cache":
        return []
    return [{"type": kind or "unknown", "content": jsonable(block)}]


def _medium(block: Any, kind: str) -> Part:
    part: Part = {"modality": kind}
    mime_type = next((item for name in _TYPES if (item := string(block, name))), None)
    if mime_type is not None:
        part["mime_type"] = mime_type
    data = get(block, "data" if kind == "document" else kind)
    if is_a(data, bytes):  # in base64 already, as LlamaIndex keeps it
        return {"type": "blob", "content": _base64(data), **part}
    address = get(block, "url")
    address = get(block, "path") if address is None else address
    if address is None:
        return {"type": kind, **part}
    return {"type": "uri", "uri": str(jsonable(address)), **part}


def _base64(data: bytes) -> str:
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        return b64encode(data).decode("ascii")


def text_in(blocks: Any) -> str | None:
    """Return the texts of blocks, None if they have anything else."""
    parts = [part for block in items(blocks) for part in _parts(block)]
    words = _joined(parts)
    return words if isinstance(words, str) else None


# --------------------------------------------------------------------------------- runs


def event_fields(event: Any) -> dict[str, Any]:
    """Return the fields of a workflow's event, declared or not."""
    return {**(instance_dict(event) or {}), **(record(get(event, "_data")) or {})}


def as_input(fields: dict[str, Any], is_agent: bool) -> list[Message] | None:
    """Return the input of a run.

    Args:
        fields: of the event that starts it.
        is_agent: whether that is an agent's, with a message and a history.
    """
    if is_agent:
        history = conversation(fields.get("chat_history"))
        asked = fields.get("user_msg")
        if (words := plain_text(asked)) is not None:
            history.append(message("user", [text(words)]))
        elif asked is not None:
            history.append(message_of(asked))
        return history or None
    values = {name: value for name, value in fields.items() if value is not None}
    return [message("user", [text(encode(jsonable(values)))])] if values else None


def as_output(result: Any) -> list[Message] | None:
    """Return the output of a run: the answer of an agent, or whatever a workflow returns."""
    if result is None:
        return None
    answer = get(result, "response")
    if get(answer, "blocks") is not None:  # `AgentOutput`
        structured = get(result, "structured_response")
        if structured is None:
            return [message_of(answer)]
        return [message("assistant", [text(encode(jsonable(structured)))])]
    words = plain_text(answer)
    if words is None and get(result, "blocks") is not None:
        return [message_of(result)]
    return [message("assistant", [text(as_text(result) if words is None else words)])]


# --------------------------------------------------------------------------------- documents


def document(item: Any) -> dict[str, Any]:
    """Return a retrieved node with its score."""
    node = get(item, "node")
    words = string(node, "text")
    if words is None:
        words = string(get(node, "text_resource"), "text")
    metadata = record(jsonable(get(node, "metadata")))
    fields = {
        "id": string(node, "id_"),
        "content": words,
        "score": get(item, "score"),
        "metadata": metadata or None,
    }
    return {name: value for name, value in fields.items() if value is not None}
