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
            "trace_id": TRACE, "span_id": it.span_id, "parent_span_id": it.parent,
            "op": "gen_ai.x", "description": it.name, "data": it.attributes(),
            "start_timestamp": BEGIN + it.begins, "timestamp": BEGIN + it.ends,
            "status": "internal_error" if it.failed else "ok",
        } for it in others],
    }  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Sentry": _sentry,
}
