"""Bedrock's Converse: blocks of content, each of which names its type by its only key, and usage.

Source: botocore data/bedrock-runtime/2023-09-30, `ContentBlock`, `TokenUsage`.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from agentool_otel.content.values import as_text, jsonable
from agentool_otel.model.messages import Part, only_block, reasoning, tool_response
from agentool_otel.model.operations import Usage
from agentool_otel.providers.calls import call_part
from agentool_otel.providers.fields import get, integer, is_a, record, string

__all__ = ["is_block", "part_of", "usage_of"]

_MEMBERS = ("toolUse", "toolResult", "reasoningContent")
_MEDIA = ("image", "document", "video")


def is_block(value: Any) -> bool:
    """True for a block that only this API has; text is text everywhere."""
    if any(record(get(value, name)) is not None for name in _MEMBERS):
        return True
    return any(record(get(get(value, name), "source")) is not None for name in _MEDIA)


def part_of(block: Any) -> Part:
    """Return a block as a part."""
    if (use := get(block, "toolUse")) is not None:
        return call_part(string(use, "name"), get(use, "input"), string(use, "toolUseId"))
    if (result := get(block, "toolResult")) is not None:
        content = only_block(jsonable(get(result, "content")))
        response = tool_response(content, string(result, "toolUseId"))
        return response | ({"is_error": True} if string(result, "status") == "error" else {})
    if (thought := get(block, "reasoningContent")) is not None:
        return _thought(thought)
    kind = next(name for name in _MEDIA if get(block, name) is not None)
    return _medium(get(block, kind), kind)


def _thought(block: Any) -> Part:
    text = get(block, "reasoningText")
    part = reasoning(string(text, "text") or "")
    members = {
        "signature": get(text, "signature"),
        "encrypted_content": get(block, "redactedContent"),
    }
    return part | {name: _text(value) for name, value in members.items() if value is not None}


def _medium(block: Any, modality: str) -> Part:
    source = get(block, "source")
    others = {
        name: value for name, value in (record(jsonable(block)) or {}).items() if name != "source"
    }
    content, address = get(source, "bytes"), string(get(source, "s3Location"), "uri")
    if address is not None:
        return {**others, "type": "uri", "uri": address, "modality": modality}
    if content is not None:
        return {**others, "type": "blob", "content": _text(content), "modality": modality}
    return {**others, "type": modality, "source": jsonable(source)}


def _text(content: Any) -> str:
    """Return bytes in base64, which they are as JSON."""
    return b64encode(content).decode() if is_a(content, bytes) else as_text(content)


def usage_of(usage: Any) -> Usage | None:
    """Return token counts; Bedrock's `inputTokens` exclude cached ones."""
    uncached = integer(usage, "inputTokens")
    read, written = (integer(usage, f"cache{name}InputTokens") for name in ("Read", "Write"))
    counts = Usage(
        input_tokens=None if uncached is None else uncached + (read or 0) + (written or 0),
        output_tokens=integer(usage, "outputTokens"),
        cache_read_tokens=read or None,
        cache_write_tokens=written or None,
    )
    return None if counts == Usage() else counts
