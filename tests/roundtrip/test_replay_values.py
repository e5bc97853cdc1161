"""Whatever holds a trace can be replayed; whatever does not is refused in words that help."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

from agentool_otel.errors import DecodeError
from agentool_otel.loading import rebuild
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.replaying import replay
from agentool_otel.testing.captured import AgentTraces
from agentool_otel.tracing.export.in_memory import InMemory

TRACE: dict[str, Any] = {
    "trace_id": "tr_1",
    "agent_id": "clerk",
    "input": "Hello",
    "started_at": "2026-01-01T00:00:00Z",
    "status": "success",
    "steps": [],
}


class Held:
    """A trace of somebody else's."""

    def to_dict(self) -> dict[str, Any]:
        return TRACE


def replayed(value: Any) -> list[str]:
    memory = InMemory()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(memory)
    replay(value, provider)
    return [result.trace_id for result in rebuild(AgentTraces(memory).spans())]


@pytest.mark.parametrize(
    "value",
    [
        TRACE,
        ReasoningTrace.from_dict(TRACE),
        Held(),
        json.dumps(TRACE),
        json.dumps(TRACE).encode(),
        json.dumps([TRACE]),
        [TRACE],
        [Held()],
        iter([json.dumps(TRACE)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_holds_a_trace_is_replayed(value: Any) -> None:
    assert replayed(value) == ["tr_1"]


def test_what_is_rebuilt_is_replayed_as_it_is() -> None:
    memory = InMemory()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(memory)
    replay(TRACE, provider)
    assert replayed(rebuild(AgentTraces(memory).spans())) == ["tr_1"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("traces.jsonl", r"replay\(load\(path\)\)"),
        (5, "a trace or several, got an object of type int"),
        (None, "a trace or several, got an object of type NoneType"),
        ([5], r"object \(ReasoningTrace\), got"),
    ],
)
def test_what_holds_none_is_refused_by_name(value: Any, words: str) -> None:
    with pytest.raises(DecodeError, match=words):
        replay(value)
