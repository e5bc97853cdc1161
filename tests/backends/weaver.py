"""OpenTelemetry's own live check, where `weaver` is on the path.

Spec: Weaver 0.25, `weaver registry live-check`: spans, metrics and log records over OTLP/gRPC, the
report as the answer to `POST /stop` on its port for administration.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

__all__ = ["REGISTRIES", "breaches", "weaver"]

REGISTRIES = "OTEL_SEMCONV_REGISTRIES"
"""Names a folder with the model of each generation of the conventions under its name, such as
`1.41/`: they are repositories of their own and too large to bring along."""
_OF_THE_SDK = ("service.", "telemetry.")
"""Attributes of resources, which no registry of one domain has; OpenTelemetry's own runs leave them
out too."""


def weaver() -> str:
    """Return the command; skip the test where there is none."""
    result = shutil.which("weaver")
    if result is None:
        pytest.skip("needs OpenTelemetry Weaver on the path")
    return result


def breaches(registry: Path, program: Path, **environ: str) -> list[str]:
    """Run a program under `agentool-otel run` and return the live check's violations."""
    with _checking(registry) as (endpoint, administration):
        own = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
            "OTEL_METRIC_EXPORT_INTERVAL": "2147483647",  # once, at the end
            **environ,
        }
        command = [sys.executable, "-m", "agentool_otel", "run", "-q", "--", sys.executable]
        done = subprocess.run(
            [*command, str(program)],
            env={**os.environ, **own},
            capture_output=True,
            check=False,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        stop = urllib.request.Request(f"{administration}/stop", method="POST")
        with urllib.request.urlopen(stop, timeout=60) as answer:
            report = json.load(answer)
    assert _samples(report), "nothing arrived"
    return sorted(set(_violations(report["samples"])))


@contextmanager
def _checking(registry: Path) -> Generator[tuple[str, str]]:
    port, administration = _free_ports()
    command = [weaver(), "registry", "live-check", "-r", str(registry), "--no-stream"]
    ports = ["--otlp-grpc-port", str(port), "--admin-port", str(administration)]
    process = subprocess.Popen(
        [*command, *ports, "--output=http", "--format=json", "--inactivity-timeout=120"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}", f"http://127.0.0.1:{administration}"
    finally:
        process.kill()
        process.communicate()


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as second:
        one.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return one.getsockname()[1], second.getsockname()[1]


def _wait_for(port: int, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if process.poll() is not None:
            pytest.fail(f"weaver ended: {process.communicate()[0][-4000:]}")
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return
        except OSError:
            time.sleep(0.05)
    pytest.fail("weaver did not start listening within a minute")


def _samples(report: dict[str, Any]) -> int:
    return sum(name in sample for sample in report["samples"] for name in ("span", "metric", "log"))


def _violations(samples: Any) -> Iterator[str]:
    """Yield every finding of that level in a report, whatever it is nested in."""
    if isinstance(samples, list):
        for sample in samples:
            yield from _violations(sample)
    elif isinstance(samples, dict):
        result = samples.get("live_check_result") or {}
        for advice in result.get("all_advice", ()):
            name = str(samples.get("name", ""))
            if advice["level"] == "violation" and not name.startswith(_OF_THE_SDK):
                yield f"{name}: {advice['message']}"
        for inner in samples.values():
            yield from _violations(inner)
