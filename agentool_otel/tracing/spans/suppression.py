"""Suppress calls that are recorded further up or down, so that each call has one span."""

from __future__ import annotations

from opentelemetry.context import Context, create_key, get_current, set_value

from agentool_otel.model.operations import Inference, Operation
from agentool_otel.tracing.spans.live import OWNER_KEY

__all__ = [
    "BELOW_KEY",
    "CALLBACKS",
    "CLIENTS",
    "GRAPHS",
    "MANUAL",
    "CallsBelow",
    "detached",
    "is_owned",
    "note_call",
    "recorded_above",
]

CLIENTS = "clients"
"""Owned where a model call is recorded that any client library below may make."""

MANUAL = "agentool-otel"
"""Owned where a model call is recorded already that is about to be reported by hand as well."""

CALLBACKS = "callbacks"
"""Owned where a model call is recorded already that a framework's callbacks report as well."""

GRAPHS = "langgraph"
"""Owned where a graph is how a component of something above it is executed, and no agent."""

_INFERENCE_KEY = "opentelemetry.genai.client.inference.context"
"""Context key under which opentelemetry-util-genai keeps the model call it is recording."""


def is_owned(name: str, context: Context | None = None) -> bool:
    """True inside a call that is already recorded further up, e.g. by the agent framework."""
    owners = (get_current() if context is None else context).get(OWNER_KEY)
    return isinstance(owners, frozenset) and name in owners


def recorded_above(name: str = CLIENTS) -> bool:
    """Return whether the current context records this model call already."""
    context = get_current()
    return is_owned(name, context) or context.get(_INFERENCE_KEY) is not None


BELOW_KEY = create_key("agentool-otel-calls-below")
"""Context key of what counts the calls of clients below a framework."""


class CallsBelow:
    """Counts the calls of one kind, model calls by default, that clients record below a framework.

    A framework may leave its model calls to the instrumentor of the client below, which knows more
    of them. Which client makes a call, and whether its calls are recorded, is known once it is
    made. So the framework makes `inside` the current context, and has a span of its own for a call
    only if that has not raised `count`.
    """

    __slots__ = ("context", "count", "kind")

    def __init__(self, context: Context, kind: type[Operation] = Inference):
        self.kind = kind
        self.context = set_value(BELOW_KEY, self, context)
        self.count = 0


def note_call(kind: type[Operation] = Inference) -> None:
    """Note that a client records a call of a kind, a model call by default, in the current context.
    Whoever begins the span of a client's call and does not go by
    `tracing.instrumentation.client_calls` calls this."""
    below = get_current().get(BELOW_KEY)
    if isinstance(below, CallsBelow) and below.kind is kind:
        below.count += 1


def detached(context: Context) -> Context:
    """Return a context whose model calls do not count as calls of the framework around it."""
    return context if context.get(BELOW_KEY) is None else set_value(BELOW_KEY, None, context)
