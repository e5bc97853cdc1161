"""The shared run as the OpenAI Agents SDK exports it."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.reading.sources.encoders.exports import FAILED, RUN, TRACE, Did, Json, iso, usage

__all__ = ["EXPORTS"]


def _openai_agents() -> Json:
    kinds = {"llm": "generation", "tool": "function"}

    def data(it: Did) -> Json:
        said = {"type": kinds.get(it.kind, it.kind), "name": it.name}
        if it.kind == "tool":
            return {**said, "input": json.dumps(it.given), "output": None}
        tokens = usage(it, "input_tokens", "output_tokens")
        return {**said, "input": it.given, "output": [it.gave], "usage": tokens}

    trace = {"object": "trace", "id": f"trace_{TRACE}", "workflow_name": "w", "group_id": "s1"}
    spans = [{
        "object": "trace.span", "id": f"span_{it.number}", "trace_id": f"trace_{TRACE}",
        "parent_id": "span_1" if it.parent else None, "started_at": iso(it.begins),
        "ended_at": iso(it.ends), "span_data": data(it),
        "error": {"message": "failed", "data": {"error": FAILED}} if it.failed else None,
    } for it in RUN]  # fmt: skip
    return {"data": [trace, *spans]}


EXPORTS: dict[str, Callable[[], Json]] = {
    "OpenAI Agents SDK": _openai_agents,
}
