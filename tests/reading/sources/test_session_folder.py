"""The sessions of a coding agent on this machine, as `claude-code://` and `codex://` read them."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from agentool_otel.errors import SourceDenied, SourceError, SourceUnreachable
from agentool_otel.loading import load, rebuild
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.reading.sources.session_folder import parse_session_query
from tests.coding_agents.recordings import FOLDER
from tests.users import as_nobody, needs_users

NOW = 1_796_000_000_000_000_000
DAY_S = 24 * 3600


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with two sessions of Claude Code: one of now, one of last week in another project."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    projects = tmp_path / ".claude" / "projects"
    for name in ("answer", "denied"):
        shutil.copytree(FOLDER / "claude-code" / name / "session", projects, dirs_exist_ok=True)
    files = sorted(projects.glob("*/*.jsonl"), key=lambda file: "rm prices" in file.read_text())
    old = projects / "-home-user-shop" / "0123-old.jsonl"
    old.parent.mkdir()
    old.write_text(files[1].read_text().replace("/home/user/project", "/home/user/shop"))
    files[1].unlink()
    os.utime(files[0])
    week_ago = time.time() - 7 * DAY_S
    os.utime(old, (week_ago, week_ago))
    return tmp_path


def inputs(where: str) -> list[object]:
    return [trace.input for trace in load(where)]


def test_the_sessions_of_today_are_read(home: Path) -> None:
    assert inputs("claude-code://") == ["What is the capital of France?"]


@pytest.mark.parametrize("query", ["since=8d", "since=2020-01-01", "since=8d&project="])
def test_since_reads_older_ones_as_well(home: Path, query: str) -> None:
    assert len(inputs(f"claude-code://?{query}")) == 2


@pytest.mark.parametrize(
    "query",
    ["project=shop&since=8d", "project=/home/user/shop/&since=30d", "session=0123&project=shop"],
)
def test_project_and_session_select(home: Path, query: str) -> None:
    assert inputs(f"claude-code://?{query}") == ["Delete prices.csv."]


@pytest.mark.parametrize(
    ("project", "count"),
    [("shop%20one", 1), ("~/shop%20one", 1), ("shop-one", 0), ("chats", 0), ("tmp", 0)],
)
def test_a_project_of_gemini_cli_is_the_folder_in_a_file_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: str, count: int
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GEMINI_CLI_HOME", raising=False)
    slug = tmp_path / ".gemini" / "tmp" / "shop-one"
    (file,) = (FOLDER / "gemini-cli" / "answer" / "session").rglob("session-*.jsonl")
    (slug / "chats").mkdir(parents=True)
    shutil.copyfile(file, slug / "chats" / file.name)
    (slug / ".project_root").write_text(f"{tmp_path}/shop one")
    if count:
        assert len(inputs(f"gemini-cli://?project={project}")) == count
    else:
        with pytest.raises(SourceUnreachable, match="projects with sessions: 'shop one'"):
            open_source(f"gemini-cli://?project={project}")


def test_a_line_that_is_still_being_written_is_no_problem(home: Path) -> None:
    for file in (home / ".claude" / "projects").glob("-home-user-project/*.jsonl"):
        with file.open("a") as stream:
            stream.write('{"type": "user", "message": {"role": "us')
    source = open_source("claude-code://")
    assert [run.document["status"] for run in rebuild(source.spans())] == ["success"]
    assert source.problems == []


def test_reading_changes_nothing(home: Path) -> None:
    def state() -> list[tuple[str, int, int]]:
        files = (file for file in home.rglob("*") if file.is_file())
        return sorted((str(f), f.stat().st_mtime_ns, f.stat().st_size) for f in files)

    before = state()
    inputs("claude-code://?since=8d")
    assert state() == before


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "?project=nowhere",
            "no session of Claude Code of project 'nowhere' today; projects with sessions: "
            "'project'$",
        ),
        ("?project=projects", "of project 'projects' today"),
        ("?session=0123&project=nowhere", "'0123' is of project 'nowhere'; it is of 'shop'$"),
        ("?session=zz", "no session of Claude Code has the id 'zz'; there are 2 session files"),
        ("?since=2100-01-01", "since 2100-01-01T00:00:00Z; the newest .* is of [-T:0-9]+Z"),
    ],
)
def test_that_nothing_is_found_is_an_error_with_the_reason(
    home: Path, query: str, message: str
) -> None:
    with pytest.raises(SourceUnreachable, match=message):
        open_source(f"claude-code://{query}")


def test_an_agent_that_was_never_used_has_no_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    with pytest.raises(SourceUnreachable, match="Codex has no sessions here"):
        open_source("codex://")


@needs_users
@pytest.mark.parametrize("denied", ["codex", "codex/sessions", "codex/sessions/2026"])
def test_a_folder_that_may_not_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, denied: str
) -> None:
    with tempfile.TemporaryDirectory() as shared:
        Path(shared).chmod(0o755)
        monkeypatch.setenv("CODEX_HOME", f"{shared}/codex")
        Path(shared, "codex/sessions/2026").mkdir(parents=True)
        Path(shared, denied).chmod(0o000)
        with as_nobody(), pytest.raises(SourceDenied, match=f"{denied}.* may not be read"):
            list(open_source("codex://").spans())


@needs_users
def test_a_folder_that_may_not_be_read_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as shared:
        Path(shared).chmod(0o755)
        monkeypatch.setenv("CODEX_HOME", shared)
        shutil.copytree(FOLDER / "codex" / "answer" / "session", Path(shared, "sessions"))
        Path(shared, "sessions", "2025").mkdir(0o000)
        with as_nobody():
            source = open_source("codex://?since=2000-01-01")
            assert list(source.spans())
        assert [problem.where for problem in source.problems] == [f"{shared}/sessions/2025"]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("codex://?sinse=2d", "no parameter 'sinse'; known: since, project, session"),
        ("codex://?session=", "expected session= to be an id or its beginning, got ''"),
        ("codex://?since=soon", "expected since= to be how long ago"),
        ("codex://shop", r"has no host or path; hint: codex://\?project=shop"),
    ],
)
def test_mistakes_in_the_url_are_explained(where: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        parse_session_query(where, lambda: NOW)
