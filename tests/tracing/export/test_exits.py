"""However a process ends, its spans are there: the exit table, with real processes and signals.

Five tool spans each, and five log records in them where the test is about those. Into a recording
every one arrives once; at an endpoint at least once, with the ids it has, after `agentool-otel
recover` where the process had no time to send them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agentool_otel.cli.recover import recover
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool
from tests.tracing.export.receiver import HttpReceiver

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals")

PROGRAM = """
import multiprocessing, os, signal, sys, threading, time
import agentool_otel
from opentelemetry import _logs

agentool_otel.instrument()

@agentool_otel.tool
def work(number, inside=lambda: None):
    if os.environ.get("LOGS"):
        _logs.get_logger("app").emit(_logs.LogRecord(body=f"record {number}"))
    inside()

def five():
    for number in range(5):
        work(number)

def kill(number):
    os.kill(os.getpid(), number)
    signal.pause()

def in_process(method):
    process = multiprocessing.get_context(method).Process(target=five)
    process.start()
    process.join()

def fork():
    if os.fork() == 0:
        five()
        sys.exit()
    os.wait()

def thread_left_behind():
    started = threading.Event()
    def stay():
        started.set()
        time.sleep(60)
    threading.Thread(target=work, args=(4, stay), daemon=True).start()
    started.wait()
    for number in range(4):
        work(number)

def error():
    raise RuntimeError("unhandled")

def handled():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    five()
    kill(signal.SIGTERM)

if __name__ == "__main__":
    WAY
