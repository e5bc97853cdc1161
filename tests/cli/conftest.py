"""A recording to read, and the command as a person would call it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from agentool_otel.cli import main
from tests.click_runner import CliRunner

Invoke = Callable[..., Result]
Started = subprocess.CompletedProcess[str]

AGENT = """
import agentool_otel

@agentool_otel.tool
def add(a: int, b: int) -> int:
    if b == 0:
        raise ValueError("nothing to add")
    return a + b

@agentool_otel.agent(name="adder")
def adder(question):
    try:
        add(1, 0)
    except ValueError:
        pass
    return str(add(1, 2))

if __name__ == "__main__":
    print(adder("1 and 2?"))
"""

PROGRAM = f"import agentool_otel\nagentool_otel.instrument()\n{AGENT}"


@pytest.fixture(autouse=True)
def clean_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every test in an empty folder, without variables that affect recording."""
    for name in list(os.environ):
        if name.startswith(("OTEL_", "AGENTOOL_DIR")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.fixture
def invoke() -> Invoke:
    """Call the command inside this process."""

    def call(*args: object, input: bytes | None = None) -> Result:
        return CliRunner().invoke(main, [str(arg) for arg in args], input=input)

    return call


def agentool(*args: object, **options: Any) -> Started:
    """Run the real command."""
    command = [sys.executable, "-m", "agentool_otel", *map(str, args)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, **options
    )


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The recording of a program with one run: a tool call that fails and one that does not."""
    folder = tmp_path_factory.mktemp("recorded")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OTEL_")}
    environment["AGENTOOL_DIR"] = str(folder)
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True, timeout=60)
    (file,) = folder.iterdir()
    return file.read_bytes()


@pytest.fixture
def recording(recorded: bytes, tmp_path: Path) -> Path:
    """That recording as a file of this test."""
    file = tmp_path / "spans.jsonl"
    file.write_bytes(recorded)
    return file
