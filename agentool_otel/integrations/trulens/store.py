"""TruLens event rows: the event table of Snowflake, or of a local database.

    {"record_type": "SPAN", "record": {"name", "kind", "status"}, "record_attributes",
     "resource_attributes", "trace": {"trace_id", "span_id", "parent_id"},
     "start_timestamp", "timestamp"}

Ids are decimal text, `timestamp` is the end. Column names may be in upper case, columns JSON text.

Source: truera/trulens src/core/trulens/core/schema/event.py v1.5.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each

__all__ = ["CONTAINER"]


def _recognises(o: Object) -> bool:
    names = {name.lower() for name in o}
    return {"record_attributes", "trace"} <= names and ("record" in names or "event_id" in names)


def _record(o: Object) -> SpanRecord:
    row = {name.lower(): value for name, value in o.items()}
    ids = v.json_object(row["trace"])
    record = v.json_object(row.get("record"))
    status = record.get("status")
    return SpanRecord(
        v.identifier(ids.get("trace_id"), 16, decimal=True),
        v.identifier(v.first(ids, "span_id") or row.get("event_id"), 8, decimal=True),
        v.parent(v.first(ids, "parent_id") or record.get("parent_span_id"), decimal=True),
        v.text(record.get("name")),
        v.kind(record.get("kind")),
        v.time_ns(row.get("start_timestamp")),
        v.time_ns(row.get("timestamp")),
        v.attributes(row["record_attributes"]),
        [],
        [],
        v.status(v.obj(status).get("code") if isinstance(status, dict) else status),
        v.text(v.obj(status).get("message")) or None,
        "",
        v.attributes(row.get("resource_attributes")),
    )


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    return each([o], _record, report, "event_id")


CONTAINER = Container(
    "TruLens event rows",
    '{"record_type": "SPAN", "record", "record_attributes", "trace"}',
    _recognises,
    _spans,
    ("times are rounded to microseconds", "events, links and the scope are not kept"),
)
