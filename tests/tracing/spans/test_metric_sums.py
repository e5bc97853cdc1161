"""Our sums for a meter provider equal those of an SDK's instruments."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.context import Context
from opentelemetry.sdk import metrics as sdk
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    InMemoryMetricReader,
    MetricExporter,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.metrics.view import (
    Aggregation,
    ExplicitBucketHistogramAggregation,
    ExponentialBucketHistogramAggregation,
    View,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import (
    INVALID_SPAN,
    NonRecordingSpan,
    NoOpTracer,
    SpanContext,
    TraceFlags,
    set_span_in_context,
)

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    Inference,
    McpRequest,
    Operation,
    ToolExecution,
    Usage,
)
from agentool_otel.semconv.table import GENERATIONS
from agentool_otel.tracing.export.metric_points import collect_sums
from agentool_otel.tracing.spans import metric_sums, metrics
from agentool_otel.tracing.spans.metric_sums import Instrument, Scope, Sums
from agentool_otel.tracing.spans.run import Run
from agentool_otel.tracing.spans.settings import settings as tracing_settings
from agentool_otel.tracing.spans.steps import Timeline
from tests.tracing.spans.test_metrics import OPENAI, OTHERS

DELTA, CUMULATIVE = AggregationTemporality.DELTA, AggregationTemporality.CUMULATIVE
EXPLICIT: dict[type, Aggregation] = {sdk.Histogram: ExplicitBucketHistogramAggregation()}
RESOURCE = Resource({"service.name": "bot"}, "url")


class Exported(MetricExporter):
    """An exporter that keeps the last collection."""

    data: MetricsData | None = None

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 0, **_: Any
    ) -> MetricExportResult:
        self.data = metrics_data
        return MetricExportResult.SUCCESS

    def force_flush(self, timeout_millis: float = 0) -> bool:
        return True

    def shutdown(self, timeout_millis: float = 0, **_: Any) -> None:
        return None


def both(temporality: AggregationTemporality) -> dict[type, AggregationTemporality]:
    return {sdk.Counter: temporality, sdk.Histogram: temporality}


class Ours:
    """A meter provider of ours, for which values are added up."""

    def __init__(
        self,
        temporality: AggregationTemporality,
        aggregation: dict[type, Aggregation] = EXPLICIT,
    ):
        self.exporter = Exported(both(temporality), aggregation)
        self.reader = PeriodicExportingMetricReader(self.exporter, float("inf"))
        self.provider = sdk.MeterProvider([self.reader], RESOURCE, shutdown_on_exit=False)
        self.sums = Sums()
        self.adds_up = collect_sums(self.sums, self.reader, self.provider, self.exporter)
        if self.adds_up:
            metrics.add_up(self.provider, self.sums)
        metrics.configure(self.provider)

    def collect(self) -> MetricsData | None:
        self.exporter.data = None
        self.reader.collect()
        return self.exporter.data


class OfTheSdk:
    """A meter provider of an application."""

    def __init__(self, temporality: AggregationTemporality):
        self.reader = InMemoryMetricReader(both(temporality))
        self.provider = sdk.MeterProvider([self.reader], RESOURCE, shutdown_on_exit=False)
        metrics.configure(self.provider)

    def collect(self) -> MetricsData | None:
        return self.reader.get_metrics_data()


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    yield
    metrics.configure()
    tracing_settings.reset()


def within(span_id: int, sampled: bool) -> Context:
    about = SpanContext(7, span_id, False, TraceFlags(int(sampled)))
    return set_span_in_context(NonRecordingSpan(about), Context())


def run_of(calls: float) -> Run:
    """Return a run that has made some calls."""
    run = Run(Timeline(NoOpTracer(), INVALID_SPAN, Context()))
    run.tool_calls = run.inference_calls = int(calls)
    return run


def described(data: MetricsData | None) -> Any:
    """Return all of a collection but its times, and which value became a counter's exemplar."""
    if data is None:
        return None
    (resource,) = data.resource_metrics
    results: list[Any] = [resource.resource, resource.schema_url]
    for scope in resource.scope_metrics:
        results.append((scope.scope, scope.schema_url))
        for metric in sorted(scope.metrics, key=lambda metric: metric.name):
            data_of: Any = metric.data
            about = (metric.name, metric.unit, metric.description, type(data_of))
            monotonic = getattr(data_of, "is_monotonic", None)
            points = sorted(map(point, data_of.data_points), key=repr)
            results.append((*about, data_of.aggregation_temporality, monotonic, points))
    return results


