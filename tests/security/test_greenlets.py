"""Programs whose threads are greenlets, patched before and after us.

`python -m tests.frameworks greenlets` has the packages.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from agentool_otel.reading.sources.opening import open_source
from tests.tracing.export.receiver import HttpReceiver

PATCHES = {
    "gevent": "from gevent import monkey; monkey.patch_all()",
    "eventlet": "import eventlet; eventlet.monkey_patch()",
}
CALLS = """
import threading
from concurrent.futures import ThreadPoolExecutor

@agentool_otel.tool
def inner(n):
    return n

@agentool_otel.agent
def outer(question):
    thread = threading.Thread(target=inner, args=(0,))
    thread.start()
    thread.join()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(inner, range(3)))
    return "done"

outer("?")
states = {it["state"] for it in agentool_otel.status()["threads"]}
assert states == {"attached"}, agentool_otel.status()["threads"]
"""


def program(package: str, when: str, endpoint: str = "") -> str:
    patch = PATCHES[package]
    ours = f"import agentool_otel; agentool_otel.instrument({endpoint!r} or None)"
    return "\n".join([patch, ours, CALLS] if when == "before" else [ours, patch, CALLS])


def run(source: str, folder: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", source]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=25, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(params=PATCHES)
def package(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed here: `python -m tests.frameworks greenlets` has it")
    return name


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_program_with_greenlets_is_recorded(package: str, when: str, tmp_path: Path) -> None:
    run(program(package, when), tmp_path)
    spans = list(open_source(str(tmp_path / ".agentool")).spans())
    [agent] = (span for span in spans if span.parent_id is None)
    tools = [span for span in spans if span.parent_id == agent.span_id]
    assert len(tools) == 4 == len(spans) - 1


@pytest.mark.parametrize("when", ["before", "after"])
def test_spans_of_greenlets_are_sent(package: str, when: str, tmp_path: Path) -> None:
    with HttpReceiver(keeps=True) as receiver:
        run(program(package, when, receiver.endpoint), tmp_path)
        assert len(receiver.names()) == 5
    assert not list((tmp_path / ".agentool").glob("*spool"))
