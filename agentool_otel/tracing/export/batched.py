"""Any SDK exporter as the store of a pipeline, behind the SDK's batch processor.

What waits for a batch is in memory only: the journal is off, or spans go to the console.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from agentool_otel.tracing.export import otlp_variables

__all__ = ["Batched"]

_QUEUE = 16_384
"""Spans held for an exporting thread. The SDK's 2,048 is less than what one 5 ms turn of the
interpreter lock can produce."""
_BATCH = 512
_DELAY_MS = 5000
"""As the SDK has them."""


class Batched:
    """Hands spans on in batches, and counts them."""

    def __init__(self, exporter: SpanExporter, delay_ms: int = _DELAY_MS):
        self.delivered = 0
        self.dropped = 0
        self.spooled = self.refused = 0
        self.exporter = exporter
        queue = otlp_variables.queue_size(_QUEUE)
        self._processor: SpanProcessor = BatchSpanProcessor(
            _Counting(self),
            queue,
            int(otlp_variables.delay_s(delay_ms / 1000) * 1000) or 1,
            # The SDK refuses a batch that is larger than the queue.
            min(otlp_variables.batch_size() or _BATCH, queue),
            int(otlp_variables.export_timeout_s() * 1000) or 1,
        )

    @property
    def path(self) -> os.PathLike[str] | None:
        return getattr(self.exporter, "path", None)

    def put(self, span: ReadableSpan) -> None:
        self._processor.on_end(span)

    def flush(self, timeout_s: float) -> bool:
        return self._processor.force_flush(int(timeout_s * 1000))

    def close(self, timeout_s: float) -> None:
        self._processor.shutdown()


class _Counting(SpanExporter):
    def __init__(self, store: Batched):
        self._store = store

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._store.exporter.export(spans)
        if result is SpanExportResult.SUCCESS:
            self._store.delivered += len(spans)
        else:
            self._store.dropped += len(spans)
        return result

    def shutdown(self) -> None:
        self._store.exporter.shutdown()
