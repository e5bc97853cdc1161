"""Pipes, sockets, devices and links among the session files of every agent that has files."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType

import pytest

from agentool_otel.errors import SourceUnreachable
from agentool_otel.ground.plugins import load_plugins
from agentool_otel.loading import load, rebuild
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.reading.sources.session_folder import SessionFolder
from tests.coding_agents.recordings import FOLDER

pytestmark = pytest.mark.skipif(os.name != "posix", reason="makes pipes")

SOURCES = {
    name: source
    for name, source in load_plugins("agentool_otel.sources").items()
    if isinstance(source, type) and issubclass(source, SessionFolder)
}


def _socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the name of a socket may have a hundred characters
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)
    finally:
        os.chdir(before)


def _link_to_pipe(path: Path) -> None:
    pipe = path.with_suffix(".p")
    os.mkfifo(pipe)
    path.symlink_to(pipe)


ODD: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a socket": _socket,
    "a folder": Path.mkdir,
    "a symbolic link": lambda path: path.symlink_to("/dev/zero"),
    "a symbolic link, to nothing": lambda path: path.symlink_to("nowhere"),
    "a symbolic link, to a pipe": _link_to_pipe,
}


@pytest.fixture(autouse=True)
def deadline() -> Generator[None]:
    """Fail a test that waits for a pipe, instead of waiting with it."""

    def fail(_: int, __: FrameType | None) -> None:
        raise TimeoutError("reading waits")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _session(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a session of an agent where the agent has its sessions, and return its file."""
    folder = tmp_path / name
    monkeypatch.setattr(SOURCES[name], "folder", staticmethod(lambda: folder))
    shutil.copytree(FOLDER / name / "answer" / "session", folder)
    file, *_ = sorted(SOURCES[name].session_files(folder))
    return file


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", SOURCES)
def test_an_odd_session_file_is_named_and_left_out(
    name: str, odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "copilot" and odd == "a symbolic link, to nothing":
        pytest.skip("its session files have one name, and a link to nothing has none")
    file = _session(name, tmp_path, monkeypatch)
    other = tmp_path / name / file.parent.relative_to(tmp_path / name).with_name("other")
    other.mkdir(exist_ok=True)
    place = other / file.name if name == "copilot" else file.with_name(f"{file.stem}-2.jsonl")
    ODD[odd](place)
    for query in ("since=2020-01-01", "since=2020-01-01&project=project"):
        source = open_source(f"{name}://?{query}")
        assert len(list(rebuild(source.spans()))) == 1
        kind = odd.partition(",")[0]
        assert [str(problem) for problem in source.problems] == [
            f"{place}: left out: it is {kind}, not a file"
        ]


@pytest.mark.parametrize("name", SOURCES)
def test_a_folder_with_a_pipe_alone_has_no_sessions(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _session(name, tmp_path, monkeypatch)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(SourceUnreachable, match=f"has no sessions here .*{file.name} is a pipe"):
        load(f"{name}://?since=2020-01-01")


@pytest.mark.parametrize("odd", [odd for odd in ODD if odd not in ("a folder", "a symbolic link")])
def test_a_folder_that_is_given_by_its_path_names_odd_files(odd: str, tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "codex" / "answer" / "session", tmp_path / "sessions")
    place = tmp_path / "sessions" / "a.jsonl"
    ODD[odd](place)
    source = open_source(tmp_path / "sessions")
    assert len(list(rebuild(source.spans()))) == 1
    (problem,) = source.problems
    assert problem.where == str(place)
    assert problem.message.startswith("left out: it is a")


def test_a_pipe_in_place_of_a_projects_name_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _session("gemini-cli", tmp_path, monkeypatch)
    root = file.parent.parent / ".project_root"
    root.unlink(missing_ok=True)
    os.mkfifo(root)
    assert len(list(load(f"gemini-cli://?since=2020-01-01&project={file.parent.parent.name}"))) == 1
