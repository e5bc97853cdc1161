"""Where the convention's metrics go: decided once, for `instrument()` and for `doctor`.

Where spans are sent, unless the variables of the metrics signal say otherwise. A meter provider
that the application has set is left alone: it collects them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from agentool_otel.emit import metrics as emit_metrics
from agentool_otel.emit.session import session

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricExporter

    from agentool_otel.export.masking import Masking
    from agentool_otel.export.otlp import OtlpTarget

__all__ = ["Plan", "collect", "plan"]

_EXPORTER = "OTEL_METRICS_EXPORTER"


class Plan(NamedTuple):
    """Where metrics are to go."""

    way: Literal["theirs", "nowhere", "send", "print"]
    said: str
    """The same in words."""
    target: OtlpTarget | None = None


_in_force: Plan | None = None
"""What our own meter provider does: the API takes no other one after it."""


def plan(environ: Mapping[str, str], spans: OtlpTarget | None, given: bool = False) -> Plan:
    """Decide where metrics go.

    Args:
        environ: the environment.
        spans: where spans are sent, if they are.
        given: that was given in code, and stands for the environment's.

    Raises:
        ConfigurationError: `OTEL_METRICS_EXPORTER` or a protocol is not known.
    """
    from opentelemetry import metrics

    from agentool_otel.export.otlp import target_beside
    from agentool_otel.export.variables import exporter

    if _in_force is not None:
        return _in_force
    kind = type(metrics.get_meter_provider())
    if not kind.__module__.startswith("opentelemetry.metrics"):
        theirs = f"{kind.__module__}.{kind.__qualname__}"
        return Plan("theirs", f"the application's own meter provider ({theirs})")
    asked = exporter(environ, "metrics")
    if asked == "none":
        return Plan("nowhere", f"nowhere ({_EXPORTER}=none)")
    if asked == "console":
        return Plan("print", f"the console ({_EXPORTER}=console)")
    target = target_beside(spans, environ, "metrics", given)
    if target is not None:
        return Plan("send", f"{target} ({target.protocol})", target)
    return Plan("nowhere", "nowhere (hint: set OTEL_EXPORTER_OTLP_METRICS_ENDPOINT)")


def collect(made: Plan, masking: Masking | None) -> None:
    """Collect metrics and send them there, unless the application has begun to collect its own.

    The reader has a thread and sends at the end of every process: not before there is a span.
    """
    global _in_force
    from opentelemetry import metrics

    if not type(metrics.get_meter_provider()).__module__.startswith("opentelemetry.metrics"):
        return
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    exporter = _exporter(made)
    if masking is not None:
        from agentool_otel.export.masking_metrics import MaskingMetrics

        exporter = MaskingMetrics(exporter, masking)
    reader = PeriodicExportingMetricReader(exporter)
    resource: Any = getattr(session.provider, "resource", None)
    provider = MeterProvider([reader]) if resource is None else MeterProvider([reader], resource)
    _in_force = made
    metrics.set_meter_provider(provider)
    emit_metrics.refresh()


def _exporter(made: Plan) -> MetricExporter:
    if made.target is None:
        from opentelemetry.sdk.metrics.export import ConsoleMetricExporter

        return ConsoleMetricExporter()
    from agentool_otel.export.otlp import metric_exporter

    return metric_exporter(made.target)
