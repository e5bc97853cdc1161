"""Metrics on their way out: attributes of their points and of the exemplars, scope, resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult, MetricsData

from agentool_otel.tracing.export.masking.spans import Masking

__all__ = ["MaskingMetrics"]


class MaskingMetrics(MetricExporter):
    """A metric exporter that passes on what may leave."""

    def __init__(self, exporter: MetricExporter, masking: Masking):
        super().__init__(exporter._preferred_temporality, exporter._preferred_aggregation)
        self._exporter = exporter
        self._masking = masking

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any
    ) -> MetricExportResult:
        _mask(metrics_data, self._masking)
        return self._exporter.export(metrics_data, timeout_millis, **kwargs)

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
        self._exporter.shutdown(timeout_millis, **kwargs)


def _mask(data: MetricsData, masking: Masking) -> None:
    """Clean what a collection gave, in place: its records are made anew each time."""
    for resource_metrics in data.resource_metrics:
        _replace(resource_metrics, "resource", masking.shared(resource_metrics.resource))
        for scope_metrics in resource_metrics.scope_metrics:
            _replace(scope_metrics, "scope", masking.shared(scope_metrics.scope))
            for metric in scope_metrics.metrics:
                for point in metric.data.data_points:
                    _mask_attributes(point, "attributes", masking)
                    # What a view has taken off the point stands on its exemplars.
                    for exemplar in point.exemplars:
                        _mask_attributes(exemplar, "filtered_attributes", masking)


def _mask_attributes(holder: Any, name: str, masking: Masking) -> None:
    attributes: Mapping[str, Any] | None = getattr(holder, name)
    _replace(holder, name, masking.attributes(attributes))


def _replace(frozen: Any, name: str, value: Any) -> None:
    """Set a field of a record that is ours alone, though its class is a frozen dataclass."""
    object.__setattr__(frozen, name, value)
