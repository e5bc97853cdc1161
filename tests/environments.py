"""Environments of their own: for other versions of the frameworks, and for servers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["CONTRACT", "SITUATIONS", "Environment", "NotInstalled", "prepare"]

SITUATIONS = ("tests/situations", "tests/endings", "-m", "not backends")
CONTRACT = ("tests/situations/test_contract.py", "-m", "not backends")
"""For versions that record less than the newest, whose situations are written down."""


class Environment(NamedTuple):
    """An environment for the tests of one product."""

    packages: tuple[str, ...]
    """Requirements, as pip takes them."""
    tests: tuple[str, ...]
    """Arguments of pytest."""
    nightly: bool = False
    """Whether it is left out on ordinary changes, as its versions change no more."""


class NotInstalled(Exception):
    """The packages cannot be installed; the message has the reason."""


def prepare(folder: Path, packages: Sequence[str], interpreter: str = sys.executable) -> Path:
    """Make or update an environment and return its interpreter.

    Args:
        folder: kept for the next time; what is there already is not fetched again.
        packages: arguments of `pip install`.
        interpreter: the Python of a new environment.

    Raises:
        NotInstalled: the environment cannot be made, or pip could not install the packages.
    """
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not python.exists():
        try:
            subprocess.run([interpreter, "-m", "venv", str(folder)], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise NotInstalled(f"{folder} cannot be made: {error}") from error
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*install, *packages], stderr=subprocess.PIPE, encoding="utf-8", check=False
    )
    sys.stderr.write(done.stderr)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise NotInstalled(lines[-1] if lines else f"pip exited {done.returncode}")
    return python
