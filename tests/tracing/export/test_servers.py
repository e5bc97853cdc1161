"""Servers that fork their workers: gunicorn with `--preload`, celery's prefork pool.

Run by `python -m tests.frameworks places`, in an environment that has them.
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
from agentool_otel.reading.sources.opening import open_source

EXAMPLES = Path(__file__).parents[3] / "examples" / "servers"
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "AGENTOOL_"))
} | {"PYTHONPATH": str(EXAMPLES), "BROKER_URL": "filesystem://"}
WITH_PID = """
import os
from web import app as answer

def app(environ, start_response):
    return [*answer(environ, start_response), f" {os.getpid()}".encode()]
"""
WITHOUT_SERVER = """
import os
from tasks import app

app.conf.update(
    result_backend="file://" + os.path.abspath("results"),
    broker_transport_options={"data_folder_in": "queue", "data_folder_out": "queue",
                              "control_folder": "control"},
    worker_max_tasks_per_child=2,
)
"""


@contextmanager
def started(folder: Path, *command: str) -> Generator[subprocess.Popen[bytes]]:
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([sys.executable, "-m", *command], cwd=folder, env=ENVIRONMENT,
                                   stdout=log, stderr=log)  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def check(folder: Path, expected: int) -> set[str]:
    """Check that each span is recorded once, and return the ids of the processes with a file."""
    recover(folder / ".agentool")
    spans: list[SpanRecord] = list(open_source(folder / ".agentool").spans())
    assert len(spans) == expected, (folder / "log").read_text()
    assert len({span.span_id for span in spans}) == expected
    assert len({span.trace_id for span in spans}) == expected
    return {file.name.split("-")[-2] for file in (folder / ".agentool").glob("*.jsonl")}


def test_every_worker_of_a_preloaded_gunicorn_records_its_spans(tmp_path: Path) -> None:
    pytest.importorskip("gunicorn")
    (tmp_path / "preloaded.py").write_text(WITH_PID)
    with socket.create_server(("127.0.0.1", 0)) as free:
        where = f"127.0.0.1:{free.getsockname()[1]}"
    command = ("gunicorn", "--preload", "--workers", "3", "--max-requests", "4", "--bind", where,
               "preloaded:app")  # fmt: skip
    with started(tmp_path, *command) as server:
        workers = [_ask(f"http://{where}/?sky", tmp_path).split()[-1] for _ in range(20)]
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
    assert check(tmp_path, 20) == set(workers)


def test_every_recycled_celery_worker_records_its_spans(tmp_path: Path) -> None:
    pytest.importorskip("celery")
    for name in ("queue", "control", "results"):
        (tmp_path / name).mkdir()
    (tmp_path / "worker.py").write_text(WITHOUT_SERVER)
    send = (
        "import worker, tasks\n"
        "waiting = [tasks.ask.delay('sky') for _ in range(10)]\n"
        "print(*[each.get(timeout=60) for each in waiting], sep='\\n')"
    )
    with started(tmp_path, "celery", "-A", "worker", "worker", "--concurrency", "2") as server:
        done = subprocess.run([sys.executable, "-c", send], cwd=tmp_path, env=ENVIRONMENT,
                              capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr + (tmp_path / "log").read_text()
        server.send_signal(signal.SIGTERM)
        server.wait(60)
    assert done.stdout.splitlines() == ["You asked: sky"] * 10
    assert len(check(tmp_path, 10)) >= 5  # two tasks each


def _ask(url: str, folder: Path) -> str:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return str(answer.read().decode())
        except OSError:
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.05)
