"""The shared run as Datadog exports it."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.reading.sources.encoders.exports import (
    ARGUMENTS,
    FAILED,
    RUN,
    TRACE,
    Json,
    iso,
    ns,
    usage,
)

__all__ = ["EXPORTS"]


def _datadog_apm() -> Json:
    return {"data": [{"type": "spans", "attributes": {
        "trace_id": TRACE, "span_id": it.span_id, "parent_id": it.parent or "0",
        "resource_name": it.name, "start_timestamp": iso(it.begins), "end_timestamp": iso(it.ends),
        "status": "error" if it.failed else "ok", "status_message": FAILED,
        "custom": it.attributes(),
    }} for it in RUN]}  # fmt: skip


def _datadog() -> list[Json]:
    def messages(said: list[Json]) -> Json:
        return {"messages": [{
            "role": one["role"], "content": one.get("content", ""),
            "tool_calls": [{"name": "get_weather", "arguments": ARGUMENTS, "tool_id": "c1"}
                           for _ in one.get("tool_calls", ())],
            "tool_results": [{"result": FAILED, "tool_id": "c1"}] if one["role"] == "tool" else [],
        } for one in said]}  # fmt: skip

    def value(said: Json) -> Json:
        return {} if said is None else {"value": said if type(said) is str else json.dumps(said)}

    return [{
        "trace_id": TRACE, "span_id": str(int(it.span_id, 16)), "name": it.name,
        "parent_id": str(int(it.parent, 16)) if it.parent else "undefined",
        "start_ns": ns(it.begins), "duration": (it.ends - it.begins) * 10**9,
        "status": "error" if it.failed else "ok",
        "metrics": usage(it, "input_tokens", "output_tokens"),
        "meta": {
            "kind": it.kind, "error": {"message": FAILED} if it.failed else {},
            "input": messages(it.given) if it.asks_model else value(it.given),
            "output": messages([it.gave]) if it.asks_model else value(it.gave),
        },
    } for it in RUN]  # fmt: skip


def _datadog_intake() -> Json:
    around = {"ml_app": "bot", "session_id": "s1", "spans": _datadog()}
    return {"data": {"type": "span", "attributes": around}}


def _datadog_export() -> Json:
    return {"data": [
        {"type": "span", "attributes": {
            **{k: v for k, v in it.items() if k != "meta"}, "tags": ["env:x", "session_id:s1"],
            "span_kind": it["meta"]["kind"], "input": it["meta"]["input"],
            "output": it["meta"]["output"], "error": it["meta"]["error"]}}
        for it in _datadog()
    ]}  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Datadog APM": _datadog_apm,
    "Datadog LLM Observability intake": _datadog_intake,
    "Datadog LLM Observability export": _datadog_export,
}
