"""Several threads append to a file: whole lines, also where there is no room for all of one."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.ground.counters import Counter
from agentool_otel.tracing.export.disk import files, gate, kept_lock
from agentool_otel.tracing.export.disk.files import AppendFile
from agentool_otel.tracing.export.disk.gate import Gate
from agentool_otel.tracing.export.disk.kept_lock import KeptLock

shared = pytest.mark.skipif(not gate.IS_SHARED, reason="here each write has the lock")


@pytest.fixture
def file(tmp_path: Path) -> AppendFile:
    return AppendFile(tmp_path / "lines", Gate())


def short_write(monkeypatch: pytest.MonkeyPatch, taken: int, then: bytes = b"") -> None:
    """Have the next write take some bytes only; another thread may write behind them."""
    original = os.write

    def write(number: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", original)
        done = original(number, data[:taken])
        if then:
            original(number, then)
        return done

    monkeypatch.setattr(os, "write", write)


def contents(file: AppendFile) -> list[bytes]:
    return [line for line in file.path.read_bytes().splitlines() if line.strip()]


@shared
def test_a_line_without_room_leaves_nothing(
    file: AppendFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert file.append_beside(b"first\n")
    short_write(monkeypatch, 3)
    assert not file.append_beside(b"second\n")
    file.append(b"third\n")
    assert file.path.read_bytes() == b"first\nthird\n"


@shared
def test_a_line_behind_one_without_room_is_kept(
    file: AppendFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_write(monkeypatch, 3, then=b"another\n")
    assert not file.append_beside(b"second\n")
    file.append(b"third\n")
    assert contents(file) == [b"another", b"third"]


def test_what_is_left_of_a_line_is_written_where_that_works(
    file: AppendFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_write(monkeypatch, 3)
    file.append(b"second\n")
    assert file.path.read_bytes() == b"second\n"


@shared
def test_a_line_that_another_follows_is_not_continued(
    file: AppendFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_write(monkeypatch, 3, then=b"another\n")
    with pytest.raises(OSError, match="No space"):
        file.append(b"second\n")
    file.append(b"second\n")
    assert contents(file) == [b"another", b"second"]


@shared
def test_nothing_is_appended_under_a_number_that_is_another_file(
    file: AppendFile, tmp_path: Path
) -> None:
    other = os.open(tmp_path / "other", os.O_RDWR | os.O_CREAT)
    os.dup2(other, file._file)
    for keeps in (False, True):
        if keeps:
            file.keep_lock()
        assert file.append_beside(b"line\n") is keeps  # to keep the lock, it was opened again
    assert os.fstat(other).st_size == 0
    os.close(other)


@shared
def test_a_write_that_keeps_the_lock_checks_the_descriptor(
    file: AppendFile, tmp_path: Path
) -> None:
    file.keep_lock()
    assert file._kept_lock is not None
    assert file.append_beside(b"first\n", b"of two\n")
    assert file.size == 13
    other = os.open(tmp_path / "other", os.O_RDWR | os.O_CREAT)
    os.dup2(other, file._file)
    assert not file.append_beside(b"line\n")
    file.append(b"second\n")
    assert file.append_beside(b"third\n")
    assert file.path.read_bytes() == b"first\nof two\nsecond\nthird\n"
    assert os.fstat(other).st_size == 0
    os.close(other)


@shared
def test_a_write_that_keeps_the_lock_finds_a_deleted_file(file: AppendFile) -> None:
    file.keep_lock()
    file.path.unlink()
    assert not file.append_beside(b"line\n")
    with pytest.raises(files.FileReplaced):
        file.append(b"line\n")


@shared
@pytest.mark.parametrize("keeps", [False, True])
def test_no_room_is_an_error_and_leaves_the_file_as_it_was(file: AppendFile, keeps: bool) -> None:
    import resource

    if keeps:
        file.keep_lock()
    assert file.append_beside(b"first\n")
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6, limits[1]))
    try:
        with pytest.raises(OSError) as raised:
            file.append_beside(b"second\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert raised.value.errno == errno.EFBIG
    assert file.path.read_bytes() == b"first\n"


@shared
def test_a_descriptor_that_the_program_closes_before_the_write_is_opened_again(
    file: AppendFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, closed = os.write, [True, False, True]

    def write(number: int, data: bytes) -> int:
        if closed and closed.pop():
            os.close(number)
        return original(number, data)

    monkeypatch.setattr(os, "write", write)
    assert not file.append_beside(b"first\n")
    file.append(b"first\n")
    file.append(b"second\n")
    assert contents(file) == [b"first", b"second"]


@shared
def test_a_file_is_not_opened_again_while_a_thread_is_inside(file: AppendFile) -> None:
    os.close(file._file)
    gate_of_file = file.gate
    assert gate_of_file is not None
    gate_of_file.inside[1] = True
    gate_of_file._not_before = time.monotonic() + 3600
    with pytest.raises(OSError, match="Bad file descriptor"):
        file.append(b"first\n")
    del gate_of_file.inside[1]
    file.append(b"first\n")
    assert contents(file) == [b"first"]


@shared
def test_a_long_write_ends_keeping_the_lock_for_a_while(
    file: AppendFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([1.0, 1.0, 1.2, 30.0, 62.0, 62.0, 62.0])
    monkeypatch.setattr(kept_lock, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(kept_lock, "_clock", partial(next, clock))
    file.keep_lock()
    assert file._kept_lock is not None
    answers = [file._kept_lock.append(b"line\n") for _ in range(3)]
    assert answers == [(0, 5), None, (5, 5)]


@shared
def test_only_local_files_keep_the_lock() -> None:
    number = os.open("/proc/self/comm", os.O_RDWR)
    with pytest.raises(OSError, match="not a local file system"):
        KeptLock(number)
    os.close(number)


@shared
@pytest.mark.parametrize("keeps", [False, True])
def test_threads_append_whole_lines_at_once(file: AppendFile, keeps: bool) -> None:
    if keeps:
        file.keep_lock()
    lines = [b"%d " % number * 500 + b"\n" for number in range(8)]

    def work(line: bytes) -> None:
        for _ in range(200):
            assert file.append_beside(line)

    threads = [threading.Thread(target=work, args=(line,)) for line in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(contents(file)) == sorted(line[:-1] for line in lines for _ in range(200))
    assert file.end() == sum(map(len, lines)) * 200


def test_a_thread_inside_keeps_others_from_being_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_PATIENCE_S", 0.01)
    entered, leave = threading.Event(), threading.Event()
    held = Gate()

    def hang() -> None:
        held.inside[threading.get_ident()] = True
        entered.set()
        leave.wait()
        del held.inside[threading.get_ident()]

    thread = threading.Thread(target=hang)
    thread.start()
    entered.wait()
    with held.alone() as alone:
        assert not alone
    monkeypatch.setattr(gate, "_PATIENCE_S", 3600.0)
    with held.alone() as alone:  # nobody waits again at once
        assert not alone
    leave.set()
    thread.join()
    with held.alone() as alone:
        assert alone


def test_a_thread_that_died_inside_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_PATIENCE_S", 0.01)
    held = Gate()

    def die() -> None:
        held.inside[threading.get_ident()] = True

    thread = threading.Thread(target=die)
    thread.start()
    thread.join()
    with held.alone() as alone:
        assert alone


def test_a_signal_handler_inside_is_not_alone() -> None:
    held = Gate()
    held.inside[threading.get_ident()] = True
    with held.alone() as alone:
        assert not alone


def test_nobody_is_alone_while_a_span_is_abandoned() -> None:
    held = Gate()
    held.abandoned.append(("a span",))
    with held.alone() as alone:
        assert not alone


def test_the_gate_opens_again_after_an_exception() -> None:
    held = Gate()
    before = held.is_closed

    def fail() -> None:
        with held.alone():
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert held.is_closed is before


def test_a_counter_loses_no_count() -> None:
    counter = Counter()
    values: list[int] = []

    def work() -> Any:
        for _ in range(20_000):
            counter.add()
        values.append(counter.value)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.value == counter.value == 80_000
    assert max(values) == 80_000
