"""The exports of Tiny Store: one JSON object, a list of spans in it.

{"tiny_store": 1, "items": [{"trace", "id", "parent", "title", "from_ms", "to_ms", "tags"}]}
"""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report, each


def _recognises(export: Object) -> bool:
    return "tiny_store" in export and isinstance(export.get("items"), list)


def _record(item: Object) -> SpanRecord:
    """Return the record of one span. A missing member or a wrong number costs only this span."""
    try:
        return SpanRecord(
            item["trace"],
            item["id"],
            item["parent"],
            name=item["title"],
            start_ns=int(item["from_ms"]) * 1_000_000,
            end_ns=int(item["to_ms"]) * 1_000_000,
            attributes=dict(item["tags"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


def _spans(export: Object, report: Report) -> Iterator[SpanRecord]:
    return each(export["items"], _record, report, name="title")


CONTAINER = Container(
    "exports of Tiny Store",
    '{"tiny_store": 1, "items": [{"trace", "id", "tags"}]}',
    _recognises,
    _spans,
    loses=("times are rounded to milliseconds", "the status of the span is not kept"),
    members=("tiny_store",),
)
