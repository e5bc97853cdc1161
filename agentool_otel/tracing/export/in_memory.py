"""Ended spans kept in memory, as a recording would have them."""

from __future__ import annotations

import threading

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from agentool_otel.otlp.json_encoder import encode_spans

__all__ = ["InMemory"]


class InMemory(SpanProcessor):
    """Keeps every span that ends, sampled or not, until it is cleared."""

    def __init__(self) -> None:
        self._spans: list[ReadableSpan] = []
        self._lock = threading.Lock()

    def on_end(self, span: ReadableSpan) -> None:
        with self._lock:
            self._spans.append(span)

    def forget(self) -> None:
        """Forget the spans so far."""
        with self._lock:
            self._spans.clear()

    def document(self) -> bytes:
        """Return the spans in the order they ended, as an OTLP/JSON document."""
        with self._lock:
            spans = list(self._spans)
        return encode_spans(spans)
