"""Programs below `agentool-otel run` that are no agents are left alone: installers, builders and
their children; front ends themselves, but not the programs that they start.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import agentool_otel

pytestmark = pytest.mark.thorough  # each starts real programs

HOME = Path(agentool_otel.__file__).parents[1]
ASK = """
import os, subprocess, sys
import opentelemetry.trace  # what a program that can be recorded imports
def seen():
    return [os.path.basename(sys.argv[0]), "agentool_otel" in sys.modules]
print(*seen(), flush=True)
if sys.argv[1:] == ["more"]:
    below = "import sys, opentelemetry.trace; print('below', 'agentool_otel' in sys.modules)"
    subprocess.run([sys.executable, "-c", below])
"""
ALONE, RECORDED = "False", "True"


def run(folder: Path, *command: str, path: str = "") -> list[str]:
    """Run a command below `run`; return the output of its Pythons."""
    done = subprocess.run(
        [sys.executable, "-m", "agentool_otel", "run", "--", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, [path]), str(HOME)])},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [line.rpartition(" ")[2] for line in done.stdout.splitlines()]


def module(folder: Path, name: str) -> str:
    """Make an installed package of a name, and return where it is."""
    package = folder / "site" / name
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(ASK)
    return str(folder / "site")


@pytest.mark.parametrize(
    ("name", "itself", "below"),
    [
        ("pip", ALONE, ALONE),
        ("build", ALONE, ALONE),
        ("virtualenv", ALONE, ALONE),
        ("poetry", ALONE, RECORDED),
        ("hatch", ALONE, RECORDED),
        ("my_agent", RECORDED, RECORDED),
    ],
)
def test_modules(name: str, itself: str, below: str, tmp_path: Path) -> None:
    path = module(tmp_path, name)
    for options in ([], ["-X", "dev"]):
        result = run(tmp_path, sys.executable, *options, "-m", name, "more", path=path)
        assert result == [itself, below]


@pytest.mark.skipif(os.name != "posix", reason="scripts are programs of their own there")
@pytest.mark.parametrize(
    ("name", "itself"),
    [("pip", ALONE), ("pip3", ALONE), ("pip3.11", ALONE), ("poetry", ALONE), ("agent", RECORDED)],
)
def test_commands_that_are_installed_beside_python(name: str, itself: str, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    python = programs / "python"
    python.symlink_to(sys.executable)
    script = programs / name
    script.write_text(f"#!{python}\n{ASK}")
    script.chmod(0o755)
    path = os.pathsep.join(item for item in sys.path if item.endswith("site-packages"))
    assert run(tmp_path, str(script), path=path) == [itself]


@pytest.mark.parametrize(
    ("script", "itself"),
    [
        ("setup.py", ALONE),
        ("_in_process.py", ALONE),
        ("__pip-runner__.py", ALONE),
        ("build.py", RECORDED),
        ("pip", RECORDED),
        ("venv.py", RECORDED),
    ],
)
def test_scripts_of_the_user_are_the_users(script: str, itself: str, tmp_path: Path) -> None:
    (tmp_path / script).write_text(ASK)
    assert run(tmp_path, sys.executable, script) == [itself]


def test_a_module_of_the_user_is_the_users(tmp_path: Path) -> None:
    (tmp_path / "build.py").write_text(ASK)
    assert run(tmp_path, sys.executable, "-m", "build") == [RECORDED]


def test_the_real_pip_is_skipped_with_a_notice(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agentool_otel", "run", "--", sys.executable, "-m", "pip", "-V"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "nothing recorded: pip is no agent program" in done.stderr
    assert not (tmp_path / ".agentool").exists()
