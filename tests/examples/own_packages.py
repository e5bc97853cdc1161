"""The examples of packages outside this one, installed as pip would leave them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.frameworks import ROOT

__all__ = ["command", "installed"]


def installed(example: str, folder: Path) -> dict[str, str]:
    """Return an environment in which an example of `examples/` is installed.

    Args:
        example: the folder of the example.
        folder: an empty one, for the metadata and for recordings.
    """
    tomllib = pytest.importorskip("tomllib", reason="tomllib came with Python 3.11")
    place = ROOT / "examples" / example
    project = tomllib.loads((place / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    metadata = folder / "site" / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines: list[str] = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    path = os.pathsep.join([str(metadata.parent), str(place)])
    return {**os.environ, "PYTHONPATH": path, "AGENTOOL_DIR": str(folder / "recordings")}


def command(environ: dict[str, str], *arguments: str) -> str:
    """Return the standard output of one of our commands, which has to succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "agentool_otel", *arguments],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
