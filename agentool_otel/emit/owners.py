"""Which calls are recorded further up already, so that one call is one span."""

from __future__ import annotations

from opentelemetry.context import Context, create_key, get_current, set_value

from agentool_otel.emit.live import OWNER_KEY

__all__ = [
    "BY_HAND",
    "CLIENTS",
    "AnnouncedCall",
    "found_below",
    "is_owned",
    "recorded_above",
    "unannounced",
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


_ANNOUNCED_KEY = create_key("agentool-otel-announced-call")


class AnnouncedCall:
    """A model call that a framework tells of, which a client below it may record in more detail.

    Which client makes the call, and whether its calls are recorded, is known once it is made. So
    the framework makes `inside` the current context, and has a span of its own for the call only
    if nobody has recorded it in the end.
    """

    __slots__ = ("inside", "recorded")

    def __init__(self, around: Context):
        self.inside = set_value(_ANNOUNCED_KEY, self, around)
        self.recorded = False


def found_below() -> None:
    """Note that a client records the model call that is announced further up, if one is."""
    announced = get_current().get(_ANNOUNCED_KEY)
    if isinstance(announced, AnnouncedCall):
        announced.recorded = True


def unannounced(context: Context) -> Context:
    """Return a context whose model calls are no part of the one that is announced around it."""
    return (
        context if context.get(_ANNOUNCED_KEY) is None else set_value(_ANNOUNCED_KEY, None, context)
    )
