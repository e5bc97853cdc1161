"""Code comes from where packages are installed: the folder that a command is started in gives no
plug-ins, and hides none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import agentool_otel

HOME = Path(agentool_otel.__file__).parents[1]


def plant(folder: Path, name: str) -> None:
    """Put a package with a dialect into a folder."""
    package = folder / f"{name}-9.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.0\n")
    (package / "entry_points.txt").write_text(
        "[agentool_otel.dialects]\nplanted = planted:Dialect\n"
        "[agentool_otel.formats]\nplanted = planted:Format\n"
    )
    (folder / "planted.py").write_text("open('PLANTED', 'w').close()\n")
    (folder / "a.jsonl").write_text(
        '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"' + "a" * 32 + '",'
        '"spanId":"' + "b" * 16 + '","name":"x","attributes":[]}]}]}]}\n'
    )


def command(folder: Path, how: str, path: str) -> subprocess.CompletedProcess[str]:
    starts = {"module": ["-m", "agentool_otel"], "script": ["-c", "import sys; sys.path.pop(0)\n"
              "from agentool_otel.cli import main; main()"]}  # fmt: skip
    return subprocess.run(
        [sys.executable, *starts[how], "show", "a.jsonl", "--spans"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("name", ["planted", "agentool_otel"])
@pytest.mark.parametrize(
    ("how", "path"),
    [
        ("module", f"{HOME}"),
        ("module", f".{os.pathsep}{HOME}"),
        ("script", f".{os.pathsep}{HOME}"),
        ("script", f"{os.pathsep}{HOME}"),
        ("script", f"../work{os.pathsep}{HOME}"),
    ],
)
def test_a_plug_in_of_the_current_folder_is_not_run(
    how: str, path: str, name: str, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    plant(folder, name)
    done = command(folder, how, path)
    assert done.returncode == 0, done.stderr
    assert not (folder / "PLANTED").exists()
    # Nor are ours hidden by a package that has our name.
    listing = "from agentool_otel.ground.plugins import plugins; "
    listing += "print(sorted(plugins('agentool_otel.formats')))"
    done = subprocess.run(
        [sys.executable, "-c", listing],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "planted" not in done.stdout
    assert "reasoning-trace" in done.stdout


def test_a_plug_in_that_is_on_the_path_by_its_full_name_is_taken(tmp_path: Path) -> None:
    plant(tmp_path / "site", "planted")
    (tmp_path / "work").mkdir()
    listing = "from agentool_otel.ground.plugins import plugins; "
    listing += "print(sorted(plugins('agentool_otel.dialects')))"
    done = subprocess.run(
        [sys.executable, "-c", listing],
        cwd=tmp_path / "work",
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(HOME)])},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "planted" in done.stdout


def test_a_folder_that_was_deleted_costs_nothing(tmp_path: Path) -> None:
    program = "import os; os.rmdir(os.getcwd())\nimport agentool_otel\nagentool_otel.status()"
    folder = tmp_path / "gone"
    folder.mkdir()
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HOME)},
        timeout=60,
        check=True,
    )
