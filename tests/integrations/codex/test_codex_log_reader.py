"""Session files of Codex: cut, of unknown lines, and of the lines of earlier versions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source, open_spans
from tests.coding_agents.recordings import FOLDER

OUTPUTS = ("function_call_output", "custom_tool_call_output")
EDITED = FOLDER / "codex" / "read_edit_shell" / "session"


def lines() -> list[dict[str, Any]]:
    (file,) = EDITED.rglob("rollout-*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def read(tmp_path: Path, events: list[dict[str, Any]], end: str = "") -> dict[str, Any]:
    """Return the document of the one run in a file, which has no problems."""
    file = tmp_path / "rollout-1.jsonl"
    file.write_text("\n".join(map(json.dumps, events)) + "\n" + end)
    source = open_source(file)
    [run] = rebuild(source.spans())
    assert len(source.problems) == bool(end)
    return run.document


def test_a_session_that_is_still_running_is_read_to_its_last_whole_line(tmp_path: Path) -> None:
    events = lines()
    running = next(
        n for n, e in enumerate(events) if e["payload"].get("type") == "custom_tool_call_output"
    )
    document = read(tmp_path, events[:running], '{"timestamp": "2026-11-27T23:50:40.3')
    assert document["status"] == "in_progress"
    calls = [s["tool_call"]["name"] for s in document["steps"] if s["type"] == "tool_call"]
    assert calls == ["exec_command", "apply_patch"]


def test_a_command_that_the_user_stops_is_interrupted(tmp_path: Path) -> None:
    events = lines()
    ended = next(n for n, e in enumerate(events) if e["payload"].get("type") in OUTPUTS)
    output = {**events[ended]["payload"], "output": "Wall time: 6.0 seconds\naborted by user"}
    aborted = {"type": "turn_aborted", "reason": "interrupted"}
    end = {**events[ended], "type": "event_msg", "payload": aborted}
    stopped = [e for e in events[:ended] if e["payload"].get("type") != "item_completed" or
               e["payload"]["item"]["type"] == "UserMessage"]  # fmt: skip
    document = read(tmp_path, [*stopped, {**events[ended], "payload": output}, end])
    assert document["metadata"]["error"]["type"] == "interrupted"
    assert document["steps"][-1]["tool_result"]["error"] == "aborted by user"


def test_lines_of_unknown_types_are_passed_over(tmp_path: Path) -> None:
    new = {"timestamp": "2026-11-27T23:50:40Z", "ordinal": 1, "type": "mood", "payload": {"a": 1}}
    document = read(tmp_path, [new, *lines(), new])
    assert (document["status"], document["metrics"]["total_tokens"]) == ("success", 5090)


def test_a_file_of_an_earlier_version_has_other_events(tmp_path: Path) -> None:
    """Prompts in `user_message`, and tokens in `token_count` alone."""
    older: list[dict[str, Any]] = []
    for event in lines():
        payload = event["payload"]
        if event["type"] == "token_usage_record":
            counts = {"type": "token_count", "info": {"last_token_usage": payload["usage"]}}
            older.append({**event, "type": "event_msg", "payload": counts})
        elif payload.get("type") == "item_completed":
            if payload["item"]["type"] == "UserMessage":
                words = payload["item"]["content"][0]["text"]
                said = {"type": "user_message", "message": words}
                older.append({**event, "payload": said})
        elif payload.get("type") not in ("token_count", "task_started"):
            older.append(event)
    document = read(tmp_path, older)
    assert document["input"].startswith("Read notes.txt")
    assert document["metrics"]["total_tokens"] == 5090
    assert document["output"] == "The colour is blue now, and the file has 2 lines."


@pytest.mark.parametrize("channel", ["logs.jsonl", "session"])
def test_the_name_of_a_sub_agent_is_its_role(tmp_path: Path, channel: str) -> None:
    copy = shutil.copytree(FOLDER / "codex" / "sub_agent", tmp_path / "copy")
    for file in copy.rglob("*.jsonl"):
        text = file.read_text().replace(
            '{\\"message\\"', '{\\"agent_type\\":\\"explorer\\",\\"message\\"'
        )
        file.write_text(text.replace('"agent_role":null', '"agent_role":"explorer"'))
    runs = rebuild(open_source(copy / channel).spans())
    assert {run.document["agent_id"] for run in runs} == {"codex", "explorer"}


def test_a_span_of_the_decision_about_a_call_is_not_its_end() -> None:
    """Of a killed session, it may be the last span that was sent."""
    channels = [str(FOLDER / "codex" / "killed" / name) for name in ("spans.jsonl", "logs.jsonl")]
    spans = list(open_spans(channels).spans())
    events = ((s, event) for s in spans for event in s.events)
    decisions = [e for e in events if e[1].attributes.get("event.name") == "codex.tool_decision"]
    around, decided = max(decisions, key=lambda item: item[1].time_ns or 0)
    names = ("call_id", "conversation.id")
    decision = SpanRecord(
        around.trace_id, "f" * 16, None, "guardian_scoring_observation",
        start_ns=decided.time_ns, end_ns=(decided.time_ns or 0) + 1000,
        attributes={name: decided.attributes[name] for name in names}, scope="codex_exec",
    )  # fmt: skip
    (run,) = (run.document for run in rebuild([*spans, decision]))
    assert run["status"] == "in_progress"
    assert "timestamp" not in run["steps"][-1]
