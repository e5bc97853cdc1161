"""Sentry: transaction events with their spans, as its API, its envelopes and `before_send` have
them.

    {"type": "transaction", "transaction", "start_timestamp", "timestamp",
     "contexts": {"trace": {"trace_id", "span_id", "op", "status", "data"}},
     "spans": [{"trace_id", "span_id", "parent_span_id", "op", "description", "start_timestamp",
                "timestamp", "status", "data"}]}

Source: Sentry developer documentation, event payloads, `Spans Interface`; its spans of AI agents
have `gen_ai.*` names in `data`.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.model.spans import STATUS_ERROR, SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]

_GOOD = ("ok", "", "unset", "cancelled")


def _recognises(o: Object) -> bool:
    return _is_event(o) or _is_span(o)


def _is_event(o: Object) -> bool:
    traced = v.obj(v.obj(o.get("contexts")).get("trace"))
    return "span_id" in traced and "start_timestamp" in o


def _is_span(o: Object) -> bool:
    return "span_id" in o and "start_timestamp" in o and ("op" in o or "description" in o)


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    if not _is_event(o):
        return each([o], _record, report, "description")
    root = {**o["contexts"]["trace"], "start_timestamp": o.get("start_timestamp"),
            "timestamp": o.get("timestamp"), "description": o.get("transaction")}  # fmt: skip
    return each([root, *v.array(o.get("spans"))], _record, report, "description")


def _record(o: Object) -> SpanRecord:
    attributes = v.attributes(o.get("data"))
    operation = v.text(o.get("op"))
    if operation.startswith("gen_ai."):  # `gen_ai.chat`: older SDKs say it only there
        attributes.setdefault("gen_ai.operation.name", operation.removeprefix("gen_ai."))
    status = v.text(o.get("status")).lower()
    if status not in _GOOD:
        attributes.setdefault("error.type", status)
    return SpanRecord(
        v.identifier(o.get("trace_id"), 16),
        v.identifier(o.get("span_id"), 8),
        v.parent(o.get("parent_span_id")),
        v.text(o.get("description")) or operation,
        "INTERNAL",
        v.time_ns(o.get("start_timestamp")),
        v.time_ns(v.first(o, "timestamp", "end_timestamp")),
        attributes,
        status="UNSET" if status in _GOOD else STATUS_ERROR,
        scope=v.text(o.get("origin")),
    )


CONTAINER = Container(
    "Sentry transactions",
    '{"contexts": {"trace"}, "spans": [{"span_id", "op", "description", "data"}]}',
    _recognises,
    _spans,
    (
        "times are rounded to microseconds",
        "the kind of the span, its links, its events and its resource are not kept",
        "of the status only a word is kept, no message",
    ),
)
