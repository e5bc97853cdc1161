"""Which calls are recorded further up already, so that one call is one span."""

from __future__ import annotations

from opentelemetry.context import Context, get_current

from agentool_otel.emit.live import OWNER_KEY

__all__ = ["BY_HAND", "CLIENTS", "is_owned", "recorded_above"]

CLIENTS = frozenset({"openai", "anthropic", "google-genai", "litellm", "botocore"})
"""Client libraries that make the calls of a model which something above them records."""

BY_HAND = "agentool-otel"
"""Owned where a model call is recorded already that is about to be reported by hand as well."""

_INFERENCE_KEY = "opentelemetry.genai.client.inference.context"
"""Context key under which opentelemetry-util-genai keeps the model call it is recording."""


def is_owned(library: str, context: Context | None = None) -> bool:
    """True inside a call that is already recorded further up, e.g. by the agent framework."""
    owners = (get_current() if context is None else context).get(OWNER_KEY)
    return isinstance(owners, frozenset) and library in owners


def recorded_above(library: str) -> bool:
    """True where the current context says that this model call is recorded already."""
    context = get_current()
    return is_owned(library, context) or context.get(_INFERENCE_KEY) is not None
