"""Table of checks: their tests, and the results here and in other environments.

The tests of a system that needs packages of its own are in a folder of their own, and run in the
environment of `tests.frameworks` that has its name (`agent_spec`: `agent-spec`), if it was made.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.seed_systems.checks import CANNOT, PROMISES

__all__ = ["FOLDER", "Outcomes", "Row", "checks_in", "lines", "outcomes_here", "rows", "run"]

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
ENVIRONMENTS = ROOT / ".venv-frameworks"
_NAME = re.compile(r"test_check_(\d+)_\w+")
_RANK = ("failed", "passed", "skipped")
"""Order of precedence among the tests of a check: a skipped one counts least."""
_ELSEWHERE = "the rest in an environment that runs at night"


class Row(NamedTuple):
    """A check, and how it stands."""

    number: int
    state: str
    """passes, fails, cannot or missing."""
    why: str = ""


class Outcomes:
    """A plug-in for pytest that notes the outcome of each check."""

    def __init__(self) -> None:
        self.of: defaultdict[int, set[str]] = defaultdict(set)
        self.reasons: dict[int, str] = {}
        """Why a test was skipped, or a whole file, by the number of the check."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if (name := _NAME.search(report.nodeid)) is None:
            return
        if report.when == "call" or report.outcome != "passed":
            self.of[int(name[1])].add(report.outcome)
        if report.skipped:
            self.reasons[int(name[1])] = getattr(report, "wasxfail", None) or _reason(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            for number, _ in checks_in(ROOT / report.nodeid):
                self.reasons.setdefault(number, _reason(report))

    def add(self, of: Mapping[str, list[str]]) -> None:
        """Add the outcomes of another environment, which stand for what was skipped here."""
        for number, value in of.items():
            self.of[int(number)] |= {*value}
            self.reasons.pop(int(number), None)
            if "skipped" in value:
                self.reasons[int(number)] = _ELSEWHERE


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    where: Any = report.longrepr
    return str(where[2] if isinstance(where, tuple) else "skipped").removeprefix("Skipped: ")


def checks_in(place: Path = FOLDER) -> Iterator[tuple[int, str]]:
    """Yield the number of a check and the name of a test, for each test in a file or folder."""
    for file in sorted(place.rglob("test_*.py")) if place.is_dir() else [place]:
        for match in re.finditer(rf"def ({_NAME.pattern})", file.read_text(encoding="utf-8")):
            yield int(match[2]), match[1]


def outcomes_here(folder: Path = FOLDER) -> Outcomes:
    """Run the tests of a folder in this environment.

    Raises:
        RuntimeError: some could not even be collected.
    """
    outcomes = Outcomes()
    options = ["-q", "--no-header", "--no-summary", "--tb=no", "-p", "no:amplifier_module"]
    code = pytest.main([str(folder), *options], [outcomes])
    if code in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR):
        raise RuntimeError(f"the tests could not be run; pytest {folder} says why")
    return outcomes


def run() -> Outcomes:
    """Run all tests: in this environment, and those of a folder in its own."""
    outcomes = outcomes_here()
    for folder in sorted(path for path in FOLDER.iterdir() if path.is_dir()):
        python = ENVIRONMENTS / folder.name.replace("_", "-") / "bin" / "python"
        if python.exists() and Path(sys.prefix) != python.parent.parent:
            command = [str(python), "-m", "tests.seed_systems", "--outcomes", folder.name]
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
            outcomes.add(json.loads(done.stdout))
    return outcomes


def rows(outcomes: Outcomes) -> Iterator[Row]:
    """Yield how each check stands."""
    for number in PROMISES:
        value = outcomes.of.get(number, set())
        worst = next((word for word in _RANK if word in value), None)
        why = CANNOT.get(number) or outcomes.reasons.get(number, "")
        if worst == "failed":
            yield Row(number, "fails")
        elif worst == "passed":
            yield Row(number, "passes", f"here in part, {why}" if why else "")
        else:
            yield Row(number, "cannot" if why else "missing", why)


def lines(outcomes: Outcomes) -> Iterator[str]:
    """Yield the table: a line for each check, and the sums."""
    sums: defaultdict[str, int] = defaultdict(int)
    for row in rows(outcomes):
        sums[row.state] += 1
        why = f": {row.why}" if row.why else ""
        yield f"{row.number:>2}  {row.state:<7}  {PROMISES[row.number]}{why}"
    yield ", ".join(f"{n} {state}" for state, n in sums.items())
