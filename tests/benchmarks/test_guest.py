"""The scoreboard runs a case and makes a cell of it. No test depends on the cells: the rows
themselves are tests of ours in `tests/guest` and `tests/tracing/capture`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

from benchmarks.guest import decorators, exits
from benchmarks.guest._cases import run_case
from benchmarks.guest._environments import Environment, NotInstalled
from benchmarks.guest._table import Cell, Row, print_markdown, print_table
from benchmarks.guest.sdks import NAMES, adapter


@pytest.fixture
def here(tmp_path: Path) -> Environment:
    """The environment that the tests run in, as the scoreboard would make one for this package."""
    environment = Environment(tmp_path, "agentool", adapter("agentool"))
    environment.python = Path(sys.executable)
    return environment


def cell(environment: Environment, table: str, rows: tuple[Row, ...], title: str) -> Cell:
    [number] = [n for n, row in enumerate(rows) if row.title == title]
    return run_case(environment, "agentool", table, rows, number)


def test_a_decorated_tool_is_judged_by_what_arrives(here: Environment) -> None:
    title = "children of parallel coroutines keep their parent"
    assert cell(here, "decorators", decorators.ROWS, title) == Cell("Y")


def test_an_exit_is_judged_by_the_spans_that_arrive(here: Environment) -> None:
    assert cell(here, "exits", exits.ROWS, "`sys.exit(1)`") == Cell("Y", "5 of 5")


def test_a_table_has_a_row_per_behaviour(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("flies", {"bird": Cell("Y"), "fish": Cell("P", "jumps")})]
    for show in (print_table, print_markdown):
        show("Animals", {"bird": "bird 1", "fish": "fish 2"}, rows)
        printed = capsys.readouterr().out
        assert all(text in printed for text in ("Animals", "bird 1", "flies", "Y", "P jumps"))


@pytest.mark.parametrize("name", NAMES)
def test_every_sdk_declares_its_requirements(name: str, tmp_path: Path) -> None:
    entries = adapter(name)
    assert entries.REQUIREMENTS
    assert isinstance(entries.DECORATES, bool)
    with pytest.raises(NotInstalled, match="without --offline"):
        Environment(tmp_path, name, entries).version()


def test_the_decorator_table_has_its_29_rows() -> None:
    assert len(decorators.ROWS) == 29
