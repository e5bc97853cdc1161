"""Giving way to the tracer provider an application sets after us.

The API takes one global provider and refuses every later one. With `agentool-otel run`, and with
`instrument()` at the top of a program, ours comes first; the application's own must win all the
same, or its exporter would never see a span.
Source: opentelemetry-api 1.30 to 1.45, trace/__init__.py, `set_tracer_provider`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from opentelemetry import trace

__all__ = ["give_way"]


def give_way(ours: trace.TracerProvider, joined: Callable[[trace.TracerProvider], None]) -> None:
    """Let the next provider that is set replace ours as the global one, and call `joined` with it.

    Where the API's insides are not as known nothing is changed: the API then refuses, with a
    warning of its own.
    """
    api: Any = trace
    original: Callable[[trace.TracerProvider], None] = api.set_tracer_provider
    once = getattr(api, "_TRACER_PROVIDER_SET_ONCE", None)
    if once is None or not hasattr(api, "_TRACER_PROVIDER"):
        return

    @wraps(original)
    def set_tracer_provider(tracer_provider: trace.TracerProvider) -> None:
        if api._TRACER_PROVIDER is not ours or tracer_provider is ours:
            original(tracer_provider)
            return
        api._TRACER_PROVIDER_SET_ONCE = type(once)()
        api._TRACER_PROVIDER = None
        if api.set_tracer_provider is set_tracer_provider:
            api.set_tracer_provider = original
        original(tracer_provider)
        joined(tracer_provider)

    api.set_tracer_provider = set_tracer_provider
