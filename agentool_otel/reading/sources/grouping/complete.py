"""The spans of a trace as a rebuild needs them."""

from __future__ import annotations

from collections.abc import Sequence

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan
from agentool_otel.reading.sources.grouping.by_trace import complete_spans
from agentool_otel.reading.sources.offloaded import put_back

__all__ = ["complete"]


def complete(spans: Sequence[SpanRecord | UndecodedSpan]) -> list[SpanRecord]:
    """Return the spans of a trace, decoded, each once, in order of start, with the texts that were
    stored apart from them."""
    records = complete_spans(spans)
    put_back(records)
    return records
