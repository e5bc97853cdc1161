"""Why a model stopped, in the words of the conventions."""

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


def finish_reason(said: Any) -> str | None:
    """Return why a model stopped; a word the conventions have none for stays, in lower case.

    None where nothing was said: no text, an empty one, or Google's word for nothing.
    """
    if not isinstance(said, str) or not said or said == "FINISH_REASON_UNSPECIFIED":
        return None
    return _REASONS.get(said.lower(), said.lower())
