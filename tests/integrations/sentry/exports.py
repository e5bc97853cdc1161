"""The shared run as Sentry exports it."""

from __future__ import annotations

from collections.abc import Callable

from tests.reading.sources.encoders.exports import BEGIN, RUN, TRACE, Json

__all__ = ["EXPORTS"]


def _sentry() -> Json:
    first, *others = RUN
    return {
        "type": "transaction", "transaction": "weather", "start_timestamp": BEGIN,
        "timestamp": BEGIN + 9,
        "contexts": {"trace": {"trace_id": TRACE, "span_id": first.span_id, "status": "ok",
                               "op": "gen_ai.invoke_agent", "data": first.attributes()}},
        "spans": [{
            "trace_id": TRACE, "span_id": item.span_id, "parent_span_id": item.parent,
            "op": "gen_ai.x", "description": item.name, "data": item.attributes(),
            "start_timestamp": BEGIN + item.begins, "timestamp": BEGIN + item.ends,
            "status": "internal_error" if item.failed else "ok",
        } for item in others],
    }  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Sentry": _sentry,
}
