"""Finish reasons under the names of the conventions."""

from __future__ import annotations

from typing import Any

__all__ = ["finish_reason"]

_REASONS = {
    "tool_calls": "tool_call",
    "tool_use": "tool_call",
    "function_call": "tool_call",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "incomplete": "length",
    "refusal": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "image_safety": "content_filter",
    "malformed_function_call": "error",
}
"""Spec: GenAI conventions, `FinishReason`: stop, length, content_filter, tool_call and error.
Source: OpenAI chat completions and responses, Anthropic `stop_reason`, Google `FinishReason`,
Cohere and Mistral, 2026-10."""


def finish_reason(reason: Any) -> str | None:
    """Return the conventions' name of a finish reason; one they have no name for, in lower case.

    None if there is no reason: no text, an empty one, or Google's name for none.
    """
    if not isinstance(reason, str) or not reason or reason == "FINISH_REASON_UNSPECIFIED":
        return None
    return _REASONS.get(reason.lower(), reason.lower())
