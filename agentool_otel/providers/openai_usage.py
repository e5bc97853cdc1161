"""Token counts of OpenAI's APIs, and of servers that only resemble OpenAI's."""

from __future__ import annotations

from typing import Any

from agentool_otel.model.operations import Usage
from agentool_otel.providers.fields import get, integer

__all__ = ["usage_of"]


def usage_of(usage: Any) -> Usage | None:
    """Return the token counts that the server reported, without parts of zero tokens.

    Chat completions and embeddings count prompt and completion, responses input and output.
    """
    if usage is None:
        return None
    details = _either(get, usage, "prompt_tokens_details", "input_tokens_details")
    of_output = _either(get, usage, "completion_tokens_details", "output_tokens_details")
    counts = Usage(
        input_tokens=_either(integer, usage, "prompt_tokens", "input_tokens"),
        output_tokens=_either(integer, usage, "completion_tokens", "output_tokens"),
        cache_read_tokens=integer(details, "cached_tokens") or None,
        cache_write_tokens=integer(details, "cache_write_tokens") or None,
        reasoning_tokens=integer(of_output, "reasoning_tokens") or None,
        text_input_tokens=integer(details, "text_tokens") or None,
        image_input_tokens=integer(details, "image_tokens") or None,
        audio_input_tokens=integer(details, "audio_tokens") or None,
        text_output_tokens=integer(of_output, "text_tokens") or None,
        image_output_tokens=integer(of_output, "image_tokens") or None,
        audio_output_tokens=integer(of_output, "audio_tokens") or None,
    )
    return None if counts == Usage() else counts


def _either(read: Any, usage: Any, name: str, other: str) -> Any:
    value = read(usage, name)
    return read(usage, other) if value is None else value
