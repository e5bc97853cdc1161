"""Copilot CLI's session files: recorded ones, and lines after the SDK's events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.reading.sources.opening import open_spans
from tests.coding_agents.recordings import FOLDER

Line = dict[str, Any]


def line(kind: str, second: int, agent: str | None = None, **data: Any) -> Line:
    at = f"2026-11-28T00:00:{second:02}.000Z"
    made = {"type": kind, "data": data, "id": f"e{second}", "timestamp": at, "parentId": None}
    return made if agent is None else {**made, "agentId": agent}


START = line("session.start", 0, sessionId="s1", copilotVersion="1", context={"cwd": "/p"})
PROMPT = line("user.message", 1, content="Go on.", interactionId="i1")
ANSWER = line("assistant.message", 9, content="Done.", apiCallId="r9", model="m")


def runs(folder: Path, *lines: Line | str) -> list[Any]:
    """Return the runs of a session file; nothing in it may be a problem."""
    file = folder / "events.jsonl"
    texts = (item if isinstance(item, str) else json.dumps(item) for item in lines)
    file.write_text("\n".join(texts))
    source = open_spans([str(file)])
    found = [run.document for run in rebuild(source.spans())]
    assert not source.problems
    return found


def recorded(situation: str) -> str:
    (file,) = (FOLDER / "copilot" / situation).glob("session/*/events.jsonl")
    return file.read_text()


def test_a_killed_session_goes_on_and_its_last_call_is_open(tmp_path: Path) -> None:
    (run,) = runs(tmp_path, recorded("killed"))
    assert run["status"] == "in_progress"
    assert "timestamp" not in run["steps"][-1]


def test_a_cut_file_is_read_to_its_last_whole_line(tmp_path: Path) -> None:
    whole = recorded("answer")
    file = tmp_path / "events.jsonl"
    file.write_text(whole[: whole.index('"assistant.message"') + 40])
    source = open_spans([str(file)])
    (run,) = (run.document for run in rebuild(source.spans()))
    assert (run["input"], run.get("output")) == ("What is the capital of France?", None)
    assert run["metrics"]["total_tokens"] == 1121
    assert len(source.problems) == 1


def test_a_line_of_an_unknown_type_is_a_line(tmp_path: Path) -> None:
    (run,) = runs(tmp_path, START, PROMPT, line("session.dreamed", 2, of="sheep"), ANSWER)
    assert (run["output"], run["status"]) == ("Done.", "success")


def test_a_message_of_the_harness_is_no_prompt(tmp_path: Path) -> None:
    hint = line("user.message", 2, content="Read AGENTS.md", source="skill", interactionId="i1")
    (run,) = runs(tmp_path, START, PROMPT, hint, ANSWER)
    assert run["input"] == "Go on."


def test_an_error_that_an_answer_follows_fails_nothing(tmp_path: Path) -> None:
    error = line("session.error", 2, errorType="query", message="503")
    (run,) = runs(tmp_path, START, PROMPT, error, ANSWER)
    assert run["status"] == "success"
    (run,) = runs(tmp_path, START, PROMPT, error)
    assert run["status"] == "error"


def test_a_failed_sub_agent_is_a_run_with_an_error(tmp_path: Path) -> None:
    call = line("tool.execution_start", 2, toolCallId="c1", toolName="task", arguments={})
    start = line("subagent.started", 3, "a1", toolCallId="c1", agentName="explore")
    end = line("subagent.failed", 4, "a1", toolCallId="c1", agentName="explore", error="no model")
    done = line("tool.execution_complete", 5, toolCallId="c1", success=False, error={"code": "x"})
    main, sub = runs(tmp_path, START, PROMPT, call, start, end, done, ANSWER)
    assert main["status"] == "success"
    assert (sub["status"], sub["agent_id"]) == ("error", "explore")
    assert sub["metadata"]["parent_trace_id"] == main["trace_id"]


def test_sessions_are_found_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("COPILOT_HOME", raising=False)
    folder = tmp_path / ".copilot/session-state/0b7c"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text(recorded("answer"))
    (run,) = rebuild(open_spans(["copilot://?session=0b7"]).spans())
    assert run.document["output"] == "The capital of France is Paris."


def test_a_turn_that_the_user_stops_is_cancelled_with_its_calls(tmp_path: Path) -> None:
    request = {"toolCallId": "c1", "name": "bash", "arguments": {"command": "sleep 30"}}
    asks = line("assistant.message", 2, content="Waiting.", apiCallId="r2", toolRequests=[request])
    call = line("tool.execution_start", 3, toolCallId="c1", toolName="bash", arguments={})
    (run,) = runs(tmp_path, START, PROMPT, asks, call, line("abort", 5, reason="user_abort"))
    assert (run["status"], run.get("output")) == ("error", None)
    assert run["metadata"]["error"]["type"] == "cancelled"
    assert run["steps"][-1]["tool_result"]["error"] == "user_abort"
    assert run["steps"][-1]["timestamp"].startswith("2026-11-28T00:00:05")
