"""`captured_traces`: the runs of a block as traces, without an effect on the program."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util._once import Once

import agentool_otel
from agentool_otel.content.policy import Policy
from agentool_otel.testing.captured import AgentTraces, captured_traces
from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.tracing.setup.frameworks import instrumentors
from agentool_otel.tracing.setup.runtime import runtime
from agentool_otel.tracing.spans.settings import Settings, settings


@agentool_otel.tool
def search(query: str) -> list[str]:
    return [query]


@agentool_otel.agent
def clerk(question: str) -> str:
    return ", ".join(search(question))


@agentool_otel.agent
def boss(question: str) -> str:
    return clerk(question)


def current_settings() -> dict[str, Any]:
    return {name: getattr(settings, name) for name in Settings.__slots__}


@pytest.fixture(autouse=True)
def as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a block does, the program is as it was, and nothing was written."""
    monkeypatch.chdir(tmp_path)
    before, named, start = current_settings(), runtime.explicit, threading.Thread.start
    attached = {name: instrumentor.enabled for name, instrumentor in instrumentors().items()}
    yield
    assert current_settings() == before
    assert runtime.explicit == named
    assert threading.Thread.start is start
    assert {
        name: instrumentor.enabled for name, instrumentor in instrumentors().items()
    } == attached
    assert list(tmp_path.iterdir()) == []


def tools_of(result: agentool_otel.ReasoningTrace) -> list[str]:
    return [call.name for call in result.tool_calls()]


def test_a_run_is_captured_with_its_content() -> None:
    with captured_traces() as traces:
        clerk("news")
    assert (traces.trace.agent_id, traces.trace.input, traces.trace.output) == (
        "clerk",
        "news",
        "news",
    )
    assert tools_of(traces.trace) == ["search"]


def test_what_has_ended_so_far_is_there_and_can_be_forgotten() -> None:
    with captured_traces() as traces:
        clerk("one")
        clerk("two")
        assert [item.input for item in traces.traces()] == ["one", "two"]
        traces.clear()
        clerk("three")
        assert traces.trace.input == "three"


def test_the_trace_is_that_of_the_outermost_run() -> None:
    with captured_traces() as traces:
        boss("news")
    assert len(traces.traces()) == 2
    assert traces.trace.agent_id == "boss"


def test_none_or_several_are_an_error_that_names_them() -> None:
    with captured_traces() as traces:
        with pytest.raises(AssertionError, match="no agent run has ended, among 0 spans"):
            _ = traces.trace
        clerk("one")
        boss("two")
        with pytest.raises(AssertionError, match=r"2 agent runs have ended.*\n  clerk  .*\n  boss"):
            _ = traces.trace


def test_threads_pools_and_tasks_are_of_the_run_that_started_them() -> None:
    @agentool_otel.agent
    async def many() -> None:
        await asyncio.gather(asyncio.to_thread(search, "a"), asyncio.to_thread(search, "b"))
        with ThreadPoolExecutor(1) as pool:
            pool.submit(search, "c").result()
        thread = threading.Thread(target=search, args=("d",))
        thread.start()
        thread.join()

    with captured_traces() as traces:
        asyncio.run(many())
    assert tools_of(traces.trace) == ["search"] * 4


def test_what_the_program_does_about_its_own_telemetry_is_undone() -> None:
    with captured_traces() as traces:
        agentool_otel.instrument("http://localhost:9", content=False)
        clerk("one")
        agentool_otel.uninstrument()
        clerk("nobody sees this")
        agentool_otel.instrument(content=False)
        clerk("two")
    assert [item.input for item in traces.traces()] == ["one", "two"]


