"""Gemini CLI's session files: lines that are cut, unknown or taken back, and killed sessions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.reading.sources.opening import open_spans

HEADER = {"sessionId": "s1", "projectHash": "p", "startTime": "2026-11-27T10:00:00Z",
          "kind": "main"}  # fmt: skip
FIXTURES = Path("tests/fixtures/coding_agents/gemini-cli").absolute()


def user(number: int, content: Any, **more: Any) -> dict[str, Any]:
    at = f"2026-11-27T10:00:{number:02}Z"
    return {"id": f"u{number}", "timestamp": at, "type": "user", "content": content, **more}


def gemini(number: int, content: str, **more: Any) -> dict[str, Any]:
    at = f"2026-11-27T10:00:{number:02}Z"
    tokens = {"input": 100, "output": 10, "cached": 40, "thoughts": 5, "tool": 0, "total": 115}
    line = {"id": f"g{number}", "timestamp": at, "type": "gemini", "content": content}
    return {**line, "model": "gemini-3", "tokens": tokens, **more}


def call(status: str, **more: Any) -> dict[str, Any]:
    return {"id": "read_file__c1", "name": "read_file", "args": {"file_path": "a"},
            "status": status, "timestamp": "2026-11-27T10:00:09Z", **more}  # fmt: skip


def answered(response: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"functionResponse": {"id": "read_file__c1", "response": response}}]


def runs(path: Path, *lines: object, cut: int = 0) -> tuple[list[Any], list[Any]]:
    """Return the documents of a file and the problems of reading it."""
    text = "".join(json.dumps(line) + "\n" for line in (HEADER, *lines))
    file = path / "session-1.jsonl"
    file.write_text(text[: len(text) - cut])
    source = open_spans([str(file)])
    return [run.document for run in rebuild(source.spans())], source.problems


def test_the_last_line_of_a_message_counts(tmp_path: Path) -> None:
    calls = [call("success", result=answered({"output": "red"}))]
    (run,), problems = runs(
        tmp_path,
        user(1, "Read a."),
        gemini(2, ""),
        gemini(2, "", toolCalls=calls),
        gemini(9, "Red."),
    )
    assert problems == []
    assert (run["input"], run["output"], run["metrics"]["total_tokens"]) == ("Read a.", "Red.", 230)
    assert [step["type"] for step in run["steps"]] == ["tool_call", "tool_result"]
    assert run["steps"][0]["tool_call"]["id"] == "c1"


def test_a_call_under_way_has_no_result(tmp_path: Path) -> None:
    (run,), _ = runs(tmp_path, user(1, "Read a."), gemini(2, "", toolCalls=[call("executing")]))
    assert run["status"] == "in_progress"
    assert "timestamp" not in run["steps"][1]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Tool execution denied by policy.", "permission_denied: "),
        ("User denied execution.", "permission_denied: "),
        ("File not found.", ""),
    ],
)
def test_a_refusal_is_no_failure_of_the_tool(words: str, kind: str, tmp_path: Path) -> None:
    calls = [call("error", result=answered({"error": words}))]
    (run,), _ = runs(tmp_path, user(1, "Read a."), gemini(2, "", toolCalls=calls), gemini(9, "No."))
    assert run["steps"][1]["tool_result"]["error"] == kind + words


def test_a_prompt_that_is_taken_back_has_failed(tmp_path: Path) -> None:
    patch = {"$set": {"messages": [], "lastUpdated": "2026-11-27T10:00:05Z"}}
    (run,), _ = runs(tmp_path, user(1, "Read a."), patch)
    assert (run["input"], run["status"]) == ("Read a.", "error")


def test_a_compressed_history_is_no_new_turn(tmp_path: Path) -> None:
    summary = {**user(5, "<state_snapshot>…</state_snapshot>"), "id": "x"}
    patch = {"$set": {"messages": [summary]}}
    (run,), _ = runs(tmp_path, user(1, "Read a."), gemini(2, "Done."), patch)
    assert (run["input"], run["output"], run["status"]) == ("Read a.", "Done.", "success")


def test_the_context_is_no_prompt(tmp_path: Path) -> None:
    content = [{"text": "<session_context>\nx</session_context>"}, {"text": "Hi."}]
    (run,), _ = runs(tmp_path, user(1, content[:1]), user(2, content), gemini(3, "Hello."))
    assert run["input"] == "Hi."


def test_what_the_user_typed_is_the_prompt(tmp_path: Path) -> None:
    (run,), _ = runs(tmp_path, user(1, "Hi. <file>", displayContent="Hi. @a"), gemini(2, "Hello."))
    assert run["input"] == "Hi. @a"


@pytest.mark.parametrize(
    "line",
    [
        {"id": "i1", "timestamp": "2026-11-27T10:00:03Z", "type": "info", "content": "Hint"},
        {"id": "n1", "timestamp": "2026-11-27T10:00:03Z", "type": "new_kind", "content": [1]},
        {"$rewindTo": "u1"},
        {"$set": {"summary": "A chat"}},
    ],
    ids=["info", "unknown", "rewind", "summary"],
)
def test_other_lines_are_known(line: dict[str, Any], tmp_path: Path) -> None:
    (run,), problems = runs(tmp_path, user(1, "Hi."), line, gemini(4, "Hello."))
    assert (run["output"], problems) == ("Hello.", [])


def test_a_cut_line_costs_itself_alone(tmp_path: Path) -> None:
    (run,), problems = runs(tmp_path, user(1, "Hi."), gemini(2, "Hello."), gemini(3, "x"), cut=30)
    assert run["output"] == "Hello."
    assert len(problems) <= 1


def test_an_object_of_earlier_versions_is_read(tmp_path: Path) -> None:
    (run,), problems = runs(tmp_path, {**HEADER, "messages": [user(1, "Hi."), gemini(2, "Hello.")]})
    assert (run["input"], run["output"], problems) == ("Hi.", "Hello.", [])


@pytest.mark.parametrize("situation", sorted(folder.name for folder in FIXTURES.iterdir()))
def test_a_home_has_its_sessions(
    situation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "tmp").symlink_to(FIXTURES / situation / "session")
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path))
    source = open_spans(["gemini-cli://?since=3650d&project=project"])
    found = [run.document for run in rebuild(source.spans())]
    session = found[0]["session_id"]
    assert source.problems == []
    again = open_spans([f"gemini-cli://?session={session}"])
    assert len([*rebuild(again.spans())]) == len(found)


@pytest.mark.parametrize("channel", ["spans.jsonl", "logs.jsonl", "session"])
@pytest.mark.parametrize(
    ("reason", "status"), [("ERROR_NO_COMPLETE_TASK_CALL", "error"), ("TIMEOUT", "timeout")]
)
def test_a_sub_agent_without_its_goal_has_failed(
    channel: str, reason: str, status: str, tmp_path: Path
) -> None:
    copy = shutil.copytree(FIXTURES / "sub_agent", tmp_path / "copy")
    for file in copy.rglob("*.jsonl"):
        file.write_text(file.read_text().replace("GOAL", reason))
    documents = [run.document for run in rebuild(open_spans([str(copy / channel)]).spans())]
    statuses = [run["status"] for run in sorted(documents, key=lambda run: run["started_at"])]
    assert statuses == ["success", status]


def test_a_turn_that_its_limit_ended_is_no_success(tmp_path: Path) -> None:
    """Gemini CLI 0.61.0 exits with code 53 after the tool calls, and writes nothing about it."""
    calls = [call("success", result=answered({"output": "red"}))]
    (run,), _ = runs(tmp_path, user(1, "Read a."), gemini(2, "First a.", toolCalls=calls))
    assert run["status"] == "in_progress"


def test_a_run_whose_last_response_was_left_is_no_success() -> None:
    """Gemini CLI leaves one that repeats itself; only log records say that it is a loop."""
    spans = list(open_spans([str(FIXTURES / "answer" / "spans.jsonl")]).spans())
    last = max((span for span in spans if span.name == "llm_call"), key=lambda s: s.start_ns or 0)
    for name in [*last.attributes]:
        if name == "gen_ai.output.messages" or name.startswith("gen_ai.usage."):
            del last.attributes[name]
    (run,) = rebuild(spans)
    assert (run.document["status"], run.document.get("output")) == ("in_progress", None)
