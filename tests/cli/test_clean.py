"""Removing recordings: of real programs that have ended, were killed, run, or could not send."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import PROGRAM, Invoke, agentool
from tests.docs.terminal import run_in_terminal

FOLDER = Path(".agentool")
STOPS = """
import agentool_otel, os, sys
agentool_otel.instrument({options})

@agentool_otel.tool
def work(last):
    if last:
        agentool_otel.flush()
        print("ready", flush=True)
        {end}

work(False)
work(True)
"""
KILL = "os.kill(os.getpid(), 9)"
WAIT = "sys.stdin.read()"
DEAD = "endpoint='http://127.0.0.1:9'"
LARGE = """
import agentool_otel
agentool_otel.instrument()

@agentool_otel.tool
def read(name):
    return name * 2_000_000

read({name!r})
"""


def ended(program: str = PROGRAM, **variables: str) -> None:
    """Run a program to its end, however it ends."""
    subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | variables,
        check=False,
        timeout=60,
        stdout=subprocess.DEVNULL,
    )


@contextmanager
def running(options: str = "", **variables: str) -> Generator[None]:
    """Have a program run that has recorded one call and is in another one."""
    program = STOPS.format(options=options, end=WAIT)
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | variables,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        yield
        child.communicate()


def files() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.is_file()}


def aged(name: str, days: float) -> None:
    status = (FOLDER / name).stat()
    os.utime(FOLDER / name, (status.st_atime, status.st_mtime - days * 86_400))


def begun(name: str) -> str:
    """Return the time in the name of a recording."""
    return name.rpartition("-")[2]


def recordings() -> list[str]:
    return sorted(path.name for path in FOLDER.glob("traces-*.jsonl"))


def test_recordings_of_ended_programs_are_removed(invoke: Invoke) -> None:
    ended()
    ended()
    (FOLDER / "mine.jsonl").write_text("a file of the user\n")
    result = invoke("clean", "--yes")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("2 recordings removed from .agentool, ")
    assert not recordings()
    assert (FOLDER / "mine.jsonl").exists()


def test_a_dry_run_lists_and_removes_nothing(invoke: Invoke) -> None:
    ended()
    before = files()
    result = invoke("clean", "--dry-run")
    assert result.stdout == f"{FOLDER / recordings()[0]}\n"
    assert result.stderr.startswith("1 recording would be removed from .agentool, ")
    assert files() == before


def test_a_running_program_keeps_its_recording_and_goes_on(invoke: Invoke) -> None:
    for variables in ({}, {"AGENTOOL_JOURNAL": "off"}):
        with running(**variables):
            before = recordings()
            result = invoke("clean", "--yes")
            assert "kept: of a program that is running" in result.stderr
            assert recordings() == before
        shown = invoke("show", "--json")
        assert len(shown.stdout.splitlines()) >= 1
        assert "incomplete" not in shown.stdout
        assert invoke("clean", "--yes").stderr.startswith("1 recording removed")


def test_a_killed_program_keeps_its_recording_until_it_is_recovered(invoke: Invoke) -> None:
    ended(STOPS.format(options="", end=KILL))
    before = files()
    result = invoke("clean", "--yes")
    assert "1 recording kept: of a program that was killed" in result.stderr
    assert " hint: agentool-otel recover .agentool" in result.stderr
    assert files() == before
    assert agentool("recover").returncode == 0
    assert invoke("clean", "--yes").stderr.startswith("1 recording removed")


@pytest.mark.parametrize("end", [KILL, "pass"])
def test_what_waits_to_be_sent_is_never_removed(invoke: Invoke, end: str) -> None:
    ended(STOPS.format(options=DEAD, end=end))
    before = files()
    assert any(name.endswith((".spool", ".open")) for name in before)
    result = invoke("clean", "--yes")
    assert result.stderr.startswith("0 recordings removed")
    assert files() == before


def test_a_recording_with_log_records_that_wait_is_kept(invoke: Invoke) -> None:
    ended()
    stem = recordings()[0].removesuffix(".jsonl")
    for suffix in (".spool", ".refused", ".logs.spool", ".logs.refused"):
        (FOLDER / (stem + suffix)).write_bytes(b"waits")
        before = files()
        assert (
            "1 recording kept: with spans or log records that wait"
            in invoke("clean", "--yes").stderr
        )
        assert files() == before
        (FOLDER / (stem + suffix)).unlink()
    assert invoke("clean", "--yes").stderr.startswith("1 recording removed")


def test_only_recordings_of_an_age_are_removed(invoke: Invoke) -> None:
    for _ in range(3):
        ended()
    old, older, new = recordings()
    aged(old, 8)
    aged(older, 30)
    assert invoke("clean", "--yes", "--older", "7d").stderr.startswith("2 recordings removed")
    assert recordings() == [new]
    assert "none of the 1 recording there" in invoke("clean", "--yes", "--older", "7d").stderr


def test_the_newest_are_kept(invoke: Invoke) -> None:
    for _ in range(3):
        ended()
    _, second, third = sorted(recordings(), key=begun)
    aged(third, 9)
    aged(second, 8)
    assert invoke("clean", "--yes", "--keep", "2").stderr.startswith("1 recording removed")
    assert sorted(recordings(), key=begun) == [second, third]
    assert invoke("clean", "--yes", "--keep", "1", "--older", "30d").stderr.startswith(
        "0 recordings"
    )
    assert sorted(recordings(), key=begun) == [second, third]


def test_a_name_without_a_time_counts_by_the_modification(invoke: Invoke) -> None:
    for _ in range(2):
        ended()
    odd, second = recordings()
    renamed = re.sub(r"\d{8}T\d{6}", "20269999T999999", odd)
    (FOLDER / odd).rename(FOLDER / renamed)
    aged(renamed, 1)
    assert invoke("clean", "--yes", "--keep", "1").stderr.startswith("1 recording removed")
    assert recordings() == [second]


def test_the_age_of_a_recording_is_that_of_its_last_write(invoke: Invoke) -> None:
    ended()
    (name,) = recordings()
    long = re.sub(r"\d{8}T", "20260101T", name)
    (FOLDER / name).rename(FOLDER / long)
    assert invoke("clean", "--yes", "--older", "7d").stderr.startswith("0 recordings removed")
    assert recordings() == [long]


def test_without_a_terminal_it_needs_yes(invoke: Invoke) -> None:
    ended()
    ended()
    before = files()
    result = invoke("clean", input=b"y\n")
    assert result.exit_code == 2
    assert re.fullmatch(
        r"2 recordings in \.agentool, [\d.]+ KB\n"
        r"error: nothing removed: without a terminal, removing 2 recordings, [\d.]+ KB "
        r"needs --yes\n"
        r" hint: --dry-run lists every file\n",
        result.stderr,
    )
    assert files() == before


@pytest.mark.parametrize(("answer", "left"), [("y", 0), ("n", 1), ("", 1)])
def test_on_a_terminal_it_asks(answer: str, left: int) -> None:
    ended()
    command = [sys.executable, "-m", "agentool_otel", "clean"]
    code, screen = run_in_terminal(command, Path(), os.environ, 60, f"{answer}\n")
    assert "1 recording in .agentool, " in screen
    assert "Remove 1 recording, " in screen
    assert (code, len(recordings())) == (left, left)
    assert ("nothing removed" in screen) == bool(left)


def test_nothing_to_remove_asks_nothing(invoke: Invoke) -> None:
    FOLDER.mkdir()
    result = invoke("clean")
    assert (result.exit_code, result.stderr) == (0, "0 recordings removed from .agentool\n")


def test_recordings_of_demos_are_removed_with_their_folders(invoke: Invoke) -> None:
    ended()
    demo, mine = FOLDER / "demo-20261125-101010-2", FOLDER / "mine"
    ended(AGENTOOL_DIR=str(demo))
    ended(AGENTOOL_DIR=str(mine))
    listed = invoke("clean", "--dry-run").stdout.splitlines()
    assert sorted(Path(item).parent for item in listed) == [FOLDER, demo]
    assert f"1 recording in {demo}, " in invoke("clean").stderr
    assert invoke("clean", "--yes").stderr.startswith("2 recordings removed from .agentool, ")
    assert not demo.exists()
    assert list(mine.glob("traces-*"))


def test_a_demo_keeps_what_waits_and_counts_for_keep(invoke: Invoke) -> None:
    demo = FOLDER / "demo-20261125-101010"
    ended()
    ended(STOPS.format(options=DEAD, end=KILL), AGENTOOL_DIR=str(demo))
    before = list(demo.iterdir())
    ended(AGENTOOL_DIR=str(demo))
    assert invoke("clean", "--yes", "--keep", "1").stderr.startswith("1 recording removed")
    assert not recordings()
    assert invoke("clean", "--yes").stderr.startswith("1 recording removed")
    assert sorted(demo.iterdir()) == sorted(before)


def test_a_recent_recording_of_another_host_is_kept(invoke: Invoke) -> None:
    ended()
    (name,) = recordings()
    text = re.sub(r"traces-.*-(\d+)-(\d+T)", r"traces-elsewhere-\1-\2", name)
    (FOLDER / name).rename(FOLDER / text)
    result = invoke("clean")
    assert (result.exit_code, result.stderr) == (
        0,
        "0 recordings removed from .agentool\n"
        "1 recording kept: of a program on another host, written in the last 24 hours\n",
    )
    aged(text, 0.99)
    assert "1 recording kept" in invoke("clean", "--yes").stderr
    aged(text, 0.02)
    assert invoke("clean", "--yes").stderr.startswith("1 recording removed")


def test_links_and_files_of_others_are_left_alone(invoke: Invoke, tmp_path: Path) -> None:
    ended()
    (name,) = recordings()
    outside = tmp_path / "outside.jsonl"
    (FOLDER / name).rename(outside)
    (FOLDER / name).symlink_to(outside)
    os.link(outside, FOLDER / name.replace("traces", "evaluations"))
    assert invoke("clean", "--yes").stderr.startswith("0 recordings removed")
    assert outside.exists()
    assert (FOLDER / name).is_symlink()


def test_nothing_is_removed_where_everybody_may_write(invoke: Invoke) -> None:
    ended()
    FOLDER.chmod(0o777)
    result = invoke("clean", "--yes")
    assert result.exit_code == 3
    assert "everybody may write to the folder" in result.stderr
    assert recordings()


def test_stored_texts_go_with_their_last_recording(invoke: Invoke) -> None:
    ended(LARGE.format(name="a"))
    ended(LARGE.format(name="a"))
    ended(LARGE.format(name="b"))
    first, _, _ = recordings()
    texts = FOLDER / "content"
    assert len(list(texts.iterdir())) == 2
    aged(first, 9)
    invoke("clean", "--yes", "--older", "7d")
    assert len(list(texts.iterdir())) == 2
    with running():
        assert invoke("clean", "--yes").stderr.startswith("2 recordings removed")
        assert len(list(texts.iterdir())) == 2


def test_texts_without_another_recording_go(invoke: Invoke) -> None:
    ended(LARGE.format(name="a"))
    ended(LARGE.format(name="b"))
    texts = FOLDER / "content"
    result = invoke("clean", "--yes", "--keep", "1")
    assert result.stderr.startswith("1 recording removed")
    (left,) = texts.iterdir()
    assert left.name in (FOLDER / recordings()[0]).read_text()
    assert "content_removed" not in invoke("show", "--full").stderr


MENTIONED = """
import agentool_otel
agentool_otel.instrument()