def test_an_instrument_that_cannot_be_is_refused_all_the_same() -> None:
    with captured_traces(), pytest.raises(agentool_otel.AgentoolError, match="unknown framework"):
        agentool_otel.instrument(include=["abacus"])


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_TRACES_SAMPLER", "always_off"),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "NO_CONTENT"),
        ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "1"),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "1"),
        ("OTEL_SPAN_EVENT_COUNT_LIMIT", "0"),
    ],
)
def test_the_environment_keeps_nothing_from_the_test(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with captured_traces() as traces, agentool_otel.run("writer") as run:
        run.reasoning("think")
        run.output = "long enough"
    assert traces.trace.output == "long enough"
    assert [step.content for step in traces.trace.steps] == ["think"]


def test_an_earlier_provider_gets_only_later_spans() -> None:
    before = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(before))
    earlier = current_settings()
    try:
        settings.configure(provider=provider, policy=Policy(capture=False))
        with captured_traces() as traces:
            clerk("inside")
        assert before.get_finished_spans() == ()
        clerk("outside")
        assert len(before.get_finished_spans()) == 2
        assert [item.input for item in traces.traces()] == ["inside"]
    finally:
        for name, value in earlier.items():
            setattr(settings, name, value)


def test_spans_of_other_instrumentations_come_from_the_application_s_provider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(theirs))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    tracer = provider.get_tracer("other")
    captured: list[AgentTraces] = []
    for _ in range(2):
        with captured_traces() as traces, tracer.start_as_current_span("request"):
            captured.append(traces)
            clerk("news")
    with tracer.start_as_current_span("after"):
        pass
    for traces in captured:
        names = ["execute_tool search", "invoke_agent clerk", "request"]
        assert [span.name for span in traces.spans()] == names
        assert tools_of(traces.trace) == ["search"]
    assert [finished_span.name for finished_span in theirs.get_finished_spans()] == [
        "request",
        "request",
        "after",
    ]


def test_a_provider_that_the_program_sets_in_the_block_is_one_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())
    tracer, setter = trace.get_tracer("other"), trace.set_tracer_provider
    with captured_traces() as traces:
        trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))
        with tracer.start_as_current_span("request"):
            pass
    assert [span.name for span in traces.spans()] == ["request"]
    assert trace.set_tracer_provider is setter


def test_no_metric_of_a_test_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    insides = import_module("opentelemetry.metrics._internal")
    monkeypatch.setattr(insides, "_METER_PROVIDER", provider)
    with captured_traces():
        clerk("news")
    assert reader.get_metrics_data() is None


def test_blocks_may_stand_in_each_other() -> None:
    with captured_traces() as outer:
        clerk("one")
        with captured_traces() as inner:
            clerk("two")
        clerk("three")
    assert [item.input for item in outer.traces()] == ["one", "three"]
    assert inner.trace.input == "two"


def test_frameworks_are_attached_to_for_the_block(model: LoopbackModel) -> None:
    openai = pytest.importorskip("openai")
    with openai.OpenAI(base_url=model.base_url, api_key="none", max_retries=0) as client:

        def ask() -> None:
            client.chat.completions.create(
                model="gpt-5", messages=[{"role": "user", "content": "Hello"}]
            )

        with captured_traces() as traces:
            ask()
        ask()
    assert [span.name for span in traces.spans()] == ["chat gpt-5"]
    assert "Hello" in str(traces.trace.input)


def test_captured_runs_are_counted_listed_and_iterated() -> None:
    with captured_traces() as traces:
        assert (len(traces), list(traces)) == (0, [])
        assert repr(traces) == "<AgentTraces: 0 runs>"
        for question in ("one", "two"):
            clerk(question)
    assert len(traces) == 2
    assert [item.trace.input for item in traces] == ["one", "two"]
    first, *lines = repr(traces).splitlines()
    assert first == "<AgentTraces: 2 runs"
    assert [line.strip(" >") for line in lines] == [str(item) for item in traces.traces()]


def test_a_rebuilt_run_prints_its_trace() -> None:
    with captured_traces() as traces:
        clerk("one")
    [run] = traces
    assert repr(run) == f"<Rebuilt {run.trace}>"
    assert run._repr_html_() == run.trace._repr_html_()
