"""The shared run as Opik exports it."""

from __future__ import annotations

from collections.abc import Callable

from tests.reading.sources.encoders.exports import FAILED, RUN, TRACE, Json, iso, usage

__all__ = ["EXPORTS"]


def _opik() -> Json:
    first, *others = RUN
    return {
        "trace": {"id": TRACE, "project_id": "p", "name": first.name, "thread_id": "s1",
                  "start_time": iso(0), "end_time": iso(9), "input": {"input": first.given},
                  "output": {"output": first.gave}, "usage": {"total_tokens": 14}},
        "spans": [{
            "id": item.uuid(), "trace_id": TRACE, "name": item.name, "type": item.kind,
            "start_time": iso(item.begins), "end_time": iso(item.ends),
            "input": {"messages": item.given} if item.asks_model else item.given,
            "output": {"choices": [{"message": item.gave}]} if item.asks_model else None,
            "usage": usage(item, "prompt_tokens", "completion_tokens"),
            "error_info": {"exception_type": "E", "message": FAILED} if item.failed else None,
        } for item in others],
    }  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Opik": _opik,
}
