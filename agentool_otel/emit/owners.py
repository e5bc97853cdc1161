"""Which calls are recorded further up already, or further down, so that one call is one span."""

from __future__ import annotations

from opentelemetry.context import Context, create_key, get_current, set_value

from agentool_otel.emit.live import OWNER_KEY

__all__ = [
    "BY_HAND",
    "CLIENTS",
    "ClientCalls",
    "count_client_call",
    "counting_client_calls",
    "is_owned",
    "recorded_above",
]

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


_CALLS_KEY = create_key("agentool-otel-client-calls")


class ClientCalls:
    """Counts the calls of client libraries that have a span.

    A framework may leave its model calls to the instrumentor of the client below, which knows more
    of them. Where a call made no difference here, no client has recorded it.
    """

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


def counting_client_calls(context: Context) -> tuple[Context, ClientCalls]:
    """Return a context in which the calls of clients are counted, and the count."""
    calls = ClientCalls()
    return set_value(_CALLS_KEY, calls, context), calls


def count_client_call() -> None:
    """Note that the span of a client's call begins in the current context."""
    calls = get_current().get(_CALLS_KEY)
    if isinstance(calls, ClientCalls):
        calls.count += 1