def point(item: Any) -> Any:
    attributes = sorted(item.attributes.items())
    assert item.time_unix_nano >= item.start_time_unix_nano > 0
    if not hasattr(item, "bucket_counts"):
        shown = [(dot.filtered_attributes, dot.trace_id) for dot in item.exemplars]
        return attributes, item.value, type(item.value), shown
    exemplars = [
        (dot.value, dot.span_id, dot.trace_id, dot.filtered_attributes) for dot in item.exemplars
    ]
    counts = (item.count, tuple(item.bucket_counts), tuple(item.explicit_bounds))
    return attributes, *counts, f"{item.sum:.9g}", item.min, item.max, exemplars


tokens = st.none() | st.integers(0, 3) | st.integers(0, 10**6)
errors = st.none() | st.sampled_from(["timeout", "ValueError"])
operations: st.SearchStrategy[Operation] = st.one_of(
    st.sampled_from(OTHERS),
    st.builds(ToolExecution, name=st.sampled_from("ab"), error_type=errors),
    st.builds(AgentInvocation, agent_name=st.none() | st.sampled_from("ab"), error_type=errors),
    st.builds(Embeddings, provider=st.none() | st.just("openai"), request_model=st.just("e")),
    st.builds(McpRequest, method=st.just("tools/call"), tool_name=st.sampled_from("ab")),
    st.builds(
        Inference,
        provider=st.none() | st.sampled_from(["openai", "x_ai"]),
        request_model=st.just("m"),
        error_type=errors,
        time_to_first_chunk_s=st.none() | st.floats(0, 5),
        usage=st.none() | st.builds(Usage, input_tokens=tokens, output_tokens=tokens,
                                    audio_input_tokens=tokens, cache_read_tokens=tokens),
        extra=st.sampled_from([{}, OPENAI]),
    ),
)  # fmt: skip
durations = st.floats(0, 200) | st.sampled_from([0.0, 0.01, 0.02, 81.92, 1e9, -1.0])
steps = st.lists(st.none() | st.tuples(operations, durations, st.booleans()), max_size=40)


@settings(deadline=None)
@given(
    steps,
    st.sampled_from([DELTA, CUMULATIVE]),
    st.sampled_from([*GENERATIONS]),
    st.sampled_from([1, 3, 64]),
)
def test_sums_are_what_instruments_of_the_sdk_collect(
    steps: list[tuple[Operation, float, bool] | None],
    temporality: AggregationTemporality,
    generation: str,
    queue: int,
) -> None:
    """Names, units, attributes, buckets, temporality, exemplars: whatever is measured, and whenever
    it is collected."""
    tracing_settings.configure(dialect=GenAI(generation))
    collections: list[list[Any]] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(metric_sums, "_QUEUE", queue)
        for way in (OfTheSdk, Ours):
            meters, numbers = way(temporality), itertools.count(1)
            assert getattr(meters, "adds_up", True)
            collections.append([])
            for step in [*steps, None, None]:
                if step is None:
                    collections[-1].append(described(meters.collect()))
                else:
                    operation, seconds, sampled = step
                    run = run_of(seconds) if isinstance(operation, AgentInvocation) else None
                    metrics.record(operation, seconds, run, within(next(numbers), sampled))
    of_the_sdk, ours = collections
    assert ours == of_the_sdk


def put(sums: Sums, times: int) -> None:
    counter = Instrument(Scope("s", "1", "url"), "calls", "{call}", "Calls.")
    for _ in range(times):
        sums.put(sums.series(counter, {"name": "a"}), 1, Context())


def value_of(data: MetricsData | None) -> Any:
    assert data is not None
    (scope,) = data.resource_metrics[0].scope_metrics
    (point,) = scope.metrics[0].data.data_points
    assert isinstance(point, NumberDataPoint)
    return point.value


def test_no_value_is_lost_among_threads_that_measure_and_collect() -> None:
    ours = Ours(DELTA)
    threads = [threading.Thread(target=put, args=(ours.sums, 5000)) for _ in range(4)]
    collected: list[MetricsData | None] = []
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        collected.append(ours.collect())
    collected.append(ours.collect())
    assert sum(value_of(data) for data in collected if data is not None) == 20_000


def test_a_collection_may_be_interrupted_by_a_call_in_the_same_thread() -> None:
    """As by a signal handler: the call does not wait for the lock, and its value comes later."""
    ours = Ours(CUMULATIVE)
    put(ours.sums, 1)
    with ours.sums.collected():
        put(ours.sums, 200)
    assert value_of(ours.collect()) == 201


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_forked_during_a_collection_goes_on_measuring() -> None:
    ours = Ours(CUMULATIVE)
    put(ours.sums, 1)
    with ours.sums.collected():
        if (child := os.fork()) == 0:
            put(ours.sums, 200)
            os._exit(value_of(ours.collect()) != 201)
    assert os.waitpid(child, 0)[1] == 0


