"""A document and the spans of the same trace are one trace, wherever both are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentool_otel.loading import load
from tests.cli.conftest import Invoke

ORDERS = ["a.jsonl", "z.jsonl"]
"""Names before and behind that of the recording."""
OTHER = '{"trace_id":"other","steps":[{"type":"reasoning","content":"hm"}]}\n'


@pytest.fixture(params=ORDERS)
def place(request: pytest.FixtureRequest, invoke: Invoke, recording: Path) -> Path:
    """A folder with a recording and the documents that were rebuilt from it."""
    folder = recording if recording.is_dir() else recording.parent
    written = folder / request.param
    assert invoke("rebuild", recording, "-o", "rebuilt").exit_code == 0
    Path("rebuilt").rename(written)
    assert written.read_text()
    return folder


def test_rebuild_writes_it_once(invoke: Invoke, place: Path) -> None:
    result = invoke("rebuild", place)
    assert len(result.stdout.splitlines()) == 1
    assert "1 trace, 3 spans, no problems" in result.stderr
    assert invoke("rebuild", place, "--jobs", "2").stdout == result.stdout


def test_show_lists_it_once_and_explains_it(invoke: Invoke, place: Path) -> None:
    assert len(invoke("show", place, "--json").stdout.splitlines()) == 1
    for option in ("--explain", "--spans"):
        result = invoke("show", place, option)
        assert (result.exit_code, "problem" in result.stderr) == (0, False)


def test_it_is_loaded_once(place: Path) -> None:
    assert len([*load(place)]) == 1


def test_it_is_evaluated_once(invoke: Invoke, place: Path) -> None:
    Path("cases.json").write_text('[{"eval_id":"e","assertions":[{"type":"no_tool_call"}]}]')
    assert "; 1 trace" in invoke("eval", "cases.json", place, "-o", "results").stderr


def test_it_is_exported_once(invoke: Invoke, place: Path) -> None:
    assert invoke("export", place, "-o", "spans.otlp").exit_code == 0
    written = Path("spans.otlp").read_text()
    assert written.count('"spanId"') == 3


def test_a_document_of_another_trace_is_one_more(invoke: Invoke, place: Path) -> None:
    (place / "more.jsonl").write_text(OTHER)
    traces = [json.loads(line)["trace_id"] for line in invoke("rebuild", place).stdout.splitlines()]
    assert len(traces) == 2
    assert "other" in traces
    assert sorted(trace.trace_id for trace in load(place)) == sorted(traces)
