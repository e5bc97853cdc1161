"""`export`: traces to spans, in a file or over the network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.sdk.resources import Resource

from agentool_otel.dialects import classify
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from tests.cli.conftest import Invoke

FIXTURES = Path(__file__).parent.parent / "fixtures"
SPEC = FIXTURES / "spec" / "reasoning-trace.json"
OPENAI = FIXTURES / "spans" / "openai-3.54.0.openinference.jsonl"
EVENTS = FIXTURES / "spans" / "opentelemetry-instrumentation-genai-openai-1.3b0-events.gen_ai.jsonl"


class _Collector(BaseHTTPRequestHandler):
    received: list[bytes]

    def do_POST(self) -> None:
        self.received.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[HTTPServer]:
    """An OTLP/HTTP receiver on this machine that keeps the bodies it gets."""
    _Collector.received = []
    server = HTTPServer(("127.0.0.1", 0), _Collector)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_trace_survives_export_and_rebuild(invoke: Invoke) -> None:
    assert invoke("export", SPEC, "-o", "spans.jsonl").exit_code == 0
    assert json.loads(invoke("rebuild", "spans.jsonl").stdout) == json.loads(SPEC.read_text())


def test_a_refused_delivery_is_an_error_in_plain_words(invoke: Invoke) -> None:
    result = invoke("export", SPEC, "--endpoint", "http://127.0.0.1:9")
    assert result.exit_code == 1
    error, hint = result.stderr.splitlines()
    assert error.startswith("error: http://127.0.0.1:9 did not take 1 trace: ")
    assert hint.startswith(" hint: is a collector listening there?")
    assert "x1b" not in result.stderr


@pytest.mark.parametrize("dialect", ["openinference", "traceloop"])
def test_a_trace_survives_export_in_another_dialect(invoke: Invoke, dialect: str) -> None:
    result = invoke("export", SPEC, "-o", "spans.jsonl", "--dialect", dialect)
    assert f"losses of {dialect}" in result.stderr
    assert f"{dialect}" in invoke("validate", "spans.jsonl").stdout
    assert json.loads(invoke("rebuild", "spans.jsonl").stdout) == json.loads(SPEC.read_text())


def test_a_read_only_dialect_is_refused_with_a_list_of_the_others(invoke: Invoke) -> None:
    refused = invoke("export", SPEC, "--dialect", "klingon")
    assert refused.exit_code == 2
    assert "gen_ai, openinference, traceloop" in refused.stderr


def test_spans_go_to_stdout_a_line_per_trace(invoke: Invoke) -> None:
    trace = json.loads(SPEC.read_text())
    Path("traces.jsonl").write_text(f"{json.dumps(trace)}\n" * 2)
    lines = invoke("export", "traces.jsonl").stdout.splitlines()
    assert [list(json.loads(line)) for line in lines] == [["resourceSpans"]] * 2


def test_a_list_of_traces_is_read_too(invoke: Invoke) -> None:
    Path("traces.json").write_text(json.dumps([json.loads(SPEC.read_text())] * 3, indent=1))
    assert "3 traces" in invoke("export", "traces.json", "-o", "spans.jsonl").stderr


def test_anything_but_a_trace_is_reported_and_the_rest_is_delivered(invoke: Invoke) -> None:
    good = json.dumps(json.loads(SPEC.read_text()))
    Path("traces.jsonl").write_text(f'{good}\n{{"trace_id": 7, "steps": []}}\nnonsense\n{good}\n')
    result = invoke("export", "traces.jsonl")
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 2
    assert "traces.jsonl line 2: expected string, got" in result.stderr
    assert "at $.trace_id" in result.stderr
    assert "traces.jsonl line 3" in result.stderr


def test_an_endpoint_gets_the_spans(invoke: Invoke, collector: HTTPServer) -> None:
    result = invoke("export", SPEC, "--endpoint", f"http://127.0.0.1:{collector.server_port}")
    assert result.exit_code == 0
    assert b"agentool.trace.id" in b"".join(_Collector.received)
    assert "delivered to http://127.0.0.1" in result.stderr


@pytest.mark.parametrize("exact", [False, True])
def test_credentials_go_over_the_network_only_if_asked_for(
    invoke: Invoke, collector: HTTPServer, exact: bool
) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwx"
    Path("t.json").write_text(SPEC.read_text().replace("success", secret))
    url = f"http://127.0.0.1:{collector.server_port}"
    assert invoke("export", "t.json", "--endpoint", url, *["--exact"][: int(exact)]).exit_code == 0
    assert (secret.encode() in b"".join(_Collector.received)) is exact


def test_an_unreachable_endpoint_is_reported_with_what_was_not_delivered(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3")
    result = invoke("export", SPEC, "--endpoint", "http://127.0.0.1:1")
    assert result.exit_code == 1
    assert "http://127.0.0.1:1 did not take 1 trace: Connection refused" in result.stderr
    assert "hint:" in result.stderr


# -------------------------------------------------------------------------------- recordings


USED = """
import agentool_otel
agentool_otel.instrument(content=True)
with agentool_otel.run("bot"):
    with agentool_otel.model_call("m", provider="p") as call:
        call.usage(input_tokens=11, output_tokens=7)
