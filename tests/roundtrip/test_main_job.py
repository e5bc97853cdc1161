"""The main job end to end: an unmodified program, recorded, and rebuilt as its trajectory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import load

pytest.importorskip("openai", minversion="1.30")

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def run(folder: Path, *command: str) -> dict[str, Any]:
    """Run a program under `agentool-otel run` without a key and return the one trace it left."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "OTEL_"))}
    environ["AGENTOOL_DIR"] = str(folder)
    environ["PYTHONPATH"] = str(EXAMPLES)
    subprocess.run(
        [sys.executable, "-m", "agentool_otel", "run", "--", sys.executable, *command],
        env=environ,
        check=True,
        timeout=60,
        capture_output=True,
    )
    [trace] = load(folder)
    return trace.to_dict()


def said(trace: dict[str, Any]) -> Any:
    """Return a trace without ids of its own, times and durations."""
    steps = []
    for step in trace["steps"]:
        step = {k: v for k, v in step.items() if k not in ("timestamp", "step_id")}
        if "tool_result" in step:
            step["tool_result"] = {
                k: v for k, v in step["tool_result"].items() if k != "duration_ms"
            }
        steps.append(step)
    metrics = {k: v for k, v in trace["metrics"].items() if k != "total_duration_ms"}
    return [steps, metrics, trace["input"], trace["output"], trace["status"]]


EXPECTED = [
    [
        {"type": "reasoning", "content": "I need the weather first."},
        {
            "type": "tool_call",
            "tool_call": {
                "id": "call_paris", "name": "get_weather", "arguments": {"city": "Paris"},
            },
        },
        {
            "type": "tool_result",
            "tool_result": {
                "call_id": "call_paris",
                "output": {"city": "Paris", "sky": "rain", "celsius": 11},
            },
        },
    ],
    {"total_tokens": 148, "step_count": 3, "tool_call_count": 1},
    "What should I wear in Paris today?",
    "Take a raincoat: 11 degrees and rain.",
    "success",
]  # fmt: skip


def test_an_unmodified_tool_loop_rebuilds_to_its_trajectory(tmp_path: Path) -> None:
    assert said(run(tmp_path, str(EXAMPLES / "openai_tools.py"))) == EXPECTED


def test_with_decorators_the_same_run_rebuilds_to_the_same_trace(tmp_path: Path) -> None:
    program = (
        "import agentool_otel, openai_tools as example\n"
        "plain = example.answer\n"
        "example.get_weather = agentool_otel.tool(example.get_weather)\n"
        "def answer(client, question):\n"
        "    return agentool_otel.agent(name='stylist')(lambda question: plain(client, question))"
        "(question)\n"
        "example.answer = answer\n"
        "example.main()\n"
    )
    trace = run(tmp_path, "-c", program)
    assert said(trace) == EXPECTED
    assert trace["agent_id"] == "stylist"


def test_the_recording_holds_one_span_per_call(tmp_path: Path) -> None:
    run(tmp_path, str(EXAMPLES / "openai_tools.py"))
    [recording] = tmp_path.glob("*.jsonl")
    names = [
        span["name"]
        for line in recording.read_text().splitlines()
        for resource in json.loads(line)["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
    assert names == [
        "chat gpt-5-mini",
        "execute_tool get_weather",
        "chat gpt-5-mini",
        "invoke_agent",
    ]
