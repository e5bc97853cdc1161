"""The same answer, as providers send it: whole, and in pieces."""

from __future__ import annotations

from typing import Any

ANTHROPIC: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [
        {"type": "thinking", "thinking": "Look it up.", "signature": "s"},
        {"type": "text", "text": "One moment."},
        {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "otel"}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 7},
}


ANTHROPIC_EVENTS: list[dict[str, Any]] = [
    {
        "type": "message_start",
        "message": {**ANTHROPIC, "content": [], "stop_reason": None,
                    "usage": {"input_tokens": 10, "cache_read_input_tokens": 5,
                              "output_tokens": 1}},
    },
    {"type": "content_block_start", "index": 0,
     "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0,
     "delta": {"type": "thinking_delta", "thinking": "Look it up."}},
    {"type": "content_block_delta", "index": 0,
     "delta": {"type": "signature_delta", "signature": "s"}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1,
     "delta": {"type": "text_delta", "text": "One "}},
    {"type": "content_block_delta", "index": 1,
     "delta": {"type": "text_delta", "text": "moment."}},
    {"type": "content_block_start", "index": 2,
     "content_block": {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}}},
    {"type": "content_block_delta", "index": 2,
     "delta": {"type": "input_json_delta", "partial_json": '{"q": '}},
    {"type": "content_block_delta", "index": 2,
     "delta": {"type": "input_json_delta", "partial_json": '"otel"}'}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]  # fmt: skip


GOOGLE: dict[str, Any] = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "Look it up.", "thought": True},
                    {"text": "One moment."},
                    {"functionCall": {"name": "search", "args": {"q": "otel"}}},
                ],
            },
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 15,
        "cachedContentTokenCount": 5,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 3,
    },
    "modelVersion": "gemini-x-001",
    "responseId": "r1",
}


GOOGLE_CHUNKS: list[dict[str, Any]] = [
    {"candidates": [{"content": {"parts": [part]}}], "modelVersion": "gemini-x-001"}
    for part in ({"text": "Look ", "thought": True}, {"text": "it up.", "thought": True},
                 {"text": "One "}, {"text": "moment."})
] + [{**GOOGLE, "candidates": [{
    "content": {"parts": [GOOGLE["candidates"][0]["content"]["parts"][2]]},
    "finishReason": "STOP"}]}]  # fmt: skip
