"""Plain loops in programs of their own: what is on the disk after each kind of end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import load
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn

LOOP = """
import json, os, signal, sys, threading
import openai

client = openai.OpenAI(max_retries=0)
messages = [{"role": "user", "content": "Q"}]
tools = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]


def search(q):
    TOOL
    return "page"


def step():
    completion = client.chat.completions.create(model="m", messages=messages, tools=tools)
    message = completion.choices[0].message
    messages.append(message)
    for call in message.tool_calls or ():
        result = search(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return not message.tool_calls


while not step():
    pass
AFTER
"""


def played(folder: Path, *turns: Any, tool: str = "pass", after: str = "pass") -> list[Any]:
    """Run the program under `agentool-otel run`, and return its traces as documents."""
    with LoopbackModel(*turns) as model:
        program = folder / "bot.py"
        program.write_text(LOOP.replace("TOOL", tool).replace("AFTER", after))
        variables = {
            **{key: value for key, value in os.environ.items() if not key.startswith("OTEL_")},
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "none",
            "AGENTOOL_DIR": str(folder / "recordings"),
        }
        command = [sys.executable, "-m", "agentool_otel"]
        subprocess.run(
            [*command, "run", "-q", "--", sys.executable, str(program)],
            env=variables,
            timeout=60,
            check=False,
            capture_output=True,
        )
        subprocess.run([*command, "recover"], env=variables, timeout=60, check=False)
    return [trace.to_dict() for trace in load(folder / "recordings")]


SEARCH = Turn(tool_calls=(ToolCall("search", {"q": "a"}),))


def test_a_whole_loop_is_one_success(tmp_path: Path) -> None:
    (trace,) = played(tmp_path, SEARCH, SEARCH, "Done.")
    assert (trace["status"], trace["input"], trace["output"]) == ("success", "Q", "Done.")
    assert trace["agent_id"] == "bot"
    assert trace["metrics"]["tool_call_count"] == 2


def test_an_exception_of_a_tool_is_the_failure(tmp_path: Path) -> None:
    (trace,) = played(tmp_path, SEARCH, tool='raise LookupError("no page")')
    assert trace["status"] == "error"
    assert trace["metadata"]["error"]["type"] == "LookupError"
    assert "no page" in trace["metadata"]["error"]["message"]


def test_an_exception_after_the_answer_is_the_failure(tmp_path: Path) -> None:
    (trace,) = played(tmp_path, SEARCH, "Done.", after='raise LookupError("no printer")')
    assert trace["status"] == "error"
    assert "no printer" in trace["metadata"]["error"]["message"]


def test_a_failed_call_is_the_failure(tmp_path: Path) -> None:
    (trace,) = played(tmp_path, SEARCH, Turn(status=500))
    assert trace["status"] == "error"
    assert trace["metadata"]["error"]["type"] == "openai.InternalServerError"


@pytest.mark.parametrize("place", ["tool", "after a second call"])
def test_a_killed_loop_is_one_incomplete_run(tmp_path: Path, place: str) -> None:
    kill = f"os.kill(os.getpid(), {int(signal.SIGKILL)})"
    if place != "tool":
        kill = f"len(messages) > 3 and {kill}"
    (trace,) = played(tmp_path, SEARCH, SEARCH, "Done.", tool=kill)
    assert trace["status"] == "incomplete"
    assert trace["input"] == "Q"


def test_an_interrupted_loop_is_no_success(tmp_path: Path) -> None:
    interrupt = f"os.kill(os.getpid(), {int(signal.SIGINT)})"
    (trace,) = played(tmp_path, SEARCH, "Done.", tool=interrupt)
    assert trace["status"] == "error"
    assert trace["metadata"]["error"]["type"] == "KeyboardInterrupt"


def test_a_program_that_stops_before_the_answer_is_in_progress(tmp_path: Path) -> None:
    (trace,) = played(tmp_path, SEARCH, "Done.", tool="sys.exit(3)")
    assert trace["status"] == "in_progress"


def test_a_fork_leaves_the_loop_to_the_parent(tmp_path: Path) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    fork = "pid = os.fork()\n    pid or os._exit(0)\n    os.waitpid(pid, 0)"
    (trace,) = played(tmp_path, SEARCH, "Done.", tool=fork)
    assert (trace["status"], trace["output"]) == ("success", "Done.")


def test_threads_end_their_loops_with_the_program(tmp_path: Path) -> None:
    wait = "threading.Thread(target=threading.Event().wait, daemon=True).start()"
    (trace,) = played(tmp_path, SEARCH, "Done.", tool=wait)
    assert trace["status"] == "success"
