"""When the chunks of a streamed answer arrived.

Spec: GenAI conventions. The time to the first chunk is an attribute and a metric of the call; the
time from each chunk to the next is a metric alone, recorded as the chunk arrives: work left for
the end of a long stream would hold up its consumer.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from opentelemetry.context import Context

from agentool_otel.model.operations import Operation
from agentool_otel.tracing.spans import metrics

__all__ = ["Chunks"]


class Chunks:
    """Times the chunks of one call, from when this is made.

    Attributes:
        first_s: seconds to the first chunk, None before it came.
    """

    __slots__ = ("_began", "_last", "_put", "first_s")

    def __init__(self) -> None:
        self._began = perf_counter()
        self._last: float | None = None
        self._put: Callable[[float], None] | None = None
        self.first_s: float | None = None

    def first(self) -> None:
        """Note that the first chunk has arrived; later calls change nothing."""
        if self.first_s is None:
            self.first_s = perf_counter() - self._began

    def record(self, operation: Callable[[], Operation], context: Context) -> None:
        """Note that a chunk has arrived.

        Args:
            operation: returns the call as far as it is known; called once, at the second chunk.
            context: that of its span.
        """
        now = perf_counter()
        last, self._last = self._last, now
        if self.first_s is None:
            self.first_s = now - self._began
        elif last is not None:
            if self._put is None:
                self._put = metrics.chunk_gaps(operation(), context) or _nowhere
            self._put(now - last)


def _nowhere(_: float) -> None:
    """Nobody collects metrics."""
