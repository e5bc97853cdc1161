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
from agentool_otel.sources.opening import open_source
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
    """What programs sent."""

    generation: str
    """Of the conventions."""
    url: str
    """Of the Prometheus that has their metrics."""
    spans: list[SpanRecord]
    """What the same programs recorded."""

    def ask(self, path: str, **question: Any) -> Any:
        """Return what Prometheus's API answers; it refuses what it cannot parse."""
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(question, doseq=True)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)["data"]

    def of(self, operation: str) -> Iterator[SpanRecord]:
        """Yield the spans of an operation."""
        return (it for it in self.spans if it.attributes.get("gen_ai.operation.name") == operation)


@contextmanager
def workload(generation: str, route: Route, folder: Path) -> Generator[Measured]:
    """Run the programs to their ends, one after the other, with what takes their metrics.

    Args:
        generation: of the conventions.
        route: `spans` is that of programs that send no metrics, through `metrics.yaml`.
        folder: for what servers and programs write.
    """
    with ExitStack() as stack:
        if route == "direct":
            url = stack.enter_context(prometheus(folder / "prometheus"))
            sent = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{url}/api/v1/otlp/v1/metrics"}
        else:
            file = "metrics.yaml" if route == "spans" else "local.yaml"
            running = stack.enter_context(
                collector(file, folder / "collector", FLUSH_INTERVAL="1s")
            )
            url = stack.enter_context(prometheus(folder / "prometheus", running))
            sent = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{running.http}/v1/metrics"}
            if route == "spans":
                sent = {
                    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{running.http}/v1/traces",
                    "OTEL_METRICS_EXPORTER": "none",
                }
        model = stack.enter_context(the_model())
        clean = {name: it for name, it in os.environ.items() if not name.startswith(_SETTINGS)}
        environ = {
            **clean,
            **model.env(),
            "AGENTOOL_SEMCONV": generation,
            "AGENTOOL_DIR": str(folder / "recorded"),
            **sent,
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
        measured = Measured(generation, url, [*open_source(folder / "recorded").spans()])
        last = '{gen_ai_provider_name="anthropic"}'  # what the last program sent
        assert wait_for(lambda: measured.ask("query", query=last)["result"])
        yield measured
