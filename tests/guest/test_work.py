"""A service with many requests at once, and a worker: every trajectory has its own steps only.

Run by `python -m tests.frameworks clients`, in an environment that has both.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentool_otel.cli.recover import recover
from agentool_otel.loading import load
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn
from tests.backends.servers import free_ports, wait_for

if not all(find_spec(name) for name in ("fastapi", "uvicorn", "celery", "litellm", "google")):
    pytest.skip("FastAPI, celery or a client is not installed", allow_module_level=True)

ROOT = Path(__file__).parent.parent.parent
REQUESTS = 40


def turn_of(request: Any) -> Turn:
    """Look the number of a question up, then answer with it."""
    number = next(word for word in first_text(request).split() if word.isdigit())
    if request.after_tool:
        return Turn(text=f"answer {number}")
    return Turn(tool_calls=(ToolCall("look_up", {"key": number}),))


def first_text(request: Any) -> str:
    message = request.messages[0]
    content: Any = message.get("content") or message.get("parts")
    return content if isinstance(content, str) else str(content[0]["text"])


@contextmanager
def started(model: LoopbackModel, folder: Path, *command: str) -> Generator[None]:
    """Run a command of the environment under `agentool-otel run`."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    environ = clean | {"PYTHONPATH": str(ROOT), "LOOPBACK_MODEL": model.root_url}
    run = [sys.executable, "-m", "agentool_otel", "run", "-q", "--", sys.executable, "-m"]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [*run, *command], cwd=folder, env=environ, stdout=log, stderr=log
        )
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        finally:
            process.kill()


def check(folder: Path) -> None:
    """Check that no trajectory has steps of two questions, and that every question has its own."""
    recover(folder / ".agentool")
    calls: dict[str, list[str]] = {}
    for trace in (item.to_dict() for item in load(folder / ".agentool")):
        numbers = set(re.findall(r"(?:question|answer|value of) (\d+)", json.dumps(trace)))
        steps = [step["tool_call"] for step in trace["steps"] if step["type"] == "tool_call"]
        assert len(numbers) == 1 or not steps
        for step in steps:
            assert step["arguments"] == {"key": min(numbers)}
            calls.setdefault(min(numbers), []).append(step["name"])
    assert calls == {str(number): ["look_up"] for number in range(REQUESTS)}


@pytest.fixture
def answering() -> Generator[LoopbackModel]:
    with LoopbackModel() as model:
        model.rule(turn_of)
        yield model


def test_every_request_of_a_service_has_its_own_steps(
    answering: LoopbackModel, tmp_path: Path
) -> None:
    [port] = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    uvicorn = ("uvicorn", "tests.guest.work:service", "--port", str(port))
    with started(answering, tmp_path, *uvicorn):
        assert wait_for(lambda: answers(url), 60), (tmp_path / "log").read_text()
        with ThreadPoolExecutor(REQUESTS) as pool:
            texts = list(
                pool.map(lambda n: httpx.get(f"{url}/{n}", timeout=60).json(), range(REQUESTS))
            )
    assert texts == [f"answer {number}" for number in range(REQUESTS)]
    check(tmp_path)


def test_every_task_of_a_worker_has_its_own_steps(answering: LoopbackModel, tmp_path: Path) -> None:
    for name in ("queue", "control", "results"):
        (tmp_path / name).mkdir()
    send = (
        "from tests.guest.work import ask\n"
        f"waiting = [ask.delay(number) for number in range({REQUESTS})]\n"
        "print(*[each.get(timeout=60) for each in waiting], sep='\\n')"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "LOOPBACK_MODEL": answering.root_url}
    celery = ("celery", "-A", "tests.guest.work:worker", "worker", "--concurrency", "2")
    with started(answering, tmp_path, *celery):
        done = subprocess.run(
            [sys.executable, "-c", send],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr + (tmp_path / "log").read_text()
    assert done.stdout.splitlines() == [f"answer {number}" for number in range(REQUESTS)]
    check(tmp_path)


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/docs").is_success
    except httpx.HTTPError:
        return False
