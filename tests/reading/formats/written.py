"""A trace that says everything a trace can say, and formats at work on it."""

from __future__ import annotations

import io
import json
from typing import Any

from agentool_otel import ReasoningTrace
from agentool_otel.reading.formats import Converted, Writer, format_named

EVERYTHING: dict[str, Any] = {
    "trace_id": "the-trace",
    "agent_id": "the-agent",
    "session_id": "the-session",
    "started_at": "2026-03-01T10:00:00Z",
    "finished_at": "2026-03-01T10:00:09.25Z",
    "input": "the question",
    "output": "the answer",
    "status": "the-status",
    "unheard_of": "an unknown member",
    "steps": [
        {
            "step_id": "thought",
            "type": "reasoning",
            "timestamp": "2026-03-01T10:00:01Z",
            "content": "a thought",
            "context_tokens": 811,
        },
        {
            "step_id": "asked",
            "type": "tool_call",
            "timestamp": "2026-03-01T10:00:02Z",
            "tool_call": {
                "id": "the-call",
                "name": "the-tool",
                "arguments": {"an argument": "its value"},
                "timestamp": "2026-03-01T10:00:02.5Z",
                "mood": "an unknown member of a call",
            },
        },
        {
            "step_id": "answered",
            "type": "tool_result",
            "timestamp": "2026-03-01T10:00:03Z",
            "tool_result": {
                "call_id": "the-call",
                "output": {"found": "the result"},
                "error": "the failure",
                "duration_ms": 812,
                "cost_tokens": 813,
            },
        },
        {
            "step_id": "handed",
            "type": "handoff",
            "timestamp": "2026-03-01T10:00:04Z",
            "to_agent": "the-writer",
            "message": "the task",
        },
        {
            "step_id": "looked",
            "type": "memory_read",
            "timestamp": "2026-03-01T10:00:05Z",
            "query": "what was looked for",
            "results": ["what was found"],
        },
        {
            "step_id": "kept",
            "type": "memory_write",
            "timestamp": "2026-03-01T10:00:06Z",
            "key": "the-key",
            "content": "what is kept",
        },
        {"step_id": "other", "type": "another_kind", "content": "what no one knows"},
    ],
    "metrics": {
        "total_tokens": 821,
        "total_cost_usd": 0.822,
        "total_duration_ms": 823,
        "step_count": 824,
        "tool_call_count": 825,
    },
    "metadata": {
        "kept": "in the metadata",
        "error": {"type": "the.Error", "message": "because of X", "span_id": "the-span"},
    },
}


def convert(name: str, document: dict[str, Any]) -> Converted:
    return format_named(name).write(ReasoningTrace.from_dict(document))


def file_of(name: str, *documents: dict[str, Any]) -> str:
    """Return the text of a file of these traces."""
    out = io.BytesIO()
    writer = Writer(out, format_named(name))
    for document in documents:
        writer.write(ReasoningTrace.from_dict(document))
    writer.finish()
    return out.getvalue().decode()


def trace(*steps: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"trace_id": "t", "steps": list(steps), **members}


def call(id: str | None, name: str = "f", arguments: Any = None) -> dict[str, Any]:
    body: dict[str, Any] = {"name": name, "arguments": {} if arguments is None else arguments}
    if id is not None:
        body["id"] = id
    return {"type": "tool_call", "tool_call": body}


def result(call_id: str, output: Any = "done") -> dict[str, Any]:
    return {"type": "tool_result", "tool_result": {"call_id": call_id, "output": output}}


def thought(content: str) -> dict[str, Any]:
    return {"type": "reasoning", "content": content}


def texts(value: Any) -> str:
    """A JSON value as text in which what was JSON text inside can be found too."""
    return json.dumps(value, ensure_ascii=False).replace("\\", "")
