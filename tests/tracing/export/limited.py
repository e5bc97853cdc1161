"""Programs and recordings for tests of the limits of a folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentool_otel.tracing.export.disk.recording import RecordingExporter

SERVE = """
import os, sys
import agentool_otel

agentool_otel.instrument(max_size=sys.argv[1])

@agentool_otel.tool
def work(text):
    return text

def size():
    return sum(os.stat(entry).st_size for entry in os.scandir(".agentool"))

def serve(name, runs):
    largest = 0
    for number in range(runs):
        with agentool_otel.run(name, input=str(number)) as run:
            work("x" * 2_000)
            run.output = "done"
        if not number % 20:
            try:
                largest = max(largest, size())
            except FileNotFoundError:  # removed meanwhile
                pass
    return largest
"""
SERVER = SERVE + 'print(serve("server", int(sys.argv[2])))'


def environ(**more: str) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    return {**clean, "OTEL_METRICS_EXPORTER": "none", "AGENTOOL_OTEL_STRICT": "1", **more}


def python(folder: Path, code: str, *arguments: str, **more: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=environ(**more),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def spans(runs: int) -> list[ReadableSpan]:
    """Return the spans of some runs, each with a nested span, in the order of their ends."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("test")
    for number in range(runs):
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": f"{number}"}
        with tracer.start_as_current_span("invoke_agent", attributes=attributes):
            for _ in range(2):
                tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}
                tracer.start_span("execute_tool t", attributes=tool).end()
    return list(memory.get_finished_spans())


def record(folder: Path, parts: list[list[ReadableSpan]]) -> list[Path]:
    """Record spans into the files of one recording; return those."""
    exporter = RecordingExporter(folder)
    paths: list[Path] = []
    for part in parts:
        for span in part:
            exporter.put(span)
        assert exporter.path is not None
        paths.append(exporter.path)
        exporter.rotate()
    exporter.shutdown()
    return paths
