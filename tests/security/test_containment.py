"""An error in one trace skips only that one, in every command and every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from agentool_otel.cli import main
from agentool_otel.dialects import linking_dialects
from agentool_otel.loading import rebuild
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild import result_spans
from agentool_otel.reading.rebuild import trace as rebuilt_traces
from agentool_otel.reading.rebuild.correlation import linked_traces
from agentool_otel.reading.rebuild.report.trace_report import report_on
from tests.click_runner import CliRunner

BAD = f"{2:032x}"
RAISING = """
from agentool_otel.dialects.kit.dialect import Confidence, Markers

class Raising:
    name = "raising"
    markers = Markers(keys=("raising",))

    def recognise(self, span):
        return Confidence(1.0, "its attribute")

    def read(self, span):
        raise RuntimeError("as nobody has foreseen")
"""


def span(number: int, name: str, operation: str, **attributes: str) -> dict[str, Any]:
    texts = {"gen_ai.operation.name": operation, "gen_ai.agent.name": name, **attributes}
    values = [{"key": k, "value": {"stringValue": value}} for k, value in texts.items()]
    one = {"traceId": f"{number:032x}", "spanId": f"{number:016x}", "attributes": values,
           "name": f"{operation} {name}", "startTimeUnixNano": str(number),
           "endTimeUnixNano": str(number + 1)}  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}


def written(path: Path, **of_bad: str) -> Path:
    """Write three runs, the second with some attributes more, and its output cut."""
    with path.open("w") as file:
        for number, name in enumerate(["good", "bad", "fine"], 1):
            text = {"gen_ai.output.messages": '[{"role":"assistant","par'} if name == "bad" else {}
            more = {**text, **of_bad} if name == "bad" else {}
            file.write(json.dumps(span(number, name, "invoke_agent", **more)) + "\n")
    return path


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"assertions": [{"type": "output_contains", "text": "x"}]}))
    return path


# ------------------------------------------------------------------------------- while rebuilding


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment with a dialect installed that raises, as pip would leave it."""
    metadata = tmp_path / "site" / "raising-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata.parent / "raising.py").write_text(RAISING)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: raising\nVersion: 1.0\n")
    points = "[agentool_otel.dialects]\nraising = raising:Raising\n"
    (metadata / "entry_points.txt").write_text(points)
    paths = [str(metadata.parent), str(Path(__file__).parents[2])]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    environ.pop("AGENTOOL_OTEL_STRICT", None)
    return environ


