"""The loopback model's answers as Anthropic's messages API has them.

Source: the bodies and events that anthropic-sdk-python 0.104, 1 and 2 read, API version 2023-06-01.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentool_otel.testing._wire import Event, Json, NewId, pieces, token_counts
from agentool_otel.testing.turns import Request, Turn

__all__ = ["body", "error_body", "error_event", "events", "token_count"]

SIGNATURE = "c2lnbmVk"
"""Signature of thinking blocks."""

_STOP = {
    "stop": "end_turn",
    "tool": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "content_filter": "refusal",
}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def error_body(turn: Turn) -> Json:
    kind = _ERRORS.get(turn.status, "overloaded_error" if turn.status == 200 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": turn.error}}


def error_event(turn: Turn, count: int) -> Event:
    return "error", error_body(turn)


def token_count(request: Request, turn: Turn, new_id: NewId) -> Json:
    """The answer of `count_tokens`."""
    return {"input_tokens": token_counts(request, turn)[0]}


def body(request: Request, turn: Turn, new_id: NewId) -> Json:
    message = _message(request, turn, new_id)
    return message | {"content": _blocks(turn, new_id), "stop_reason": _STOP[turn.why]}


def _message(request: Request, turn: Turn, new_id: NewId) -> Json:
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(request, turn),
    }


def _usage(request: Request, turn: Turn) -> Json:
    """Token counts; those of the input are apart, by whether they were cached."""
    input_tokens, output_tokens = token_counts(request, turn)
    usage: Json = {
        "input_tokens": max(0, input_tokens - turn.cached_tokens - turn.cache_write_tokens),
        "output_tokens": output_tokens,
    }
    if turn.details:
        usage |= {
            "cache_creation_input_tokens": turn.cache_write_tokens,
            "cache_read_input_tokens": turn.cached_tokens,
            "output_tokens_details": {"thinking_tokens": turn.reasoning_tokens},
            "service_tier": "standard",
        }
    return usage


def _blocks(turn: Turn, new_id: NewId) -> list[Json]:
    blocks: list[Json] = []
    if turn.reasoning:
        thinking = {"type": "thinking", "thinking": turn.reasoning, "signature": SIGNATURE}
        blocks.append(thinking)
    if turn.answer_text:
        blocks.append({"type": "text", "text": turn.answer_text, "citations": None})
    for tool_call in turn.tool_calls:
        use = {"type": "tool_use", "id": tool_call.id or new_id("toolu_"), "name": tool_call.name}
        blocks.append(use | {"input": tool_call.arguments})
    return blocks


def events(request: Request, turn: Turn, new_id: NewId) -> Iterator[Event]:
    def event(kind: str, **fields: Any) -> Event:
        return kind, {"type": kind, **fields}

    message = _message(request, turn, new_id)
    totals = message["usage"]
    yield event("message_start", message=message | {"usage": totals | {"output_tokens": 1}})
    yield event("ping")
    calls = iter(turn.tool_calls)
    for index, block in enumerate(_blocks(turn, new_id)):
        text = next(calls).text if block["type"] == "tool_use" else ""
        empty, deltas = _deltas(block, text, turn.chunk_size)
        yield event("content_block_start", index=index, content_block=block | empty)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    end = {"stop_reason": _STOP[turn.why], "stop_sequence": None}
    yield event("message_delta", delta=end, usage=totals)
    yield event("message_stop")


def _deltas(block: Json, arguments: str, size: int) -> tuple[Json, list[Json]]:
    """Return the first form of a block, and the deltas that complete it."""
    match block["type"]:
        case "tool_use":
            json = [{"type": "input_json_delta", "partial_json": piece}
                    for piece in pieces(arguments, size)]  # fmt: skip
            return {"input": {}}, json
        case "thinking":
            thoughts = [{"type": "thinking_delta", "thinking": piece}
                        for piece in pieces(block["thinking"], size)]  # fmt: skip
            signature = {"type": "signature_delta", "signature": block["signature"]}
            return {"thinking": "", "signature": ""}, [*thoughts, signature]
        case _:
            texts = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"], size)]
            return {"text": ""}, texts
