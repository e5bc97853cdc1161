"""Finished SDK spans as the records a source would give."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan

from agentool_otel.export.recording import RecordingExporter
from agentool_otel.model.spans import SpanRecord
from agentool_otel.sources import open_source


def records(spans: Sequence[ReadableSpan]) -> list[SpanRecord]:
    """Write spans to a real recording and read it back."""
    with tempfile.TemporaryDirectory() as folder:
        RecordingExporter(Path(folder)).export(spans)
        return list(open_source(folder).spans())
