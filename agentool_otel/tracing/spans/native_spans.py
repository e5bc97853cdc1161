"""Spans that libraries write of themselves, and which of them an instrumentor of ours replaces.

Several libraries have tracers of their own, on by default. Beside an instrumentor every call would
have two spans, theirs without its content. So, while an instrumentor covers a scope, the tracer
provider that we have made starts no span for it; what happens below hangs on its parent span, and
an outgoing `traceparent` names that one. The libraries' own switches are left as the user has set
them: they hold for the process, and would outlive `uninstrument()`.

A tracer provider of the user's is never changed. There both spans are written, and a rebuild of
both together counts each call once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opentelemetry.trace import NoOpTracer, Span, Tracer

__all__ = ["ReplaceableTracer", "cover", "is_covered", "is_known", "uncover"]

_covering: dict[str, set[str]] = {}
"""By scope, the frameworks whose instrumentors cover it now; a scope stays known."""


def cover(framework: str, scopes: Iterable[str]) -> None:
    """Leave the native spans of some scopes to the instrumentor of a framework."""
    for scope in scopes:
        _covering.setdefault(scope, set()).add(framework)


def uncover(framework: str, scopes: Iterable[str]) -> None:
    """Let the native spans of some scopes be written (again)."""
    for scope in scopes:
        _covering.setdefault(scope, set()).discard(framework)


def is_known(scope: str) -> bool:
    """Return whether there is an instrumentor for the library that has this scope."""
    return scope in _covering


def is_covered(scope: str) -> bool:
    """Return whether an instrumentor covers this scope now."""
    return bool(_covering.get(scope))


class ReplaceableTracer(Tracer):
    """The tracer of a native scope: that of the SDK, or none while an instrumentor covers it."""

    def __init__(self, tracer: Tracer, scope: str):
        self._tracer = tracer
        self._scope = scope

    @property
    def _present(self) -> Any:
        return NoOpTracer() if is_covered(self._scope) else self._tracer

    def start_span(self, *args: Any, **kwargs: Any) -> Span:
        span: Span = self._present.start_span(*args, **kwargs)
        return span

    def start_as_current_span(self, *args: Any, **kwargs: Any) -> Any:
        return self._present.start_as_current_span(*args, **kwargs)
