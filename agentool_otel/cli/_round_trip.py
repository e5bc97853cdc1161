"""Send a run to an endpoint, read it back, and compare."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from agentool_otel.cli import _text
from agentool_otel.cli._output import collect_warnings
from agentool_otel.errors import AgentoolError, SourceDenied, SourceUnreachable
from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.model.times import from_ns
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.replaying import replay
from agentool_otel.tracing.export.send.otlp import OtlpExporter, OtlpTarget

__all__ = ["round_trip"]

_PATIENCE_S = 15.0
"""Seconds to wait until a server shows the spans that it accepted."""
_PAUSE_S = 0.5
_LONG = 20_000
"""Characters of the longest text: an ordinary prompt, and ten times what Tempo keeps by default."""
_UNSET = SpanLimits.UNSET
_NO_LIMITS = SpanLimits(_UNSET, _UNSET, _UNSET, _UNSET, _UNSET, _UNSET, _UNSET)


def round_trip(target: OtlpTarget, where: str) -> dict[str, Any]:
    """Send a run, read it back, and return whether it is the same, with a message.

    Args:
        target: the endpoint.
        where: SOURCE of the server to read from, without a query.

    Raises:
        SourceError: the SOURCE cannot be understood.
        MissingDependencyError: what reads it is not installed.
    """
    document = _document()
    spans = _spans_of(document)
    exporter = OtlpExporter(target)
    with collect_warnings("agentool_otel.tracing.export.send.otlp"):
        exporter.export(spans)
        exporter.shutdown()
    if exporter.failed:
        return {"ok": False, "said": f"the endpoint did not accept a run: {exporter.reason}"}
    context = spans[0].context
    assert context is not None
    place = f"{where.partition('?')[0]}?trace={context.trace_id:032x}"
    began = time.monotonic()
    stored, reason = _stored_spans(place, len(spans))
    if not stored:
        return {
            "ok": False,
            "said": f"a run of {len(spans)} spans was accepted and not found: {reason}",
        }
    took = _text.duration((time.monotonic() - began) * 1000)
    differences = list(_differences(document, _rebuilt(stored)))
    sent = f"{len(stored)} of {len(spans)} spans of a run were found after {took}"
    if not differences:
        return {"ok": True, "said": f"{sent}; its trajectory is the same, a text of 20 kB included"}
    return {"ok": False, "said": f"{sent}; not as they were sent: {'; '.join(differences)}"}


def _stored_spans(place: str, expected: int) -> tuple[list[SpanRecord], str]:
    """Return the spans once all are stored; after a while those that are, or why there are none."""
    until = time.monotonic() + _PATIENCE_S
    spans: list[SpanRecord] = []
    reason = ""
    while len(spans) < expected and time.monotonic() < until:
        if reason or spans:
            time.sleep(_PAUSE_S)
        try:
            spans = list(open_source(place).spans())
        except (SourceUnreachable, SourceDenied) as error:
            return [], str(error)
        except AgentoolError as error:  # not there yet
            reason = str(error)
    return spans, reason


def _rebuilt(spans: list[SpanRecord]) -> dict[str, Any]:
    traces = [item.trace.to_dict() for item in rebuild(spans)]
    return traces[0] if traces else {}


def _differences(document: dict[str, Any], rebuilt: dict[str, Any]) -> Iterator[str]:
    """Yield missing and different values, as sentences."""
    for key in sorted((document.keys() | rebuilt.keys()) - {"steps"}):
        if document.get(key) != rebuilt.get(key):
            yield f"{key} is {'missing' if key not in rebuilt else 'other'}"
    steps = {step.get("step_id"): step for step in rebuilt.get("steps", ())}
    for step in document["steps"]:
        rebuilt_step = steps.get(step["step_id"])
        if rebuilt_step is None:
            yield f"the step {step['type']} is missing"
        elif rebuilt_step != step:
            members = [key for key in step if step[key] != rebuilt_step.get(key)]
            yield f"of the step {step['type']}, {', '.join(members) or 'something'} is different"


def _document() -> dict[str, Any]:
    """Return a run with every kind of step, values that stores mangle, and a long text."""
    call = {
        "id": "c1",
        "name": "look_up",
        "arguments": {"q": "Grüße ☃", "limit": 0, "exact": False},
    }
    result = {"call_id": "c1", "output": [None, "", {}, 0.1, "x" * _LONG], "success": True}
    steps: list[dict[str, Any]] = [
        {"type": "reasoning", "content": "Let us see."},
        {"type": "memory_read", "query": "last time", "results": ["it did"]},
        {"type": "tool_call", "tool_call": call},
        {"type": "tool_result", "tool_result": result},
        {"type": "memory_write", "key": "today", "content": {"seen": True}},
        {"type": "handoff", "to_agent": "writer", "message": "Write that down."},
    ]
    now_ns = time.time_ns()
    for n, step in enumerate(steps):
        step |= {"step_id": f"step_{n}", "timestamp": from_ns(now_ns + n)}
    return {
        "trace_id": f"doctor-{uuid.uuid4().hex}",
        "agent_id": "agentool-otel doctor",
        "input": "Does everything arrive?",
        "output": {"answer": "…"},
        "status": "success",
        "steps": steps,
    }


def _spans_of(document: dict[str, Any]) -> list[ReadableSpan]:
    exporter = InMemorySpanExporter()
    resource = Resource({"service.name": "agentool-otel-doctor"})
    provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False, span_limits=_NO_LIMITS)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    replay(document, provider)
    return list(exporter.get_finished_spans())
