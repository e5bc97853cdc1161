"""The convention's metrics, sent beside the spans."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agentool_otel.emit import metrics as emit_metrics
from agentool_otel.emit.session import session

if TYPE_CHECKING:
    from agentool_otel.export.masking import Masking
    from agentool_otel.export.otlp import OtlpTarget

__all__ = ["collect_metrics"]


def collect_metrics(target: OtlpTarget, masking: Masking | None) -> None:
    """Send the convention's metrics the same way, unless the application collects its own.

    The reader has a thread and sends at the end of every process: not before there is a span.
    """
    if os.environ.get("OTEL_METRICS_EXPORTER", "").strip() == "none":
        return
    from opentelemetry import metrics

    if not type(metrics.get_meter_provider()).__module__.startswith("opentelemetry.metrics"):
        return
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    from agentool_otel.export.otlp import metric_exporter

    exporter = metric_exporter(target)
    if masking is not None:
        from agentool_otel.export.masking_metrics import MaskingMetrics

        exporter = MaskingMetrics(exporter, masking)
    reader = PeriodicExportingMetricReader(exporter)
    resource = getattr(session.provider, "resource", None)
    provider = MeterProvider([reader]) if resource is None else MeterProvider([reader], resource)
    metrics.set_meter_provider(provider)
    emit_metrics.refresh()
