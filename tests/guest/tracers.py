"""Other tracing packages, each set up the ordinary way in a program of its own.

A program calls a model on this machine, once plain and once streamed, and prints the answers. Its
spans go by OTLP to the receiver, ours into a recording.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from agentool_otel.reading.sources.opening import open_source
from agentool_otel.testing.loopback_model import LoopbackModel
from tests.tracing.export.receiver import HttpReceiver

__all__ = ["THEIR_PROVIDER", "TRACERS", "Answer", "Tracer", "installed", "program"]


class Tracer(NamedTuple):
    """Source code that switches a tracing package on and off."""

    module: str
    """Module that shows whether the package is installed."""
    on: str
    flush: str
    off: str = ""
    """Empty where it cannot be switched off."""


THEIR_PROVIDER = """
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
theirs = TracerProvider()
theirs.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(RECEIVER + "/v1/traces")))
"""

TRACERS = {
    "openinference": Tracer(
        "openinference.instrumentation.openai",
        THEIR_PROVIDER
        + "from openinference.instrumentation.openai import OpenAIInstrumentor as Their\n"
        "Their().instrument(tracer_provider=theirs)",
        "theirs.force_flush()",
        "Their().uninstrument()",
    ),
    "openllmetry": Tracer(
        "opentelemetry.instrumentation.openai",
        THEIR_PROVIDER
        + "from opentelemetry.instrumentation.openai import OpenAIInstrumentor as Their\n"
        "Their().instrument(tracer_provider=theirs)",
        "theirs.force_flush()",
        "Their().uninstrument()",
    ),
    "logfire": Tracer(
        "logfire",
        "import os, logfire\n"
        "os.environ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] = RECEIVER + '/v1/traces'\n"
        "logfire.configure(send_to_logfire=False, console=False, metrics=False,"
        " inspect_arguments=False)\n"
        "del os.environ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']\n"
        "logfire.instrument_openai()",
        "logfire.force_flush()",
    ),
    "langfuse": Tracer(
        "langfuse",
        "import os\n"
        "os.environ.update("
        "LANGFUSE_PUBLIC_KEY='pk', LANGFUSE_SECRET_KEY='sk', LANGFUSE_HOST=RECEIVER)\n"
        "import langfuse.openai\n"
        "theirs = langfuse.get_client()",
        "theirs.flush()",
    ),
}

_CALLS = """
from openai import OpenAI
def ask():
    with OpenAI(base_url=MODEL, api_key="none", max_retries=0) as client:
        question = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hello"}]}
        whole = client.chat.completions.create(**question)
        assert type(whole).__name__ == "ChatCompletion", type(whole)
        chunks = list(client.chat.completions.create(
            **question, stream=True, stream_options={"include_usage": True}))
        return [whole.choices[0].message.content, "".join(
            choice.delta.content or "" for chunk in chunks for choice in chunk.choices)]
"""


class Answer(NamedTuple):
    """Output of a program, and its spans by scope."""

    said: Any
    spans: list[tuple[str, str]]
    """Scope and name of what the receiver got, sorted."""
    recorded: list[str]
    """Names of our spans in the recording."""
    stderr: str

    def ours(self) -> list[tuple[str, str]]:
        return [pair for pair in self.spans if pair[0].startswith("agentool")]

    def theirs(self) -> list[tuple[str, str]]:
        return [pair for pair in self.spans if not pair[0].startswith("agentool")]


def installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(TRACERS[name].module) is not None
    except ModuleNotFoundError:
        return False


def program(folder: Path, code: str, calls: str = _CALLS) -> Answer:
    """Run a program that leaves its output in `said`; `RECEIVER` and `MODEL` are URLs.

    Args:
        folder: where it runs.
        code: the program.
        calls: what stands before it: the definition of `ask`.
    """
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    clean["AGENTOOL_OTEL_STRICT"] = "1"
    with LoopbackModel() as model, HttpReceiver() as receiver:
        urls = f"RECEIVER, MODEL = {receiver.endpoint!r}, {model.base_url!r}\n"
        done = subprocess.run(
            [sys.executable, "-c", f"{urls}{calls}{code}\nimport json; print(json.dumps(said))"],
            env=clean,
            cwd=folder,
            timeout=120,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        bodies = [
            body for path, each in receiver.bodies.items() if "trace" in path for body in each
        ]
    document = json.loads(done.stdout.splitlines()[-1])
    spans = sorted(pair for body in bodies for pair in _spans(body))
    result = folder / ".agentool"
    recorded = list(open_source(str(result)).spans()) if result.exists() else []
    names = [span.name for span in recorded if (span.scope or "").startswith("agentool")]
    return Answer(document, spans, names, done.stderr)


def _spans(body: bytes) -> list[tuple[str, str]]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest.FromString(body)
    return [
        (scope.scope.name, span.name)
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