"""
WAYS = {
    "normal": ("five()", 0),
    "sys.exit": ("five(); sys.exit(1)", 1),
    "unhandled exception": ("five(); error()", 1),
    "SIGINT": ("five(); kill(signal.SIGINT)", -signal.SIGINT),
    "SIGTERM": ("five(); kill(signal.SIGTERM)", -signal.SIGTERM),
    "SIGTERM with a handler of the user's": ("handled()", 7),
    "SIGKILL": ("five(); kill(signal.SIGKILL)", -signal.SIGKILL),
    "os._exit": ("five(); os._exit(3)", 3),
    "os.fork": ("fork()", 0),
    "multiprocessing fork": ("in_process('fork')", 0),
    "multiprocessing spawn": ("in_process('spawn')", 0),
    "multiprocessing forkserver": ("in_process('forkserver')", 0),
    "daemon thread left behind": ("thread_left_behind()", 0),
    "killed in a tool": (
        "[work(n) for n in range(4)]; work(4, lambda: kill(signal.SIGKILL))",
        -signal.SIGKILL,
    ),
}
INCOMPLETE = {"daemon thread left behind", "killed in a tool"}
UNCAUGHT = {"unhandled exception", "SIGINT"}
"""Ways that leave a span more, with the exception that ended the program."""


def run(folder: Path, way: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the program to its end in a folder; no signal handler of ours is in the way."""
    (folder / "app.py").write_text(PROGRAM.replace("WAY", WAYS[way][0] if way in WAYS else way))
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    return subprocess.run(
        [sys.executable, "app.py"],
        cwd=folder,
        env={**clean, "OTEL_METRICS_EXPORTER": "none", **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def recorded(folder: Path) -> list[SpanRecord]:
    return list(open_source(folder / ".agentool").spans())


def logged(spans: list[SpanRecord]) -> list[str]:
    """Return the bodies of the log records: each came as an event of its span."""
    events = [event for span in spans for event in span.events if event.name != "exception"]
    return [event.attributes["body"] for event in events]


def received(receiver: HttpReceiver) -> Iterator[tuple[bytes, bool]]:
    """Yield the id of every span that arrived, and whether it is marked as incomplete."""
    for body in receiver.bodies.get("/v1/traces", []):
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    marks = [pair.value.bool_value for pair in span.attributes
                             if pair.key == agentool.INCOMPLETE]  # fmt: skip
                    yield span.span_id, any(marks)


@pytest.mark.parametrize("way", WAYS)
def test_every_span_is_recorded_once(tmp_path: Path, way: str) -> None:
    done = run(tmp_path, way)
    assert done.returncode == WAYS[way][1]
    assert "agentool" not in done.stderr
    recover(tmp_path / ".agentool")
    spans = recorded(tmp_path)
    assert Counter(Counter(span.span_id for span in spans).values()) == {1: 5 + (way in UNCAUGHT)}
    assert sum(agentool.UNCAUGHT in span.attributes for span in spans) == (way in UNCAUGHT)
    marked = sum(bool(span.attributes.get(agentool.INCOMPLETE)) for span in spans)
    assert marked == (1 if way in INCOMPLETE else 0)
    assert [file.suffix for file in (tmp_path / ".agentool").glob("[!.]*")] == [".jsonl"]


@pytest.mark.parametrize("way", WAYS)
def test_every_span_arrives_at_the_endpoint(tmp_path: Path, way: str) -> None:
    with HttpReceiver() as receiver:
        done = run(tmp_path, way, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint)
        assert done.returncode == WAYS[way][1]
        assert "agentool" not in done.stderr
        if (tmp_path / ".agentool").exists():
            recover(tmp_path / ".agentool")
        spans = list(received(receiver))
    assert len({span_id for span_id, _ in spans}) == 5 + (way in UNCAUGHT)
    assert {span_id for span_id, marked in spans if marked}.__len__() == (way in INCOMPLETE)
    assert list(tmp_path.glob(".agentool/[!.]*")) == []


@pytest.mark.parametrize("way", WAYS)
def test_every_log_record_is_recorded_once(tmp_path: Path, way: str) -> None:
    done = run(tmp_path, way, LOGS="1")
    assert done.returncode == WAYS[way][1]
    assert "agentool" not in done.stderr
    assert sorted(logged(recorded(tmp_path))) == [f"record {number}" for number in range(5)]


@pytest.mark.parametrize("way", WAYS)
def test_every_log_record_arrives_at_the_endpoint(tmp_path: Path, way: str) -> None:
    with HttpReceiver() as receiver:
        done = run(tmp_path, way, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint, LOGS="1")
        assert done.returncode == WAYS[way][1]
        assert "agentool" not in done.stderr
        if (tmp_path / ".agentool").exists():
            recover(tmp_path / ".agentool")
        string_values = {record.body.string_value for record in receiver.logs()}
    assert string_values == {f"record {number}" for number in range(5)}
    assert list(tmp_path.glob(".agentool/[!.]*")) == []


@pytest.mark.parametrize("way", ["os.fork", "multiprocessing fork", "multiprocessing forkserver"])
def test_the_parent_sends_what_a_child_could_not(tmp_path: Path, way: str) -> None:
    with HttpReceiver() as receiver:
        run(tmp_path, way, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint)
        assert len(receiver.names()) == 5


def test_the_next_start_completes_the_recording(tmp_path: Path) -> None:
    run(tmp_path, "killed in a tool")
    assert len(recorded(tmp_path)) == 4
    run(tmp_path, "normal")
    assert len(recorded(tmp_path)) == 10


def test_the_next_start_sends_the_remaining_spans(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint}
        run(tmp_path, "killed in a tool", **endpoint)
        before = len(receiver.names())
        run(tmp_path, "normal", **endpoint)
        assert len({span_id for span_id, _ in received(receiver)}) == 10
        assert before < 5


def test_spans_for_another_endpoint_are_left_alone(tmp_path: Path) -> None:
    with HttpReceiver() as one, HttpReceiver() as http_receiver:
        run(tmp_path, "killed in a tool", OTEL_EXPORTER_OTLP_ENDPOINT=one.endpoint)
        run(tmp_path, "normal", OTEL_EXPORTER_OTLP_ENDPOINT=http_receiver.endpoint)
        assert len(http_receiver.names()) == 5


def test_an_unwritable_disk_is_reported_without_harm_to_the_program(tmp_path: Path) -> None:
    done = run(tmp_path, "normal", AGENTOOL_DIR="/proc/agentool")
    assert (done.returncode, done.stdout) == (0, "")
    first, last = done.stderr.splitlines()
    assert first.startswith("spans cannot be recorded in /proc/agentool")
    assert last == "5 spans were lost: /proc/agentool could not be written"


def test_a_full_disk_is_reported_without_harm_to_the_program(tmp_path: Path) -> None:
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)); five()"
    done = run(tmp_path, full)
    assert done.returncode == 0
    assert "spans cannot be recorded" in done.stderr
    source = open_source(tmp_path / ".agentool")
    assert 0 < len(list(source.spans())) < 5
    assert source.problems == []


def test_with_the_journal_off_only_a_recording_is_written(tmp_path: Path) -> None:
    run(tmp_path, "killed in a tool", AGENTOOL_JOURNAL="off")
    assert not list(tmp_path.glob(".agentool/*.open"))
    run(tmp_path, "normal", AGENTOOL_JOURNAL="off")
    assert len(recorded(tmp_path)) == 5
