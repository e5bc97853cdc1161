"""Our instrumentors are found and used as OpenTelemetry's auto-instrumentation does it.

Source of the contract: opentelemetry-instrumentation 0.66b1, auto_instrumentation/_load.py.
"""

from __future__ import annotations

import pkgutil
from importlib.metadata import entry_points
from typing import Any

import pytest

from agentool_otel import instrumentation

OURS = [p for p in entry_points(group="opentelemetry_instrumentor") if p.name[:9] == "agentool-"]


def test_every_framework_has_an_entry_point_that_can_be_disabled_by_name() -> None:
    # Amplifier's sessions mount a hook, and runtimes of Agent Tool tell an emitter.
    others = {"kit", "amplifier", "agent_tool"}
    names = {it.name for it in pkgutil.iter_modules(instrumentation.__path__)} - others
    assert {point.name for point in OURS} == {f"agentool-{it.replace('_', '-')}" for it in names}


@pytest.mark.parametrize("point", OURS, ids=lambda point: point.name)
def test_an_instrumentor_is_loaded_made_and_switched_on_and_off(point: Any) -> None:
    instrumentor = point.load()()
    assert instrumentor is point.load()()
    instrumentor.instrument(skip_dep_check=True)
    assert instrumentor.enabled
    instrumentor.uninstrument()
    assert not instrumentor.enabled


@pytest.mark.parametrize("point", OURS, ids=lambda point: point.name)
def test_what_it_needs_is_said_as_requirements(point: Any) -> None:
    assert all(">=" in requirement for requirement in point.load()().instrumentation_dependencies())


def test_a_tracer_provider_that_is_handed_in_gets_the_spans(calls: Any, model: Any) -> None:
    pytest.importorskip("openai")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from agentool_otel.emit.session import session
    from agentool_otel.instrumentation.openai import OpenAIInstrumentor

    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    try:
        OpenAIInstrumentor().instrument(tracer_provider=provider)
        calls.chat()
        assert [span.name for span in exporter.get_finished_spans()] == ["chat gpt-5"]
    finally:
        session.reset()
