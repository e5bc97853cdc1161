"""Public functions return the types that their callers read."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_type

import agentool_otel
from agentool_otel import AgentRun, EvalResult, ModelCall, ReasoningTrace, Rebuilt, Step
from agentool_otel.model import SpanRecord, ToolCall, ToolResult


def reading(spans: list[SpanRecord]) -> None:
    for trace in agentool_otel.load(".agentool"):
        assert_type(trace, ReasoningTrace)
        for call, result in trace.pairs():
            assert_type(call, ToolCall | None)
            assert_type(result, ToolResult | None)
    assert_type(agentool_otel.rebuild(spans), Iterator[Rebuilt])
    for rebuilt in agentool_otel.rebuild(spans):
        assert_type(rebuilt.trace, ReasoningTrace)
        assert_type(rebuilt.trace.steps[0], Step)


def recording() -> None:
    with agentool_otel.run("helper", input="Is it open?") as run:
        assert_type(run, AgentRun)
        assert_type(run.trace_id, str | None)
    with agentool_otel.model_call("model", messages="Is it open?") as call:
        assert_type(call, ModelCall)
    assert_type(agentool_otel.flush(), bool)


def evaluating(traces: list[ReasoningTrace]) -> None:
    for result in agentool_otel.evaluate([], traces):
        assert_type(result, EvalResult)
        assert_type(result.passed, bool | None)
