"""`OTEL_TRACES_EXPORTER=agentool`: the SDK finds our exporter, which keeps the SDK's contract."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentool_otel.content.policy import MASK
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.sdk import AgentoolSpanExporter
from tests.tracing.export.receiver import HttpReceiver

PROGRAM = """
from opentelemetry import trace
from opentelemetry.sdk._configuration import _OTelSDKConfigurator

_OTelSDKConfigurator().configure()
with trace.get_tracer("theirs").start_as_current_span("chat gpt-5"):
    pass
"""
INPUT = "gen_ai.input.messages"


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AGENTOOL_DIR", str(tmp_path / "recorded"))


def ended(**attributes: str) -> list[ReadableSpan]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("theirs").start_as_current_span("chat gpt-5", attributes=attributes):
        pass
    return list(exporter.get_finished_spans())


def recorded(tmp_path: Path) -> list[SpanRecord]:
    return list(open_source(tmp_path / "recorded").spans())


def test_the_sdk_finds_the_exporter_by_name(tmp_path: Path) -> None:
    environ = {**os.environ, "OTEL_TRACES_EXPORTER": "agentool"}
    environ |= {"OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environ)
    assert [span.name for span in recorded(tmp_path)] == ["chat gpt-5"]


def test_spans_are_on_disk_on_return_and_refused_after_shutdown(tmp_path: Path) -> None:
    exporter = AgentoolSpanExporter()
    spans = ended()
    assert exporter.export(spans) is SpanExportResult.SUCCESS
    assert len(recorded(tmp_path)) == 1
    assert exporter.force_flush()
    exporter.shutdown()
    exporter.shutdown()
    assert exporter.export(spans) is SpanExportResult.FAILURE
    assert len(recorded(tmp_path)) == 1


def test_credentials_are_masked(tmp_path: Path) -> None:
    exporter = AgentoolSpanExporter()
    exporter.export(ended(api_key="s3cret-value", note="ok"))
    exporter.shutdown()
    (span,) = recorded(tmp_path)
    assert (span.attributes["api_key"], span.attributes["note"]) == (MASK, "ok")


@pytest.mark.parametrize("mode", ["", "SPAN_ONLY", "NO_CONTENT"])
def test_content_is_recorded_but_sent_only_on_request(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", mode)
    spans = ended(**{INPUT: "[]"})
    local = AgentoolSpanExporter()
    local.export(spans)
    local.shutdown()
    assert (INPUT in recorded(tmp_path)[0].attributes) is (mode != "NO_CONTENT")
    with HttpReceiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint)
        sending = AgentoolSpanExporter()
        assert sending.export(spans) is SpanExportResult.SUCCESS
        assert sending.force_flush()
        sending.shutdown()
    (body,) = receiver.bodies["/v1/traces"]
    assert (INPUT.encode() in body) is (mode == "SPAN_ONLY")
