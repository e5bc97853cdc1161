"""The files of `collector-config/` in a real Collector: data they keep, drop, mask and count."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.reading.sources.opening import open_source
from tests.backends.built import built
from tests.backends.runs import DOCUMENTS, call, rebuilt, result, run, send
from tests.backends.servers import CONFIGS, collector, wait_for
from tests.tracing.export.receiver import GrpcReceiver, HttpReceiver, spans_in

pytestmark = pytest.mark.backends
FILES = ["local.yaml", "metrics.yaml", "redact.yaml", "tail-sampling.yaml"]
CANARY = "what nobody may read"
OTHER = "opentelemetry-instrumentation-botocore-0.66b2.gen_ai.jsonl"


def arrived(receiver: HttpReceiver, folder: Path) -> Path:
    """Write the requests of a receiver into files, and return their folder."""
    for signal, bodies in receiver.bodies.items():
        for n, body in enumerate(bodies):
            (folder / f"{signal.rpartition('/')[2]}-{n}.pb").write_bytes(body)
    return folder


def scraped(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize("files", [*FILES, "redact.yaml redact-status.yaml"])
def test_it_is_valid(files: str) -> None:
    configs = [f"--config={CONFIGS / file}" for file in files.split()]
    command = [str(built("collector")), "validate", *configs]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_local_sends_on_and_keeps_everything(protocol: str, tmp_path: Path) -> None:
    documents = {document["trace_id"]: document for document in DOCUMENTS.values()}
    with GrpcReceiver() as store:
        place = store.endpoint.partition("//")[2]
        environ = {"STORE_ENDPOINT": place, "MAX_BATCH_BYTES": "3500000"}
        with collector("local.yaml", tmp_path, **environ) as running:
            send(running.http if protocol == "http" else running.grpc,
                 *documents.values(), folder=tmp_path)  # fmt: skip
        sent_on = tmp_path / "sent-on"
        sent_on.mkdir()
        for n, request in enumerate(store.requests):
            assert len(request) < 4 << 20, "what gRPC receivers take"
            (sent_on / f"{n}.pb").write_bytes(request)
    assert rebuilt(tmp_path / "archive") == documents
    assert rebuilt(sent_on) == documents


def test_local_keeps_its_queue_over_a_restart(tmp_path: Path) -> None:
    first, second = run("first", call(0), result(0, 1)), run("second", call(0), result(0, 2))
    with collector("local.yaml", tmp_path, STORE_ENDPOINT="127.0.0.1:9") as running:
        send(running.http, first, folder=tmp_path)
    with GrpcReceiver() as store:
        place = store.endpoint.partition("//")[2]
        with collector("local.yaml", tmp_path, STORE_ENDPOINT=place) as running:
            send(running.http, second, folder=tmp_path)
            assert wait_for(
                lambda: sum(b"invoke_agent" in request for request in store.requests) >= 1
            )
            assert wait_for(lambda: len(b"".join(store.requests).split(b"invoke_agent bot")) >= 3)
    assert rebuilt(tmp_path / "archive") == {"first": first, "second": second}


def test_redact_drops_content_and_the_rebuild_notes_it(tmp_path: Path) -> None:
    document = run(
        "secret",
        {"type": "reasoning", "step_id": "t", "content": CANARY},
        call(0, {"q": CANARY}),
        result(0, [CANARY]),
        {"type": "handoff", "step_id": "h", "to_agent": "b", "message": CANARY},
        {"type": "memory_write", "step_id": "m", "key": "k", "content": CANARY},
        {"type": "memory_read", "step_id": "n", "query": CANARY, "results": [CANARY]},
        input=CANARY,
        output={"said": CANARY},
    )
    with (
        HttpReceiver() as next_one,
        collector("redact.yaml", tmp_path, NEXT_ENDPOINT=next_one.endpoint) as running,
    ):
        send(running.http, document, folder=tmp_path)
        assert wait_for(lambda: len(next_one.names()) >= 5)
    for body in next_one.bodies["/v1/traces"]:
        assert CANARY.encode() not in body
    folder = tmp_path / "arrived"
    folder.mkdir()
    (value,) = rebuild(open_source(arrived(next_one, folder)).spans())
    steps = [(step.type, step.step_id) for step in value.trace.steps]
    assert steps == [(step["type"], step["step_id"]) for step in document["steps"]]
    redacted = {note.attribute for note in value.fidelity.notes if note.outcome == "redacted"}
    assert redacted >= {
        *("gen_ai.input.messages", "agentool.output", "agentool.step.content"),
        *("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
    }


PROGRAM = f"""
import agentool_otel
agentool_otel.instrument()
SAID = {CANARY!r}

@agentool_otel.tool
def fails(query):
    raise ValueError(SAID)

@agentool_otel.agent
def bot(question):
    with agentool_otel.model_call("gpt-5", messages=question, provider="openai") as call:
        call.output(SAID)
    try:
        fails(SAID)
    except ValueError:
        return SAID