@agentool_otel.tool
def read(text):
    return text

read({text!r})
"""


def test_a_text_that_a_prompt_mentions_is_not_removed(invoke: Invoke) -> None:
    data = b"a file of the user"
    digest = hashlib.sha256(data).hexdigest()
    ended(MENTIONED.format(text=f'{{"sha256": "{digest}", "stored": "content/{digest}"}}'))
    (FOLDER / "content").mkdir()
    (FOLDER / "content" / digest).write_bytes(data)
    assert invoke("clean", "--yes").stderr.startswith("1 recording removed")
    assert (FOLDER / "content" / digest).read_bytes() == data


def test_a_file_that_only_has_the_name_of_a_text_stays(invoke: Invoke) -> None:
    ended(LARGE.format(name="a"))
    (text,) = (FOLDER / "content").iterdir()
    text.write_bytes(b"changed")
    assert invoke("clean", "--yes").stderr.startswith("1 recording removed")
    assert text.exists()


def test_a_recording_in_several_files_is_one(invoke: Invoke) -> None:
    ended()
    ended()
    _, newer = sorted(recordings(), key=begun)
    part = FOLDER / newer.replace(".jsonl", ".2.jsonl")
    part.write_bytes((FOLDER / newer).read_bytes())
    assert invoke("clean", "--yes", "--keep", "1").stderr.startswith("1 recording removed")
    assert sorted(recordings()) == sorted([newer, part.name])
    listed = invoke("clean", "--dry-run").stdout.splitlines()
    assert listed == [str(FOLDER / newer), str(part)]
    assert invoke("clean", "--yes").stderr.startswith("1 recording removed")
    assert not recordings()


def test_a_recording_that_is_named_elsewhere_stays(invoke: Invoke) -> None:
    ended()
    (name,) = recordings()
    mark = (FOLDER / name).with_suffix(".keep")
    mark.touch()
    assert "1 recording kept: that a baseline or a test needs" in invoke("clean", "--yes").stderr
    assert recordings() == [name]
    mark.unlink()
    assert invoke("clean", "--yes").stderr.startswith("1 recording removed")


def test_a_folder_that_is_not_there_is_an_error(invoke: Invoke) -> None:
    result = invoke("clean", "nowhere")
    assert result.exit_code == 3
    assert "there is no folder nowhere\n hint: " in result.stderr
