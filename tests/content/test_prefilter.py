"""The prefilter of a process: where its database is from, when it loads, and who may look."""

from __future__ import annotations

import _thread
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agentool_otel.content.masking import credentials
from agentool_otel.content.masking.prefilter import database, engine, look
from agentool_otel.content.masking.prefilter.look import _Prefilter, engine_in_use, state
from agentool_otel.ground.read_locks import exclusive_lock
from tests.prefilters import Look, in_force

pytest.importorskip("hyperscan")
SECRET = '{"note":"password=Xk29vTqhunter"}'
PLAIN = '{"note":"a plain text, without any"}'


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> bytes:
    """The database is a small one, and the cache folder is that of the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AGENTOOL_PREFILTER", "on")
    from agentool_otel.content.masking.prefilter import patterns

    small = (patterns.Look("one", ("password",)),)
    monkeypatch.setattr(patterns, "looks", lambda: small)
    return engine.compiled(small)


def loads(prefilter: _Prefilter) -> None:
    """Search as a program does that has been running for some seconds."""
    prefilter._due = time.monotonic() - 1
    for _ in range(300):
        prefilter.wait()
    settle(prefilter)


def settle(prefilter: _Prefilter) -> None:
    deadline = time.monotonic() + 20
    while prefilter._loading.locked() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_the_first_seconds_belong_to_the_program(quick: bytes) -> None:
    prefilter = _Prefilter()
    for _ in range(10_000):
        prefilter.wait()
    settle(prefilter)
    assert prefilter.look is None
    assert not database.path().parent.exists()


def test_a_stored_database_loads_as_soon_as_the_search_has_cost_as_much(quick: bytes) -> None:
    database.make(database.path())
    prefilter = _Prefilter()
    for _ in range(100):
        prefilter.wait()
    assert not prefilter._loading.locked()
    for _ in range(200):
        prefilter.wait()
    settle(prefilter)
    assert prefilter.look is not None
    assert prefilter.look(b"a password")


def test_a_database_is_compiled_once_and_loaded_by_the_next(quick: bytes) -> None:
    for prefilter in (_Prefilter(), _Prefilter()):
        loads(prefilter)
        assert prefilter.look is not None
        assert prefilter.look(b"a password")
        assert not prefilter.look(b"a word")
    assert [file.name for file in database.path().parent.glob("*.*s")] == [database.path().name]


def test_a_database_is_readable_by_its_owner_only(quick: bytes) -> None:
    database.make(database.path())
    if os.name == "posix":
        assert stat.S_IMODE(os.stat(database.path()).st_mode) == 0o600


def test_nothing_is_compiled_where_the_cache_cannot_be_written(
    quick: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file, where a folder has to be")
    monkeypatch.setattr(engine, "compiled", lambda looks: pytest.fail("it was compiled"))
    prefilter = _Prefilter()
    loads(prefilter)
    assert prefilter.look is None
    assert prefilter.given_up


def test_a_switched_off_prefilter_loads_nothing(
    quick: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTOOL_PREFILTER", "off")
    prefilter = _Prefilter()
    for _ in range(300):
        prefilter.wait()
    loads(prefilter)
    assert prefilter.look is None
    assert "AGENTOOL_PREFILTER" in state().detail


def test_green_threads_are_not_stopped(quick: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_thread, "start_new_thread", lambda *args: pytest.fail("it was started"))
    prefilter = _Prefilter()
    for _ in range(300):
        prefilter.wait()
    loads(prefilter)
    assert prefilter.given_up


def test_rules_without_sources_have_no_database(
    quick: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "glob", lambda path, pattern: iter(()))
    with pytest.raises(OSError, match="without their sources"):
        database.path()


def test_a_missing_engine_leaves_the_exact_search(
    quick: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hyperscan", None)
    prefilter = _Prefilter()
    loads(prefilter)
    assert prefilter.look is None
    assert not state().stored


def damaged(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def test_a_damaged_or_foreign_file_is_ignored(quick: bytes) -> None:
    file = database.path()
    database.make(file)
    assert database.read(file) == quick
    content = file.read_bytes()
    for other in (damaged(content), content[:100], b"", quick, content + b"x"):
        file.write_bytes(other)
        assert database.read(file) is None


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="needs POSIX links")
def test_a_link_under_the_name_of_the_database_is_ignored(quick: bytes, tmp_path: Path) -> None:
    file = database.path()
    database.make(file)
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert database.read(file) is None
    file.unlink()
    os.link(elsewhere, file)
    assert database.read(file) is None


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_a_folder_that_everybody_may_write_to_is_not_used(quick: bytes) -> None:
    file = database.path()
    database.make(file)
    file.parent.chmod(0o777)
    assert database.read(file) is None
    with pytest.raises(OSError, match="everybody may write"):
        database.make(file)


def test_only_one_of_several_processes_compiles(quick: bytes) -> None:
    file = database.path()
    file.parent.mkdir(parents=True)
    unfinished = file.with_suffix(".part")
    with unfinished.open("wb") as stream, exclusive_lock(stream.fileno()):
        with pytest.raises(database.Busy):
            database.make(file)
        prefilter = _Prefilter()
        loads(prefilter)
        assert not prefilter.given_up
        if os.name == "posix":  # a child of the killed process has the lock as well
            os.utime(unfinished, (1, 1))
            assert database.make(file) == quick


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_a_killed_compile_does_not_hold_up_the_next(quick: bytes) -> None:
    file = database.path()
    program = """
