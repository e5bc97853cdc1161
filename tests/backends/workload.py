"""Real programs in a real Prometheus: their metrics, sent there or through the Collector, or the
figures that the Collector makes of their spans."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from tests.backends.servers import collector, prometheus, wait_for
from tests.pages._model import the_model

__all__ = ["Measured", "Route", "workload"]

Route = Literal["direct", "collector", "spans"]
_ROOT = Path(__file__).parent.parent.parent
_PROGRAMS = (
    "tests/pages/programs/decorated.py",
    "tests/pages/programs/client.py",
    "tests/backends/programs/unlucky.py",
)
"""Nested agents, tools, streams, errors of all of them, three models of two providers."""
_SETTINGS = ("OTEL_", "AGENTOOL_", "OPENAI_")


class Measured(NamedTuple):
    """Metrics and spans of the programs."""

    generation: str
    """Of the conventions."""
    route: Route
    url: str
    """Of the Prometheus that has their metrics."""
    spans: list[SpanRecord]
    """Spans that the same programs recorded."""

    def ask(self, path: str, **question: Any) -> Any:
        """Return the answer of Prometheus's API, which refuses invalid queries."""
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(question, doseq=True)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)["data"]

    def of(self, operation: str) -> Iterator[SpanRecord]:
        """Yield the spans of an operation."""
        return (
            span for span in self.spans if span.attributes.get("gen_ai.operation.name") == operation
        )


@contextmanager
def workload(generation: str, route: Route, folder: Path) -> Generator[Measured]:
    """Run the programs to their ends, one after the other, with a receiver of their metrics.

    Args:
        generation: of the conventions.
        route: `spans` is that of programs that send no metrics, through `metrics.yaml`.
        folder: for what servers and programs write.
    """
    with ExitStack() as stack:
        running = None
        metrics = {"OTEL_METRICS_EXPORTER": "none"}
        if route == "direct":
            url = stack.enter_context(prometheus(folder / "prometheus"))
            metrics = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{url}/api/v1/otlp/v1/metrics"}
        else:
            file = "metrics.yaml" if route == "spans" else "local.yaml"
            # Exemplars last until the next flush. Prometheus scrapes every second, and on a busy
            # machine it misses several scrapes in a row.
            environ = {"FLUSH_INTERVAL": "10s"}
            running = stack.enter_context(collector(file, folder / "collector", **environ))
            url = stack.enter_context(prometheus(folder / "prometheus", running))
            if route == "collector":
                metrics = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{running.http}/v1/metrics"}
        model = stack.enter_context(the_model())
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS)
        }
        environ = {
            **clean,
            **model.env(),
            "AGENTOOL_SEMCONV": generation,
            "AGENTOOL_DIR": str(folder / "recorded"),
            **metrics,
        }
        for program in _PROGRAMS:
            command = [sys.executable, "-m", "agentool_otel", "run", "--", sys.executable]
            done = subprocess.run(
                [*command, str(_ROOT / program)],
                cwd=_ROOT,
                env=environ,
                capture_output=True,
                check=False,
                text=True,
            )
            assert done.returncode == 0, done.stderr
        if running is not None and route == "spans":
            _post(folder / "recorded", f"{running.http}/v1/traces")
        measured = Measured(generation, route, url, [*open_source(folder / "recorded").spans()])
        assert wait_for(lambda: _all_counted(measured))
        yield measured


def _all_counted(measured: Measured) -> bool:
    """Return whether every model call and run of the spans is in the figures."""
    calls = '__name__=~"gen_ai_client_(inference|operation)_duration_seconds_count"'
    wanted = {f'{calls}, gen_ai_operation_name="chat"': len([*measured.of("chat")])}
    if measured.generation != "1.41":  # has no metrics of agents
        runs = '__name__="gen_ai_invoke_agent_duration_seconds_count"'
        wanted[runs] = len([*measured.of("invoke_agent")])
    for series, count in wanted.items():
        result = measured.ask("query", query=f"sum({{{series}}})")["result"]
        if not result or float(result[0]["value"][1]) != count:
            return False
    return True


def _post(recorded: Path, url: str) -> None:
    """Send the recorded spans, a request for each line."""
    for file in sorted(recorded.glob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            request = urllib.request.Request(url, line, {"content-type": "application/json"})
            with urllib.request.urlopen(request, timeout=10) as answer:
                assert answer.status == 200
