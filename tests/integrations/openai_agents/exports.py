"""The shared run as the OpenAI Agents SDK exports it."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.reading.sources.encoders.exports import FAILED, RUN, TRACE, Act, Json, iso, usage

__all__ = ["EXPORTS"]


def _openai_agents() -> Json:
    kinds = {"llm": "generation", "tool": "function"}

    def data(act: Act) -> Json:
        texts = {"type": kinds.get(act.kind, act.kind), "name": act.name}
        if act.kind == "tool":
            return {**texts, "input": json.dumps(act.given), "output": None}
        tokens = usage(act, "input_tokens", "output_tokens")
        return {**texts, "input": act.given, "output": [act.gave], "usage": tokens}

    trace = {"object": "trace", "id": f"trace_{TRACE}", "workflow_name": "w", "group_id": "s1"}
    spans = [{
        "object": "trace.span", "id": f"span_{act.number}", "trace_id": f"trace_{TRACE}",
        "parent_id": "span_1" if act.parent else None, "started_at": iso(act.begins),
        "ended_at": iso(act.ends), "span_data": data(act),
        "error": {"message": "failed", "data": {"error": FAILED}} if act.failed else None,
    } for act in RUN]  # fmt: skip
    return {"data": [trace, *spans]}


EXPORTS: dict[str, Callable[[], Json]] = {
    "OpenAI Agents SDK": _openai_agents,
}
