"""The README says what is true: its Python runs, its commands are there, its table is complete."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentool_otel.loading import load
from agentool_otel.setup.frameworks import instrumentors
from tests import readme

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)


def test_every_python_block_runs_in_the_order_it_stands(tmp_path: Path) -> None:
    for block in BLOCKS:
        environ = {k: v for k, v in os.environ.items() if not k.startswith("OTEL_")}
        environ["AGENTOOL_DIR"] = str(tmp_path / ".agentool")
        done = subprocess.run(
            [sys.executable, "-c", block],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert len(list(load(tmp_path / ".agentool"))) == 3, "what the blocks do is recorded"


def test_the_first_command_comes_early() -> None:
    lines = README.splitlines()
    assert next(n for n, line in enumerate(lines) if line.startswith("    python3")) < 15


@pytest.mark.parametrize("name", sorted(instrumentors()))
def test_every_framework_is_in_the_table_with_its_versions(name: str) -> None:
    [row] = [line for line in README.splitlines() if line.startswith(f"| `{name}`")]
    for requirement in instrumentors()[name].supports:
        assert requirement in row


@pytest.mark.parametrize("document", readme.DOCUMENTS, ids=lambda it: it.name)
def test_the_tables_are_those_that_poe_readme_writes(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert text == readme.filled(text)


def test_every_table_stands_in_a_document() -> None:
    documents = "".join(it.read_text(encoding="utf-8") for it in readme.DOCUMENTS)
    assert all(f"<!-- table: {name} -->" in documents for name in readme.TABLES)


def test_the_version_is_said_once() -> None:
    from agentool_otel.ground.version import __version__

    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text()
