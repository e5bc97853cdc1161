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
        "trace_id": TRACE, "span_id": act.span_id, "parent_id": act.parent or "0",
        "resource_name": act.name,
        "start_timestamp": iso(act.begins), "end_timestamp": iso(act.ends),
        "status": "error" if act.failed else "ok", "status_message": FAILED,
        "custom": act.attributes(),
    }} for act in RUN]}  # fmt: skip


def _datadog() -> list[Json]:
    def messages(values: list[Json]) -> Json:
        return {"messages": [{
            "role": one["role"], "content": one.get("content", ""),
            "tool_calls": [{"name": "get_weather", "arguments": ARGUMENTS, "tool_id": "c1"}
                           for _ in one.get("tool_calls", ())],
            "tool_results": [{"result": FAILED, "tool_id": "c1"}] if one["role"] == "tool" else [],
        } for one in values]}  # fmt: skip

    def value(value: Json) -> Json:
        return (
            {} if value is None else {"value": value if type(value) is str else json.dumps(value)}
        )

    return [{
        "trace_id": TRACE, "span_id": str(int(act.span_id, 16)), "name": act.name,
        "parent_id": str(int(act.parent, 16)) if act.parent else "undefined",
        "start_ns": ns(act.begins), "duration": (act.ends - act.begins) * 10**9,
        "status": "error" if act.failed else "ok",
        "metrics": usage(act, "input_tokens", "output_tokens"),
        "meta": {
            "kind": act.kind, "error": {"message": FAILED} if act.failed else {},
            "input": messages(act.given) if act.asks_model else value(act.given),
            "output": messages([act.gave]) if act.asks_model else value(act.gave),
        },
    } for act in RUN]  # fmt: skip


def _datadog_intake() -> Json:
    parent = {"ml_app": "bot", "session_id": "s1", "spans": _datadog()}
    return {"data": {"type": "span", "attributes": parent}}


def _datadog_export() -> Json:
    return {"data": [
        {"type": "span", "attributes": {
            **{k: v for k, v in value.items() if k != "meta"}, "tags": ["env:x", "session_id:s1"],
            "span_kind": value["meta"]["kind"], "input": value["meta"]["input"],
            "output": value["meta"]["output"], "error": value["meta"]["error"]}}
        for value in _datadog()
    ]}  # fmt: skip


EXPORTS: dict[str, Callable[[], Json]] = {
    "Datadog APM": _datadog_apm,
    "Datadog LLM Observability intake": _datadog_intake,
    "Datadog LLM Observability export": _datadog_export,
}
