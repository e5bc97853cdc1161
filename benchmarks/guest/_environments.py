"""An environment for every SDK: none is installed beside another, nor beside this package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks._child import ROOT, environment
from benchmarks.guest.sdks import ENDPOINT, Adapter

__all__ = ["Environment", "NotInstalled"]

_VERSION = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
_LONGEST_S = 180
_SETTINGS = ("LOGFIRE_", "MLFLOW_", "AGENTOPS_", "OPENLIT_", "GUEST_", "PYTEST_")


class NotInstalled(Exception):
    """The SDK cannot be installed; the message has the reason."""


class Environment:
    """One SDK's own environment under a folder."""

    def __init__(self, home: Path, name: str, adapter: Adapter):
        self.folder = home / name
        self.adapter = adapter
        binaries = "Scripts" if sys.platform == "win32" else "bin"
        self.python = self.folder / binaries / "python"

    def install(self) -> None:
        """Make the environment, or bring it to the newest releases.

        Raises:
            NotInstalled: pip could not install the SDK, or was still looking for releases that go
                together after three minutes: of some peers it tries all there ever were.
        """
        if not self.python.exists():
            venv.create(self.folder, with_pip=True)
        command = [str(self.python), "-m", "pip", "install", "--quiet", "--upgrade"]
        try:
            done = subprocess.run(
                [*command, "--disable-pip-version-check", *self.adapter.REQUIREMENTS],
                capture_output=True,
                text=True,
                check=False,
                timeout=_LONGEST_S,
            )
        except subprocess.TimeoutExpired:
            raise NotInstalled(
                f"pip found no releases that go together in {_LONGEST_S} s"
            ) from None
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise NotInstalled(lines[0] if lines else f"pip exited {done.returncode}")

    def version(self) -> str:
        """Return the version that is installed.

        Raises:
            NotInstalled: there is none.
        """
        if not self.python.exists():
            raise NotInstalled("no environment; run without --offline")
        done = subprocess.run(
            [str(self.python), "-c", _VERSION, self.adapter.DISTRIBUTION],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise NotInstalled("not in its environment; run without --offline")
        return done.stdout.strip()

    def variables(self, endpoint: str, folder: str) -> dict[str, str]:
        """Return the environment of a case: where to send, and no way out."""
        clean = {k: v for k, v in environment().items() if not k.startswith(_SETTINGS)}
        return {
            **clean,
            ENDPOINT: endpoint,
            "AGENTOOL_DIR": os.path.join(folder, ".agentool"),
            "HOME": folder,
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
            "DO_NOT_TRACK": "1",
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
        }

    def versions(self) -> dict[str, str]:
        """Return every package of the environment, for the record."""
        command = [str(self.python), "-m", "pip", "list", "--format", "json"]
        listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        return {each["name"]: each["version"] for each in json.loads(listed)}
