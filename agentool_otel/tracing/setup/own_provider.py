"""The tracer provider that we make where the application has none. Loaded with the SDK."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Tracer

from agentool_otel.tracing.spans.native_spans import ReplaceableTracer, is_known

__all__ = ["OwnProvider"]


class OwnProvider(TracerProvider):
    """The SDK's, but for the tracers of libraries whose calls an instrumentor may cover."""

    def get_tracer(self, instrumenting_module_name: str, *args: Any, **kwargs: Any) -> Tracer:
        """Return a tracer, as the SDK does."""
        tracer = super().get_tracer(instrumenting_module_name, *args, **kwargs)
        if is_known(instrumenting_module_name):
            return ReplaceableTracer(tracer, instrumenting_module_name)
        return tracer
