"""The shared run as Weave exports it."""

from __future__ import annotations

from collections.abc import Callable

from tests.reading.sources.encoders.exports import FAILED, RUN, TRACE, Json, iso, usage

__all__ = ["EXPORTS"]


def _weave() -> Json:
    names = {"llm": "openai.chat.completions.create"}
    return [{
        "id": it.uuid(), "trace_id": TRACE, "parent_id": it.parent_uuid(), "thread_id": "s1",
        "op_name": f"weave:///e/p/op/{names.get(it.kind, it.name)}:abc",
        "started_at": iso(it.begins), "ended_at": iso(it.ends),
        "attributes": {"weave": {"kind": it.kind}},
        "inputs": {"model": "gpt-5", "messages": it.given} if it.asks_model else it.given,
        "output": {"choices": [{"message": it.gave}]} if it.asks_model else it.gave,
        "exception": f"Traceback:\n  x\n{FAILED}" if it.failed else None,
        "summary": {"usage": {"gpt-5": usage(it, "prompt_tokens", "completion_tokens")}},
    } for it in RUN]  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Weave": _weave,
}