@pytest.mark.parametrize(
    "command",
    [
        lambda path, cases: ["rebuild", path, "--jobs", "2"],
        lambda path, cases: ["eval", cases, path],
    ],
    ids=["rebuild --jobs", "eval"],
)
def test_a_trace_that_cannot_be_rebuilt_costs_itself_alone(
    command: Callable[[Path, Path], Sequence[str | Path]],
    environ: dict[str, str], tmp_path: Path, cases: Path,
) -> None:  # fmt: skip
    path = written(tmp_path / "spans.jsonl", raising="yes")
    arguments = [sys.executable, "-m", "agentool_otel", *map(str, command(path, cases))]
    done = subprocess.run(arguments, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert [json.loads(line)["trace_id"] for line in done.stdout.splitlines()] == [
        f"{number:032x}" for number in (1, 3)
    ]
    assert f"problem: trace {BAD}: left out" in done.stderr
    text = "RuntimeError: as nobody has foreseen; raised in raising, which is no part of"
    assert text in done.stderr


# ----------------------------------------------------------- what is read of the spans once more


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A file of three traces, of which one has no report and no verdicts that can be read."""
    monkeypatch.delenv("AGENTOOL_OTEL_STRICT", raising=False)
    verdicts_in = result_spans.verdicts_in

    def raising(run: Any, document: dict[str, Any]) -> Any:
        if document["trace_id"] == BAD:
            raise RuntimeError("as nobody has foreseen")
        return report_on(run, document)

    def unread(judgements: Any) -> Any:
        if len(judgements) == 2:
            raise RuntimeError("as nobody has foreseen")
        return verdicts_in(judgements)

    monkeypatch.setattr(rebuilt_traces, "report_on", raising)
    monkeypatch.setattr(result_spans, "verdicts_in", unread)
    return written(tmp_path / "spans.jsonl")


def invoked(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_a_trace_without_a_report_costs_its_explanation_alone(failing: Path) -> None:
    result = invoked("show", failing, "--explain")
    assert result.exit_code == 1
    assert f"{1:032x}" in result.stdout
    assert f"{3:032x}" in result.stdout
    loss = "it cannot be explained: RuntimeError: as nobody has foreseen"
    assert f"problem: trace {BAD}: {loss}" in result.stderr


def test_the_spans_of_a_trace_without_a_report_are_shown(failing: Path) -> None:
    result = invoked("show", failing, "--spans", "--last", "3")
    assert result.exit_code == 0
    assert all(f"{number:032x}" in result.stdout for number in (1, 2, 3))


def test_a_trace_without_readable_verdicts_is_shown_without_them(
    failing: Path, tmp_path: Path
) -> None:
    path = tmp_path / "judged.jsonl"
    one = span(2, "bad", "invoke_agent")
    [message] = one["resourceSpans"][0]["scopeSpans"][0]["spans"]
    named = [{"key": "gen_ai.evaluation.name", "value": {"stringValue": "tone"}}]
    event = {"name": "gen_ai.evaluation.result", "timeUnixNano": "3", "attributes": named}
    message["events"] = [event, event | {"timeUnixNano": "4"}]
    path.write_text(json.dumps(one))
    result = invoked("show", path)
    assert "bad" in result.stdout
    assert f"problem: trace {BAD}: its verdicts cannot be shown: RuntimeError" in result.stderr


def test_a_check_that_needs_a_report_that_fails_is_not_evaluated(
    failing: Path, cases: Path
) -> None:
    loads = [json.loads(line) for line in invoked("eval", cases, failing).stdout.splitlines()]
    assert [item["trace_id"] for item in loads] == [f"{number:032x}" for number in (1, 2, 3)]
    [result] = loads[1]["assertion_results"]
    assert (result["passed"], "as nobody has foreseen" in result["reason"]) == (None, True)


# ---------------------------------------------------------------------------- a dialect's own order


class Arranging:
    """A dialect that arranges all runs of several traces."""

    name = "arranging"

    def __init__(self, arranged: Callable[[list[SpanRecord]], Any]):
        self.arrange = arranged

    def trace_links(self, spans: Sequence[SpanRecord]) -> None:
        return None


def raising(spans: list[SpanRecord]) -> list[SpanRecord]:
    raise RuntimeError("as nobody has foreseen")


@pytest.mark.parametrize(
    ("arranged", "words"),
    [
        (raising, "RuntimeError: as nobody has foreseen"),
        (lambda spans: spans[:-1], "ValueError: dialect 'arranging' arranged 2 spans into 1"),
        (lambda spans: spans[:1] * 2, "ValueError: dialect 'arranging' arranged 2 spans into 2"),
        (lambda spans: None, "TypeError"),
    ],
)
def test_a_run_that_cannot_be_arranged_is_skipped_alone(
    arranged: Callable[[list[SpanRecord]], Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AGENTOOL_OTEL_STRICT", raising=False)
    dialects = linking_dialects()
    more = {**dialects, "arranging": Arranging(arranged)}
    monkeypatch.setattr(linked_traces, "linking_dialects", lambda: more)
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "good"}
    crew = {"crew_id": "x", "crew_output": "done", "crewai_version": "1"}
    of_run = [
        SpanRecord(n * 32, n * 16, name="Crew Execution", start_ns=5, end_ns=9, attributes=crew)
        for n in "23"
    ]
    spans = [SpanRecord("1" * 32, "1" * 16, start_ns=1, attributes=agent), *of_run]
    problems: list[Problem] = []
    trace_ids = [item.trace_id for item in rebuild(spans, report=problems.append)]
    assert trace_ids == ["1" * 32]
    assert [problem.where for problem in problems] == [f"trace {'2' * 32}"]
    assert words in problems[0].message
