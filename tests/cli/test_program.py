"""Hints repeat the program as the user called it, so that they can be pasted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from agentool_otel.cli import _program
from tests.cli.conftest import Invoke

INSTALLED = Path(sys.executable).parent / "agentool-otel"


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A folder with a program and a Python, and one below PATH that is empty."""
    for name in ("agentool-otel", "python3"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text("#!/bin/sh\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    yield tmp_path / "bin"
    _program.note_call(["pytest"])


def called(*argv: str, orig_argv: tuple[str, ...] = ("python3",)) -> str:
    _program.note_call(argv, orig_argv)
    return _program.program()


def test_a_program_that_is_not_on_path_keeps_its_path(paths: Path) -> None:
    assert called("bin/agentool-otel") == "bin/agentool-otel"
    assert called(str(paths / "agentool-otel")) == str(paths / "agentool-otel")
    assert called("my env/agentool-otel") == "'my env/agentool-otel'"


def test_a_program_on_path_is_named(paths: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(paths))
    assert called(str(paths / "agentool-otel")) == "agentool-otel"
    assert called("other/agentool-otel") == "other/agentool-otel"


def test_a_module_is_named_with_its_python(paths: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "/site-packages/agentool_otel/__main__.py"
    assert called(module, orig_argv=("python", "-m")) == "python -m agentool_otel"
    assert called(module, orig_argv=("bin/python3", "-m")) == "bin/python3 -m agentool_otel"
    monkeypatch.setenv("PATH", str(paths))
    assert called(module, orig_argv=("bin/python3", "-m")) == "python3 -m agentool_otel"


def test_another_program_calls_the_command_by_its_name() -> None:
    assert called("app.py") == "agentool-otel"


def test_only_commands_are_repeated(paths: Path) -> None:
    called("bin/agentool-otel")
    assert _program.as_called("hint: agentool-otel show --last 1") == (
        "hint: bin/agentool-otel show --last 1"
    )
    assert _program.as_called("`agentool-otel recover` sends it") == (
        "`bin/agentool-otel recover` sends it"
    )
    for text in (
        "agentool-otel: nothing recorded",
        "pip install agentool-otel",
        "/x/agentool-otel show",
        "agentool-otel showing",
    ):
        assert _program.as_called(text) == text


@pytest.mark.skipif(not INSTALLED.exists(), reason="no script is installed beside this Python")
def test_hints_of_a_command_can_be_pasted(tmp_path: Path) -> None:
    (tmp_path / "env").symlink_to(INSTALLED.parent.parent)
    environ = os.environ | {"PATH": "/usr/bin:/bin"}

    def printed(command: str) -> str:
        done = subprocess.run(
            ["sh", "-c", command],
            env=environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    script = "env/bin/agentool-otel"
    assert f" hint: {script} run -- python app.py" in printed(f"{script} show")
    assert f" hint: {script} show --help" in printed(f"{script} show --lats")
    assert f"  {script} show --last 1\n" in printed(f"{script} show --help")
    assert f"hint: {script} help source" in printed(
        f"printf '\\377\\001' > note; {script} validate note"
    )
    assert "hint: env/bin/python -m agentool_otel run --" in printed(
        "env/bin/python -m agentool_otel run"
    )


def test_hints_in_a_test_have_the_usual_name(invoke: Invoke) -> None:
    assert " hint: agentool-otel run -- python app.py" in invoke("show").stderr
