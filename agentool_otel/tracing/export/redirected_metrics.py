"""Metrics whose destination changes: the SDK's reader keeps the one exporter it was made with."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult, MetricsData

__all__ = ["RedirectedMetrics"]


class RedirectedMetrics(MetricExporter):
    """Passes metrics on to the exporter in force; without one they go nowhere.

    Temporality and aggregation are the first exporter's preference: the reader takes them once.
    """

    def __init__(self, exporter: MetricExporter):
        super().__init__(exporter._preferred_temporality, exporter._preferred_aggregation)
        self._exporter: MetricExporter | None = exporter

    def redirect(self, exporter: MetricExporter | None) -> None:
        """Pass on to another exporter from here on, and let go of the last one."""
        last, self._exporter = self._exporter, exporter
        if last is not None:
            last.shutdown()

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any
    ) -> MetricExportResult:
        exporter = self._exporter
        if exporter is None:
            return MetricExportResult.SUCCESS
        return exporter.export(metrics_data, timeout_millis, **kwargs)

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        exporter = self._exporter
        return exporter is None or exporter.force_flush(timeout_millis)

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
        self.redirect(None)
