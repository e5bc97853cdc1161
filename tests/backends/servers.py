"""The Collector, Jaeger and Prometheus as processes on this machine, on ports of their own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.backends.built import built

__all__ = [
    "CONFIGS",
    "Collector",
    "Jaeger",
    "answers",
    "collector",
    "free_ports",
    "jaeger",
    "prometheus",
    "server",
    "wait_for",
]

CONFIGS = Path(__file__).parent.parent.parent / "collector-config"


class Collector(NamedTuple):
    """A running Collector."""

    http: str
    """URL of OTLP over HTTP."""
    grpc: str
    """The same for gRPC, as `grpc://`."""
    metrics: str
    """URL at which the metrics of programs can be scraped, if its configuration has that."""
    own_metrics: str
    """URL at which its own metrics can be scraped."""
    folder: Path
    """Folder of its files, in `archive/` and `queue/`."""
    process: subprocess.Popen[bytes]


def free_ports(count: int) -> list[int]:
    """Return ports that nothing listens on."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def collector(config: str, folder: Path, **environ: str) -> Generator[Collector]:
    """Run the Collector with files of `collector-config/` until the block ends.

    Args:
        config: name of the file; further ones go over it, after a space.
        folder: for what it writes.
        environ: further variables that the file reads.
    """
    http, grpc, metrics, own_metrics, health = free_ports(5)
    places = {
        "OTLP_HTTP_PORT": str(http),
        "OTLP_GRPC_PORT": str(grpc),
        "METRICS_LISTEN": f"127.0.0.1:{metrics}",
        "OWN_METRICS_PORT": str(own_metrics),
        "HEALTH_PORT": str(health),
        "ARCHIVE_DIR": str(folder / "archive"),
        "QUEUE_DIR": str(folder / "queue"),
        **environ,
    }
    files = [f"--config={CONFIGS / file}" for file in config.split()]
    command = [str(built("collector")), *files]
    healthy = answers(f"http://127.0.0.1:{health}")
    with server(command, folder, healthy, **places) as process:
        yield Collector(
            f"http://127.0.0.1:{http}",
            f"grpc://127.0.0.1:{grpc}",
            f"http://127.0.0.1:{metrics}/metrics",
            f"http://127.0.0.1:{own_metrics}/metrics",
            folder,
            process,
        )


class Jaeger(NamedTuple):
    """A running Jaeger."""

    http: str
    """URL of OTLP over HTTP."""
    grpc: str
    """The same for gRPC, as `grpc://`."""
    query: str
    """URL for queries."""


@contextmanager
def jaeger(folder: Path) -> Generator[Jaeger]:
    """Run Jaeger with `collector-config/jaeger.yaml`, spans in memory, until the block ends."""
    http, grpc, query, query_grpc, health = free_ports(5)
    ports = {
        "LISTEN_HOST": "127.0.0.1",
        "OTLP_HTTP_PORT": str(http),
        "OTLP_GRPC_PORT": str(grpc),
        "QUERY_PORT": str(query),
        "QUERY_GRPC_PORT": str(query_grpc),
        "HEALTH_PORT": str(health),
    }
    command = [str(built("jaeger")), f"--config={CONFIGS / 'jaeger.yaml'}"]
    with server(command, folder, answers(f"http://127.0.0.1:{health}/status"), **ports):
        yield Jaeger(
            f"http://127.0.0.1:{http}", f"grpc://127.0.0.1:{grpc}", f"http://127.0.0.1:{query}"
        )


@contextmanager
def prometheus(folder: Path, scraped: Collector | None = None) -> Generator[str]:
    """Run Prometheus with its file of `collector-config/` and the alerts, and give its URL; it
    takes OTLP too.

    Args:
        folder: for what it writes.
        scraped: the Collector whose figures it scrapes. Scrapes and rules run every second, not
            every 15.
    """
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    folder.mkdir(parents=True, exist_ok=True)
    text = (CONFIGS / "prometheus.yaml").read_text()
    metrics, own_metrics = ("http://127.0.0.1:9/metrics",) * 2
    if scraped is not None:
        metrics, own_metrics = scraped.metrics, scraped.own_metrics
    for ours, theirs in (
        ("collector:8889", metrics.split("/")[2]),
        ("collector:8890", own_metrics.split("/")[2]),
        (": 15s", ": 1s"),
    ):
        assert ours in text
        text = text.replace(ours, theirs)
    (folder / "prometheus.yaml").write_text(text)
    shutil.copy(CONFIGS / "grafana" / "alerts.yaml", folder)
    command = [
        str(built("prometheus")),
        f"--config.file={folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--web.enable-otlp-receiver",
        "--enable-feature=exemplar-storage",
    ]
    with server(command, folder, answers(f"{url}/-/ready")):
        yield url


@contextmanager
def server(
    command: list[str], folder: Path, ready: Callable[[], bool], **environ: str
) -> Generator[subprocess.Popen[bytes]]:
    """Run a server in a folder until the block ends, and give its process; `log` has its output."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    with open(log, "ab") as text:
        process = subprocess.Popen(
            command, cwd=folder, stdout=text, stderr=text, env={**os.environ, **environ}
        )
    try:
        until = time.monotonic() + 60
        while not ready():
            if process.poll() is not None or time.monotonic() > until:
                pytest.fail(f"{command[0]} does not run:\n{log.read_text()[-4000:]}")
            time.sleep(0.05)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(url: str) -> Callable[[], bool]:
    """Return whether a URL is answered with success, as a function to wait for."""

    def answered() -> bool:
        try:
            with urllib.request.urlopen(url, timeout=1) as response:
                return bool(response.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    return answered


def wait_for(function: Callable[[], Any], seconds: float = 20) -> Any:
    """Call a function until its result is true or the time is up; return the last result."""
    until = time.monotonic() + seconds
    while not (result := function()) and time.monotonic() < until:
        time.sleep(0.1)
    return result
