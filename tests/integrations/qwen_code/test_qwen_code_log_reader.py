"""Qwen Code's session files: lines that are cut or unknown, and killed sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.reading.sources.opening import open_spans

FIXTURES = Path("tests/fixtures/coding_agents/qwen-code").absolute()
SUB: dict[str, Any] = {"agentId": "explore-c1", "agentName": "explore", "isSidechain": True}


def line(second: int, kind: str, parts: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    at = f"2026-11-28T10:00:{second:02}Z"
    content = {} if parts is None else {"message": {"role": "user", "parts": parts}}
    names = {"uuid": f"u{second}", "parentUuid": None, "sessionId": "s1", "timestamp": at}
    return {**names, "type": kind, "cwd": "/p", "version": "0.24.4", **content, **more}


def user(second: int, words: str, **more: Any) -> dict[str, Any]:
    return line(second, "user", [{"text": words}], **more)


def said(second: int, *parts: Any, tokens: bool = True, **more: Any) -> dict[str, Any]:
    counts = {"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 4,
              "totalTokenCount": 110}  # fmt: skip
    usage = {"usageMetadata": counts} if tokens else {}
    return line(second, "assistant", list(parts), **usage, **more)


def asked(name: str = "read_file", call_id: str = "c1") -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": name, "args": {"path": "a"}}}


def ended(second: int, response: dict[str, Any], **more: Any) -> dict[str, Any]:
    sent = {"functionResponse": {"id": "c1", "name": "read_file", "response": response}}
    return line(second, "tool_result", [sent], toolCallResult={"callId": "c1", **more})


def runs(path: Path, *lines: object, cut: int = 0) -> tuple[list[Any], list[Any]]:
    """Return the documents of a file and the problems of reading it."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    file = path / "s1.jsonl"
    file.write_text(text[: len(text) - cut])
    source = open_spans([str(file)])
    return [run.document for run in rebuild(source.spans())], source.problems


def test_a_turn_is_read(tmp_path: Path) -> None:
    (run,), problems = runs(
        tmp_path, user(1, "Read a."), said(2, asked()), ended(3, {"output": "red"}),
        said(4, {"text": "So.", "thought": True}, {"text": "Red."}),
    )  # fmt: skip
    assert (run["input"], run["output"], run["status"]) == ("Read a.", "Red.", "success")
    assert (run["metrics"]["total_tokens"], problems) == (220, [])
    assert run["steps"][1]["tool_result"]["output"] == "red"


def test_the_calls_of_a_message_may_have_lines_of_their_own(tmp_path: Path) -> None:
    (run,), _ = runs(
        tmp_path, user(1, "Read a."), said(2), said(3, asked(), tokens=False),
        ended(4, {"output": "red"}), said(5, {"text": "Red."}),
    )  # fmt: skip
    assert run["metrics"] | {"total_duration_ms": 0} == {
        "total_tokens": 220, "total_duration_ms": 0, "step_count": 2, "tool_call_count": 1,
    }  # fmt: skip


def test_a_killed_session_is_in_progress(tmp_path: Path) -> None:
    (run,), _ = runs(tmp_path, user(1, "Read a."), said(2, asked()))
    assert run["status"] == "in_progress"
    assert "timestamp" not in run["steps"][1]


def test_a_request_that_failed_ends_the_turn(tmp_path: Path) -> None:
    event = {"event.name": "qwen-code.api_error", "event.timestamp": "2026-11-28T10:00:02Z",
             "response_id": "r1", "prompt_id": "s1########0", "status_code": 400,
             "error_message": "no"}  # fmt: skip
    told = line(2, "system", subtype="ui_telemetry", systemPayload={"uiEvent": event})
    (run,), _ = runs(tmp_path, user(1, "Read a."), told)
    assert (run["input"], run["status"]) == ("Read a.", "error")


@pytest.mark.parametrize(
    ("kind", "error"),
    [("execution_denied", "permission_denied: no"), ("file_not_found", "no")],
)
def test_a_refusal_is_no_failure_of_the_tool(kind: str, error: str, tmp_path: Path) -> None:
    failed = ended(3, {"error": "no"}, status="error", errorType=kind)
    (run,), _ = runs(tmp_path, user(1, "Read a."), said(2, asked()), failed)
    assert run["steps"][1]["tool_result"]["error"] == error


