"""The loopback model's answers as Google's generateContent has them.

Source: the bodies and events that python-genai 1, 2 and 3 read; ai.google.dev/api (v1beta).
Function calls have an id only where a turn has one, as many models of the API leave it out.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from agentool_otel.testing._wire import Event, Json, NewId, pieces, token_counts
from agentool_otel.testing.turns import Request, Turn

__all__ = ["body", "embeddings", "error_body", "error_event", "events"]

_FINISH = {
    "stop": "STOP",
    "tool": "STOP",
    "length": "MAX_TOKENS",
    "refusal": "SAFETY",
    "content_filter": "SAFETY",
}
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def error_body(turn: Turn) -> Json:
    code = 500 if turn.status == 200 else turn.status
    status = _STATUS.get(code, "INTERNAL")
    return {"error": {"code": code, "message": turn.error, "status": status}}


def error_event(turn: Turn, count: int) -> Event:
    return None, error_body(turn)


def body(request: Request, turn: Turn, new_id: NewId) -> Json:
    parts = _thoughts(turn) + _texts(turn) + _calls(turn)
    return _chunk(request, turn, new_id("resp_"), parts, _FINISH[turn.why])


def events(request: Request, turn: Turn, new_id: NewId) -> Iterator[Event]:
    response_id = new_id("resp_")
    size = turn.chunk_size
    parts: list[Json] = [
        {"text": text, "thought": True} for text in pieces(turn.reasoning or "", size)
    ]
    parts += [{"text": text} for text in pieces(turn.answer_text, size)]
    parts += _calls(turn)
    *before, last = parts or [{"text": ""}]
    for part in before:
        yield None, _chunk(request, turn, response_id, [part], None)
    yield None, _chunk(request, turn, response_id, [last], _FINISH[turn.why])


def _chunk(
    request: Request, turn: Turn, response_id: str, parts: list[Json], finish: str | None
) -> Json:
    candidate: Json = {"index": 0, "content": {"role": "model", "parts": parts}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(request, turn),
        "modelVersion": request.model,
        "responseId": response_id,
    }


def _thoughts(turn: Turn) -> list[Json]:
    return [{"text": turn.reasoning, "thought": True}] if turn.reasoning else []


def _texts(turn: Turn) -> list[Json]:
    return [{"text": turn.answer_text}] if turn.answer_text else []


def _calls(turn: Turn) -> list[Json]:
    calls: list[Json] = []
    for tool_call in turn.tool_calls:
        call: Json = {"name": tool_call.name, "args": tool_call.arguments}
        calls.append({"functionCall": call | ({"id": tool_call.id} if tool_call.id else {})})
    return calls


def _usage(request: Request, turn: Turn) -> Json:
    """Token counts; thoughts are beside the answer, cached tokens a part of the prompt."""
    input_tokens, output_tokens = token_counts(request, turn)
    usage: Json = {
        "promptTokenCount": input_tokens,
        "candidatesTokenCount": output_tokens - turn.reasoning_tokens,
        "totalTokenCount": input_tokens + output_tokens,
    }
    if turn.details:
        if turn.cached_tokens:
            usage["cachedContentTokenCount"] = turn.cached_tokens
        if turn.reasoning_tokens:
            usage["thoughtsTokenCount"] = turn.reasoning_tokens
    return usage


def embeddings(request: Request, turn: Turn, new_id: NewId) -> Json:
    """The answer of `batchEmbedContents`."""
    items: list[Any] = request.body.get("requests") or []
    return {"embeddings": [{"values": _vector(item)} for item in items]}


def _vector(item: Json) -> list[float]:
    size = int(item.get("outputDimensionality") or 16)
    seed = zlib.crc32(repr(item.get("content")).encode())
    return [((seed >> (at % 24)) & 0xFF) / 255.0 for at in range(size)]
