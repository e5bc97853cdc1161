"""Contents that other packages read from the same files, each installed in an environment of its
own.

A peer runs as a script in its environment; what it cannot open gets the reason instead. Nothing of
the file is changed for it, but that a list of spans is taken out of the object around it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, NamedTuple

from tests.right_answers.answers import Found

__all__ = ["PEERS", "Peer", "prepared"]

_SCRIPTS = Path(__file__).parent / "_peers"


class Peer(NamedTuple):
    """A package and the script that reads with it."""

    package: str
    script: Path


PEERS = (
    Peer("agentevals-cli", _SCRIPTS / "agentevals_cli.py"),
    Peer("strands-agents-evals", _SCRIPTS / "strands_agents_evals.py"),
)


class Reader:
    """Reads files with a peer."""

    def __init__(self, peer: Peer, python: Path):
        self._peer = peer
        self._python = python

    def read(self, paths: list[Path]) -> dict[Path, Found | str]:
        """Return the peer's reading of each file, or its reason for none."""
        ran = subprocess.run(
            [self._python, self._peer.script, *map(str, paths)],
            capture_output=True, text=True, timeout=600, check=False,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        )  # fmt: skip
        lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('{"path"')]
        read: dict[Path, Found | str] = {Path(line["path"]): _found(line) for line in lines}
        last = (ran.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        return {path: read.get(path, last) for path in paths}


def prepared(peer: Peer, folder: Path) -> Reader | str:
    """Install a peer into an environment below `folder` once; return why not where it fails."""
    home = folder / peer.package
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (home / "installed").exists():
        venv.create(home, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        ran = subprocess.run([*command, peer.package], capture_output=True, text=True, check=False)
        if ran.returncode:
            return (ran.stderr.strip().splitlines() or ["pip failed"])[-1]
        (home / "installed").touch()
    return Reader(peer, python)


def _found(line: dict[str, Any]) -> Found | str:
    if "reason" in line:
        return str(line["reason"])
    result = Found()
    for aspect, items in line["items"].items():
        result.items[aspect] = None if items is None else [tuple(item) for item in items]
    return result
