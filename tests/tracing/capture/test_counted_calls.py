"""How many functions of ours a traced call runs: layers cost more than work."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import agentool_otel
from agentool_otel.content import masking
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from tests.tracing.export.test_direct_law import configured

OURS = str(Path(agentool_otel.__file__).parent)
SEARCH = str(Path(masking.__file__).parent)


def search(query: str, limit: int = 3) -> dict[str, Any]:
    """Search the archive."""
    return {"hits": [f"{query} {number}" for number in range(limit)]}


def calls_of(function: Callable[[], object]) -> list[str]:
    """Return the functions of ours that a call runs, without those of the search for secrets."""
    functions: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        caller = frame.f_back
        paths = [one.f_code.co_filename for one in (frame, caller) if one is not None]
        searches = any(path.startswith(SEARCH) for path in paths)
        if event == "call" and paths[0].startswith(OURS) and not searches:
            functions.append(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return functions


def counted(tmp_path: Path, sent: bool) -> tuple[list[str], list[str]]:
    """Return the functions of a tool call in a run, and those of a run without calls."""
    target = OtlpTarget.at("http://127.0.0.1:9", {})
    pipeline = configured(
        lambda it: it.send(target, tmp_path) if sent else it.record(tmp_path), direct=True
    )
    tool, inside = agentool_otel.tool(search), []

    @agentool_otel.agent
    def clerk(question: str) -> str:
        for number in range(3):
            tool(query=f"{question} {number}")
        inside.append(calls_of(lambda: tool(query=question)))
        return question

    @agentool_otel.agent
    def waiter(question: str) -> str:
        return f"an answer to {question}"

    for number in range(3):
        clerk(f"question {number}")
        waiter(f"question {number}")
    run = calls_of(lambda: waiter("the last question"))
    pipeline.shutdown()
    return inside[-1], run


@pytest.mark.parametrize("way", ["recorded", "sent"])
def test_a_direct_call_takes_few_functions(tmp_path: Path, way: str) -> None:
    # In a process of its own: what other tests have left open would be looked at as well.
    printed = subprocess.run(
        [sys.executable, "-m", __name__, str(tmp_path), way],
        capture_output=True,
        text=True,
        check=True,
    )
    tool, run = json.loads(printed.stdout)
    # One of them is for older SDKs, which cannot be asked whether a tracer is enabled.
    assert len(tool) <= (37 if way == "sent" else 31), tool
    assert len(run) <= (45 if way == "sent" else 41), run


if __name__ == "__main__":
    print(json.dumps(counted(Path(sys.argv[1]), sent=sys.argv[2] == "sent")))
