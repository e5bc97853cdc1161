"""A new folder for content is ignored by git; a folder that was there is not changed.

git itself judges, in a real work tree, after everything was added that it would add.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentool_otel.content.fitting.offload import Folder
from agentool_otel.evaluation.judges.cache import Cache, default_folder
from agentool_otel.ground.private_folders import make_private_folder, remove_private_folder
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.disk.files import RecordingDir

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")

PROGRAM = """
import agentool_otel
agentool_otel.instrument(content=True)

@agentool_otel.tool
def look(text): return text

look("private" * 300_000)
"""


@pytest.fixture(autouse=True)
def work_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git work tree below the current folder's parent."""
    for name in [name for name in os.environ if name.startswith(("OTEL_", "AGENTOOL_", "GIT_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    git("init", "-q", str(tmp_path))
    return tmp_path


def git(*arguments: str) -> list[str]:
    return subprocess.run(
        ["git", *arguments], check=True, capture_output=True, encoding="utf-8"
    ).stdout.splitlines()


def added() -> list[str]:
    """Return the files that git would make public: those that `git add .` adds."""
    git("add", ".")
    return git("ls-files", "--cached", "--full-name", ":/")


def record_program() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def send_program() -> None:
    """Spans wait in a journal and a spool, because nobody listens at the endpoint."""
    environ = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environ)


def show_demo() -> None:
    subprocess.run(
        [sys.executable, "-m", "agentool_otel", "demo"], check=True, stdout=subprocess.DEVNULL
    )


def keep_verdict() -> None:
    Cache(default_folder()).put("question", "answer")


def keep_text() -> None:
    base = Path(os.environ.get("AGENTOOL_DIR", ".agentool"))
    assert Folder(base / "content", base).put("ab" * 32, b"private")


WAYS: list[Callable[[], None]] = [
    record_program, send_program, show_demo, keep_verdict, keep_text,
]  # fmt: skip


@pytest.mark.parametrize("where", [None, "deep/er/records"])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_a_new_folder_is_added(
    way: Callable[[], None], where: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where is not None:
        monkeypatch.setenv("AGENTOOL_DIR", where)
    way()
    assert added() == []
    [ignored] = Path().rglob(".gitignore")
    assert (ignored.parent, ignored.read_text()) == (Path(where or ".agentool"), "*\n")


def test_folders_above_the_configured_one_stay_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTOOL_DIR", "build/records")
    record_program()
    Path("build/notes.txt").touch()
    assert added() == ["inner/build/notes.txt"]


@pytest.mark.parametrize("way", WAYS)
def test_an_existing_folder_gets_no_file(way: Callable[[], None]) -> None:
    Path(".agentool").mkdir()
    way()
    assert not Path(".agentool/.gitignore").exists()


def test_a_file_of_the_user_in_its_place_is_not_changed() -> None:
    Path(".agentool").mkdir()
    Path(".agentool/.gitignore").write_text("!*\n")
    record_program()
    assert Path(".agentool/.gitignore").read_text() == "!*\n"


def test_a_folder_that_was_removed_is_ignored_again(tmp_path: Path) -> None:
    place = RecordingDir(tmp_path / "records")
    for number in range(2):
        place.open(f".{number}").close()
        assert (tmp_path / "records" / ".gitignore").read_text() == "*\n"
        shutil.rmtree(tmp_path / "records")


def test_a_folder_without_recordings_is_removed_with_its_file(tmp_path: Path) -> None:
    place = RecordingDir(tmp_path / "records")
    file = place.open(".jsonl")
    place.leave()
    assert (tmp_path / "records" / ".gitignore").exists()
    file.remove()
    place.leave()
    assert not (tmp_path / "records").exists()


def test_a_folder_whose_file_the_user_has_changed_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "records"
    make_private_folder(folder)
    (folder / ".gitignore").write_text("*.open\n")
    remove_private_folder(folder)
    assert (folder / ".gitignore").read_text() == "*.open\n"


def test_a_folder_that_gets_a_file_meanwhile_stays_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "records"
    make_private_folder(folder)
    unlink = Path.unlink

    def unlink_and_write(path: Path, missing_ok: bool = False) -> None:
        unlink(path, missing_ok)
        (folder / "of-another-process.jsonl").touch()

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", unlink_and_write)
        remove_private_folder(folder)
    assert (folder / ".gitignore").read_text() == "*\n"


def test_a_file_that_cannot_be_written_costs_no_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agentool_otel.ground.private_folders.create_own", full)
    RecordingDir(tmp_path / "records").open(".jsonl").close()
    assert len(list((tmp_path / "records").iterdir())) == 1


@pytest.mark.parametrize("command", ["show", "rebuild", "export", "validate", "recover"])
def test_no_command_takes_the_file_for_a_recording(command: str) -> None:
    record_program()
    place = ["--dialect", "gen_ai"] if command == "export" else []
    with_file = answer(command, *place)
    Path(".agentool/.gitignore").unlink()
    assert with_file == answer(command, *place)


def test_a_folder_with_the_file_alone_has_no_recording() -> None:
    make_private_folder(Path(".agentool"))
    code, _, text = answer("show")
    assert code != 0
    assert "no recording in .agentool" in text
    assert ".gitignore" not in text


def test_a_glob_over_the_folder_does_not_meet_the_file() -> None:
    record_program()
    source = open_source(".agentool/*")
    assert len(list(source.spans())) == 1
    assert source.problems == []


def answer(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "agentool_otel", *arguments, ".agentool"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
