"""Metrics: names, units and attributes of the conventions, and only where they are collected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from agentool_otel.capture import agent, tool
from agentool_otel.emit import metrics
from agentool_otel.emit.live import begin
from agentool_otel.model.operations import Inference, McpRequest, Usage, WorkflowInvocation
from agentool_otel.semconv.table import METRICS


class Collected:
    def __init__(self, older: bool):
        self._reader = InMemoryMetricReader()
        metrics.configure(MeterProvider([self._reader], shutdown_on_exit=False), older)

    def points(self) -> dict[str, Any]:
        data = self._reader.get_metrics_data()
        assert data is not None
        return {
            metric.name: metric
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@pytest.fixture
def collect() -> Iterator[Any]:
    yield lambda older=False: Collected(older)
    metrics.configure()


@tool
def add(a: int, b: int) -> int:
    return a + b


@agent
def clerk(question: str) -> str:
    usage = Usage(input_tokens=10, output_tokens=5, cache_read_tokens=3)
    called = Inference(provider="openai", request_model="m", usage=usage)
    live = begin(called)
    assert live is not None
    live.end(called)
    return str(add(1, 2))


def run_all() -> None:
    clerk("1+2?")
    for operation in (McpRequest(tool_name="t"), WorkflowInvocation(workflow_name="w")):
        live = begin(operation)
        assert live is not None
        live.end(operation)


@pytest.mark.parametrize("older", [False, True])
def test_every_metric_is_one_of_the_conventions_with_its_unit(
    spans: Any, collect: Any, older: bool
) -> None:
    collected = collect(older)
    run_all()
    points = collected.points()
    for name, metric in points.items():
        assert name in METRICS, name
        assert metric.unit == METRICS[name].unit
    assert ("gen_ai.client.token.usage" in points) is older


def test_tokens_are_counted_by_direction(spans: Any, collect: Any) -> None:
    collected = collect()
    clerk("?")
    points = collected.points()
    for name, value in (("input_tokens", 10), ("output_tokens", 5), ("cache_read.input_tokens", 3)):
        [point] = points[f"gen_ai.client.inference.usage.{name}"].data.data_points
        assert point.value == value
        assert dict(point.attributes)["gen_ai.request.model"] == "m"


def test_a_run_counts_its_own_calls(spans: Any, collect: Any) -> None:
    collected = collect()
    clerk("?")
    points = collected.points()
    for name in ("inference_calls", "tool_calls"):
        [point] = points[f"gen_ai.invoke_agent.{name}"].data.data_points
        assert (point.sum, dict(point.attributes)) == (1, {"gen_ai.agent.name": "clerk"})


def test_a_duration_is_that_of_its_span(spans: Any, collect: Any) -> None:
    collected = collect()
    add(1, 2)
    span = spans.only()
    [point] = collected.points()["gen_ai.execute_tool.duration"].data.data_points
    assert point.sum == pytest.approx((span.end_time - span.start_time) / 1e9)


def test_a_failure_is_told_by_its_error_type(spans: Any, collect: Any) -> None:
    @tool
    def fails() -> None:
        raise ValueError

    collected = collect()
    with pytest.raises(ValueError):
        fails()
    [point] = collected.points()["gen_ai.execute_tool.duration"].data.data_points
    assert dict(point.attributes)["error.type"] == "ValueError"


def test_nothing_is_recorded_where_nobody_collects(spans: Any) -> None:
    metrics.configure()
    add(1, 2)
    assert not metrics.collected()
