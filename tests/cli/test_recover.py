"""`recover`: leftovers of a dead process are closed and sent; output and exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import AGENT, Invoke, agentool
from tests.tracing.export.receiver import HttpReceiver

KILLED = f"""{AGENT.partition("if __name__")[0]}
import os, signal

@agentool_otel.tool
def die():
    os.kill(os.getpid(), signal.SIGKILL)

@agentool_otel.agent
def victim(question):
    add(1, 2)
    die()
"""
PROGRAM = f"{KILLED}\nagentool_otel.instrument(*ENDPOINT)\nvictim('?')\n"


def kill_one(*endpoint: str) -> None:
    program = PROGRAM.replace("*ENDPOINT", ", ".join(map(repr, endpoint)))
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    assert done.returncode == -9


def test_open_spans_of_a_recording_are_closed(invoke: Invoke) -> None:
    kill_one()
    result = invoke("recover")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "2 spans closed as incomplete in .agentool\n"
    assert "incomplete" in invoke("show").stdout


def test_an_empty_recovery_is_reported(invoke: Invoke) -> None:
    kill_one()
    invoke("recover")
    result = invoke("recover", ".agentool")
    assert (result.exit_code, result.stderr) == (0, "nothing to recover in .agentool\n")


def test_a_missing_folder_is_an_error_with_a_hint(invoke: Invoke) -> None:
    result = invoke("recover", "nowhere")
    assert result.exit_code == 3
    assert "there is no folder nowhere" in result.stderr


@pytest.mark.parametrize("arguments", [[], [".agentool"]])
def test_a_folder_that_programs_have_emptied_needs_no_recovery(
    invoke: Invoke, arguments: list[str]
) -> None:
    result = invoke("recover", *arguments)
    assert result.exit_code == 0
    assert result.stderr == "nothing to recover: there is no folder .agentool\n"


def test_unsent_spans_are_sent_to_their_original_destination(invoke: Invoke) -> None:
    with HttpReceiver() as receiver:
        kill_one(receiver.endpoint)
        result = invoke("recover")
        assert result.exit_code == 0
        assert f"3 spans sent to {receiver.endpoint}" in result.stderr
        assert sorted(receiver.names()) == [
            "execute_tool add", "execute_tool die", "invoke_agent victim"
        ]  # fmt: skip
    assert list(Path(".agentool").glob("[!.]*")) == []


def test_spans_stay_on_disk_if_the_endpoint_does_not_answer(invoke: Invoke) -> None:
    kill_one("http://127.0.0.1:9")
    result = invoke("recover")
    assert result.exit_code == 1
    assert "http://127.0.0.1:9 did not take 3 spans: Connection refused" in result.stderr
    assert "--endpoint" in result.stderr
    with HttpReceiver() as receiver:
        assert invoke("recover", "--endpoint", receiver.endpoint).exit_code == 0
        assert len(receiver.names()) == 3


def test_run_lists_leftovers_for_other_endpoints_once() -> None:
    kill_one("http://127.0.0.1:9")
    Path("app.py").write_text(f"{KILLED}\nadd(1, 2)\n")
    result = agentool("run", "--", sys.executable, "app.py")
    assert result.stderr.count("spans that earlier processes could not deliver are in") == 1


def test_run_closes_what_a_killed_program_left() -> None:
    Path("app.py").write_text(f"{KILLED}\nvictim('?')\n")
    result = agentool("run", "--", sys.executable, "app.py")
    assert result.returncode == 137
    assert "2 spans closed as incomplete" in result.stderr
    assert "3 spans, 1 run recorded" in result.stderr