def test_instruments_of_the_program_are_collected_beside_ours() -> None:
    ours = Ours(CUMULATIVE)
    ours.provider.get_meter("theirs").create_counter("c").add(5)
    put(ours.sums, 2)
    data = ours.collect()
    assert data is not None
    (resource,) = data.resource_metrics
    assert (resource.resource, resource.schema_url) == (RESOURCE, "url")
    names = {
        scope_metric.scope.name: scope_metric.metrics[0].name
        for scope_metric in resource.scope_metrics
    }
    assert names == {"theirs": "c", "s": "calls"}


def test_sets_of_attributes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric_sums, "_MOST_SERIES", 3)
    sums = Sums()
    counter = Instrument(Scope("s", "1", "url"), "calls", "{call}", "Calls.")
    for number in range(10):
        sums.put(sums.series(counter, {"name": number}), 1, Context())
    with sums.collected() as collected:
        ((_, series),) = collected
        counts = {tuple(item.attributes.items()): item.count for item in series}
    named = {(("name", number),): 1 for number in range(3)}
    assert counts == {**named, (("otel.metric.overflow", True),): 7}


def test_the_exemplar_of_a_counter_is_any_of_its_values() -> None:
    counter = Instrument(Scope("s", "1", "url"), "calls", "{call}", "Calls.")
    counts: set[int] = set()
    for _ in range(200):
        sums = Sums()
        for span_id in (1, 2, 3):
            sums.put(sums.series(counter, {}), 1, within(span_id, True))
        with sums.collected() as collected:
            ((_, (series,)),) = collected
            (exemplar,) = series.take_exemplars()
            assert series.take_exemplars() == []
        counts.add(exemplar.span_id)
    assert counts == {1, 2, 3}


@pytest.mark.parametrize("unknown", ["aggregation", "exemplars"])
def test_another_aggregation_is_left_to_the_sdk(
    unknown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    aggregation: dict[type, Aggregation] = EXPLICIT
    if unknown == "aggregation":
        aggregation = {sdk.Histogram: ExponentialBucketHistogramAggregation()}
    else:
        monkeypatch.setenv("OTEL_METRICS_EXEMPLAR_FILTER", "always_off")
    tracing_settings.configure(dialect=GenAI("latest"))
    ours = Ours(CUMULATIVE, aggregation)
    assert not ours.adds_up
    metrics.record(ToolExecution(name="t"), 1.0, None, Context())
    data = ours.collect()
    assert data is not None
    (metric,) = data.resource_metrics[0].scope_metrics[0].metrics
    assert metric.name == "gen_ai.execute_tool.duration"


def test_a_value_for_a_provider_of_the_application_is_recorded_at_once() -> None:
    """Its views decide about the value."""
    tracing_settings.configure(dialect=GenAI("latest"))
    reader = InMemoryMetricReader()
    view = View(instrument_name="gen_ai.*", attribute_keys={"gen_ai.tool.name"})
    metrics.configure(sdk.MeterProvider([reader], shutdown_on_exit=False, views=[view]))
    metrics.record(ToolExecution(name="t", error_type="e"), 1.0, None, within(5, True))
    data = reader.get_metrics_data()
    assert data is not None
    (point,) = data.resource_metrics[0].scope_metrics[0].metrics[0].data.data_points
    assert dict(point.attributes or {}) == {"gen_ai.tool.name": "t"}
    assert [exemplar.filtered_attributes for exemplar in point.exemplars] == [{"error.type": "e"}]


def test_attributes_with_colliding_hashes_are_recorded() -> None:
    tracing_settings.configure(dialect=GenAI("latest"))
    ours = Ours(CUMULATIVE)
    try:
        ours.provider.get_meter("m").create_histogram("h").record(1.0, {"list": ["a"]})
    except TypeError:
        pytest.skip("this SDK takes no lists either")
    tier: Any = {"openai.response.service_tier": ["a", "b"]}
    metrics.record(Inference(provider="openai", extra=tier), 1.0, None, Context())
    data = ours.collect()
    assert data is not None
    names = {
        metric.name for scope in data.resource_metrics[0].scope_metrics for metric in scope.metrics
    }
    assert "gen_ai.client.inference.duration" in names
