"""Phoenix: spans of `/v1/projects/{p}/spans`, of `Client.spans` and of data frames.

A span object whose OpenInference kind was lifted out of its attributes into `span_kind`; here it
goes back to `openinference.span.kind`. The `otlpv1` answers are spans of OTLP and need no file.

Source: Arize-ai/phoenix src/phoenix/server/api/routers/v1/spans.py v12.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.stores import span_object
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]

_KINDS = frozenset({
    "LLM", "CHAIN", "TOOL", "AGENT", "RETRIEVER", "EMBEDDING", "RERANKER", "GUARDRAIL",
    "EVALUATOR", "PROMPT", "UNKNOWN",
})  # fmt: skip


def _recognises(o: Object) -> bool:
    lifted = v.first(o, "span_kind", "spanKind")
    return isinstance(lifted, str) and lifted.upper() in _KINDS and span_object.recognises(o)


def _record(o: Object) -> SpanRecord:
    span = span_object.record(o)
    lifted = v.text(v.first(o, "span_kind", "spanKind")).upper()
    if lifted != "UNKNOWN":  # Phoenix's default for a span without a kind
        span.attributes.setdefault("openinference.span.kind", lifted)
    return span


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    return each([o], _record, report)


CONTAINER = Container(
    "a Phoenix span",
    '{"context": {"trace_id", "span_id"}, "span_kind": "LLM", "attributes"}',
    _recognises,
    _spans,
    (
        "times are rounded to microseconds",
        "the kind of the span, its links, its scope and its resource are not kept",
    ),
)