def test_a_command_has_its_exit_code(tmp_path: Path) -> None:
    display = {"type": "shell_result", "exitCode": 0}
    done = ended(3, {"output": "Output: 2\nExit Code: 0"}, resultDisplay=display)
    call = asked("run_shell_command")
    (run,), _ = runs(tmp_path, user(1, "Count."), said(2, call), done, said(4, {"text": "2"}))
    assert run["steps"][1]["tool_result"]["exit_code"] == 0


def test_a_message_of_a_running_turn_begins_no_other(tmp_path: Path) -> None:
    more = user(3, "Faster.", subtype="mid_turn_user_message")
    (run,), _ = runs(
        tmp_path, user(1, "Read a."), said(2, asked()), more, said(4, {"text": "Red."})
    )
    assert run["input"] == "Read a."


def test_a_reminder_is_no_prompt(tmp_path: Path) -> None:
    parts = [{"text": "<system-reminder>x</system-reminder>"}, {"text": "Hi."}]
    (run,), _ = runs(tmp_path, line(1, "user", parts), said(2, {"text": "Hello."}))
    assert run["input"] == "Hi."


def test_a_sub_agent_is_below_the_call_that_started_it(tmp_path: Path) -> None:
    chat, part = tmp_path / "s1.jsonl", tmp_path / "agent-explore-c1.jsonl"
    own = [user(1, "Find it."), said(2, asked("agent")), ended(5, {"output": "There."}),
           said(6, {"text": "Found."})]  # fmt: skip
    chat.write_text("\n".join(map(json.dumps, own)))
    delegated = [user(3, "Look.", **SUB), said(4, {"text": "There."}, **SUB)]
    part.write_text("\n".join(map(json.dumps, delegated)))
    main, sub = (run.document for run in rebuild(open_spans([str(chat), str(part)]).spans()))
    assert (main["input"], main["output"]) == ("Find it.", "Found.")
    assert (sub["agent_id"], sub["input"], sub["output"]) == ("explore", "Look.", "There.")
    assert sub["metadata"]["parent_trace_id"] == main["trace_id"]


@pytest.mark.parametrize(
    "other",
    [
        line(3, "system", subtype="custom_title", systemPayload={"title": "x"}),
        line(3, "new_kind", payload=1),
    ],
    ids=["system", "unknown"],
)
def test_other_lines_are_known(other: dict[str, Any], tmp_path: Path) -> None:
    (run,), problems = runs(tmp_path, user(1, "Hi."), other, said(4, {"text": "Hello."}))
    assert (run["output"], problems) == ("Hello.", [])


def test_a_cut_line_costs_itself_alone(tmp_path: Path) -> None:
    (run,), problems = runs(
        tmp_path, user(1, "Hi."), said(2, {"text": "Hello."}), said(3, {"text": "x"}), cut=30
    )
    assert run["output"] == "Hello."
    assert len(problems) <= 1


@pytest.mark.parametrize("situation", sorted(folder.name for folder in FIXTURES.iterdir()))
def test_a_home_has_its_sessions(
    situation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".qwen").mkdir()
    (tmp_path / ".qwen" / "projects").symlink_to(FIXTURES / situation / "session")
    monkeypatch.delenv("QWEN_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    source = open_spans(["qwen-code://?since=3650d&project=project"])
    found = [run.document for run in rebuild(source.spans())]
    session = found[0]["session_id"]
    assert source.problems == []
    again = open_spans([f"qwen-code://?session={session}"])
    assert len([*rebuild(again.spans())]) == len(found)


def test_a_forked_session_is_without_the_copies(tmp_path: Path) -> None:
    copied: dict[str, Any] = {"forkedFrom": {"sessionId": "s0", "messageUuid": "u1"}}
    (run,), problems = runs(
        tmp_path, user(1, "Read a.", **copied), said(2, asked(), **copied),
        ended(3, {"output": "red"}) | copied, said(4, {"text": "Red."}, **copied),
        user(5, "Again."), said(6, {"text": "Red again."}),
    )  # fmt: skip
    assert (run["input"], run["output"], run["steps"], problems) == ("Again.", "Red again.", [], [])


def test_a_turn_that_its_user_stops_is_cancelled(tmp_path: Path) -> None:
    stopped = ended(3, {"error": "[Operation Cancelled]"}, status="cancelled")
    (run, again), _ = runs(
        tmp_path, user(1, "Wait."), said(2, asked()), stopped,
        user(4, "Go on."), said(5, {"text": "Done."}),
    )  # fmt: skip
    assert (run["status"], run["metadata"]["error"]["type"]) == ("error", "cancelled")
    assert again["status"] == "success"
