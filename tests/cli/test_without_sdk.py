"""Commands in an environment without OpenTelemetry's SDK: a message, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentool_otel.cli._help import COMMANDS
from tests.cli.conftest import AGENT, PROGRAM, Started

_ARGUMENTS = {
    "run": f"-- {sys.executable} app.py",
    "show": "run.jsonl",
    "eval": "checks.jsonl run.jsonl",
    "diff": "run.jsonl run.jsonl",
    "compare": "run.jsonl",
    "rebuild": "run.jsonl",
    "export": "run.jsonl",
    "convert": "run.jsonl --to agentool",
    "validate": "run.jsonl",
    "clean": "--dry-run",
    "recover": ".",
}
_READING = {"show", "diff", "compare", "rebuild", "convert", "validate", "schema", "help", "clean"}
"""Commands that need no SDK."""
_HIDING = """
import sys

class Hide:
    def find_spec(self, name, path=None, target=None):
        if name == "opentelemetry.sdk" or name.startswith("opentelemetry.sdk."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hide())
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / ".agentool").mkdir()
    (tmp_path / "app.py").write_text(AGENT)
    (tmp_path / "checks.jsonl").write_text('{"type": "status"}\n')
    (tmp_path / "run.jsonl").write_text(
        '{"trace_id": "t", "agent_id": "a", "input": "q", "output": "ok", "status": "success", '
        '"steps": []}\n'
    )
    (tmp_path / "hiding").mkdir()
    (tmp_path / "hiding" / "sitecustomize.py").write_text(_HIDING)


def started(*arguments: str) -> Started:
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": str(Path("hiding").absolute())},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_works_or_names_the_library(name: str) -> None:
    done = started("-m", "agentool_otel", name, *_ARGUMENTS.get(name, "").split())
    assert "Traceback" not in done.stderr
    if name in _READING | {"run"}:
        assert done.returncode == 0, done.stderr
    elif done.returncode:
        assert done.returncode == 2
        assert done.stderr == (
            f"error: {name} needs opentelemetry-sdk, which is not installed\n"
            " hint: pip install opentelemetry-sdk\n"
        )


def test_run_reports_that_recording_was_off() -> None:
    done = started("-m", "agentool_otel", "run", "--", sys.executable, "app.py")
    assert (done.returncode, done.stdout) == (0, "3\n")
    assert "nothing is recorded: recording needs opentelemetry-sdk" in done.stderr
    assert "agentool-otel: nothing recorded: recording was off in the program\n" in done.stderr
    assert "0 spans" not in done.stderr


def test_a_bad_endpoint_is_an_error_before_the_program_runs() -> None:
    named = ["--endpoint", "http://127.0.0.1:9"]
    done = started("-m", "agentool_otel", "run", *named, "--", sys.executable, "app.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: run needs opentelemetry-sdk")


def test_what_a_killed_program_left_does_not_disturb_run(tmp_path: Path) -> None:
    (tmp_path / ".agentool" / "traces-a-1-20261124T161716.228958993.open").touch()
    done = started("-m", "agentool_otel", "run", "--", sys.executable, "app.py")
    assert (done.returncode, done.stdout) == (0, "3\n")
    assert "Traceback" not in done.stderr


def test_the_reason_is_named_once_and_alone() -> None:
    done = started("-c", PROGRAM)
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert "nothing is recorded: recording needs opentelemetry-sdk" in line
