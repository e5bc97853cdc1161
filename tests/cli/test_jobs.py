"""`rebuild --jobs`: more processes, the same outcome."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from agentool_otel.errors import AgentoolError
from agentool_otel.reading import parallel
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.files.undecoded import undecoded_spans
from agentool_otel.reading.sources.grouping.by_trace import group_by_trace
from agentool_otel.reading.sources.opening import open_source
from benchmarks.data import write_recording
from tests.cli.conftest import Invoke

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Agent runs, bare chat loops, spans of other SDKs, and a span that is none."""
    place = tmp_path / "spans"
    place.mkdir()
    write_recording(place / "agents.jsonl", 300, agents=True)
    write_recording(place / "loops.jsonl", 100, agents=False)
    for name in ("strands-agents-1.62.0.strands", "openai-3.54.0.openinference"):
        (place / f"{name}.jsonl").write_bytes((FIXTURES / f"spans/{name}.jsonl").read_bytes())
    broken = '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%s","spanId":""}]}]}]}\n'
    (place / "broken.jsonl").write_text(broken % ("a" * 32))
    return place


@pytest.mark.parametrize("options", [[], ["--format", "atif"]], ids=["default", "atif"])
def test_the_outcome_is_that_of_one_process(
    invoke: Invoke, folder: Path, tmp_path: Path, options: list[str]
) -> None:
    texts: list[list[object]] = []
    for jobs in ("1", "3"):
        out, reports = tmp_path / f"{jobs}.jsonl", tmp_path / f"{jobs}.fidelity"
        ran = invoke("rebuild", folder, "-o", out, "--fidelity", reports, "--jobs", jobs, *options)
        words = ran.stderr.replace(str(out), "OUT")
        texts.append([ran.exit_code, words, out.read_bytes(), reports.read_bytes()])
    assert texts[0] == texts[1]
    assert texts[0][0] == 1  # the span that is none
    assert "broken.jsonl line 1: span None left out" in str(texts[0][1])


def test_standard_input_can_be_split_among_processes(invoke: Invoke, folder: Path) -> None:
    text = (folder / "agents.jsonl").read_bytes()
    one, two = (invoke("rebuild", "-", "--jobs", jobs, input=text) for jobs in (1, 2))
    assert one.stdout_bytes == two.stdout_bytes


def line_or_death(rebuilt: Rebuilt) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return rebuilt.to_json()


def test_a_worker_that_is_killed_ends_the_command_with_a_hint(folder: Path) -> None:
    groups = group_by_trace(undecoded_spans(open_source(folder)))
    with pytest.raises(AgentoolError, match="lower --jobs"):
        list(parallel.rebuild_in_processes(groups, 2, line_or_death))


def test_no_process_is_started_for_one_job(
    invoke: Invoke, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a pool was made")

    monkeypatch.setattr(ProcessPoolExecutor, "__init__", refuse)
    assert invoke("rebuild", folder / "agents.jsonl", "--jobs", "1").exit_code == 0