agentool_otel.flush()
"""


@pytest.mark.parametrize(
    ("options", "variable", "agents"),
    [
        ([], "", 1),
        (["--dialect", "openinference"], "", 0),
        (["--dialect", "openinference"], "on", 1),
        (["--dialect", "traceloop"], "", 0),
    ],
)
def test_the_tokens_of_an_agent_stay_in_recordings(
    invoke: Invoke,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    variable: str,
    agents: int,
) -> None:
    """Receivers add them to those of the model calls."""
    folder = tmp_path / "used"
    environ = {**os.environ, "AGENTOOL_DIR": str(folder)}
    subprocess.run([sys.executable, "-c", USED], env=environ, check=True)
    monkeypatch.setenv("AGENTOOL_AGENT_USAGE", variable)
    assert invoke("export", folder, *options, "-o", "there.jsonl").exit_code == 0
    with_tokens = [span for span in spans_of("there.jsonl") if 11 in span.attributes.values()]
    assert len(with_tokens) == 1 + agents


def test_an_endpoint_gets_tokens_once(
    invoke: Invoke, tmp_path: Path, collector: HTTPServer
) -> None:
    folder = tmp_path / "used"
    environ = {**os.environ, "AGENTOOL_DIR": str(folder)}
    subprocess.run([sys.executable, "-c", USED], env=environ, check=True)
    invoke("export", folder, "--endpoint", f"http://127.0.0.1:{collector.server_port}")
    assert b"".join(_Collector.received).count(b"gen_ai.usage.input_tokens") == 1


def spans_of(*places: Path | str) -> list[SpanRecord]:
    return [span for place in places for span in open_source(place).spans()]


@pytest.mark.parametrize("dialect", ["gen_ai", "openinference", "traceloop"])
def test_a_recording_survives_translation_to_another_dialect(
    invoke: Invoke, recording: Path, dialect: str
) -> None:
    result = invoke("export", recording, "--dialect", dialect, "-o", "there.jsonl")
    assert result.exit_code == 0, result.stderr
    assert "1 trace, 3 spans in there.jsonl" in result.stderr
    assert ("losses of" in result.stderr) == (dialect != "gen_ai")
    assert f"({len(spans_of(recording))} {dialect})" in invoke("validate", "there.jsonl").stdout
    assert invoke("rebuild", "there.jsonl").stdout == invoke("rebuild", recording).stdout


def test_spans_of_any_sdk_are_read_and_model_calls_stay(invoke: Invoke) -> None:
    assert invoke("export", OPENAI, "-o", "there.jsonl").exit_code == 0
    before, after = spans_of(OPENAI), spans_of("there.jsonl")
    assert {classify(span)[0] for span in before} == {"openinference"}
    assert {classify(span)[0] for span in after} == {"gen_ai"}
    assert sorted(s.span_id for s in after) == sorted(s.span_id for s in before)
    assert [s.resource for s in after] == [before[0].resource] * len(after)
    assert invoke("rebuild", "there.jsonl").stdout == invoke("rebuild", OPENAI).stdout


def test_one_call_checks_documents_and_recordings(invoke: Invoke, recording: Path) -> None:
    Path("both").mkdir()
    recording.rename("both/recording.jsonl")
    Path("both/document.json").write_text(SPEC.read_text())
    assert invoke("export", "both", "-o", "there.jsonl").exit_code == 0
    names = {
        json.loads(line)["agent_id"]
        for line in invoke("rebuild", "there.jsonl").stdout.splitlines()
    }
    assert names == {"adder", json.loads(SPEC.read_text())["agent_id"]}


@pytest.mark.parametrize("document", [False, True])
def test_standard_input_may_hold_documents_or_spans(
    invoke: Invoke, recorded: bytes, document: bool
) -> None:
    data = SPEC.read_bytes() if document else recorded
    result = invoke("export", "-", "--dialect", "openinference", input=data)
    assert result.exit_code == 0, result.stderr
    assert "openinference.span.kind" in result.stdout
    assert "1 trace" in result.stderr


def test_a_damaged_line_is_named_and_the_rest_is_delivered(invoke: Invoke, recording: Path) -> None:
    lines = recording.read_bytes().splitlines(keepends=True)
    recording.write_bytes(b"".join([lines[0], lines[1][:90] + b"\n", *lines[2:]]))
    result = invoke("export", recording, "-o", "there.jsonl")
    assert result.exit_code == 1
    assert "spans.jsonl line 2" in result.stderr
    assert len(spans_of("there.jsonl")) == len(lines) - 1


def test_a_recording_is_never_overwritten(invoke: Invoke, recording: Path) -> None:
    before = recording.read_bytes()
    result = invoke("export", recording, "--dialect", "openinference", "-o", recording)
    assert result.exit_code == 2
    assert recording.read_bytes() == before


def test_log_records_beside_spans_are_written_on_them(invoke: Invoke) -> None:
    result = invoke("export", EVENTS, "--dialect", "openinference", "-o", "there.jsonl")
    assert result.exit_code == 0, result.stderr
    assert "llm.input_messages.0.message.content" in Path("there.jsonl").read_text()


def test_a_recording_is_sent_masked_with_both_vocabularies(
    invoke: Invoke, collector: HTTPServer, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTOOL_ALSO", "openinference")
    secret = b"sk-proj-abcdefghijklmnopqrstuvwx"
    recording.write_bytes(recording.read_bytes().replace(b"1 and 2?", secret))
    url = f"http://127.0.0.1:{collector.server_port}"
    result = invoke("export", recording, "--endpoint", url)
    assert result.exit_code == 0, result.stderr
    assert "1 trace, 3 spans" in result.stderr
    sent = b"".join(_Collector.received)
    assert secret not in sent
    assert b"openinference.span.kind" in sent
    assert b"agentool.span.start_ns" not in sent


def test_a_document_has_the_resource_of_a_live_program(invoke: Invoke) -> None:
    assert invoke("export", SPEC, "-o", "there.jsonl").exit_code == 0
    for span in spans_of("there.jsonl"):
        sdk = {name: str(value) for name, value in Resource.create().attributes.items()
               if name.startswith("telemetry.sdk.")}  # fmt: skip
        service = json.loads(SPEC.read_text())["agent_id"]
        assert span.resource == {**sdk, "service.name": service}


def test_an_empty_recording_is_reported(invoke: Invoke) -> None:
    Path("notes.json").write_text("nothing")
    for place in ("notes.json", "nowhere"):
        assert invoke("export", place).exit_code == 3


def test_parquet_has_the_spans_as_they_were_recorded(invoke: Invoke) -> None:
    assert invoke("export", OPENAI, "--format", "parquet", "-o", "spans.parquet").exit_code == 0
    wanted = invoke("rebuild", OPENAI).stdout
    assert invoke("rebuild", "spans.parquet").stdout == wanted
    steps = invoke("rebuild", "spans.parquet", "--format", "parquet", "-o", "steps.parquet")
    assert steps.exit_code == 0
    lines = invoke("rebuild", "steps.parquet").stdout.splitlines()
    assert [*map(json.loads, lines)] == [*map(json.loads, wanted.splitlines())]


def test_parquet_has_documents_and_a_dialect(invoke: Invoke) -> None:
    arguments = ["--format", "parquet", "--dialect", "openinference", "-o", "spans.parquet"]
    assert invoke("export", SPEC, *arguments).exit_code == 0
    assert {span.kind for span in open_source("spans.parquet").spans()} == {"INTERNAL"}
    assert json.loads(invoke("rebuild", "spans.parquet").stdout) == json.loads(SPEC.read_text())


def test_an_endpoint_takes_no_parquet(invoke: Invoke) -> None:
    result = invoke("export", SPEC, "--format", "parquet", "--endpoint", "http://127.0.0.1:9")
    assert result.exit_code == 2
    assert "--format is for files" in result.stderr
