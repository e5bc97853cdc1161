"""Finished SDK spans as the records a source would give."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, tool_call
from agentool_otel.model.operations import AgentInvocation, Inference, Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.disk.recording import RecordingExporter


def records(spans: Sequence[ReadableSpan]) -> list[SpanRecord]:
    """Write spans to a real recording and read it back."""
    with tempfile.TemporaryDirectory() as folder:
        RecordingExporter(Path(folder)).export(spans)
        return list(open_source(folder).spans())


def agent(name: str = "clerk", **fields: Any) -> AgentInvocation:
    return AgentInvocation(agent_name=name, **fields)


def asks(*calls: tuple[str, str]) -> Inference:
    parts = [tool_call(name, {"n": call_id}, call_id) for call_id, name in calls]
    return Inference(provider="p", output=[message("assistant", parts)])


class Collected:
    """Builds collected spans one by one, each a second after the one before."""

    def __init__(self) -> None:
        self.spans: list[SpanRecord] = []
        self._clock = 1_700_000_000_000_000_000

    def add(
        self,
        operation: Operation,
        *,
        parent: SpanRecord | None = None,
        trace: int | None = None,
        seconds: float = 1,
        **fields: object,
    ) -> SpanRecord:
        """Add a span: below `parent`, in its trace, or a root in trace number `trace`."""
        name, kind, attributes = GenAI().write(operation)
        number = len(self.spans) + 1
        trace_id = parent.trace_id if parent else f"{trace if trace is not None else number:032x}"
        span = SpanRecord(
            trace_id=trace_id,
            span_id=f"{number:016x}",
            parent_id=parent.span_id if parent else None,
            name=name,
            kind=kind,
            start_ns=self._clock,
            end_ns=self._clock + int(seconds * 1e9),
            attributes=attributes,
            status="ERROR" if operation.error_type else "UNSET",
            scope="some.sdk",
        )
        for field, value in fields.items():
            setattr(span, field, value)
        self._clock += 1_000_000_000
        self.spans.append(span)
        return span

    def rebuilt(self) -> list[dict[str, Any]]:
        """Return the rebuilt traces as JSON objects."""
        return [result.trace.to_dict() for result in rebuild(self.spans)]


def shape(trace: dict[str, Any]) -> list[str]:
    """The steps of a trace as short texts a reader can compare."""
    lines: list[str] = []
    for step in trace["steps"]:
        match step["type"]:
            case "reasoning":
                lines.append(f"reasoning {step.get('content')}")
            case "tool_call":
                call = step["tool_call"]
                lines.append(f"call {call.get('id')} {call['name']} {call.get('arguments')}")
            case "tool_result":
                result = step["tool_result"]
                error = result.get("error", result.get("output"))
                lines.append(f"result {result.get('call_id')} {error}")
            case "handoff":
                lines.append(f"handoff {step.get('to_agent')}")
            case "memory_read":
                lines.append(f"read {step.get('query')} {step.get('results')}")
            case other:
                lines.append(f"{other} {step.get('content')}")
    return lines
