"""The help: one screen for all commands, an example for each, and a topic for places."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from agentool_otel.cli._help import COMMANDS, EXAMPLES
from tests.cli.conftest import PROGRAM, Invoke, agentool

_LINES, _COLUMNS = 24, 80
"""Of a terminal of the usual size."""


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"], ["help", "source"]])
def test_the_help_fits_one_screen(invoke: Invoke, arguments: list[str]) -> None:
    result = invoke(*arguments)
    lines = result.stdout.splitlines()
    assert lines, (result, result.stderr)
    assert len(lines) < _LINES
    assert max(map(len, lines)) < _COLUMNS


def test_without_a_command_the_help_is_shown(invoke: Invoke) -> None:
    assert "Record a Python program" in invoke().output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_examples_in_its_help(invoke: Invoke, name: str) -> None:
    shown = invoke(name, "--help").stdout
    assert EXAMPLES[name]
    for example in EXAMPLES[name]:
        assert example.split()[0] == name
        assert f"    agentool-otel {example}\n" in shown
    assert invoke("help", name).stdout == shown


def test_every_command_is_in_the_help(invoke: Invoke) -> None:
    shown = invoke("--help").stdout
    for name, line in COMMANDS.items():
        assert f"  {name:<8}  {line}\n" in shown


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the examples name, and two runs in the default folder."""
    folder = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", folder + os.pathsep + os.environ["PATH"])
    (tmp_path / "app.py").write_text(PROGRAM)
    for _ in range(2):
        assert agentool("run", "-q", "--", "python", "app.py").returncode == 0
    for name in ("traces.jsonl", "before.jsonl"):
        assert agentool("rebuild", "-o", name).returncode == 0
    case = {"case_id": "sum", "input": "1 and 2?", "assertions": [{"type": "status"}]}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case) + "\n")
    (tmp_path / "checks.jsonl").write_text('{"type": "status"}\n')
    tool = {"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [tool]}))
    return tmp_path


@pytest.mark.usefixtures("project")
def test_the_examples_work(invoke: Invoke) -> None:
    for name, examples in EXAMPLES.items():
        for example in examples:
            # What records is run by itself: a process can be instrumented once.
            records = name in ("demo", "doctor", "recover", "run")
            result = (agentool if records else invoke)(*shlex.split(example))
            code = result.returncode if isinstance(result, CompletedProcess) else result.exit_code
            # Nothing listens at the endpoint, and the demo has been recorded before `diff`.
            may_fail = "localhost:4318" in example or name in ("recover", "diff")
            assert code in ((0, 1) if may_fail else (0,)), (example, result.stderr)
            assert not result.stderr.startswith("error:") or may_fail, (example, result.stderr)
