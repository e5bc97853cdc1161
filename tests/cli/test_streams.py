"""Commands whose standard streams the caller has closed."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agentool_otel.cli._help import COMMANDS

_ARGUMENTS = {
    "run": "-- {python} program.py",
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
_CLOSED = (">&-", "<&- >&- 2>&-")


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / ".agentool").mkdir()
    (tmp_path / "program.py").write_text("print('hello')\n")
    (tmp_path / "checks.jsonl").write_text('{"type": "status"}\n')
    (tmp_path / "run.jsonl").write_text(
        '{"trace_id": "t", "agent_id": "a", "input": "q", "output": "ok", "status": "success", '
        '"steps": []}\n'
    )


def started(command: str, closed: str) -> subprocess.CompletedProcess[str]:
    python = shlex.quote(sys.executable)
    line = f"{python} -m agentool_otel {command.format(python=python)} {closed}"
    return subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("closed", _CLOSED)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_works_without_a_stream(name: str, closed: str) -> None:
    done = started(f"{name} {_ARGUMENTS.get(name, '')}", closed)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


def test_standard_input_that_is_closed_is_empty() -> None:
    done = started("rebuild -", "<&-")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "0 traces, 0 spans, no problems\n"


def test_an_output_file_does_not_take_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    done = started("rebuild run.jsonl -o out.jsonl", ">&- 2>&-")
    assert done.returncode == 0
    (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
    assert line.startswith('{"trace_id":"t"')
