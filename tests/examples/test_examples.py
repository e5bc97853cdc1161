"""Every example runs as it stands, without a key, and leaves the trajectory it is meant to show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import load
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.testing.conformance import assert_conformant, check_all

pytestmark = pytest.mark.thorough

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SIX = {"reasoning", "tool_call", "tool_result", "handoff", "memory_read", "memory_write"}


def run(name: str, folder: Path, *before: str) -> list[dict[str, Any]]:
    """Run an example and return its traces."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "OTEL_"))}
    environ["AGENTOOL_DIR"] = str(folder)
    done = subprocess.run(
        [*before, sys.executable, str(EXAMPLES / name)],
        env=environ,
        cwd=folder.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    return [trace.to_dict() for trace in load(folder)]


def test_there_is_a_test_for_every_example() -> None:
    tested = {
        "plain_agent.py",
        "openai_tools.py",
        "langgraph_handoff.py",
        "own_http_client.py",
    }
    assert {path.name for path in EXAMPLES.glob("*.py")} == tested


def test_the_plain_agent_shows_all_six_step_types(tmp_path: Path) -> None:
    traces = run("plain_agent.py", tmp_path / "r")
    assert {step["type"] for trace in traces for step in trace["steps"]} == SIX


def test_the_openai_agent_shows_a_tool_loop(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    command = (sys.executable, "-m", "agentool_otel", "run", "-q", "--")
    [trace] = run("openai_tools.py", tmp_path / "r", *command)
    assert [step["type"] for step in trace["steps"]] == ["reasoning", "tool_call", "tool_result"]


def test_an_own_http_client_shows_a_tool_loop_and_tokens(
    tmp_path: Path,
) -> None:
    [trace] = run("own_http_client.py", tmp_path / "r")
    assert [step["type"] for step in trace["steps"]] == ["reasoning", "tool_call", "tool_result"]
    assert trace["steps"][1]["tool_call"]["id"] == "call_paris"
    assert trace["metrics"]["total_tokens"] == 148


@pytest.mark.thorough
def test_the_langgraph_agents_show_a_handoff(tmp_path: Path) -> None:
    pytest.importorskip("langgraph")
    pytest.importorskip("langchain_openai")
    outer, *inner = run("langgraph_handoff.py", tmp_path / "r")
    handoffs = [step["to_agent"] for step in outer["steps"] if step["type"] == "handoff"]
    assert handoffs[-1] == inner[-1]["agent_id"]
    assert outer["metadata"]["sub_traces"] == [trace["trace_id"] for trace in inner]
    assert any(step["type"] == "tool_call" for trace in inner for step in trace["steps"])


@pytest.mark.parametrize("name", ["plain_agent.py", "langgraph_handoff.py", "own_http_client.py"])
def test_the_spans_of_an_example_conform(name: str, tmp_path: Path) -> None:
    if name.startswith("langgraph"):
        pytest.importorskip("langchain_openai")
    run(name, tmp_path / "r")
    spans = list(open_source(tmp_path / "r").spans())
    assert_conformant(spans)
    # Readers that follow an older schema drop attributes without a member that it requires.
    assert [item for item in check_all(spans, generation="1.41") if item.rule == "shape"] == []
