"""Every measurement runs and prints its rows. No test depends on the figures."""

from __future__ import annotations

import json
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.click_runner import CliRunner

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

from benchmarks import _payloads, _sizes, whole
from benchmarks.__main__ import main
from benchmarks._baseline import baseline, commit
from benchmarks._rounds import compared
from benchmarks._table import Row, Target
from benchmarks.data import write_recording

TINY = _sizes.Size(
    rounds=1,
    agent_runs=2,
    model_calls=2,
    interpreters=1,
    queued=2,
    endless=20,
    batches=1,
    disturbed_s=0.01,
    recordings=(56, 112),
    loops=(50, 100),
    rebuild_rounds=1,
    shuffled=(50, 100),
    evaluated_runs=2,
    masked=2000,
    hostile=200,
)


@pytest.fixture(autouse=True)
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sizes, "QUICK", TINY)


def measured(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["--quick", *arguments])
    # Figures this small may miss their targets; anything else is an error.
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    assert result.exit_code in (0, 1)
    return result


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("group", "rows"),
    [
        ("live", ["tool, sampled", "async tool", "tool, not sampled", "100 tool calls not"]),
        ("journal", ["recorded, journal on", "sent, journal on", "1 MB of text"]),
        ("masking", ["'eyJ-' repeated, as JSON", "site map", "cursors, as text", "of 1 KB"]),
        ("import", ["import agentool_otel ", "decorators loaded"]),
        ("start", ["around an empty program", "show of four runs", "first call, sent"]),
        ("memory", ["finished tool span", "never finished"]),
        ("export", ["encode and ship", "record a span", "p99", "the same, against an SDK span"]),
        ("rebuild", ["56 spans of agent runs", "bare chat loops", "peak memory", "smallest"]),
        ("scale", ["spans in any order", "its peak memory", "--jobs 2 against 1"]),
        ("peers", ["agentool-otel", "openinference-instrumentation", "opentelemetry-util-genai"]),
    ],
)
def test_a_group_prints_every_row(group: str, rows: list[str]) -> None:
    printed = measured(group).stdout
    assert [row for row in rows if row not in printed] == []


@pytest.mark.thorough
def test_whole_compares_every_text_with_the_baseline() -> None:
    """With the peers' rows: those that are not installed have the line that installs them."""
    printed = measured("whole").stdout
    assert [
        name for name in ("rows", "english", "log", "code") if f"1 KB of {name}" not in printed
    ] == []
    assert printed.count("against " + commit()[:7]) >= 8
    assert all(packages.split()[0] in printed for packages in whole.PEERS.values())


def test_a_tenth_more_is_a_regression_only_outside_the_noise() -> None:
    steady, noisy = [100.0] * 9, [80.0, 120.0] * 4 + [100.0]
    slower = [cost * 1.2 for cost in steady]
    assert not whole.overlap(slower, steady, sdk=steady)
    assert whole.overlap(slower, noisy, sdk=steady)
    assert not whole.overlap([2 * cost for cost in noisy], noisy, sdk=noisy)


def test_a_baseline_is_the_commit_with_its_own_entry_points() -> None:
    with baseline() as folder:
        (distribution,) = distributions(name="agentool-otel", path=[str(folder)])
        assert (folder / "agentool_otel" / "__init__.py").exists()
        assert "agentool-openai" in {point.name for point in distribution.entry_points}


@pytest.mark.parametrize("name", _payloads.NAMES)
def test_a_payload_is_a_kilobyte_and_a_conversation_forty(name: str) -> None:
    assert 700 < len(json.dumps(_payloads.result(name))) < 2_000
    assert 40_000 < len(json.dumps(_payloads.messages(name))) < 50_000


def test_the_rows_go_to_a_file_as_json(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    measured("--json", str(file), "import")
    written: dict[str, Any] = json.loads(file.read_text())
    assert written["quick"] is True
    assert [row["group"] for row in written["rows"]] == ["import", "import"]
    assert all(row["ours"] > 0 and row["ratio"] > 0 for row in written["rows"])


def test_an_unknown_group_is_a_usage_error() -> None:
    assert CliRunner().invoke(main, ["speed"]).exit_code == 2


def test_the_median_of_ratios_is_not_the_ratio_of_medians() -> None:
    assert compared([(1, 1), (2, 8), (9, 9)]).ratio == 1
    assert compared([(3, 2)]) == (3, 2, 1.5, 1.5, 1.5)


def test_a_target_is_a_bound_from_above_or_from_below() -> None:
    fast = Row(what="", ours=30.0, ratio=0.3, target=Target("≥ 0.25×", 0.25, sense="at least"))
    large = Row(what="", ours=300.0, target=Target("< 200 MB", 200, on="ours"))
    assert (fast.met, large.met, Row(what="").met) == (True, False, None)


def test_a_recording_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    counts = [write_recording(path, 100, seed=3, agents=False) for path in (first, second)]
    assert counts == [100, 100]
    assert first.read_bytes() == second.read_bytes()


def test_a_bare_chat_loop_is_one_trace(tmp_path: Path) -> None:
    from agentool_otel import load

    file = tmp_path / "loop.jsonl"
    write_recording(file, 10, agents=False)
    (trace,) = load(file)
    assert trace.to_dict()["metrics"]["tool_call_count"] == 18
