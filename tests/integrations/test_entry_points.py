"""Our instrumentors are found and used as OpenTelemetry's auto-instrumentation does it.

Source of the contract: opentelemetry-instrumentation 0.66b1, auto_instrumentation/_load.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from agentool_otel import integrations
from agentool_otel.errors import ConfigurationError

OURS = [p for p in entry_points(group="opentelemetry_instrumentor") if p.name[:9] == "agentool-"]


def test_every_framework_has_an_entry_point_that_can_be_disabled_by_name() -> None:
    products = Path(integrations.__path__[0]).glob("*/instrumentor*")
    names = {product.parent.name for product in products}
    assert {point.name for point in OURS} == {
        f"agentool-{name.replace('_', '-')}" for name in names
    }


@pytest.mark.parametrize("point", OURS, ids=lambda point: point.name)
def test_an_instrumentor_is_loaded_made_and_switched_on_and_off(point: Any) -> None:
    instrumentor = point.load()()
    assert instrumentor is point.load()()
    instrumentor.instrument(skip_dep_check=True)
    assert instrumentor.enabled
    instrumentor.uninstrument()
    assert not instrumentor.enabled


COMMON = [
    *("tracer_provider", "meter_provider", "logger_provider"),
    *("skip_dep_check", "raise_exception_on_conflict"),
]


@pytest.mark.parametrize("method", ["instrument", "uninstrument"])
@pytest.mark.parametrize("point", OURS, ids=lambda point: point.name)
def test_an_unknown_option_is_named_with_the_known_ones(point: Any, method: str) -> None:
    instrumentor = point.load()()
    enabled = instrumentor.enabled
    with pytest.raises(ConfigurationError) as raised:
        getattr(instrumentor, method)(contnt=True, skip_dep_check=True)
    for name in ("'contnt'", type(instrumentor).__name__, *COMMON):
        assert name in str(raised.value)
    assert instrumentor.enabled == enabled


@pytest.mark.parametrize("point", OURS, ids=lambda point: point.name)
def test_instrumentors_accept_opentelemetrys_arguments(point: Any) -> None:
    instrumentor = point.load()()
    try:
        instrumentor.instrument(**dict.fromkeys(COMMON))
    finally:
        instrumentor.uninstrument(**dict.fromkeys(COMMON))


def test_an_instrumentor_may_have_options_of_its_own() -> None:
    from agentool_otel.tracing.instrumentation import AgentInstrumentor, InstrumentorOptions

    @dataclass(frozen=True, kw_only=True)
    class Options(InstrumentorOptions):
        depth: int = 1

    class Instrumentor(AgentInstrumentor):
        framework = "no-such-framework"
        options = Options

    instrumentor = Instrumentor()
    instrumentor.instrument(depth=2)
    with pytest.raises(ConfigurationError, match=r"known are .*, depth$"):
        instrumentor.instrument(dept=2)
    instrumentor.uninstrument()


@pytest.mark.parametrize("point", OURS, ids=lambda point: point.name)
def test_needed_packages_are_listed_as_requirements(point: Any) -> None:
    assert all(">=" in requirement for requirement in point.load()().instrumentation_dependencies())


def test_a_tracer_provider_that_is_handed_in_gets_the_spans(calls: Any, model: Any) -> None:
    pytest.importorskip("openai")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor
    from agentool_otel.tracing.spans.settings import settings

    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    try:
        OpenAIInstrumentor().instrument(tracer_provider=provider)
        calls.chat()
        assert [span.name for span in exporter.get_finished_spans()] == ["chat gpt-5"]
    finally:
        settings.reset()


def test_a_meter_provider_that_is_handed_in_gets_the_metrics(calls: Any, model: Any) -> None:
    pytest.importorskip("openai")
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor
    from agentool_otel.tracing.spans import metrics

    reader = InMemoryMetricReader()
    try:
        OpenAIInstrumentor().instrument(meter_provider=MeterProvider([reader]))
        calls.chat()
        assert "gen_ai.client.inference.duration" in str(reader.get_metrics_data())
    finally:
        metrics.configure()
