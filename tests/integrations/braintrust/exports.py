"""The shared run as Braintrust exports it."""

from __future__ import annotations

from collections.abc import Callable

from tests.reading.sources.encoders.exports import BEGIN, FAILED, RUN, Json, usage

__all__ = ["EXPORTS"]


def _braintrust() -> Json:
    kinds = {"agent": "task"}
    return {"events": [{
        "id": it.uuid(), "span_id": it.uuid(), "root_span_id": RUN[0].uuid(),
        "span_parents": [RUN[0].uuid()] if it.parent else None,
        "span_attributes": {"name": it.name, "type": kinds.get(it.kind, it.kind)},
        "input": it.given, "output": [{"message": it.gave}] if it.asks_model else it.gave,
        "error": FAILED if it.failed else None,
        "metadata": {"model": "gpt-5"} if it.asks_model else {"session_id": "s1"},
        "metrics": {"start": BEGIN + it.begins, "end": BEGIN + it.ends,
                    **usage(it, "prompt_tokens", "completion_tokens")},
    } for it in RUN]}  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Braintrust": _braintrust,
}
