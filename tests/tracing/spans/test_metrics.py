"""Metrics: names, units and attributes of the conventions, and only where they are collected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

import agentool_otel
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    Retrieval,
    ToolExecution,
    Usage,
    WorkflowInvocation,
)
from agentool_otel.semconv import openai
from agentool_otel.semconv.table import GENERATIONS, METRICS
from agentool_otel.tracing.capture import agent, tool
from agentool_otel.tracing.spans import metrics
from agentool_otel.tracing.spans.live import begin
from agentool_otel.tracing.spans.settings import settings


class Collected:
    def __init__(self, generation: str):
        self._reader = InMemoryMetricReader()
        settings.configure(dialect=GenAI(generation))
        metrics.configure(MeterProvider([self._reader], shutdown_on_exit=False))

    def scopes(self) -> Any:
        data = self._reader.get_metrics_data()
        assert data is not None
        return [scope for resource in data.resource_metrics for scope in resource.scope_metrics]

    def points(self) -> dict[str, Any]:
        return {metric.name: metric for scope in self.scopes() for metric in scope.metrics}

    def said(self, metric: str) -> dict[str, Any]:
        """The attributes of a metric's only point."""
        [point] = self.points()[metric].data.data_points
        return dict(point.attributes)


@pytest.fixture
def collect() -> Iterator[Any]:
    yield lambda generation="latest": Collected(generation)
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


OPENAI = {openai.RESPONSE_SERVICE_TIER: "default", openai.RESPONSE_SYSTEM_FINGERPRINT: "fp"}
STREAMED = Inference(
    provider="x_ai",
    request_model="m",
    response_model="m-1",
    server_address="h",
    server_port=1,
    time_to_first_chunk_s=0.1,
    usage=Usage(input_tokens=1, output_tokens=2),
    extra=OPENAI,
)
OTHERS = (
    *(McpRequest(method="tools/call", tool_name="t"), McpRequest(side="server", method="ping")),
    *(WorkflowInvocation(workflow_name="w"), Retrieval(data_source_id="d"), MemoryOperation()),
    *(Embeddings(provider="openai", request_model="e"), AgentInvocation(agent_name="a")),
    STREAMED,
)


def measure(operation: Operation) -> Any:
    """Record an operation and return its span's context."""
    live = begin(operation)
    assert live is not None
    live.end(operation)
    return live.span.get_span_context()


def run_all() -> None:
    clerk("1+2?")
    for operation in OTHERS:
        measure(operation)


@pytest.mark.parametrize("name", GENERATIONS)
def test_only_the_metrics_of_the_generation_are_recorded(
    spans: Any, collect: Any, name: str
) -> None:
    collected, generation = collect(name), GENERATIONS[name]
    run_all()
    [scope] = collected.scopes()
    assert scope.scope.schema_url == generation.schema_url
    written = {new: METRICS.get(new) or METRICS[old] for old, new in generation.metrics.items()}
    for metric in scope.metrics:
        described = written[metric.name]
        assert (metric.unit, metric.description) == (described.unit, described.description)
        levels = {
            generation.names.get(key, key): level
            for key, level in described.attributes.items()
            if key not in generation.absent
        }
        required = {key for key, level in levels.items() if level == "required"}
        for point in metric.data.data_points:
            assert levels.keys() >= point.attributes.keys() >= required, metric.name
            if described.buckets:
                assert point.explicit_bounds == described.buckets


@pytest.mark.parametrize(
    ("generation", "names"),
    [
        (
            "latest",
            {
                *("duration", "time_to_first_chunk"),
                *("operation.input_tokens", "operation.output_tokens"),
                *("usage.input_tokens", "usage.output_tokens", "usage.cache_read.input_tokens"),
                *("usage.cache_write.input_tokens", "usage.reasoning.output_tokens"),
            },
        ),
        ("2026-08", {"operation.duration", "operation.time_to_first_chunk", "token.usage"}),
        ("1.41", {"operation.duration", "operation.time_to_first_chunk", "token.usage"}),
        ("1.36", {"operation.duration", "token.usage"}),
    ],
)
def test_a_model_call_is_measured_as_its_generation_specifies(
    spans: Any, collect: Any, generation: str, names: set[str]
) -> None:
    collected = collect(generation)
    measure(STREAMED)
    base = "gen_ai.client.inference." if generation == "latest" else "gen_ai.client."
    assert collected.points().keys() == {base + name for name in names}


