"""Keep a judge's calls out of all telemetry, ours and that of other instrumentations."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry import context as otel

__all__ = ["suppress_recording"]

_NAMES = (
    "suppress_instrumentation",
    "suppress_http_instrumentation",
    "suppress_language_model_instrumentation",
)
"""By name, as older instrumentations and those of Traceloop look for them."""
_KEYS = ("_SUPPRESS_INSTRUMENTATION_KEY", "_SUPPRESS_HTTP_INSTRUMENTATION_KEY")
"""Source: opentelemetry-api context/__init__.py; their values are made when it is imported."""


@contextmanager
def suppress_recording() -> Generator[None]:
    """Suppress instrumentation inside the block, and detach the current span."""
    names = {*_NAMES, *(getattr(otel, key) for key in _KEYS if hasattr(otel, key))}
    token = otel.attach(otel.Context(dict.fromkeys(names, True)))
    try:
        yield
    finally:
        otel.detach(token)
