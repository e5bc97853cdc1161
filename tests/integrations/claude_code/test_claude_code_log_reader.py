"""Session files of Claude Code: cut, of unknown lines, and of the lines of earlier versions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.reading.sources.opening import open_source
from tests.coding_agents.recordings import FOLDER

EDITED = FOLDER / "claude-code" / "read_edit_shell" / "session"
DELEGATED = FOLDER / "claude-code" / "sub_agent" / "session"


def lines() -> list[str]:
    (file,) = EDITED.glob("*/*.jsonl")
    return file.read_text().splitlines()


def read(tmp_path: Path, text: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the documents and the problems of a file."""
    file = tmp_path / "session.jsonl"
    file.write_text(text)
    source = open_source(file)
    documents = [run.document for run in rebuild(source.spans())]
    return documents, [str(problem) for problem in source.problems]


def test_a_session_that_is_still_running_is_read_to_its_last_whole_line(tmp_path: Path) -> None:
    text = "\n".join(lines())
    cut = text[: text.rindex('"toolu_000003"')]
    [document], problems = read(tmp_path, cut)
    assert document["status"] == "in_progress"
    calls = [s["tool_call"]["name"] for s in document["steps"] if s["type"] == "tool_call"]
    assert calls == ["Read", "Edit", "Bash"]
    assert len(problems) <= 1


def test_lines_of_unknown_types_are_passed_over(tmp_path: Path) -> None:
    session = json.loads(lines()[0])["sessionId"]
    new = json.dumps({"type": "mood-ring", "sessionId": session, "mood": {"colour": "green"}})
    [document], problems = read(tmp_path, "\n".join([new, *lines(), new]))
    assert document["status"] == "success"
    assert problems == []


@pytest.mark.parametrize(
    "event",
    [
        {"type": "AGENT", "sessionId": "s", "traceId": "t", "id": "1"},
        {"type": "user", "uuid": "1", "sessionId": "s", "message": {"role": "user", "parts": []}},
        {"sessionId": "s", "projectHash": "p", "kind": "main"},
        {"type": "session_meta", "payload": {"sessionId": "s"}},
    ],
)
def test_lines_of_others_are_not_recognised(event: dict[str, Any]) -> None:
    from agentool_otel.integrations.claude_code.log_reader import ClaudeCodeSession

    assert not ClaudeCodeSession.recognises(event)


def test_the_usage_of_a_message_counts_once_however_many_lines_it_has(tmp_path: Path) -> None:
    messages = [line for line in lines() if '"type": "assistant"' in line or '"assistant"' in line]
    [document], _ = read(tmp_path, "\n".join(lines()))
    assert len(messages) > 4
    assert document["metrics"]["total_tokens"] == 5090


def parents(folder: Path, metadata: dict[str, str] | None) -> dict[str, str | None]:
    """Return the agent of each run, with that of the run above, of a session with a sub-agent that
    starts another."""
    shutil.copytree(DELEGATED, folder)
    (outer,) = folder.glob("*/*/subagents/agent-*.jsonl")
    text = outer.read_text()
    outer.write_text(text.replace('"name":"Read"', '"name":"Agent"'))
    outer_id, inner_id = outer.stem.removeprefix("agent-"), "b" * 16
    prompt, *_, answer = text.splitlines()
    answer = answer.replace('"requestId":"', '"requestId":"inner_')
    inner = outer.with_name(f"agent-{inner_id}.jsonl")
    inner.write_text(f"{prompt}\n{answer}\n".replace(outer_id, inner_id))
    if metadata is not None:
        about = {name: value.format(outer_id) for name, value in metadata.items()}
        inner.with_suffix(".meta.json").write_text(json.dumps(about))
    runs = {run.document["trace_id"]: run.document for run in rebuild(open_source(folder).spans())}
    names = {run_id: run["agent_id"] for run_id, run in runs.items()}
    above = {run_id: run["metadata"].get("parent_trace_id") for run_id, run in runs.items()}
    return {names[run_id]: names.get(parent) for run_id, parent in above.items()}


BY_CALL = {"agentType": "Explore", "toolUseId": "toolu_000002"}


@pytest.mark.parametrize("metadata", [BY_CALL, {**BY_CALL, "parentAgentId": "{}"}])
def test_a_sub_agent_of_a_sub_agent_is_below_its_call(
    tmp_path: Path, metadata: dict[str, str]
) -> None:
    assert parents(tmp_path / "project", metadata) == {
        "claude-code": None,
        "general-purpose": "claude-code",
        "Explore": "general-purpose",
    }


def notified(folder: Path) -> Path:
    """Return a copy of a session of two prompts whose second is a notification."""
    copy = shutil.copytree(FOLDER / "claude-code" / "second_turn", folder)
    for file in copy.rglob("*.jsonl"):
        file.write_text(
            file.read_text().replace(
                "Which number was it? Look into prices.csv, too.", "<task-notification>done"
            )
        )
    return copy


@pytest.mark.parametrize("channel", ["spans.jsonl", "logs.jsonl", "session", ""])
def test_a_notification_is_no_turn(tmp_path: Path, channel: str) -> None:
    source = open_source(notified(tmp_path / "recording") / channel)
    [document] = [run.document for run in rebuild(source.spans())]
    assert document["input"] == "Remember the number 17."


@pytest.mark.parametrize("value", ["{}", "null", '{"stringValue":"null"}', '{"kvlistValue":{}}'])
@pytest.mark.parametrize("channel", ["spans.jsonl", "logs.jsonl"])
def test_a_prompt_of_null_was_not_captured(tmp_path: Path, value: str, channel: str) -> None:
    text = (FOLDER / "claude-code" / "answer" / channel).read_text()
    file = tmp_path / channel
    file.write_text(text.replace('{"stringValue":"What is the capital of France?"}', value))
    [run] = rebuild(open_source(file).spans())
    outcomes = [note.outcome for note in run.fidelity.notes if note.field == "input"]
    assert outcomes == ["not_captured"]
    assert "input" not in run.document


def test_a_prompt_without_text_was_not_captured(tmp_path: Path) -> None:
    prompt = '"content":"Read notes.txt, change the colour to blue and count the lines."'
    [document], _ = read(tmp_path, "\n".join(lines()).replace(prompt, '"content":""'))
    assert "input" not in document
