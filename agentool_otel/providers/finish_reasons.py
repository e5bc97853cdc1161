"""Finish reasons under the names of the conventions: one table for every API and framework."""

from __future__ import annotations

from typing import Any

from agentool_otel.providers.fields import plain_text

__all__ = ["as_openai", "finish_reason"]

_REASONS = {
    **dict.fromkeys(
        (
            "tool_calls",  # OpenAI; `tool-calls` of the Vercel AI SDK
            "function_call",  # OpenAI, before tools
            "tool_use",  # Anthropic, Bedrock
            "tooluse",  # OpenClaw
            "tool_execution",  # LangChain4j
        ),
        "tool_call",
    ),
    **dict.fromkeys(
        ("end_turn", "stop_sequence"),  # Anthropic, Bedrock
        "stop",
    ),
    **dict.fromkeys(
        (
            "max_tokens",  # Anthropic, Bedrock, Google, Cohere
            "max_output_tokens",  # OpenAI's responses
            "incomplete",  # likewise, where no reason is given
            "model_length",  # Mistral
        ),
        "length",
    ),
    **dict.fromkeys(
        (
            "refusal",  # Anthropic
            "content_filtered",  # Bedrock
            "guardrail_intervened",  # Bedrock
            "safety",  # Google, and the following
            "recitation",
            "blocklist",
            "prohibited_content",
            "spii",
            "image_safety",
        ),
        "content_filter",
    ),
    "malformed_function_call": "error",  # Google
}
"""Spec: GenAI conventions, `FinishReason`: stop, length, content_filter, tool_call and error. The
reason `model_context_window_exceeded` of Anthropic stays: `length` would hide what it says.
Source: OpenAI chat completions and responses, Anthropic `stop_reason`, Bedrock Converse
`StopReason`, Google `FinishReason`, Cohere, Mistral, LangChain4j and the Vercel AI SDK, 2026-10."""


def finish_reason(reason: Any) -> str | None:
    """Return the conventions' name of a finish reason; one they have no name for, in lower case.

    None if there is no reason: no text, an empty one, or Google's name for none.
    """
    words = plain_text(reason)
    if not words or words == "FINISH_REASON_UNSPECIFIED":
        return None
    name = words.lower().replace("-", "_")
    return _REASONS.get(name, name)


def as_openai(reason: str) -> str:
    """Return the name that OpenAI's chat completions have for a reason of the conventions."""
    return "tool_calls" if reason == "tool_call" else reason
