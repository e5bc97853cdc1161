"""Redirect the spans of this process to a span processor for the duration of a block.

For tests: what a program does about its own telemetry, before or inside of the block, stays as it
is and does not keep spans from coming here. Spans of this package go to a provider of the block's
own. Those of other instrumentations come from the tracer provider of the application, to which a
processor is added; OpenTelemetry has no way to remove one, so it stays and does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from agentool_otel.content.policy import Policy
from agentool_otel.tracing.setup.decision import frameworks_wanted
from agentool_otel.tracing.setup.frameworks import attach, instrumentors
from agentool_otel.tracing.setup.runtime import runtime
from agentool_otel.tracing.spans import metrics
from agentool_otel.tracing.spans.settings import settings

__all__ = ["redirect"]


@contextmanager
def redirect(to: SpanProcessor) -> Generator[None]:
    """Send every span that ends in the block to a processor, with content.

    Frameworks are attached to as `instrument()` would, threads carry their context, and no metric
    is recorded. `instrument()` and `uninstrument()` of the program may be called; what they change
    is undone at the end.
    """
    before = runtime.explicit
    carried = settings.enabled and runtime.carries_into_threads()
    by_name = instrumentors()
    attached = {name for name, value in by_name.items() if value.enabled}
    meters = metrics.provider()
    with settings.redirected(_provider(to), Policy(capture=True)), _application_spans(to):
        try:
            _no_metrics()
            attach(frameworks_wanted(before, frozenset(by_name)) | attached, threads=True)
            yield
        finally:
            settings.end_runs()
            with runtime.lock:
                runtime.explicit = before
            attach(attached, threads=carried)
            metrics.configure(meters)


def _provider(to: SpanProcessor) -> TracerProvider:
    """Return a provider without limits, independent of the environment."""
    none = SpanLimits.UNSET
    provider = TracerProvider(
        sampler=ALWAYS_ON,
        resource=Resource.get_empty(),
        shutdown_on_exit=False,
        span_limits=SpanLimits(none, none, none, none, none, none, none),
    )
    # Source: opentelemetry-sdk 1.30 to 1.45, trace/__init__.py; with OTEL_SDK_DISABLED, which test
    # runs often set, no span would be made.
    current: Any = provider
    current._disabled = False
    provider.add_span_processor(to)
    return provider


def _no_metrics() -> None:
    from opentelemetry.metrics import NoOpMeterProvider

    metrics.configure(NoOpMeterProvider())


class _Switch(SpanProcessor):
    """Passes spans on to a processor while there is one."""

    def __init__(self) -> None:
        self.to: SpanProcessor | None = None

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        if self.to is not None:
            self.to.on_start(span, parent_context)

    def on_end(self, span: ReadableSpan) -> None:
        if self.to is not None:
            self.to.on_end(span)


_switches: WeakKeyDictionary[Any, _Switch] = WeakKeyDictionary()


@contextmanager
def _application_spans(to: SpanProcessor) -> Generator[None]:
    """Send the spans of the tracer provider in force to a processor as well, and those of one that
    the program sets in the block."""
    api: Any = trace
    original: Callable[[trace.TracerProvider], None] = api.set_tracer_provider
    with ExitStack() as joined:

        @wraps(original)
        def set_tracer_provider(tracer_provider: trace.TracerProvider) -> None:
            original(tracer_provider)
            _join(trace.get_tracer_provider(), to, joined)

        _join(trace.get_tracer_provider(), to, joined)
        api.set_tracer_provider = set_tracer_provider
        try:
            yield
        finally:
            if api.set_tracer_provider is set_tracer_provider:
                api.set_tracer_provider = original


def _join(provider: Any, to: SpanProcessor, joined: ExitStack) -> None:
    if not hasattr(provider, "add_span_processor"):
        return
    switch = _switches.get(provider)
    if switch is None:
        switch = _switches[provider] = _Switch()
        provider.add_span_processor(switch)
    if switch.to is not to:
        joined.callback(setattr, switch, "to", switch.to)
        switch.to = to
