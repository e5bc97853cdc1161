"""The loopback model's answers as Bedrock's Converse and InvokeModel have them.

InvokeModel has the format of Anthropic's models. Streams are of binary messages.

Source: botocore 1.44, data/bedrock-runtime/2023-09-30 and eventstream.py.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from agentool_otel.testing import _wire_messages as messages
from agentool_otel.testing._wire import Event, Json, NewId, pieces, token_counts
from agentool_otel.testing.turns import Request, Turn

__all__ = ["binary_event", "body", "error_body", "events", "invoke_events"]

_STOP = {
    "stop": "end_turn",
    "tool": "tool_use",
    "length": "max_tokens",
    "refusal": "content_filtered",
    "content_filter": "guardrail_intervened",
}


def error_body(turn: Turn) -> Json:
    return {"message": turn.error}


def body(request: Request, turn: Turn, new_id: NewId) -> Json:
    return {
        "output": {"message": {"role": "assistant", "content": _blocks(turn, new_id)}},
        "stopReason": _STOP[turn.why],
        "usage": _usage(request, turn),
        "metrics": {"latencyMs": 1},
    }


def _blocks(turn: Turn, new_id: NewId) -> list[Json]:
    blocks: list[Json] = []
    if turn.reasoning:
        thought = {"text": turn.reasoning, "signature": messages.SIGNATURE}
        blocks.append({"reasoningContent": {"reasoningText": thought}})
    if turn.answer_text:
        blocks.append({"text": turn.answer_text})
    for tool_call in turn.tool_calls:
        call_id = tool_call.id or new_id("tooluse_")
        use = {"toolUseId": call_id, "name": tool_call.name, "input": tool_call.arguments}
        blocks.append({"toolUse": use})
    return blocks


def _usage(request: Request, turn: Turn) -> Json:
    """Token counts; those of the input exclude what was cached."""
    input_tokens, output_tokens = token_counts(request, turn)
    usage = {
        "inputTokens": max(0, input_tokens - turn.cached_tokens - turn.cache_write_tokens),
        "outputTokens": output_tokens,
        "totalTokens": input_tokens + output_tokens,
    }
    if turn.cached_tokens or turn.cache_write_tokens:
        usage["cacheReadInputTokens"] = turn.cached_tokens
        usage["cacheWriteInputTokens"] = turn.cache_write_tokens
    return usage


def events(request: Request, turn: Turn, new_id: NewId) -> Iterator[Event]:
    yield "messageStart", {"role": "assistant"}
    for index, block in enumerate(_blocks(turn, new_id)):
        at = {"contentBlockIndex": index}
        if "toolUse" in block:
            use = block["toolUse"]
            named = {name: use[name] for name in ("toolUseId", "name")}
            yield "contentBlockStart", {**at, "start": {"toolUse": named}}
        for delta in _deltas(block, turn.chunk_size):
            yield "contentBlockDelta", {**at, "delta": delta}
        yield "contentBlockStop", at
    yield "messageStop", {"stopReason": _STOP[turn.why]}
    yield "metadata", {"usage": _usage(request, turn), "metrics": {"latencyMs": 1}}


def _deltas(block: Json, size: int) -> list[Json]:
    if "text" in block:
        return [{"text": piece} for piece in pieces(block["text"], size)]
    if "toolUse" in block:
        given: Any = block["toolUse"]["input"]
        words = given if isinstance(given, str) else json.dumps(given)
        return [{"toolUse": {"input": piece}} for piece in pieces(words, size)]
    thought = block["reasoningContent"]["reasoningText"]
    texts = [{"reasoningContent": {"text": piece}} for piece in pieces(thought["text"], size)]
    return [*texts, {"reasoningContent": {"signature": thought["signature"]}}]


def invoke_events(request: Request, turn: Turn, new_id: NewId) -> Iterator[Event]:
    for _, event in messages.events(request, turn, new_id):
        data = base64.b64encode(json.dumps(event).encode()).decode()
        yield "chunk", {"bytes": data}


def binary_event(name: str | None, payload: Json | str) -> bytes:
    """Return one message of a stream: lengths, headers, payload, each part with a checksum."""
    data = payload.encode() if isinstance(payload, str) else json.dumps(payload).encode()
    fields = {
        ":event-type": name or "chunk",
        ":content-type": "application/json",
        ":message-type": "event",
    }
    headers = b"".join(_header(key, value) for key, value in fields.items())
    prelude = struct.pack(">II", len(headers) + len(data) + 16, len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + data
    return message + struct.pack(">I", zlib.crc32(message))


def _header(name: str, value: str) -> bytes:
    text = value.encode()
    return struct.pack("B", len(name)) + name.encode() + struct.pack(">BH", 7, len(text)) + text
