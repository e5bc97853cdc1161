"""The public traces of `tests/fixtures/traces`, as records, without going through a source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentool_otel.model.spans import SpanEvent, SpanRecord
from agentool_otel.reading.sources.opening import open_source

_FOLDER = Path(__file__).parent.parent / "fixtures" / "traces"


def load(name: str) -> list[SpanRecord]:
    """Return the spans of a file, in its order. Times, ids and parents play no part here."""
    document = json.loads((_FOLDER / name).read_text("utf-8"))
    if isinstance(document, dict):
        document = document.get("spans", [document])
    return [_record(item) for item in document]


def _record(item: dict[str, Any]) -> SpanRecord:
    """A span of any of the containers: flat dict, JS span, event table row, attribute map."""
    row = item.get("record")
    name = item.get("name") or item.get("spanName") or (row["name"] if row else "")
    scope = item.get("scope") or item.get("instrumentationScope") or {}
    return SpanRecord(
        "1" * 32,
        "2" * 16,
        item.get("parent_span_id"),
        str(name),
        attributes=item.get("attributes") or item.get("record_attributes") or {},
        events=[
            SpanEvent(event["name"], attributes=event.get("attributes", {}))
            for event in item.get("span_events") or item.get("events") or ()
        ],
        scope=item.get("scopeName") or scope.get("name", ""),
    )


def recorded(name: str) -> list[SpanRecord]:
    """Return the spans of a recording of `tests/fixtures/spans`."""
    return list(open_source(str(_FOLDER.parent / "spans" / name)).spans())
