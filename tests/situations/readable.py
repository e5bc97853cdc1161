"""Spans, and the trajectories rebuilt of them, as text that a person can read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord

__all__ = ["readable"]

_SHOWN = {
    "gen_ai.conversation.id": "session",
    "gen_ai.agent.id": "agent id",
    "gen_ai.request.model": "model",
    "gen_ai.usage.input_tokens": "in",
    "gen_ai.usage.output_tokens": "out",
    "gen_ai.usage.cache_read.input_tokens": "cached",
    "gen_ai.usage.reasoning.output_tokens": "reasoning",
    "gen_ai.response.finish_reasons": "finish",
    "gen_ai.response.time_to_first_chunk": "first chunk",
    "gen_ai.tool.call.arguments": "arguments",
    "gen_ai.tool.call.result": "result",
    "gen_ai.input.messages": "input",
    "gen_ai.output.messages": "output",
    "agentool.input": "input",
    "agentool.output": "output",
    "agentool.transfer.target": "hands over to",
    "agentool.interrupted": "interrupted",
    "agentool.status": "status",
    "error.type": "error",
}
_PRESENCE = {"gen_ai.response.time_to_first_chunk", "gen_ai.agent.id", "gen_ai.conversation.id"}
"""Shown as `yes`: their values differ from run to run."""


def readable(spans: Sequence[SpanRecord]) -> str:
    """Return the span tree, and below it the trajectory of each run."""
    lines = list(_tree(spans))
    for rebuilt in rebuild(list(spans)):
        trace = rebuilt.trace
        lines += ["", f"trajectory of {trace.agent_id}: {trace.status}"]
        lines += [f"  {step}" for step in _steps(trace.to_dict())]
    return "\n".join(lines) + "\n"


def _tree(spans: Sequence[SpanRecord]) -> Iterator[str]:
    span_ids = {span.span_id for span in spans}

    def below(parent: str | None, depth: int) -> Iterator[str]:
        inner = [
            span
            for span in spans
            if (span.parent_id if span.parent_id in span_ids else None) == parent
        ]
        inner.sort(key=lambda item: item.start_ns or 0)
        # What runs at the same time begins in any order.
        for name, same in groupby(inner, key=lambda item: item.name):
            for span in sorted(same, key=lambda item: list(_facts(item.attributes))):
                yield "  " * depth + name
                yield from ("  " * depth + f"    {fact}" for fact in _facts(span.attributes))
                yield from below(span.span_id, depth + 1)

    yield from below(None, 0)


def _facts(attributes: dict[str, Any]) -> Iterator[str]:
    for name, word in _SHOWN.items():
        if name in attributes:
            value = attributes[name]
            yield f"{word}: {'yes' if name in _PRESENCE else _short(value)}"


def _steps(trace: dict[str, Any]) -> Iterator[str]:
    def family(step: dict[str, Any]) -> str:
        return "tools" if step["type"].startswith("tool_") else str(step["type"])

    for _, same in groupby(trace["steps"], key=family):
        yield from sorted(f"{step['type']} {_short(_without_ids(step))}" for step in same)


def _without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        hidden = ("type", "step_id", "timestamp", "duration_ms", "call_id", "tool_call_id", "id")
        return {k: _without_ids(v) for k, v in value.items() if k not in hidden}
    return [_without_ids(item) for item in value] if isinstance(value, list) else value


def _short(value: Any) -> str:
    if isinstance(value, str):
        return _messages(value) if value[:2] == "[{" else value
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return json.dumps(value, sort_keys=True, default=str)


def _messages(text: str) -> str:
    """Return messages in one line, with their roles."""
    try:
        messages: Iterable[dict[str, Any]] = json.loads(text)
        return " | ".join(
            f"{message['role']}: {', '.join(_part(part) for part in message['parts'])}"
            for message in messages
        )
    except (ValueError, KeyError, TypeError):
        return text


def _part(part: dict[str, Any]) -> str:
    match part.get("type"):
        case "text" | "reasoning":
            return str(part.get("content"))
        case "tool_call":
            return f"calls {part.get('name')} {json.dumps(part.get('arguments'), sort_keys=True)}"
        case "tool_call_response":
            return f"result {part.get('response')}"
        case kind:
            return str(kind)
