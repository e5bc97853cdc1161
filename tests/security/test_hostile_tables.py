"""Hostile Parquet and Arrow files: each costs what is odd in it, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.frameworks import ROOT
from tests.security.hostile_tables import CASES, path_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process")


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What a process with little memory reads of each file; nothing for one that ends it."""
    folder = tmp_path_factory.mktemp("tables")
    for name, case in CASES.items():
        path_of(folder, name).write_bytes(case.make())
    found: dict[str, dict[str, Any]] = {}
    waiting = [*CASES]
    while waiting:
        program = [sys.executable, "-m", "tests.security.hostile_tables", str(folder), *waiting]
        done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        found |= {line["case"]: line for line in lines if "case" in line}
        died = [line["begins"] for line in lines if line.get("begins", "") not in {"", *found}]
        found |= {name: {"death": done.returncode, "error": done.stderr[-500:]} for name in died}
        assert lines, done.stderr
        waiting = [name for name in waiting if name not in found]
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_table_costs_itself_alone(name: str, readings: dict[str, dict[str, Any]]) -> None:
    reading, case = readings[name], CASES[name]
    assert "death" not in reading, reading
    assert reading["rows"] == case.rows, reading
    assert bool(reading["problems"]) is not case.is_whole, reading
    assert "malloc" not in str(reading["problems"])
    assert str(reading["problems"]).isprintable()
