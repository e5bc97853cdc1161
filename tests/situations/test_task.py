"""The same task rebuilds to the same shape, whichever framework an unmodified program uses."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.situations.situations import ANSWER, RESULT, frameworks, turns
from tests.situations.task import Row, row_of, rows

pytestmark = pytest.mark.thorough

every_framework = pytest.mark.parametrize("driver", frameworks(), indirect=True)


@pytest.fixture
def row(driver: ModuleType) -> Row:
    pytest.importorskip("opentelemetry.sdk")
    return row_of(driver.__name__.rpartition(".")[2], driver)


def reported(driver: ModuleType, situation: str) -> int:
    """Return the tokens that the model server reports."""
    text = turns(driver, situation)
    return sum((item.input_tokens or 0) + (item.output_tokens or 0) for item in text)


@every_framework
def test_the_task_rebuilds_to_the_same_shape(driver: ModuleType, row: Row) -> None:
    plain, differs = row["plain"], getattr(driver, "DIFFERS", {})
    tool = getattr(driver, "TOOL", "search_web")
    assert plain["calls"] == [[tool, {"query": "OpenTelemetry"}]]
    assert plain["results"] == [RESULT]
    assert plain["output"] == ANSWER
    assert plain["tokens"] == reported(driver, "plain")
    steps = [step for run in plain["steps"] for step in run]
    assert steps == ["tool_call", "tool_result"] or "steps" in differs
    if "two_agents" in row:
        assert "writer" in row["two_agents"]["handoffs"] or "handoff" in differs
        assert row["two_agents"]["output"] == ANSWER
        assert row["two_agents"]["tokens"] == reported(driver, "two_agents")
    kept = rows()[row["framework"]]
    assert set(row["possible"]) <= set(kept["possible"])
    assert row == {**kept, "versions": row["versions"], "possible": row["possible"]}, (
        "write the rows anew: python -m tests.situations.task"
    )
