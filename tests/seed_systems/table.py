"""Which test shows which check, and what came of running them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.seed_systems.checks import CANNOT, PROMISES

__all__ = ["Outcomes", "checks_in", "lines", "run"]

FOLDER = Path(__file__).parent
_NAME = re.compile(r"test_check_(\d+)_\w+")
_RANK = ("failed", "skipped", "passed")
"""What counts most among the tests of a check."""


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

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if (name := _NAME.search(report.nodeid)) is None:
            return
        number = int(name[1])
        if report.when == "call" or report.outcome != "passed":
            self.of[number].add(report.outcome)
        if report.skipped and isinstance(report.longrepr, tuple):
            self.reasons[number] = str(report.longrepr[2]).removeprefix("Skipped: ")


def checks_in(folder: Path = FOLDER) -> Iterator[tuple[int, str]]:
    """Yield the number of a check and the name of a test, for each test there is."""
    for file in sorted(folder.rglob("test_*.py")):
        for match in re.finditer(rf"def ({_NAME.pattern})", file.read_text(encoding="utf-8")):
            yield int(match[2]), match[1]


def run() -> Outcomes:
    """Run the tests of all checks.

    Raises:
        RuntimeError: some could not even be collected.
    """
    outcomes = Outcomes()
    code = pytest.main([str(FOLDER), "-q", "--no-header", "--no-summary", "--tb=no"], [outcomes])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"the tests could not be run; pytest {FOLDER} says why")
    return outcomes


def rows(outcomes: Outcomes) -> Iterator[Row]:
    """Yield how each check stands."""
    for number in PROMISES:
        found = outcomes.of.get(number, set())
        worst = next((word for word in _RANK if word in found), None)
        if worst == "failed":
            yield Row(number, "fails")
        elif number in CANNOT:
            yield Row(number, "cannot", CANNOT[number])
        elif worst == "skipped":
            yield Row(number, "cannot", outcomes.reasons.get(number, "skipped"))
        else:
            yield Row(number, "passes" if worst else "missing")


def lines(outcomes: Outcomes) -> Iterator[str]:
    """Yield the table: a line for each check, and the sums."""
    sums: defaultdict[str, int] = defaultdict(int)
    for row in rows(outcomes):
        sums[row.state] += 1
        why = f": {row.why}" if row.why else ""
        yield f"{row.number:>2}  {row.state:<7}  {PROMISES[row.number]}{why}"
    yield summary(sums)


def summary(sums: Mapping[str, int]) -> str:
    """Return how many checks stand how."""
    return ", ".join(f"{n} {state}" for state, n in sums.items())
