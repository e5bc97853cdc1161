"""State of a run in progress is bounded, however long it lasts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

from agentool_otel.model.operations import Inference, ToolExecution
from agentool_otel.tracing.capture import agent
from agentool_otel.tracing.spans.live import begin
from agentool_otel.tracing.spans.requested_calls import take
from agentool_otel.tracing.spans.run import Run, current_run
from agentool_otel.tracing.spans.settings import settings


@pytest.fixture(autouse=True)
def provider() -> Iterator[None]:
    settings.configure(provider=TracerProvider(shutdown_on_exit=False))
    yield
    settings.reset()


@agent
def in_progress() -> Run:
    run = current_run()
    assert run is not None
    for number in range(1000):
        answer_with([("search", {"query": str(number)}, f"call {number}")])
        hand_over_to(f"agent {number}")
    return run


def answer_with(calls: list[tuple[str, Any, str]]) -> None:
    parts = [
        {"type": "tool_call", "name": name, "arguments": arguments, "id": call_id}
        for name, arguments, call_id in calls
    ]
    live = begin(Inference(operation="chat"))
    assert live is not None
    live.end(Inference(operation="chat", output=[{"role": "assistant", "parts": parts}]))


def hand_over_to(name: str) -> None:
    operation = ToolExecution(name=f"transfer_to_{name}", transfer_target=name)
    live = begin(operation)
    assert live is not None
    live.end(operation)


def test_requests_that_no_span_executes_give_way_to_later_ones() -> None:
    run = in_progress()
    assert len(run.answers) == 64
    assert take(run.answers, "search", lambda: {"query": "0"}) is None
    assert take(run.answers, "search", lambda: {"query": "999"}) == "call 999"


def test_a_request_is_executed_once() -> None:
    run = in_progress()
    assert take(run.answers, "fetch", lambda: {"query": "999"}) is None
    assert take(run.answers, "search", lambda: {"query": "999"}) == "call 999"
    assert take(run.answers, "search", lambda: {"query": "999"}) is None


def test_agents_that_never_begin_give_way_to_later_ones() -> None:
    assert list(in_progress().handed_to) == [f"agent {number}" for number in range(744, 1000)]
