"""A model call in an agent's run that another tracer tells of again, in a trace of its own."""

from __future__ import annotations

import random
from typing import Any

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import AgentInvocation, Inference, Usage
from agentool_otel.model.spans import SpanRecord
from tests.records import Collected


def call(response_id: str | None = "r1", request: str = "Why?", **fields: Any) -> Inference:
    return Inference(
        provider="p",
        response_id=response_id,
        input=[message("user", [text(request)])],
        output=[message("assistant", [text("So.")])],
        usage=Usage(input_tokens=3, output_tokens=4),
        **fields,
    )


def a_run(ghost: Inference, *, scope: str = "sdk.of.the.provider", inner: bool = True) -> Collected:
    """An agent with one model call, and a call that a root is of, within its time or after it."""
    spans = Collected()
    root = spans.add(AgentInvocation(agent_name="clerk"), trace=1, seconds=9)
    spans.add(call(), parent=root, seconds=3 if inner else 0.5)
    spans.add(ghost, trace=2, scope=scope)
    return spans


def names(spans: list[SpanRecord]) -> list[str | None]:
    return [result.document.get("agent_id") for result in rebuild(spans)]


def test_a_duplicate_call_is_not_a_run() -> None:
    [trace] = a_run(call()).rebuilt()
    assert (trace["agent_id"], trace["metrics"]["total_tokens"]) == ("clerk", 7)


def test_the_order_of_the_traces_does_not_matter() -> None:
    spans = a_run(call()).spans
    for seed in range(6):
        mixed = list(spans)
        random.Random(seed).shuffle(mixed)
        assert names(mixed) == ["clerk"]


def test_another_response_is_another_call() -> None:
    assert names(a_run(call("r2")).spans) == ["clerk", None]
    assert names(a_run(call(None)).spans) == ["clerk", None]


def test_two_spans_of_one_tracer_are_two_calls() -> None:
    """Some servers give all their answers one id."""
    assert names(a_run(call(), scope="some.sdk").spans) == ["clerk", None]


def test_a_call_at_another_time_is_another_call() -> None:
    assert names(a_run(call(), inner=False).spans) == ["clerk", None]


def test_a_call_that_continues_from_a_duplicate_is_a_run() -> None:
    observation = a_run(call())
    history = [message("user", [text("Why?")]), message("assistant", [text("So.")])]
    reply = message("assistant", [text("Indeed.")])
    observation.add(Inference(input=history, output=[reply], response_id="r3"), trace=3)
    run, more = observation.rebuilt()
    assert (run["agent_id"], more["output"]) == ("clerk", "Indeed.")


def two_calls(first: Inference, second: Inference, *, second_in: str) -> Collected:
    """Two calls, each a trace of its own, without any run; one lasts while the other does."""
    spans = Collected()
    spans.add(first, trace=1, seconds=9, scope="agentool_otel.instrumentation.sdk")
    spans.add(second, trace=2, scope=second_in)
    return spans


def test_one_call_of_two_tracers_without_a_run_is_one() -> None:
    [trace] = two_calls(call(), call(), second_in="sdk.of.the.provider").rebuilt()
    assert trace["metrics"]["total_tokens"] == 7


def test_calls_with_one_id_of_one_tracer_are_two_runs() -> None:
    same = "agentool_otel.instrumentation.sdk"
    assert len(two_calls(call(), call(), second_in=same).rebuilt()) == 2


def test_a_call_of_another_tracer_with_another_id_is_another_run() -> None:
    assert len(two_calls(call(), call("r2"), second_in="sdk.of.the.provider").rebuilt()) == 2


def test_a_server_span_in_another_trace_duplicates_a_call() -> None:
    for scope in ("agentool_otel.capture", "some.sdk"):
        spans = Collected()
        root = spans.add(AgentInvocation(agent_name="clerk"), trace=1, seconds=9, scope=scope)
        spans.add(call(), parent=root, seconds=3, scope=scope)
        spans.add(call(), trace=2, scope="the.server", kind="SERVER")
        [trace] = spans.rebuilt()
        assert trace["metrics"]["total_tokens"] == 7
