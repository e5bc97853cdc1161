"""Contents that this package reads from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentool_otel.loading import rebuild
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.session_ids import is_inferred_session
from agentool_otel.reading.sources.opening import open_source
from tests.right_answers.answers import Found, without_class

__all__ = ["read"]


def read(path: Path) -> Found:
    """Rebuild a file's traces and take them apart."""
    result = Found()
    source = open_source(path)
    documents: list[ReasoningTrace] = []
    source.document = documents.append
    for rebuilt in rebuild(source.spans()):
        _take(rebuilt.trace.to_dict(), result)
        result.add("LLM calls", rebuilt.fidelity.model_calls)
    for trace in documents:
        _take(trace.to_dict(), result)
    return result


def _take(trace: dict[str, Any], match: Found) -> None:
    match.runs += 1
    for aspect, member in (("input", "input"), ("output", "output"), ("sessions", "session_id")):
        value = trace.get(member)
        if value is not None and not is_inferred_session(value):
            match.add(aspect, value)
    tokens = (trace.get("metrics") or {}).get("total_tokens")
    if tokens is not None:
        match.add("tokens", tokens)
    names: dict[Any, str] = {}
    for step in trace["steps"]:
        if step["type"] == "handoff":
            match.add("handoffs", step.get("to_agent"))
        elif step["type"] == "tool_call":
            call = step["tool_call"]
            names[call.get("id")] = call["name"]
            match.add("tool calls", call["name"])
            if "arguments" in call:
                match.add("arguments", call["name"], call["arguments"])
        elif step["type"] == "tool_result":
            result = step["tool_result"]
            name = names.get(result.get("call_id"))
            if result.get("error") is not None:
                match.add("errors", name, without_class(result["error"]))
            if "output" in result:
                match.add("results", name, result["output"])
