"""The context of work, carried where the interpreter does not carry it.

bind_context       bind a function to the current context
child_environment  pass the current trace to a child process
inherited          the trace that the parent process has passed to this one
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import ParamSpec, TypeVar

from opentelemetry.context import Context, attach, get_current

from agentool_otel.ground import environment
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.settings import settings

__all__ = ["bind_context", "child_environment", "extract", "inherited_context", "inject"]

P = ParamSpec("P")
R = TypeVar("R")


def bind_context(fn: Callable[P, R]) -> Callable[P, R]:
    """Return `fn` bound to the current context: wherever it runs, its spans have today's parent."""
    context = get_current()

    @functools.wraps(fn)
    def carried(*args: P.args, **kwargs: P.kwargs) -> R:
        token = attach(context)
        try:
            return fn(*args, **kwargs)
        finally:
            restore(token)

    return carried


def child_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment for a child process in which its spans join the current trace.

    `instrument()` in the child reads it, and sends spans to the same destination: arguments that
    `instrument()` got here are added as variables.

    Spec: OpenTelemetry, environment variables as context propagation carriers (TRACEPARENT,
    TRACESTATE, BAGGAGE).

    Args:
        environ: the environment to start from, this process's by default.
    """
    child = {**settings.handed_down, **(os.environ if environ is None else environ)}
    carrier: dict[str, str] = {}
    inject(carrier)
    child.update({key.upper().replace("-", "_"): value for key, value in carrier.items()})
    return child


def inherited_context(environ: Mapping[str, str]) -> Context | None:
    """Return the context that a parent process has left in an environment, None if there is none.

    A value that cannot be read counts as none.
    """
    carrier = environment.handed_down(environ)
    if not carrier:
        return None
    return extract(carrier) or None


def inject(carrier: dict[str, str]) -> None:
    """Write the trace and the baggage of the present context into a carrier."""
    with suppress(ValueError):
        from opentelemetry import propagate  # loads every propagator there is

        propagate.inject(carrier)


def extract(carrier: Mapping[str, str]) -> Context:
    """Return the context that a carrier reports, an empty one if it reports none."""
    with suppress(ValueError):  # OTEL_PROPAGATORS names one that is not installed
        from opentelemetry import propagate

        return propagate.extract(carrier, Context())
    return Context()