bot(SAID)
"""


@pytest.mark.parametrize("generation", ["2026-10", "1.36"])
def test_redact_masks_log_records_and_all_of_an_error_but_its_status(
    generation: str, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(PROGRAM)
    environ = {
        **os.environ,
        "AGENTOOL_DIR": str(tmp_path / "kept"),
        "AGENTOOL_SEMCONV": generation,
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT",
        "OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN": "logs/dup",
    }
    with (
        HttpReceiver() as next_one,
        collector("redact.yaml", tmp_path, NEXT_ENDPOINT=next_one.endpoint) as running,
    ):
        command = [sys.executable, "-m", "agentool_otel", "run", "-q", "--endpoint", running.http]
        program = ["--", sys.executable, str(tmp_path / "app.py")]
        subprocess.run([*command, *program], env=environ, check=True)
        assert wait_for(lambda: len(next_one.names()) >= 3 and next_one.logs())
    for body in next_one.bodies["/v1/logs"]:
        assert CANARY.encode() not in body
    for body in next_one.bodies["/v1/traces"]:
        spans = spans_in(body)
        for span in spans:
            span.status.message = ""
            assert CANARY.encode() not in span.SerializeToString(), span.name


def test_tail_sampling_keeps_notable_runs_and_counts_all(tmp_path: Path) -> None:
    metrics: dict[str, Any] = {"total_tokens": 10, "tool_call_count": 1}
    times = {"started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:02:00Z"}
    results = {
        "failed": run("failed", status="error"),
        "out of time": run("out of time", status="timeout"),
        "refused": run("refused", status="refusal"),
        "slow": run("slow", **times),
        "dear": run("dear", metrics={**metrics, "total_cost_usd": 2.5}),
        "talkative": run("talkative", metrics={**metrics, "total_tokens": 300_000}),
        "in a loop": run("in a loop", metrics={**metrics, "tool_call_count": 80}),
    }
    dropped = {name: run(name, metrics=metrics) for name in ("ordinary", "ordinary too")}
    with HttpReceiver() as next_one:
        environ = {"NEXT_ENDPOINT": next_one.endpoint, "DECISION_WAIT": "1s", "SHARE_PERCENT": "0",
                   "FLUSH_INTERVAL": "1s"}  # fmt: skip
        with collector("tail-sampling.yaml", tmp_path, **environ) as running:
            send(running.http, *results.values(), *dropped.values(), folder=tmp_path)
            assert wait_for(lambda: len(next_one.names()) >= len(results))
            assert wait_for(lambda: calls(running.metrics) == len(results) + len(dropped))
    folder = tmp_path / "arrived"
    folder.mkdir()
    assert rebuilt(arrived(next_one, folder)).keys() == results.keys()


def calls(url: str, name: str = "traces_span_metrics_calls_total", **labels: str) -> float:
    """The sum of a counter over all series that have the labels given."""
    series = re.findall(rf"^{name}{{(.*)}} (\S+)", scraped(url), re.MULTILINE)
    wanted = [f'{label}="{value}"' for label, value in labels.items()]
    return sum(float(value) for have, value in series if all(item in have for item in wanted))


def test_metrics_counts_calls_and_tokens_of_another_sdk(tmp_path: Path) -> None:
    recording = Path(__file__).parent.parent / "fixtures" / "spans" / OTHER
    spans = [
        span for span in open_source(recording).spans() if span.end_ns
    ]  # the others: log records
    models = [span for span in spans if span.attributes.get("gen_ai.operation.name") == "chat"]
    tokens = sum(int(model.attributes.get("gen_ai.usage.input_tokens", 0)) for model in models)
    assert tokens > 0
    model_calls = "gen_ai_client_inference_duration_seconds_count"
    input_tokens = "gen_ai_client_inference_usage_input_tokens_total"
    with HttpReceiver() as next_one:
        environ = {"NEXT_ENDPOINT": next_one.endpoint, "FLUSH_INTERVAL": "1s"}
        with collector("metrics.yaml", tmp_path, **environ) as running:

            def counted(times: int) -> bool:
                return (
                    calls(running.metrics, model_calls) == times * len(models)
                    and calls(running.metrics, input_tokens) == times * tokens
                )

            for times in (1, 2):  # the second batch adds to the first
                for line in recording.read_bytes().splitlines():
                    if b'"resourceSpans"' in line:
                        post(f"{running.http}/v1/traces", line)
                assert wait_for(partial(counted, times)), scraped(running.metrics)
            assert calls(running.metrics, model_calls, gen_ai_operation_name="chat") > 0
            assert wait_for(lambda: len(next_one.names()) == 2 * len(spans))


def test_metrics_adds_up_tokens_that_arrive_at_the_same_time(tmp_path: Path) -> None:
    values: dict[str, Any] = {
        "gen_ai.operation.name": {"stringValue": "chat"},
        "gen_ai.usage.input_tokens": {"intValue": "1"},
    }
    call = {
        "traceId": "1" * 32,
        "name": "chat",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
        "attributes": [{"key": key, "value": value} for key, value in values.items()],
    }

    def body(number: int) -> bytes:
        spans = [{**call, "spanId": f"{number:016x}"}]
        return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()

    with HttpReceiver() as next_one:
        environ = {"NEXT_ENDPOINT": next_one.endpoint, "FLUSH_INTERVAL": "1s"}
        with collector("metrics.yaml", tmp_path, **environ) as running:
            with ThreadPoolExecutor(16) as pool:
                for number in range(1, 401):
                    pool.submit(post, f"{running.http}/v1/traces", body(number))
            total = "gen_ai_client_inference_usage_input_tokens_total"
            assert wait_for(lambda: calls(running.metrics, total) == 400)


def post(url: str, body: bytes) -> None:
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status == 200
