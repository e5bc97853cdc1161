"""Versions that the tests ran with: `versions.json`, a table of the documentation, the
classifiers.

`python -m tests.pythons` and `python -m tests.lowest` write the rows, and the table and the
classifiers from them, as `poe readme` does: a test of the next run compares these.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

__all__ = ["ROWS", "Row", "lines", "run", "with_classifiers", "write_classifiers"]

ROOT = Path(__file__).parent.parent
ROWS = Path(__file__).parent / "versions.json"
LOWEST = "lowest"
_SHOWN = ("opentelemetry-sdk", "wrapt", "orjson", "msgspec", "click", "rich")
_VERSIONS = f"""
import importlib.metadata as metadata, json, platform
print(json.dumps({{
    "python": platform.python_version(),
    "system": platform.system(),
    "packages": {{name: metadata.version(name) for name in {_SHOWN!r}}},
}}))"""
_CLASSIFIER = re.compile(r'(?:  "Programming Language :: Python :: 3\.\d+",\n)*')
_AFTER = '  "Programming Language :: Python :: 3",\n'


class Row(TypedDict):
    """Versions of one run of the tests, and its result."""

    python: str
    system: str
    packages: dict[str, str]
    tests: str
    result: str
    passed: bool


def rows() -> dict[str, Row]:
    """Return the rows by name: `lowest`, or the minor version of Python."""
    document: dict[str, Row] = json.loads(ROWS.read_text(encoding="utf-8"))
    return document


def run(name: str, python: Path, tests: Sequence[str] = ()) -> bool:
    """Run tests with an interpreter, keep the result as a row, and return whether they passed.

    Args:
        name: name of the row.
        python: the interpreter of the environment.
        tests: files and folders; the whole suite if there are none.
    """
    command = [str(python), "-m", "pytest", "-n", "2", *tests]
    last = ""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            last = line if re.search(r"\d+ (passed|failed|error)", line) else last
    passed = process.returncode == 0
    result = subprocess.run([str(python), "-c", _VERSIONS], capture_output=True, check=True)
    counts = re.findall(r"\d+ (?:passed|failed|skipped|errors?)", last)
    row: Row = json.loads(result.stdout) | {
        "tests": " ".join(tests) or "all",
        "result": ", ".join(counts),
        "passed": passed,
    }
    _keep(name, row)
    subprocess.run([sys.executable, "-m", "tests.readme"], cwd=ROOT, check=True)
    return passed


def _keep(name: str, row: Row) -> None:
    result = dict(sorted({**rows(), name: row}.items(), key=lambda item: _order(item[0])))
    ROWS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _order(name: str) -> tuple[int, ...]:
    return (99,) if name == LOWEST else tuple(map(int, name.split(".")))


def lines() -> list[tuple[str, ...]]:
    """Return the rows of the table: subject, Python, packages, tests, result."""
    return [
        (
            "lowest dependencies" if name == LOWEST else f"Python {name}",
            f"{row['python']}, {row['system']}",
            ", ".join(f"{package} {version}" for package, version in row["packages"].items()),
            "whole suite" if row["tests"] == "all" else row["tests"],
            row["result"],
        )
        for name, row in rows().items()
    ]


def with_classifiers(text: str) -> str:
    """Return pyproject.toml with a classifier for each Python whose whole suite passed."""
    before, after = text.split(_AFTER)
    passed = [name for name, row in rows().items() if row["passed"] and row["tests"] == "all"]
    ours = "".join(f'  "Programming Language :: Python :: {name}",\n' for name in passed)
    return before + _AFTER + ours + _CLASSIFIER.sub("", after, count=1)


def write_classifiers() -> None:
    """Write the classifiers of pyproject.toml."""
    file = ROOT / "pyproject.toml"
    file.write_text(with_classifiers(file.read_text(encoding="utf-8")), encoding="utf-8")
