"""`--last N`: every command takes the runs that `show --last N` shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.cli import main
from tests.cli.conftest import PROGRAM, Invoke, agentool
from tests.click_runner import CliRunner
from tests.laws import many

CHECK = '{"type": "status"}\n'


def invoked(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def document(number: int, started: int | None, parent: int | None) -> dict[str, Any]:
    results: dict[str, Any] = {
        "trace_id": f"run-{number}",
        "agent_id": f"agent-{number % 2}",
        "input": f"question {number}",
        "output": "answer",
        "status": "success",
        "steps": [],
        "metadata": {} if parent is None else {"parent_trace_id": f"run-{parent}"},
    }
    if started is not None:
        results["started_at"] = f"2026-11-24T10:{started // 60:02}:{started % 60:02}Z"
    return results


@st.composite
def runs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Runs in any order, some inside another one that has begun before them."""
    count = draw(st.integers(1, 7))
    starts = draw(st.permutations(range(60)))[:count]
    results: list[dict[str, Any]] = []
    for number in range(count):
        above = draw(st.none() | st.integers(0, number - 1)) if number else None
        results.append(document(number, sorted(starts)[number], above))
    return draw(st.permutations(results))


def ids(lines: str, member: str = "trace_id") -> set[str]:
    return {json.loads(line)[member] for line in lines.splitlines()}


@settings(max_examples=many(30, fewer=8))
@given(runs(), st.integers(1, 4), st.sampled_from([(), ("--agent", "agent-1")]))
def test_every_command_takes_the_runs_that_show_takes(
    tmp_path_factory: pytest.TempPathFactory,
    documents: list[dict[str, Any]],
    count: int,
    selection: tuple[str, ...],
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    file, checks = folder / "runs.jsonl", folder / "checks.jsonl"
    file.write_text("".join(json.dumps(item) + "\n" for item in documents))
    checks.write_text(CHECK)
    last = ("--last", count)
    shown = ids(invoked("show", file, "--json", *last, *selection).stdout)
    each = ("--scope", "run", "--fail-on", "never")
    evaluated = invoked("eval", checks, file, *each, *last, *selection)
    assert ids(evaluated.stdout) == shown
    compared = invoked("compare", file, "-o", folder / "figures.jsonl", *last, *selection)
    assert compared.exit_code == 0
    if not selection:
        assert ids(invoked("rebuild", file, *last).stdout) == shown
        assert ids(invoked("diff", file, file, "--json", *last).stdout, "a") == shown
        trees = invoked("eval", checks, file, "--fail-on", "never", *last)
        above = {item["trace_id"]: item["metadata"].get("parent_trace_id") for item in documents}
        assert ids(trees.stdout) == {item for item in shown if above[item] is None}


@settings(max_examples=many(10, fewer=4))
@given(runs())
def test_all_runs_are_taken_where_there_are_fewer(
    tmp_path_factory: pytest.TempPathFactory, documents: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "runs.jsonl").write_text("".join(json.dumps(item) + "\n" for item in documents))
    complete = invoked("rebuild", folder / "runs.jsonl", "--last", 100)
    assert ids(complete.stdout) == {item["trace_id"] for item in documents}


@pytest.fixture
def recorded(clean_folder: Path) -> list[str]:
    """Three recorded runs of the same question; the ids, the oldest first."""
    (clean_folder / "app.py").write_text(PROGRAM)
    (clean_folder / "checks.jsonl").write_text(CHECK)
    for _ in range(3):
        agentool("run", "-q", "--", "app.py")
    shown = agentool("show", "--json").stdout
    return [json.loads(line)["trace_id"] for line in shown.splitlines()]


def test_eval_names_last_where_it_checks_old_runs(invoke: Invoke, recorded: list[str]) -> None:
    result = invoke("eval", "checks.jsonl")
    assert "3 passed, 0 failed, 0 not evaluated; 3 traces\n" in result.stderr
    assert " hint: all 3 traces were checked; --last 1 checks the newest alone\n" in result.stderr
    result = invoke("eval", "checks.jsonl", "--last", 1)
    assert ids(result.stdout) == {recorded[-1]}
    assert result.stderr == (
        "2 older traces not selected\n1 passed, 0 failed, 0 not evaluated; 1 of 3 traces\n"
    )


@pytest.mark.parametrize("scope", ["tree", "run", "session"])
def test_recorded_runs_are_limited_in_every_scope(
    invoke: Invoke, recorded: list[str], scope: str
) -> None:
    result = invoke("eval", "checks.jsonl", "--scope", scope, "--last", 2)
    assert ids(result.stdout) == set(recorded[1:])


@pytest.mark.parametrize("jobs", [1, 2])
def test_rebuild_writes_only_the_newest_everywhere(
    invoke: Invoke, recorded: list[str], jobs: int, tmp_path: Path
) -> None:
    result = invoke("rebuild", "--last", 2, "--fidelity", "f.jsonl", "--jobs", jobs)
    assert [json.loads(line)["trace_id"] for line in result.stdout.splitlines()] == recorded[1:]
    assert ids((tmp_path / "f.jsonl").read_text()) == set(recorded[1:])
    assert result.stderr.startswith("2 traces, ")


def test_standard_input_can_be_limited(invoke: Invoke, recorded: list[str]) -> None:
    lines = invoke("rebuild").stdout.encode()
    for command in (("rebuild", "-"), ("eval", "checks.jsonl", "-"), ("compare", "-")):
        result = invoke(*command, "--last", 1, input=lines)
        assert result.exit_code == 0
        if command[0] != "compare":
            assert ids(result.stdout) == {recorded[-1]}


def test_diff_limits_the_side_that_names_no_trace(invoke: Invoke, recorded: list[str]) -> None:
    first = recorded[0]
    result = invoke("diff", first, ".agentool", "--last", 1, "--json")
    (line,) = result.stdout.splitlines()
    assert (json.loads(line)["a"], json.loads(line)["b"]) == (first, recorded[-1])


def test_compare_limits_each_source(invoke: Invoke, recorded: list[str]) -> None:
    others = invoke("rebuild").stdout
    for trace_id in recorded:
        others = others.replace(trace_id, trace_id[::-1])
    Path("other.jsonl").write_text(others)
    result = invoke("compare", ".agentool", "other.jsonl", "--last", 1, "-o", "figures.jsonl")
    assert result.exit_code == 0
    counts = [json.loads(line)["runs"] for line in Path("figures.jsonl").read_text().splitlines()]
    assert sum(counts) == 2
