"""opencode's sessions: recorded exports, and documents after its SDK's types."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.errors import DecodeError, SourceError, SourceUnreachable
from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_spans
from tests.coding_agents.recordings import FOLDER

Json = dict[str, Any]
START_NS = 1795824500 * 10**9


def runs(*places: str) -> list[Any]:
    """Return the runs of places; nothing in them may be a problem."""
    source = open_spans(places)
    found = [run.document for run in rebuild(source.spans())]
    assert not source.problems
    return found


def export(folder: Path, *messages: Json, **info: Any) -> str:
    file = folder / f"{info.get('id', 'ses_1')}.json"
    times = {"created": 1795824500000, "updated": 1795824509000}
    about = {"id": "ses_1", "projectID": "global", "directory": "/p", "time": times, **info}
    file.write_text(json.dumps({"info": about, "messages": messages}))
    return str(file)


def user(*parts: Json, own: str = "msg_1", second: int = 0) -> Json:
    time = {"created": 1795824500000 + 1000 * second}
    return {"info": {"role": "user", "id": own, "time": time}, "parts": [*parts]}


def answer(*parts: Json, own: str = "msg_2", to: str = "msg_1", second: int = 1) -> Json:
    start = 1795824500000 + 1000 * second
    time = {"created": start, "completed": start + 500}
    info = {"role": "assistant", "id": own, "parentID": to, "time": time, "modelID": "m"}
    return {"info": info, "parts": [*parts]}


def text(words: str, **more: Any) -> Json:
    return {"type": "text", "text": words, **more}


def finish(reason: str, tokens: int) -> Json:
    counts = {"input": tokens, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    return {"type": "step-finish", "reason": reason, "tokens": counts}


def tool(call: str, status: str, name: str = "bash", **state: Any) -> Json:
    time = {"start": 1795824501100, "end": 1795824501200}
    state = {"status": status, "input": {}, "time": time, **state}
    return {"type": "tool", "callID": call, "tool": name, "state": state}


def recorded(situation: str) -> Path:
    return FOLDER / "opencode" / situation


def test_a_killed_session_goes_on_and_its_last_call_is_open() -> None:
    (run,) = runs(str(recorded("killed") / "session"))
    assert run["status"] == "in_progress"
    assert "timestamp" not in run["steps"][-1]


def test_a_cut_document_is_an_error_that_names_it(tmp_path: Path) -> None:
    (file,) = (recorded("answer") / "session").iterdir()
    cut = tmp_path / "cut.json"
    cut.write_text(file.read_text()[:1500])
    with pytest.raises(DecodeError, match="cut short"):
        runs(str(cut))


def test_a_part_of_an_unknown_type_changes_nothing(tmp_path: Path) -> None:
    dream = {"type": "dream", "of": "sheep"}
    place = export(tmp_path, user(text("Go on."), dream), answer(dream, text("Done.")))
    (run,) = runs(place)
    assert (run["input"], run["output"], run["status"]) == ("Go on.", "Done.", "success")


def test_what_the_harness_adds_is_no_prompt(tmp_path: Path) -> None:
    hint = text("<system-reminder>Plan first.</system-reminder>", synthetic=True)
    goes_on = user(text("Continue", synthetic=True), own="msg_3", second=4)
    place = export(
        tmp_path, user(text('"Go on, please."'), hint), answer(tool("c1", "completed")), goes_on,
        answer(text("Done."), own="msg_4", to="msg_3", second=5),
    )  # fmt: skip
    (run,) = runs(place)
    assert (run["input"], run["output"]) == ("Go on, please.", "Done.")


def test_each_step_of_a_message_is_a_model_call(tmp_path: Path) -> None:
    first = [{"type": "step-start"}, tool("c1", "completed"), finish("tool-calls", 10)]
    second = [{"type": "step-start"}, text("Done."), finish("stop", 20)]
    (run,) = runs(export(tmp_path, user(text("Go on.")), answer(*first, *second)))
    assert (run["output"], run["metrics"]["total_tokens"]) == ("Done.", 32)


def test_a_tool_that_the_model_made_up_has_failed(tmp_path: Path) -> None:
    part = tool("c1", "completed", "invalid", output="The arguments are invalid: no tool x.")
    (run,) = runs(export(tmp_path, user(text("Go.")), answer(part)))
    result = run["steps"][-1]["tool_result"]
    assert result["error"] == "The arguments are invalid: no tool x."


def test_a_tool_that_the_user_rejects_is_denied(tmp_path: Path) -> None:
    words = "The user rejected permission to use this specific tool call."
    call = tool("c1", "error", error=words)
    (run,) = runs(export(tmp_path, user(text("Go on.")), answer(call), answer(text("No."))))
    (result,) = (step["tool_result"] for step in run["steps"] if step["type"] == "tool_result")
    assert result["error"] == f"permission_denied: {words}"


def test_a_sub_agent_of_a_sub_agent_is_in_the_users_session(tmp_path: Path) -> None:
    def starts(session: str, call: str, to: str = "msg_1") -> Json:
        part = tool(call, "completed", "task", metadata={"sessionId": session})
        return answer(part, to=to, own=f"{to}a")

    places = [
        export(tmp_path, user(text("Go on.")), starts("ses_2", "c1")),
        export(tmp_path, user(text("A part."), own="msg_5"), starts("ses_3", "c2", "msg_5"),
               id="ses_2", parentID="ses_1", agent="general"),
        export(tmp_path, user(text("Less."), own="msg_6"), answer(text("4"), to="msg_6"),
               id="ses_3", parentID="ses_2", agent="explore"),
    ]  # fmt: skip
    found = runs(*places)
    assert {run["session_id"] for run in found} == {"ses_1"}
    by_id = {run["trace_id"]: run for run in found}
    above = {
        run["input"]: by_id[run["metadata"]["parent_trace_id"]]["input"]
        for run in found
        if "parent_trace_id" in run.get("metadata", {})
    }
    assert above == {"A part.": "Go on.", "Less.": "A part."}


def test_a_request_that_may_be_sent_again_fails_no_turn() -> None:
    asks = {"ai.operationId": "ai.streamText.doStream", "session.id": "ses_1"}
    call = SpanRecord("1" * 32, "2" * 16, None, "ai.streamText.doStream", start_ns=START_NS,
                      end_ns=START_NS + 5, attributes=asks, status="ERROR",
                      status_message="Too many requests", scope="opencode")  # fmt: skip
    turn = SpanRecord("1" * 32, "3" * 16, None, "SessionPrompt.prompt", start_ns=START_NS,
                      end_ns=START_NS + 9, scope="opencode")  # fmt: skip
    (run,) = rebuild([call])
    assert run.document["status"] == "in_progress"
    (run,) = rebuild([call, turn])
    assert run.document["status"] == "error"


# ------------------------------------------------------------------------------ the database

_TABLES = """
    CREATE TABLE session (id, parent_id, project_id, directory, title, agent, version,
                          time_created, time_updated);
    CREATE TABLE message (id, session_id, time_created, data);
    CREATE TABLE part (id, message_id, session_id, data);
