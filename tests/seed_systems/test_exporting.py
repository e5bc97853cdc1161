"""Checks 85 to 87: the SDK's exporters and processors, no SDK at all, and losses of stores."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    ConsoleSpanExporter,
    SimpleSpanProcessor,
    SpanExportResult,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from agentool_otel import ReasoningTrace, load, rebuild, replay
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.disk.recording import RecordingExporter
from agentool_otel.tracing.export.sdk import AgentoolSpanExporter
from tests.tracing.export.receiver import HttpReceiver

STEPS = [{"type": "tool_call", "tool_call": {"id": "c", "name": "search", "arguments": {"q": 1}}}]
TRACE = ReasoningTrace.from_dict(
    {"trace_id": "tr_1", "agent_id": "clerk", "input": "?", "steps": STEPS}
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTOOL_DIR", str(tmp_path / "recorded"))


def test_check_85_a_file_by_the_sdks_batches(tmp_path: Path) -> None:
    provider = TracerProvider(resource=Resource({"service.name": "mine"}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(AgentoolSpanExporter()))
    replay(TRACE, provider)
    assert provider.force_flush()
    spans = list(open_source(tmp_path / "recorded").spans())
    assert {span.resource["service.name"] for span in spans} == {"mine"}
    assert list(load(tmp_path / "recorded")) == [TRACE]
    provider.shutdown()


def test_check_85_an_endpoint_by_otlp(monkeypatch: pytest.MonkeyPatch) -> None:
    with HttpReceiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint)
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(AgentoolSpanExporter()))
        replay(TRACE, provider)
        provider.shutdown()
    assert b"execute_tool search" in b"".join(receiver.bodies["/v1/traces"])


def test_check_85_the_console_of_the_sdk() -> None:
    out = io.StringIO()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=out)))
    replay(TRACE, provider)
    assert "invoke_agent clerk" in out.getvalue()


def test_check_85_what_is_not_sampled_is_not_exported(tmp_path: Path) -> None:
    provider = TracerProvider(ALWAYS_OFF, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(AgentoolSpanExporter()))
    replay(TRACE, provider)
    provider.shutdown()
    assert not list((tmp_path / "recorded").glob("*.jsonl"))


def test_check_85_after_shutdown_spans_are_refused() -> None:
    result = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(result))
    replay(TRACE, provider)
    exporter = AgentoolSpanExporter()
    assert exporter.export(result.get_finished_spans()) is SpanExportResult.SUCCESS
    assert exporter.force_flush()
    exporter.shutdown()
    assert exporter.export(result.get_finished_spans()) is SpanExportResult.FAILURE


NO_SDK = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter")):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
import agentool_otel
from opentelemetry.trace import NoOpTracerProvider

@agentool_otel.tool
def add(a, b):
    return a + b

@agentool_otel.agent
def clerk(question):
    return str(add(1, 2))

assert clerk("?") == "3"
with agentool_otel.run("lead", input="?") as run:
    run.reasoning("hm")
    run.handoff("writer")
    run.memory_write("x", key="k")
with agentool_otel.session("s1"), agentool_otel.model_call("m", messages=[]) as call:
    pass
agentool_otel.score(run, "helpful", True)
trace = agentool_otel.ReasoningTrace(trace_id="t", steps=[])
agentool_otel.replay(trace, NoOpTracerProvider())
[result] = agentool_otel.evaluate([{"type": "tool_call_count", "max_calls": 0}], [trace])
from agentool_otel.converters import convert
convert({"name": "t", "description": "", "parameters": {}}, "mcp-tools")
for _ in range(2):
    agentool_otel.instrument()
    agentool_otel.instrument("http://127.0.0.1:1", content=True, exclude=["openai"])
    assert clerk("?") == "3"
status = agentool_otel.status()
assert (status.enabled, status.destination) == (False, None), status
assert agentool_otel.flush()
agentool_otel.uninstrument()
assert clerk("?") == "3"
agentool_otel.replay(trace)
assert agentool_otel.flush()
"""


def test_check_86_without_an_sdk_everything_works_and_records_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_SDK], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("nothing is recorded: recording needs opentelemetry-sdk") == 1
    assert not list(tmp_path.rglob("*.jsonl"))


def cut(tmp_path: Path, limit: int) -> Rebuilt:
    """Return a trace whose attributes a store has cut after so many characters."""
    deep = {"list": [{"name": f"member {n}", "value": "x" * 40} for n in range(9)]}
    call = {"id": "c", "name": "search", "arguments": deep}
    values = {"trace_id": "tr_1", "metadata": {"k": deep}, "owner": deep, "input": "a" * 400}
    limits = SpanLimits(max_span_attribute_length=limit)
    provider = TracerProvider(shutdown_on_exit=False, span_limits=limits)
    provider.add_span_processor(SimpleSpanProcessor(RecordingExporter(tmp_path)))
    replay({**values, "steps": [{"type": "tool_call", "tool_call": call}]}, provider)
    provider.shutdown()
    [result] = rebuild(open_source(tmp_path).spans())
    return result


@pytest.mark.parametrize("limit", range(20, 300, 7))
def test_check_87_truncated_json_is_never_read_as_complete(limit: int, tmp_path: Path) -> None:
    trace = cut(tmp_path, limit).trace.to_dict()
    assert "k" not in trace.get("metadata", {})
    assert "owner" not in trace
    (call,) = (step["tool_call"] for step in trace["steps"])
    assert isinstance(call.pop("arguments"), str)  # what is left of the object, not an object
    assert call == {"id": "c", "name": "search"}


CUT = {"agentool.metadata", "agentool.extra", "gen_ai.tool.call.arguments"}


def noticed(rebuilt_trace: Rebuilt) -> set[str | None]:
    return {note.attribute for note in rebuilt_trace.fidelity.notes if note.outcome == "truncated"}


@pytest.mark.parametrize("limit", range(20, 300, 7))
def test_check_87_what_was_cut_is_in_the_report(limit: int, tmp_path: Path) -> None:
    """Behind a bracket, too, and wherever else."""
    assert noticed(cut(tmp_path, limit)) >= CUT
