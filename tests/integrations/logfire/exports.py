"""The shared run as Logfire exports it."""

from __future__ import annotations

from collections.abc import Callable

from tests.reading.sources.encoders.exports import FAILED, RUN, TRACE, Json, iso

__all__ = ["EXPORTS"]


def _logfire() -> Json:
    return {"rows": [
        {"trace_id": TRACE, "span_id": it.span_id, "parent_span_id": it.parent, "kind": "span",
         "span_name": it.name, "start_timestamp": iso(it.begins), "end_timestamp": iso(it.ends),
         "otel_scope_name": "x", "otel_status_code": "ERROR" if it.failed else None,
         "otel_status_message": FAILED if it.failed else None, "attributes": it.attributes()}
        for it in RUN
    ]}  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Logfire rows": _logfire,
}
