"""The shared run as Logfire exports it."""

from __future__ import annotations

from collections.abc import Callable

from tests.reading.sources.encoders.exports import FAILED, RUN, TRACE, Json, iso

__all__ = ["EXPORTS"]


def _logfire() -> Json:
    return {"rows": [
        {"trace_id": TRACE, "span_id": act.span_id, "parent_span_id": act.parent, "kind": "span",
         "span_name": act.name, "start_timestamp": iso(act.begins), "end_timestamp": iso(act.ends),
         "otel_scope_name": "x", "otel_status_code": "ERROR" if act.failed else None,
         "otel_status_message": FAILED if act.failed else None, "attributes": act.attributes()}
        for act in RUN
    ]}  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Logfire rows": _logfire,
}
