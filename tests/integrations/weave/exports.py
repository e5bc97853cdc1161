"""The shared run as Weave exports it."""

from __future__ import annotations

from collections.abc import Callable

from tests.reading.sources.encoders.exports import FAILED, RUN, TRACE, Json, iso, usage

__all__ = ["EXPORTS"]


def _weave() -> Json:
    names = {"llm": "openai.chat.completions.create"}
    return [{
        "id": act.uuid(), "trace_id": TRACE, "parent_id": act.parent_uuid(), "thread_id": "s1",
        "op_name": f"weave:///e/p/op/{names.get(act.kind, act.name)}:abc",
        "started_at": iso(act.begins), "ended_at": iso(act.ends),
        "attributes": {"weave": {"kind": act.kind}},
        "inputs": {"model": "gpt-5", "messages": act.given} if act.asks_model else act.given,
        "output": {"choices": [{"message": act.gave}]} if act.asks_model else act.gave,
        "exception": f"Traceback:\n  x\n{FAILED}" if act.failed else None,
        "summary": {"usage": {"gpt-5": usage(act, "prompt_tokens", "completion_tokens")}},
    } for act in RUN]  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Weave": _weave,
}
