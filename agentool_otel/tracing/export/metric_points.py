"""Add sums that were made without the SDK to the points that a reader of the SDK collects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import time_ns
from typing import Any

from opentelemetry.sdk import metrics as sdk
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExporter,
    MetricReader,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.metrics.view import DefaultAggregation, ExplicitBucketHistogramAggregation
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from agentool_otel.tracing.spans.metric_sums import Instrument, Series, Sums

__all__ = ["collect_sums"]

_CUMULATIVE = AggregationTemporality.CUMULATIVE
_DELTA = AggregationTemporality.DELTA


def collect_sums(
    sums: Sums, reader: MetricReader, provider: MeterProvider, exporter: MetricExporter
) -> bool:
    """Have a reader collect sums along with its provider's data; False if that is not possible.

    That is so for aggregations and exemplars that were chosen by variables and are not known here.

    Args:
        sums: what is added up.
        reader: the only one of its provider, which has no views.
        provider: its resource is theirs.
        exporter: its temporality and aggregation are theirs.
    """
    # Source: opentelemetry-sdk 1.30 to 1.45, metrics/_internal: a reader calls `_collect`, which
    # its provider has set, and the provider's resource changes in a forked process.
    insides: Any = reader
    config: Any = getattr(provider, "_sdk_config", None)
    collect: Callable[..., MetricsData | None] | None = getattr(reader, "_collect", None)
    chosen: Any = (exporter._preferred_aggregation or {}).get(sdk.Histogram, DefaultAggregation())
    usual = (
        type(chosen) in (DefaultAggregation, ExplicitBucketHistogramAggregation)
        and type(getattr(config, "exemplar_filter", None)) is sdk.TraceBasedExemplarFilter
    )
    if collect is None or not usual:
        return False
    points = _Points(sums, exporter._preferred_temporality or {})

    def collect_both(*args: Any, **options: Any) -> MetricsData | None:
        return points.added_to(collect(*args, **options), config.resource)

    insides._collect = collect_both
    return True


class _Points:
    """Points of the sums.

    Args:
        sums: what is added up.
        temporality: by the class of an instrument; others are cumulative.
    """

    def __init__(self, sums: Sums, temporality: Mapping[type, AggregationTemporality]):
        self._sums = sums
        self._counters = temporality.get(sdk.Counter, _CUMULATIVE)
        self._histograms = temporality.get(sdk.Histogram, _CUMULATIVE)

    def added_to(self, data: MetricsData | None, resource: Any) -> MetricsData | None:
        """Return the collected data with the sums added; None if there is none."""
        now_ns = time_ns()
        scopes: dict[Any, list[Metric]] = {}
        with self._sums.collected() as collected:
            for instrument, series in collected:
                if (metric := self._metric(instrument, series, now_ns)) is not None:
                    scopes.setdefault(instrument.scope, []).append(metric)
        if not scopes:
            return data
        added = [
            ScopeMetrics(InstrumentationScope(*scope), metrics, scope.schema_url)
            for scope, metrics in scopes.items()
        ]
        if data is None:
            return MetricsData([ResourceMetrics(resource, added, resource.schema_url)])
        first, *others = data.resource_metrics
        both = [*first.scope_metrics, *added]
        return MetricsData([ResourceMetrics(first.resource, both, first.schema_url), *others])

    def _metric(self, instrument: Instrument, series: list[Series], now_ns: int) -> Metric | None:
        data: Sum | Histogram
        if instrument.buckets is None:
            numbers = [_number(item, now_ns) for item in series if item.count]
            data = Sum(numbers, self._counters, is_monotonic=True)
            temporality = self._counters
        else:
            points = [_histogram(item, now_ns) for item in series if item.count]
            data = Histogram(points, self._histograms)
            temporality = self._histograms
        if temporality is _DELTA:
            for one in series:
                one.reset(now_ns)
        if not data.data_points:
            return None
        return Metric(instrument.name, instrument.description, instrument.unit, data)


def _number(series: Series, now_ns: int) -> NumberDataPoint:
    return NumberDataPoint(
        attributes=dict(series.attributes),
        start_time_unix_nano=series.start_ns,
        time_unix_nano=now_ns,
        value=series.sum,
        exemplars=_exemplars(series),
    )


def _histogram(series: Series, now_ns: int) -> HistogramDataPoint:
    return HistogramDataPoint(
        attributes=dict(series.attributes),
        start_time_unix_nano=series.start_ns,
        time_unix_nano=now_ns,
        count=series.count,
        sum=series.sum,
        bucket_counts=tuple(series.buckets),
        explicit_bounds=series.bounds or (),
        min=series.lowest,
        max=series.highest,
        exemplars=_exemplars(series),
    )


def _exemplars(series: Series) -> list[Any]:
    return [
        sdk.Exemplar(
            {} if series.attributes else None,
            exemplar.value,
            exemplar.time_ns,
            exemplar.span_id,
            exemplar.trace_id,
        )
        for exemplar in series.take_exemplars()
    ]
