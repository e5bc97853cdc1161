"""Servers that fork their workers: gunicorn with `--preload`, celery's prefork pool.

Run by `python -m tests.frameworks servers`, in an environment that has them.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentool_otel.cli.recover import recover
from agentool_otel.model.spans import SpanRecord
from agentool_otel.sources.opening import open_source

APP = """
import os
import agentool_otel
agentool_otel.instrument()

@agentool_otel.tool
def work(number):
    return number

def app(environ, start_response):
    work(0)
    start_response("200 OK", [("content-type", "text/plain")])
    return [str(os.getpid()).encode()]
"""
TASKS = """
import os
import agentool_otel
from celery import Celery
agentool_otel.instrument()

app = Celery(broker="filesystem://", backend="file://" + os.path.abspath("results"))
app.conf.update(
    broker_transport_options={"data_folder_in": "queue", "data_folder_out": "queue",
                              "control_folder": "control"},
    worker_max_tasks_per_child=2,
)

@agentool_otel.tool
def tool(number):
    return number

@app.task
def work(number):
    tool(number)
    return os.getpid()
"""


@contextmanager
def started(folder: Path, *command: str) -> Generator[subprocess.Popen[bytes]]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([sys.executable, "-m", *command], cwd=folder, env=clean,
                                   stdout=log, stderr=log)  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def check(folder: Path, processes: set[str], expected: int) -> None:
    """Every span once, under an id of its own, in the file of the process that made it."""
    recover(folder / ".agentool")
    spans: list[SpanRecord] = list(open_source(folder / ".agentool").spans())
    assert len(spans) == expected, (folder / "log").read_text()
    assert len({span.span_id for span in spans}) == expected
    assert len({span.trace_id for span in spans}) == expected
    files = {file.name.split("-")[-2] for file in (folder / ".agentool").glob("*.jsonl")}
    assert files == processes


def test_every_worker_of_a_preloaded_gunicorn_records_its_spans(tmp_path: Path) -> None:
    pytest.importorskip("gunicorn")
    (tmp_path / "preloaded.py").write_text(APP)
    with socket.create_server(("127.0.0.1", 0)) as free:
        where = f"127.0.0.1:{free.getsockname()[1]}"
    command = ("gunicorn", "--preload", "--workers", "3", "--max-requests", "4", "--bind", where,
               "preloaded:app")  # fmt: skip
    with started(tmp_path, *command) as server:
        workers = [_ask(f"http://{where}", tmp_path) for _ in range(20)]
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
    check(tmp_path, set(workers), 20)


def test_every_recycled_celery_worker_records_its_spans(tmp_path: Path) -> None:
    pytest.importorskip("celery")
    for name in ("queue", "control", "results"):
        (tmp_path / name).mkdir()
    (tmp_path / "tasks.py").write_text(TASKS)
    send = (
        "from tasks import work\n"
        "waiting = [work.delay(n) for n in range(10)]\n"
        "print(*[each.get(timeout=60) for each in waiting])"
    )
    with started(tmp_path, "celery", "-A", "tasks", "worker", "--concurrency", "2") as worker:
        done = subprocess.run([sys.executable, "-c", send], cwd=tmp_path, capture_output=True,
                              text=True, timeout=120, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr + (tmp_path / "log").read_text()
        worker.send_signal(signal.SIGTERM)
        worker.wait(60)
    pids = done.stdout.split()
    assert len(set(pids)) >= 5  # two tasks each
    check(tmp_path, set(pids), 10)


def _ask(url: str, folder: Path) -> str:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return str(answer.read().decode())
        except OSError:
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.05)