"""


def database(home: Path, *documents: Path) -> Path:
    """Make a database with the sessions of exports."""
    file = home / ".local/share/opencode/opencode.db"
    file.parent.mkdir(parents=True)
    connection = sqlite3.connect(file)
    connection.executescript(_TABLES)
    for document in documents:
        session = json.loads(document.read_text())
        info = session["info"]
        row = [info.get(name) for name in ("id", "parentID", "projectID", "directory", "title",
                                           "agent", "version")]  # fmt: skip
        row += info["time"]["created"], info["time"]["updated"]
        connection.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?)", row)
        for item in session["messages"]:
            own, created = item["info"].pop("id"), item["info"]["time"]["created"]
            message = (own, info["id"], created, json.dumps(item["info"]))
            connection.execute("INSERT INTO message VALUES (?,?,?,?)", message)
            for part in item["parts"]:
                values = (part.pop("id"), own, info["id"], json.dumps(part))
                connection.execute("INSERT INTO part VALUES (?,?,?,?)", values)
    connection.commit()
    connection.close()
    return file


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_sessions_of_the_database_are_those_of_the_exports(home: Path) -> None:
    folder = recorded("sub_agent") / "session"
    file = database(home, *folder.iterdir())
    assert runs("opencode://?since=2026-01-01&project=project") == runs(str(folder))
    assert [path.name for path in file.parent.iterdir()] == ["opencode.db"]


def test_a_copy_of_the_database_is_read_by_its_path(home: Path) -> None:
    folder = recorded("sub_agent") / "session"
    copy = database(home, *folder.iterdir()).rename(home / "copy")
    assert runs(str(copy)) == runs(str(folder))
    sqlite3.connect(copy).executescript("DROP TABLE part")
    with pytest.raises(DecodeError, match="a SQLite database"):
        runs(str(copy))


@pytest.mark.parametrize("name", ["opencode.db", "copy.db"])
def test_a_copy_is_read_with_the_log_beside_it(home: Path, name: str) -> None:
    """The log has what opencode has not written into the database yet; no file is added."""
    folder = recorded("sub_agent") / "session"
    original = database(home, *folder.iterdir())
    copies = home / "copies"
    copies.mkdir()
    with closing(sqlite3.connect(original)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE part SET data = json_set(data, '$.text', 'Newest.')")
        connection.commit()
        shutil.copyfile(original, copies / name)
        shutil.copyfile(f"{original}-wal", copies / "opencode.db-wal")
    assert {run["output"] for run in runs(str(copies / name))} == {"Newest."}
    assert sorted(file.name for file in copies.iterdir()) == sorted([name, "opencode.db-wal"])


def test_a_session_is_asked_for_by_its_id_with_its_sub_agents(home: Path) -> None:
    files = [*(recorded("sub_agent") / "session").iterdir()]
    database(home, *files)
    assert len(runs(f"opencode://?session={files[0].stem}")) == 2
    with pytest.raises(SourceUnreachable, match="there are 2 sessions"):
        runs("opencode://?session=ses_0")


def test_without_a_database_there_are_no_sessions(home: Path) -> None:
    with pytest.raises(SourceUnreachable, match="opencode has no sessions here"):
        runs("opencode://")


def test_a_database_with_other_tables_is_an_error_with_a_way_out(home: Path) -> None:
    file = database(home)
    sqlite3.connect(file).executescript("DROP TABLE session")
    with pytest.raises(SourceError, match="opencode export ID"):
        runs("opencode://")


def test_a_forked_session_is_without_the_copies(tmp_path: Path) -> None:
    [run] = runs(
        export(
            tmp_path,
            user(text("Hi."), second=-9), answer(text("Hello."), finish("stop", 5), second=-8),
            user(text("Again."), own="msg_3", second=1),
            answer(text("Hello again."), finish("stop", 7), own="msg_4", to="msg_3", second=2),
        )
    )  # fmt: skip
    assert (run["input"], run["output"]) == ("Again.", "Hello again.")
    assert run["metrics"]["total_tokens"] == 8
