"""Destination of the convention's metrics: one decision for `instrument()` and `doctor`.

Where spans are sent, unless the variables of the metrics signal override this. A meter provider
that the application has set is left alone: it collects them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from agentool_otel.ground import otlp_settings
from agentool_otel.tracing.setup.destinations.plan import Plan, SpansTarget, plan_beside
from agentool_otel.tracing.spans import metrics as emit_metrics
from agentool_otel.tracing.spans.settings import settings

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricExporter

    from agentool_otel.tracing.export.masking.spans import Masking
    from agentool_otel.tracing.export.pipeline import Pipeline
    from agentool_otel.tracing.export.redirected_metrics import RedirectedMetrics

__all__ = ["apply", "pause", "plan", "provider"]


class _Collection(NamedTuple):
    """Our own meter provider; the API accepts no other one after it."""

    provider: MeterProvider
    exporter: RedirectedMetrics


_FLUSH_MS = 2000
"""Milliseconds that a change of destination waits for the flush of the last one."""

_END_MS = 2000
"""Milliseconds that the program's end waits for the last metrics; five seconds with its last spans.
"""

_collection: _Collection | None = None
_in_force: Plan | None = None


def plan(environ: Mapping[str, str], spans: SpansTarget, endpoint_in_code: bool = False) -> Plan:
    """Decide where metrics go; the arguments are those of `plan_beside`."""
    from opentelemetry import metrics

    kind = type(metrics.get_meter_provider())
    if _collection is None and not kind.__module__.startswith("opentelemetry.metrics"):
        theirs = f"{kind.__module__}.{kind.__qualname__}"
        return Plan("application", f"the application's own meter provider ({theirs})")
    own_plan = plan_beside("metrics", environ, spans, endpoint_in_code)
    if own_plan is not None:
        return own_plan
    hint = otlp_settings.variable("ENDPOINT", "metrics")
    return Plan("nowhere", f"nowhere (hint: set {hint})")


def provider() -> MeterProvider | None:
    """Return the meter provider that is our own, if metrics are collected by us."""
    return None if _collection is None else _collection.provider


def apply(pipeline: Pipeline, decided: Plan, masking: Masking | None) -> None:
    """Collect metrics from the first span on; metrics already being collected go there as well.

    What takes long to load and build is built here, so that no span and no call waits for it. The
    reader has a thread and sends at the end of every process: not before there is a span.
    """
    global _in_force
    if _in_force is not None and decided.same_destination(_in_force):
        return
    _in_force = decided
    leaves = decided.way in ("send", "print")
    if _collection is not None:
        with suppress(Exception):  # the last receiver may be down; the SDK raises what it likes
            _collection.provider.force_flush(_FLUSH_MS)
        _collection.exporter.redirect(_exporter(decided) if leaves else None)
    else:
        pipeline.at_first = _collecting(decided, masking) if leaves else None


def pause(pipeline: Pipeline) -> None:
    """Send the collected metrics and nothing more, until a plan is applied again."""
    apply(pipeline, Plan("nowhere", "nowhere (uninstrument() was called)"), None)


def _collecting(decided: Plan, masking: Masking | None) -> Callable[[], None]:
    """Return a function that starts to collect and send metrics."""
    import_module("agentool_otel.tracing.export.metric_points")  # used by the first span
    from agentool_otel.tracing.export.redirected_metrics import RedirectedMetrics

    redirected = RedirectedMetrics(_exporter(decided))
    exporter: MetricExporter = redirected
    if masking is not None:
        from agentool_otel.tracing.export.masking.metrics import MaskingMetrics

        exporter = MaskingMetrics(exporter, masking)
    return lambda: _collect(exporter, redirected)


def _collect(exporter: MetricExporter, redirected: RedirectedMetrics) -> None:
    """Collect metrics, unless the application has begun to collect its own."""
    global _collection
    from opentelemetry import metrics

    if not type(metrics.get_meter_provider()).__module__.startswith("opentelemetry.metrics"):
        return
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    from agentool_otel.tracing.export.metric_points import collect_sums
    from agentool_otel.tracing.spans.metric_sums import Sums

    class Reader(PeriodicExportingMetricReader):
        def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
            super().shutdown(min(timeout_millis, _END_MS), **kwargs)

    reader = Reader(exporter)
    resource: Any = getattr(settings.provider, "resource", None)
    provider = MeterProvider([reader]) if resource is None else MeterProvider([reader], resource)
    _collection = _Collection(provider, redirected)
    sums = Sums()
    if collect_sums(sums, reader, provider, exporter):
        emit_metrics.add_up(provider, sums)
    metrics.set_meter_provider(provider)
    emit_metrics.refresh()


def _exporter(decided: Plan) -> MetricExporter:
    if decided.target is None:
        from opentelemetry.sdk.metrics.export import ConsoleMetricExporter

        return ConsoleMetricExporter()
    from agentool_otel.tracing.export.send.otlp import metric_exporter

    return metric_exporter(decided.target)
