"""Check the truth table of evaluation: each row has the verdict that docs/reference gives it."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import agentool_otel
from tests.click_runner import CliRunner
from tests.evaluation.truth.recording import write_run

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

FOLDER = Path(__file__).parent / "truth"
REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
VERDICTS = {True: "passed", False: "failed", None: "not evaluated"}

Row = dict[str, Any]


def _rows(pattern: str) -> dict[str, list[Row]]:
    """Return the rows of some files by subject."""
    return {
        about: rows
        for path in sorted(FOLDER.glob(pattern))
        for about, rows in yaml.safe_load(path.read_text(encoding="utf-8")).items()
    }


def _parameter(about: str, row: Row) -> ParameterSet:
    """Return a row as a parameter of a test; one that the program disagrees with has to fail."""
    reason = row.get("disagrees")
    marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
    return pytest.param(row, id=f"{about}: {row['name']}", marks=marks)


BY_TYPE, BY_WAY = _rows("types_*.yaml"), _rows("ways_*.yaml")
TABLE = {**BY_TYPE, **BY_WAY}
ROWS = [row for rows in TABLE.values() for row in rows]


@pytest.mark.parametrize("row", [_parameter(about, row) for about in TABLE for row in TABLE[about]])
def test_verdict(row: Row, tmp_path: Path) -> None:
    """A row has its verdict, from the command or, where a judge is needed, from Python."""
    folder = tmp_path / "recording"
    folder.mkdir()
    source = write_run(row["run"], folder)
    if row["run"].get("rebuilt"):
        source = _rebuild(source, tmp_path / "traces.jsonl")
    evaluate = _evaluate_in_python if "judge" in row else _evaluate_by_command
    (result,) = evaluate(row, source, tmp_path)
    (assertion,) = result["assertion_results"]
    assert VERDICTS[assertion["passed"]] == row["verdict"], assertion["reason"]


def _evaluate_by_command(row: Row, source: Path, folder: Path) -> list[dict[str, Any]]:
    checks, results = folder / "checks.json", folder / "results.jsonl"
    checks.write_text(json.dumps([row["check"]]), encoding="utf-8")
    scope = row.get("scope", "tree")
    _command("eval", checks, source, "-o", results, "--fail-on", "never", "--scope", scope)
    return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]


def _rebuild(source: Path, traces: Path) -> Path:
    _command("rebuild", source, "-o", traces)
    return traces


def _command(*arguments: str | Path) -> str:
    (script,) = entry_points(group="console_scripts", name="agentool-otel")
    outcome = CliRunner().invoke(script.load(), [str(argument) for argument in arguments])
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def _evaluate_in_python(row: Row, source: Path, folder: Path) -> list[dict[str, Any]]:
    checks = [agentool_otel.Assertion.from_dict(row["check"])]
    traces = agentool_otel.load(source)
    return [
        result.to_dict()
        for result in agentool_otel.evaluate(checks, traces, judge=lambda _: row["judge"])
    ]


def test_each_quote_is_in_the_reference() -> None:
    """A row quotes a page of the reference; check its rows after a change."""
    reference = _words(
        "\n".join(path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md"))
    )
    stale = [row["name"] for row in ROWS if _words(row["quote"]) not in reference]
    assert not stale


def _words(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_the_table_is_complete() -> None:
    """Each type has rows of all verdicts, each way three rows, and each run an input of its own."""
    schema = json.loads(_command("schema"))
    types = schema["$defs"]["assertion"]["properties"]["type"]["enum"]
    assert set(BY_TYPE) == set(types)
    for about, rows in BY_TYPE.items():
        assert {row["check"]["type"] for row in rows} == {about}
        assert {row["verdict"] for row in rows} == set(VERDICTS.values())
    for rows in BY_WAY.values():
        assert len(rows) >= 3
        assert len({row["verdict"] for row in rows}) > 1
    assert max(Counter(row["run"]["input"] for row in ROWS).values()) == 1
