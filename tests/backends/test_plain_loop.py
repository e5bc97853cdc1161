"""A loop without a decorator is one tree in a real Jaeger, and comes back as its runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import load
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn
from tests.backends.servers import jaeger, wait_for

pytestmark = pytest.mark.backends

pytest.importorskip("openai")

PROGRAM = Path(__file__).parent / "programs" / "plain_chat.py"
ROUND = (
    Turn(tool_calls=(ToolCall("search", {"q": "a"}),)),
    Turn(tool_calls=(ToolCall("search", {"q": "b"}), ToolCall("weather", {"q": "c"}))),
)
TREE = "invoke_agent bot[chat m, execute_tool search, chat m, {}, chat m]"


def traces_in(api: str, service: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{api}/api/traces?service={service}&lookback=1h") as answer:
        data: list[dict[str, Any]] = json.load(answer)["data"]
    return data


def tree(trace: dict[str, Any]) -> str:
    """Return the spans of a trace as `name[child, child]`."""
    below: dict[str, list[dict[str, Any]]] = {}
    roots: list[dict[str, Any]] = []
    for span in sorted(trace["spans"], key=lambda span: (span["startTime"], span["operationName"])):
        parents = [each["spanID"] for each in span["references"]]
        (below.setdefault(parents[0], []) if parents else roots).append(span)

    def text(span: dict[str, Any]) -> str:
        inside = [text(each) for each in below.get(span["spanID"], ())]
        name = str(span["operationName"])
        return f"{name}[{', '.join(inside)}]" if inside else name

    (root,) = roots
    return text(root)


def tags(trace: dict[str, Any], name: str) -> set[Any]:
    return {tag["value"] for span in trace["spans"] for tag in span["tags"] if tag["key"] == name}


def test_a_chat_is_a_tree_for_each_question(tmp_path: Path) -> None:
    with jaeger(tmp_path) as running, LoopbackModel() as model:
        for question in ("FIRST", "SECOND"):
            model.push(*ROUND, f"Answer to {question}.")
        variables = {
            **os.environ,
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "none",
            "AGENTOOL_DIR": str(tmp_path / "recordings"),
        }
        options = ["--endpoint", running.http, "--content", "--service-name", "chat"]
        command = ["-m", "agentool_otel", "run", *options, "--agent", "bot", "--"]
        subprocess.run(
            [sys.executable, *command, sys.executable, str(PROGRAM)],
            env=variables,
            check=True,
            timeout=60,
        )
        wait_for(lambda: len(traces_in(running.query, "chat")) == 2)
        wait_for(lambda: all(len(each["spans"]) == 7 for each in traces_in(running.query, "chat")))
        traces = traces_in(running.query, "chat")
        came_back = [*load(running.query.replace("http", "jaeger", 1))]
    both = "execute_tool search, execute_tool weather"
    assert [tree(trace) for trace in traces] == [TREE.format(both)] * 2
    sessions = {session for each in traces for session in tags(each, "agentool.session.id")}
    assert len(sessions) == 1
    assert sorted((str(run.input), str(run.output)) for run in came_back) == [
        ("FIRST", "Answer to FIRST."),
        ("SECOND", "Answer to SECOND."),
    ]
    assert {run.session_id for run in came_back} == sessions
