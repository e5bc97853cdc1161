"""Ending a span from a finaliser.

Garbage is collected at any point of any code, also while the SDK holds a lock that ending a span
needs; there, another thread does it.
"""

from __future__ import annotations

import sys
from _thread import start_new_thread
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

__all__ = ["inside_telemetry", "when_safe"]


def when_safe(end: Callable[..., None], *args: Any) -> None:
    """Call `end` now, or in another thread where this one may hold a lock of the pipeline."""
    if not inside_telemetry():
        end(*args)
        return
    with suppress(RuntimeError):  # the interpreter is going down and starts no more threads
        start_new_thread(end, args)


def inside_telemetry() -> bool:
    """True if code that may hold a lock of the telemetry pipeline is running in this thread."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if isinstance(module, str) and module.startswith(_PIPELINE):
            return True
        frame = frame.f_back
    return False


_PIPELINE = (
    "opentelemetry.sdk.",
    "opentelemetry.exporter.",
    "agentool_otel.tracing.spans.own_span",
    "agentool_otel.tracing.spans.metric_sums",
    "agentool_otel.tracing.export.",
)
"""Beginnings of the names of modules that take such locks."""
