"""Start-up cost of a process: CPU time of whole interpreters, compiled modules cached."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks._child import cpu_ms
from benchmarks._rounds import compared
from benchmarks._sink import sink
from benchmarks._sizes import Size
from benchmarks._table import Row, Target

__all__ = ["rows"]

_END = "import os; os._exit(0)"
"""No farewell: what is on its way at the end is no part of the start."""
_SDK = """
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter({url!r} + "/v1/traces")))
trace.set_tracer_provider(provider)
with trace.get_tracer("app").start_as_current_span("call"):
    pass
"""
_OURS = """
import agentool_otel
agentool_otel.instrument({options})
@agentool_otel.tool
def call(text):
    return text
call("hello")
"""
_RUNS = """
import agentool_otel
agentool_otel.instrument()
@agentool_otel.tool
def search(query):
    return [query] * 3
@agentool_otel.agent(name="bench")
def run(task):
    with agentool_otel.model_call("gpt-5", messages=[{"role": "user", "content": task}]) as call:
        call.output("done")
    search(task)
    return "done"
for number in range(4):
    run(f"task {number}")
"""
_COMMAND = [sys.executable, "-c", "import sys; sys.path.pop(0)\n"
            "from agentool_otel.cli import main; main()"]  # fmt: skip
"""As the installed script: the folder that it is started in is not on the path."""


def rows(size: Size) -> Iterator[Row]:
    with sink() as url, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "empty.py").touch()
        cpu_ms([sys.executable, "-c", _RUNS], folder, AGENTOOL_DIR=str(folder / "runs"))
        empty = [sys.executable, "empty.py"]
        sdk = [sys.executable, "-c", _SDK.format(url=url) + _END]
        yield _row("agentool-otel run around an empty program, more than the program", folder,
                   [*_COMMAND, "run", "--", *empty], empty, size,
                   Target("≤ 150 ms", 150, on="ours"), less=True)  # fmt: skip
        yield _row("agentool-otel show of four runs, against an empty program", folder,
                   [*_COMMAND, "show", "runs"], empty, size,
                   Target("≤ 200 ms", 200, on="ours"))  # fmt: skip
        yield _row("agentool-otel rebuild of four runs, against an empty program", folder,
                   [*_COMMAND, "rebuild", "runs"], empty, size)  # fmt: skip
        for way, options in (("recorded", ""), ("sent", f"endpoint={url!r}")):
            code = _OURS.format(options=options) + _END
            yield _row(f"instrument() and first call, {way}, against SDK, exporter and span",
                       folder, [sys.executable, "-c", code], sdk, size,
                       Target("≤ 1.5×", 1.5))  # fmt: skip


def _row(
    description: str,
    folder: Path,
    ours: list[str],
    reference: list[str],
    size: Size,
    target: Target | None = None,
    less: bool = False,
) -> Row:
    """Compare two commands in turns.

    Args:
        description: names the row.
        folder: they run in it.
        ours: the command.
        reference: what it is compared with.
        size: how often.
        target: the bound.
        less: whether ours counts without the reference.
    """
    pairs: list[tuple[float, float]] = []
    for number in range(size.interpreters + 1):
        base = cpu_ms(reference, folder)
        ms = cpu_ms(ours, folder, AGENTOOL_DIR=str(folder / "recorded"))
        if number:  # the first round compiles
            pairs.append((ms - base if less else ms, base))
    return Row.of(description, "ms", compared(pairs), target)
