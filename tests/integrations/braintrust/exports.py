"""The shared run as Braintrust exports it."""

from __future__ import annotations

from collections.abc import Callable

from tests.reading.sources.encoders.exports import BEGIN, FAILED, RUN, Json, usage

__all__ = ["EXPORTS"]


def _braintrust() -> Json:
    kinds = {"agent": "task"}
    return {"events": [{
        "id": act.uuid(), "span_id": act.uuid(), "root_span_id": RUN[0].uuid(),
        "span_parents": [RUN[0].uuid()] if act.parent else None,
        "span_attributes": {"name": act.name, "type": kinds.get(act.kind, act.kind)},
        "input": act.given, "output": [{"message": act.gave}] if act.asks_model else act.gave,
        "error": FAILED if act.failed else None,
        "metadata": {"model": "gpt-5"} if act.asks_model else {"session_id": "s1"},
        "metrics": {"start": BEGIN + act.begins, "end": BEGIN + act.ends,
                    **usage(act, "prompt_tokens", "completion_tokens")},
    } for act in RUN]}  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Braintrust": _braintrust,
}