def test_before_1_37_metrics_name_the_provider_as_system(spans: Any, collect: Any) -> None:
    collected = collect("1.36")
    measure(STREAMED)
    text = collected.said("gen_ai.client.operation.duration")
    assert text["gen_ai.system"] == "xai"
    assert text["gen_ai.openai.response.service_tier"] == "default"
    assert "gen_ai.provider.name" not in text


def test_openais_tier_and_fingerprint_are_on_every_metric_of_a_model_call(
    spans: Any, collect: Any
) -> None:
    collected = collect()
    measure(STREAMED)
    for name in collected.points():
        assert collected.said(name).items() >= OPENAI.items()


@pytest.mark.parametrize("operation", ["search_memory", "retrieval", "embeddings"])
def test_other_client_operations_have_a_duration_too(
    spans: Any, collect: Any, operation: str
) -> None:
    collected = collect()
    operations: dict[str, Operation] = {
        "retrieval": Retrieval(),
        "search_memory": MemoryOperation(),
    }
    embeddings = Embeddings(provider="p", response_model="e-1", server_address="h", server_port=1)
    measure(operations.get(operation, embeddings))
    text = collected.said("gen_ai.client.operation.duration")
    assert text["gen_ai.operation.name"] == operation
    if operation == "embeddings":
        assert (text["gen_ai.response.model"], text["server.address"]) == ("e-1", "h")


@pytest.mark.parametrize(
    ("usage", "given", "made"),
    [
        (Usage(input_tokens=9, output_tokens=4), {"unknown": 9}, {"unknown": 4}),
        (
            Usage(input_tokens=9, output_tokens=4, audio_input_tokens=2, audio_output_tokens=4),
            {"audio": 2, "unknown": 7},
            {"audio": 4},
        ),
        (
            Usage(input_tokens=9, text_input_tokens=5, image_input_tokens=4),
            {"text": 5, "image": 4},
            {"unknown": 0},
        ),
        (Usage(input_tokens=1, audio_input_tokens=2), {"unknown": 1}, {"unknown": 0}),
    ],
)
def test_tokens_are_counted_by_modality_and_never_twice(
    spans: Any, collect: Any, usage: Usage, given: dict[str, int], made: dict[str, int]
) -> None:
    collected = collect()
    measure(Inference(provider="p", usage=usage))
    for direction, expected in (("input", given), ("output", made)):
        metric = collected.points()[f"gen_ai.client.inference.usage.{direction}_tokens"]
        points = {
            point.attributes["gen_ai.token.modality"]: point.value
            for point in metric.data.data_points
        }
        assert points == expected


@pytest.mark.parametrize(
    ("generation", "metric"),
    [
        ("latest", "gen_ai.client.inference.time_per_output_chunk"),
        ("2026-08", "gen_ai.client.operation.time_per_output_chunk"),
        ("1.41", "gen_ai.client.operation.time_per_output_chunk"),
        ("1.36", None),
    ],
)
def test_the_time_from_each_chunk_to_the_next_is_measured(
    spans: Any, collect: Any, generation: str, metric: str | None
) -> None:
    collected = collect(generation)
    with agentool_otel.model_call("m", provider="p") as call:
        for text in "abc":
            call.output({"model": "m-1", "choices": [{"delta": {"content": text}}]})
    points = collected.points()
    assert [name for name in points if "per_output" in name] == ([metric] if metric else [])
    if metric:
        [point] = points[metric].data.data_points
        assert (point.count, point.attributes["gen_ai.request.model"]) == (2, "m")
        assert point.attributes["gen_ai.response.model"] == "m-1"
        assert points[metric].unit == "s"


def test_a_single_chunk_has_no_time_between_chunks(spans: Any, collect: Any) -> None:
    collected = collect()
    with agentool_otel.model_call("m", provider="p") as call:
        call.first_chunk()
        call.output({"choices": [{"delta": {"content": "a"}}]})
    assert "gen_ai.client.inference.time_per_output_chunk" not in collected.points()


