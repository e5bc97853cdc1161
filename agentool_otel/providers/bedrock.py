"""Bedrock's Converse: requests and answers, whole or as events, blocks of content, each of which
names its type by its only key, and usage.

Source: botocore data/bedrock-runtime/2023-09-30, `ConverseRequest`, `ConverseStreamOutput`,
`ContentBlock`, `TokenUsage`.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from msgspec.structs import replace

from agentool_otel.content.values import as_text, jsonable
from agentool_otel.model.messages import (
    Message,
    Part,
    message,
    only_block,
    reasoning,
    text,
    tool_response,
)
from agentool_otel.model.operations import Inference, Usage
from agentool_otel.providers.calls import call_part, parse_structured
from agentool_otel.providers.fields import (
    get,
    integer,
    is_a,
    items,
    number,
    record,
    string,
    texts,
)
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.tools import definitions

__all__ = ["ConverseReading", "content", "is_block", "part_of", "request", "usage_of"]

_MEMBERS = ("toolUse", "toolResult", "reasoningContent")
_MEDIA = ("image", "document", "video")


def request(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an `Inference` that the parameters of Converse set."""
    config = parameters.get("inferenceConfig")
    others = parameters.get("additionalModelRequestFields")
    return {
        "request_model": string(parameters, "modelId"),
        "temperature": number(config, "temperature"),
        "top_p": number(config, "topP"),
        "top_k": integer(others, "top_k"),
        "max_tokens": integer(config, "maxTokens"),
        "stop_sequences": texts(config, "stopSequences") or None,
    }


def content(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the instructions, messages and tools of a request, as copies."""
    return {
        "system": _parts(parameters.get("system")) or None,
        "input": [_message(item) for item in items(parameters, "messages")] or None,
        "tools": definitions(get(parameters.get("toolConfig"), "tools")),
    }


def _message(item: Any) -> Message:
    return message(string(item, "role") or "user", _parts(get(item, "content")))


def _parts(blocks: Any) -> list[Part]:
    return [part for block in items(blocks) for part in _parts_of(block)]


def _parts_of(block: Any) -> list[Part]:
    if is_block(block):
        return [part_of(block)]
    words = string(block, "text")
    if words is not None:
        return [text(words)] if words else []
    members = record(jsonable(block)) or {}
    return [{"type": kind, "content": inner} for kind, inner in members.items()]


class ConverseReading:
    """Reads an answer of Converse, whole or as the events of ConverseStream."""

    __slots__ = ("_blocks", "_reason", "_request", "_usage")

    def __init__(self, request: Inference):
        self._request = request
        self._blocks: dict[int, Any] = {}
        self._reason: str | None = None
        self._usage: Any = None

    has_last_event = True

    @property
    def complete(self) -> bool:
        return self._reason is not None

    def whole(self, response: Any) -> None:
        blocks = items(get(get(response, "output"), "message"), "content")
        self._blocks = dict(enumerate(blocks))
        self._reason = finish_reason(get(response, "stopReason"))
        self._usage = get(response, "usage")

    def add(self, event: Any) -> None:
        if (start := get(event, "contentBlockStart")) is not None:
            self._open(start, get(start, "start"))
        elif (delta := get(event, "contentBlockDelta")) is not None:
            self._extend(self._open(delta, None), get(delta, "delta"))
        elif (stop := get(event, "messageStop")) is not None:
            self._reason = finish_reason(get(stop, "stopReason"))
        elif (metadata := get(event, "metadata")) is not None:
            self._usage = get(metadata, "usage")

    def _open(self, event: Any, start: Any) -> dict[str, Any]:
        """Return the block that an event is of: its members as they have come so far."""
        index = integer(event, "contentBlockIndex") or 0
        block: dict[str, Any] = self._blocks.setdefault(index, dict(record(jsonable(start)) or {}))
        return block

    def _extend(self, block: dict[str, Any], delta: Any) -> None:
        for kind, piece in (record(delta) or {}).items():
            if is_a(piece, str):
                block[kind] = block.get(kind, "") + piece
                continue
            members = block.setdefault(kind, {})
            for name, value in (record(jsonable(piece)) or {}).items():
                known = members.get(name)
                is_text = isinstance(known, str) and isinstance(value, str)
                members[name] = known + value if is_text else value

    def operation(self) -> Inference:
        parts = _parts([_complete(self._blocks[index]) for index in sorted(self._blocks)])
        return replace(
            self._request,
            finish_reasons=None if self._reason is None else [self._reason],
            output=[message("assistant", parts, self._reason)] if parts else None,
            usage=usage_of(self._usage),
        )


def _complete(block: Any) -> Any:
    """Return a block of a stream as it is in a whole answer."""
    use = record(get(block, "toolUse"))
    if use is not None and isinstance(use.get("input"), str):
        return {"toolUse": use | {"input": parse_structured(use["input"] or "{}")}}
    thought = record(get(block, "reasoningContent"))
    if thought is not None and "reasoningText" not in thought:
        return {"reasoningContent": thought | {"reasoningText": thought}}
    return block


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