import os, signal, sys
from pathlib import Path
from agentool_otel.content.masking.prefilter import database, engine
engine.compiled = lambda looks: os.kill(os.getpid(), signal.SIGKILL)
database.make(Path(sys.argv[1]))
"""
    killed = subprocess.run([sys.executable, "-c", program, str(file)], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert file.with_suffix(".part").exists()
    assert database.make(file) == quick
    assert [item.name for item in file.parent.glob("prefilter-*")] == [file.name]


def test_a_process_whose_file_is_taken_over_stores_nothing(
    quick: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = database.path()

    def taken_over(looks: object) -> bytes:
        file.with_suffix(".part").unlink()
        return quick

    monkeypatch.setattr(engine, "compiled", taken_over)
    with pytest.raises(database.Busy, match="taken over"):
        database.make(file)
    assert not file.exists()


def old_database(folder: Path, digit: str, age_s: float) -> Path:
    """Store a database of another version that was used so long ago."""
    file = folder / f"prefilter-{digit * 32}.hs"
    file.write_bytes(database._header(b"data") + b"data")
    used = time.time() - age_s
    os.utime(file, (used, used))
    return file


def test_unused_databases_go_when_another_is_stored(quick: bytes) -> None:
    folder = database.path().parent
    folder.mkdir(parents=True)
    unused, in_use = old_database(folder, "a", 90_000), old_database(folder, "b", 3600)
    part = folder / f"prefilter-{'c' * 32}.part"
    part.touch()
    database.make(database.path())
    assert {file.name for file in folder.glob("prefilter-*")} == {
        in_use.name,
        database.path().name,
    }
    assert not unused.exists()


@pytest.mark.skipif(os.utime not in os.supports_fd, reason="needs times by descriptor")
def test_reading_marks_a_database_as_used(quick: bytes) -> None:
    file = database.path()
    database.make(file)
    os.utime(file, (1, 1))
    assert database.read(file) == quick
    assert time.time() - file.stat().st_mtime < 60


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX links")
def test_files_of_others_stay_in_the_cache_folder(quick: bytes, tmp_path: Path) -> None:
    folder = database.path().parent
    folder.mkdir(parents=True)
    elsewhere = old_database(tmp_path, "a", 90_000)
    link, second = (folder / f"prefilter-{digit * 32}.hs" for digit in "bc")
    link.symlink_to(elsewhere)
    os.link(elsewhere, second)
    foreign = folder / f"prefilter-{'d' * 32}.hs"
    foreign.write_bytes(b"something else")
    named = folder / "prefilter-notes.hs"
    named.write_bytes(database._header(b"data") + b"data")
    for file in (foreign, named):
        os.utime(file, (1, 1))
    database.make(database.path())
    assert all(file.exists() for file in (elsewhere, second, foreign, named))
    assert link.is_symlink()


def test_the_engine_in_use_is_named(quick: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{engine.ENGINE} {engine.installed()}"
    monkeypatch.setattr(look._prefilter, "given_up", False)
    with in_force(None):
        assert engine_in_use() == (name, "not loaded yet")
    with in_force(lambda text: True):
        assert engine_in_use() == (name, "loaded")
    with in_force(None):
        monkeypatch.setenv("AGENTOOL_PREFILTER", "off")
        assert engine_in_use() == (name, "AGENTOOL_PREFILTER switches it off")
        monkeypatch.setattr(engine, "installed", lambda: None)
        assert engine_in_use() == (None, "hyperscan is not installed")


def test_another_rule_is_another_database(quick: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    name = database.path()
    monkeypatch.setattr(engine, "build", lambda: "another processor")
    assert database.path() != name


def test_threads_look_at_the_same_time(prefilter_look: Look) -> None:
    wrong: list[str] = []

    def work() -> None:
        for _ in range(500):
            if not prefilter_look(SECRET.encode()) or prefilter_look(PLAIN.encode()):
                wrong.append("wrong")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_looks_as_well(prefilter_look: Look) -> None:
    child = os.fork()
    if child == 0:
        right = prefilter_look(SECRET.encode()) and not prefilter_look(PLAIN.encode())
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_a_signal_handler_may_look_within_a_look(prefilter_file: Path) -> None:
    program = """
import signal, sys, time
from pathlib import Path
from agentool_otel.content.masking.credentials import mask_text
from agentool_otel.content.masking.prefilter import database, engine, look
look._prefilter.look = engine.loaded(database.read(Path(sys.argv[1])))
seen = []
def handler(*_):
    seen.append(mask_text("password=Xk29vTqhunter"))
handler()  # compiles expressions, which takes longer than the timer
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
ends = time.monotonic() + 1
while time.monotonic() < ends:
    assert mask_text("a plain text " * 200).startswith("a plain")
    assert mask_text("token=aB3dE5gH7jK9mN1pQ3") == "token=[masked]"
signal.setitimer(signal.ITIMER_REAL, 0)
assert seen and set(seen) == {"password=[masked]"}, seen[:3]
"""
    subprocess.run([sys.executable, "-c", program, str(prefilter_file)], check=True, timeout=60)


def test_what_is_seen_in_vain_stays_as_it_is() -> None:
    with in_force(lambda text: True):
        assert credentials.mask_text("password=Xk29vTqhunter") == "password=[masked]"
        assert credentials.mask_text("plain") == "plain"


def test_lone_surrogates_are_looked_at(prefilter_look: Look) -> None:
    with in_force(prefilter_look):
        assert credentials.mask_text("\ud800 password=Xk29vTqhunter").endswith("=[masked]")
        assert credentials.mask_text("\ud800 plain") == "\ud800 plain"
