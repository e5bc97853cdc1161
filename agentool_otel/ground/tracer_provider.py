"""The tracer provider that `instrument()` uses, for code that must not import `tracing`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

__all__ = ["current", "replace"]

_current: TracerProvider | None = None


def current() -> TracerProvider | None:
    """Return the provider of this process, or None if `instrument()` has not been called."""
    return _current


def replace(provider: TracerProvider | None) -> None:
    """Make a provider the one of this process."""
    global _current
    _current = provider
