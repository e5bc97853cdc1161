"""Our way of keeping and sending spans, as an exporter of the SDK: `OTEL_TRACES_EXPORTER=agentool`.

`opentelemetry-instrument` and the SDK's own configuration find it by that name. It records into
`AGENTOOL_DIR`, or sends where `OTEL_EXPORTER_OTLP_ENDPOINT` says: masked, kept on disk until they
are taken, recovered by the next process. Spec: opentelemetry-specification, trace/sdk.md, 1.45.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agentool_otel.content import policy as content_policy
from agentool_otel.ground import environment
from agentool_otel.tracing.export.disk.limits import Limits
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.export.pipeline import Pipeline
from agentool_otel.tracing.export.send.connection import files_usable
from agentool_otel.tracing.export.send.otlp import target_from_environment

__all__ = ["AgentoolSpanExporter"]


class AgentoolSpanExporter(SpanExporter):
    """Exports ended spans of the SDK to the destination that the environment sets. May be called
    from any thread.

    Content that others have put on spans stays in a recording and is left out of what is sent,
    unless `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` overrides this. A variable with a
    value that cannot be used is refused in the log, and counts as unset.
    """

    def __init__(self) -> None:
        target = target_from_environment(os.environ)
        if target is not None and not files_usable("traces"):
            target = None
        capture = content_policy.requested(os.environ)
        policy = content_policy.Policy(
            capture=capture if capture is not None else target is None,
            on_spans=content_policy.places(os.environ).spans,
        )
        self._lock = threading.Lock()
        self._shut_down = False
        self._pipeline = Pipeline()
        self._pipeline.stages.append(Masking(policy))
        folder = environment.recordings_folder()
        if target is None:
            self._pipeline.limit(Limits.requested())
            self._pipeline.record(folder)
        else:
            self._pipeline.send(target, folder)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Keep spans: on return they are on disk, whether an endpoint has taken them or not.

        Returns:
            FAILURE after `shutdown`, or where there was no room for one of them.
        """
        with self._lock:
            if self._shut_down:
                return SpanExportResult.FAILURE
            dropped = self._pipeline.counts()["dropped"]
            for span in spans:
                self._pipeline.on_end(span)
            accepted = self._pipeline.counts()["dropped"] == dropped
        return SpanExportResult.SUCCESS if accepted else SpanExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return whether all spans are where they belong, within a time."""
        return self._pipeline.force_flush(timeout_millis)

    def shutdown(self) -> None:
        """Deliver the remaining spans; three seconds at most. A second call does nothing."""
        with self._lock:
            if self._shut_down:
                return
            self._shut_down = True
        self._pipeline.shutdown()
