"""Masking of exported metrics."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    InMemoryMetricReader,
    MetricExporter,
    MetricExportResult,
    MetricsData,
)
from opentelemetry.sdk.metrics.view import View
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider

from agentool_otel.content.masking.credentials import MASK
from agentool_otel.content.policy import Policy
from agentool_otel.tracing.export.masking.metrics import MaskingMetrics
from agentool_otel.tracing.export.masking.spans import Masking

SECRET = "sk-proj-abcdefghijklmnopqrstuvwx"
SAID = {"model": "m", "api_key": "hunter2", "note": SECRET, "input.value": "said"}


class Exported(MetricExporter):
    data: MetricsData

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 0, **_: Any
    ) -> MetricExportResult:
        self.data = metrics_data
        return MetricExportResult.SUCCESS

    def force_flush(self, timeout_millis: float = 0) -> bool:
        return True

    def shutdown(self, timeout_millis: float = 0, **_: Any) -> None:
        return None


def passed(capture: bool, *views: View) -> tuple[Any, str]:
    """The point of a measurement in a sampled span, and all that was exported as text."""
    reader = InMemoryMetricReader()
    meters = MeterProvider([reader], Resource({"note": SECRET}), views=views)
    tracers = TracerProvider(shutdown_on_exit=False)
    with tracers.get_tracer("t").start_as_current_span("s"):
        meters.get_meter("m").create_histogram("h").record(1.0, SAID)
    inner, policy = Exported(), Policy(capture=capture)
    data = reader.get_metrics_data()
    assert data is not None
    MaskingMetrics(inner, Masking(policy)).export(data)
    meters.shutdown()
    point = inner.data.resource_metrics[0].scope_metrics[0].metrics[0].data.data_points[0]
    return point, inner.data.to_json()


@pytest.mark.parametrize("capture", [True, False])
def test_data_points_hold_no_credential_and_content_only_when_captured(
    capture: bool,
) -> None:
    point, text = passed(capture)
    expected = {"model": "m", "api_key": MASK, "note": MASK, "input.value": "said"}
    if not capture:
        del expected["input.value"]
    assert point.attributes == expected
    assert SECRET not in text


@pytest.mark.parametrize("capture", [True, False])
def test_exemplars_hold_no_credential_and_content_only_when_captured(capture: bool) -> None:
    point, text = passed(capture, View(instrument_name="h", attribute_keys={"model"}))
    (exemplar,) = point.exemplars
    expected = {"api_key": MASK, "note": MASK, "input.value": "said"}
    if not capture:
        del expected["input.value"]
    assert (point.attributes, exemplar.filtered_attributes) == ({"model": "m"}, expected)
    assert SECRET not in text
