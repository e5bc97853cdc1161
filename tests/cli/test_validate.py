"""`validate`: any document or recording, identified by its content."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke

SPEC = Path(__file__).parent.parent / "fixtures" / "spec"
KINDS = {
    "eval-case": "EvalCase",
    "eval-result": "EvalResult",
    "reasoning-trace": "ReasoningTrace",
    "tool-exchange": "ToolExchange",
    "tool-registry": "ToolRegistry",
    "tool-spec": "ToolSpec",
}


@pytest.mark.parametrize("file", sorted(SPEC.glob("*.json")), ids=lambda file: file.stem)
def test_every_document_of_the_spec_is_valid(invoke: Invoke, file: Path) -> None:
    result = invoke("validate", file)
    assert result.exit_code == 0
    assert result.stdout == f"✓ {file}: {KINDS[file.stem]} ok\n"


def test_json_lines_are_checked_line_by_line(invoke: Invoke) -> None:
    trace = json.loads((SPEC / "reasoning-trace.json").read_text())
    wrong = {**trace, "steps": [{"type": 3}]}
    Path("traces.jsonl").write_text("\n".join(map(json.dumps, (trace, wrong, trace))))
    result = invoke("validate", "traces.jsonl")
    assert result.exit_code == 1
    assert "✗ traces.jsonl: 3 ReasoningTrace, 1 not valid" in result.stdout
    assert "line 2: error: expected string" in result.stdout
    assert "at $.steps[0].type" in result.stdout


def test_for_an_unknown_document_the_accepted_ones_are_listed(invoke: Invoke) -> None:
    Path("odd.json").write_text('{"colour": "red", "size": 3}')
    result = invoke("validate", "odd.json")
    assert result.exit_code == 1
    assert "an unknown document with members colour, size" in result.stdout
    assert "accepted are ReasoningTrace" in result.stdout


def test_the_missing_members_of_a_document_are_named(invoke: Invoke) -> None:
    Path("case.json").write_text('{"case_id": "a"}')
    result = invoke("validate", "case.json")
    assert (result.exit_code, result.stdout) == (
        1,
        "✗ case.json: EvalCase, 1 not valid\n"
        "    line 1: error: case 'a': expected an object with member 'assertions', got one "
        "without it\n",
    )


def test_a_contradiction_is_a_warning_and_fails_only_when_strict(invoke: Invoke) -> None:
    trace = json.loads((SPEC / "reasoning-trace.json").read_text())
    trace["metrics"]["step_count"] = 99
    Path("trace.json").write_text(json.dumps(trace))
    assert invoke("validate", "trace.json").exit_code == 0
    assert "is 99, the steps have" in invoke("validate", "trace.json").stdout
    assert invoke("validate", "trace.json", "--strict").exit_code == 1


def test_a_recording_is_counted_and_checked_against_the_conventions(
    invoke: Invoke, recording: Path
) -> None:
    result = invoke("validate", recording)
    assert result.exit_code == 0
    assert "recording, 3 spans (3 gen_ai)" in result.stdout
    assert "3 of this package conform to the GenAI conventions" in result.stdout


def test_a_log_of_amplifier_is_read_as_spans(invoke: Invoke) -> None:
    line = {"schema": {"name": "amplifier.log", "ver": "1.0.0"}, "session_id": "s"}
    texts = [{**line, "event": "prompt:submit"}, {**line, "event": "orchestrator:complete"}]
    Path("events.jsonl").write_text("\n".join(map(json.dumps, texts)))
    result = invoke("validate", "events.jsonl")
    assert (result.exit_code, result.stdout) == (
        0,
        "✓ events.jsonl: recording, 1 span (1 gen_ai)\n",
    )


def test_a_file_that_is_no_json_is_unreadable(invoke: Invoke) -> None:
    Path("notes.txt").write_text("dear diary")
    result = invoke("validate", "notes.txt")
    assert result.exit_code == 3
    assert "this is not JSON" in result.stdout
