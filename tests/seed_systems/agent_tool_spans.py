"""Spans of an Agent Tool emitter for the tests: records, bytes, and the objects again."""

from __future__ import annotations

import io
from typing import Any

from agentool_otel.integrations.agent_tool.emitter import AgentToolEmitter
from agentool_otel.integrations.agent_tool.events.from_spans import objects_in_spans
from agentool_otel.otlp.json_encoder import encode_spans
from agentool_otel.otlp.protobuf_encoder import encode_span
from agentool_otel.reading.sources.files.span_files import SpanFiles

__all__ = ["Call", "call_span", "exported", "objects", "records", "told"]

Object = dict[str, Any]
VERSION = {"schema_version": "0.2.0"}


def at(seconds: float) -> str:
    """Return a time so many seconds after ten o'clock."""
    return f"2026-11-23T10:00:{seconds:06.3f}Z"


class Call:
    """Objects of one call, as a runtime emits them."""

    def __init__(self, emitter: AgentToolEmitter | None = None, invocation_id: str = "inv_1"):
        self.emitter = emitter or AgentToolEmitter()
        self.id = invocation_id

    def event(self, name: str, seconds: float, /, **data: Any) -> Object:
        """Record an event about it."""
        event = {
            **VERSION,
            "event_id": f"{self.id}.{name}.{seconds}",
            "event_type": name,
            "source": "runtime",
            "time": at(seconds),
            "invocation_id": self.id,
            "tool_id": "tool_search",
        }
        return self.emitter.record({**event, "data": data} if data else event)

    def invocation(self, **members: Any) -> Object:
        """Record its invocation."""
        about = {"invocation_id": self.id, "tool_id": "tool_search", "created_at": at(0)}
        return self.emitter.record({**VERSION, "status": "planned", **about, **members})

    def result(self, seconds: float = 3, **members: Any) -> Object:
        """Record its result."""
        about = {"result_id": f"result_of_{self.id}", "invocation_id": self.id}
        values = {"status": "succeeded", "created_at": at(seconds), "redaction_state": "none"}
        return self.emitter.record({**VERSION, **about, **values, **members})

    def decision(self, behavior: str, seconds: float, **members: Any) -> Object:
        """Record a decision about it."""
        about = {"decision_id": f"decision_{seconds}", "invocation_id": self.id}
        return self.emitter.record(
            {**VERSION, **about, "behavior": behavior, "decided_at": at(seconds), **members}
        )

    def progress(self, sequence: int, seconds: float, **members: Any) -> Object:
        """Record its progress."""
        about = {"progress_id": f"progress_{sequence}", "invocation_id": self.id}
        values = {"sequence": sequence, "status": "running", "timestamp": at(seconds)}
        return self.emitter.record({**VERSION, **about, **values, **members})

    def persistence(self, strategy: str, seconds: float = 2, **members: Any) -> Object:
        """Record the persistence of its result."""
        about = {"decision_id": "persistence_1", "invocation_id": self.id}
        values = {"strategy": strategy, "created_at": at(seconds)}
        return self.emitter.record({**VERSION, **about, **values, **members})

    def done(self, state: str = "succeeded", /, **result: Any) -> None:
        """Record its end."""
        self.invocation(status=state, started_at=at(1), ended_at=at(2))
        self.result(**result)


def call_span(spans: Any) -> Any:
    """Return the only span of a tool's execution."""
    [span] = [item for item in spans.finished() if item.name.startswith("execute_tool")]
    return span


def told(span: Any, name: str) -> Any:
    """Return the attributes of the only span event of a name."""
    [event] = [event for event in span.events if event.name == name]
    return event.attributes


def exported(spans: Any) -> bytes:
    """Return every byte that leaves, in both encodings."""
    finished = spans.finished()
    return encode_spans(finished) + b"".join(map(encode_span, finished))


def records(spans: Any) -> list[Any]:
    """Return the spans as a file of them gives them."""
    document = io.BufferedReader(io.BytesIO(encode_spans(spans.finished())))
    return list(SpanFiles([document], "memory").spans())


def objects(spans: Any) -> list[Object]:
    """Return the objects that the spans hold."""
    return list(objects_in_spans(records(spans)))