def test_a_failed_call_is_counted_with_zero_tokens(spans: Any, collect: Any) -> None:
    collected = collect()
    measure(Inference(provider="p", error_type="timeout"))
    for name in ("input_tokens", "output_tokens", "cache_read.input_tokens"):
        metric = f"gen_ai.client.inference.usage.{name}"
        [point] = collected.points()[metric].data.data_points
        assert point.value == 0
        assert dict(point.attributes)["gen_ai.token.modality"] == "unknown"
        assert "error.type" not in point.attributes


@pytest.mark.parametrize("generation", GENERATIONS)
def test_an_unknown_provider_is_recorded_as_other(
    spans: Any, collect: Any, generation: str
) -> None:
    """The attribute is required in every generation."""
    collected = collect(generation)
    metrics.record(Inference(), 1.0, None, Context())
    for name in collected.points():
        text = collected.said(name)
        assert "_OTHER" in (text.get("gen_ai.provider.name"), text.get("gen_ai.system"))


def exemplars(metric: Any) -> set[int]:
    return {exemplar.span_id for point in metric.data.data_points for exemplar in point.exemplars}


def test_an_exemplar_points_to_the_span_that_was_measured(spans: Any, collect: Any) -> None:
    collected = collect()
    call = measure(STREAMED)
    clerk("?")
    points = collected.points()
    by_name = {span.name: span.context.span_id for span in spans.finished()}
    of_tool = exemplars(points["gen_ai.execute_tool.duration"])
    assert of_tool == {by_name["execute_tool add"]}
    assert exemplars(points["gen_ai.invoke_agent.tool_calls"]) == {by_name["invoke_agent clerk"]}
    assert call.span_id in exemplars(points["gen_ai.client.inference.usage.input_tokens"])
    assert call.span_id in exemplars(points["gen_ai.client.inference.duration"])


def test_the_metric_of_a_tool_names_its_agent(spans: Any, collect: Any) -> None:
    collected = collect()
    clerk("?")
    assert collected.said("gen_ai.execute_tool.duration")["gen_ai.agent.name"] == "clerk"


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


def test_a_duration_equals_that_of_its_span(spans: Any, collect: Any) -> None:
    collected = collect()
    add(1, 2)
    span = spans.only()
    [point] = collected.points()["gen_ai.execute_tool.duration"].data.data_points
    assert point.sum == pytest.approx((span.end_time - span.start_time) / 1e9)


def test_a_failure_is_recorded_with_its_error_type(spans: Any, collect: Any) -> None:
    @tool
    def fails() -> None:
        raise ValueError

    collected = collect()
    with pytest.raises(ValueError):
        fails()
    [point] = collected.points()["gen_ai.execute_tool.duration"].data.data_points
    assert dict(point.attributes)["error.type"] == "ValueError"


@pytest.mark.parametrize(
    "operation", [*OTHERS, ToolExecution(name="t")], ids=lambda item: type(item).__name__
)
def test_an_exception_has_the_same_name_on_the_metric_as_on_the_span(
    spans: Any, collect: Any, operation: Operation
) -> None:
    class Refused(Exception):
        pass

    collected = collect()
    live = begin(operation)
    assert live is not None
    live.end(operation, Refused("too soon"))
    names = {
        point.attributes.get("error.type")
        for name, metric in collected.points().items()
        if "error.type" in METRICS[name].attributes
        for point in metric.data.data_points
    }
    assert names == {spans.only().attributes["error.type"]}


def test_nothing_is_recorded_without_a_meter_provider(spans: Any) -> None:
    metrics.configure()
    add(1, 2)
    assert not metrics.is_collected()


def test_a_call_reported_by_hand_is_counted_like_any_other(spans: Any, collect: Any) -> None:
    collected = collect()
    with agentool_otel.model_call("m", provider="openai") as call:
        call.first_chunk()
        call.usage(10, 5)
    points = collected.points()
    base = "gen_ai.client.inference."
    [counted] = points[f"{base}usage.input_tokens"].data.data_points
    assert (counted.value, counted.attributes["gen_ai.request.model"]) == (10, "m")
    assert {f"{base}duration", f"{base}time_to_first_chunk"} <= points.keys()
