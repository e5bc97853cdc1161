"""A reader, or another program, holds a removal back and slows no program down."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from agentool_otel.ground.read_locks import exclusive_lock
from agentool_otel.reading.sources.opening import open_source
from tests.tracing.export.limited import SERVE, SERVER, environ, python, record, size_of, spans

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and locks")

InUse = Callable[[Path], AbstractContextManager[None]]

LIMIT = 200_000

COUNTED = """
import fcntl, threading, time
waits = []

def counted(call, waits_with=lambda *arguments: True):
    def counted_call(*arguments):
        if threading.current_thread() is threading.main_thread() and waits_with(*arguments):
            waits.append((call.__name__, *arguments))
        return call(*arguments)
    return counted_call

fcntl.flock = counted(fcntl.flock, lambda _, flags: not flags & (fcntl.LOCK_NB | fcntl.LOCK_UN))
time.sleep = counted(time.sleep)
"""
CALLS = f"""{COUNTED}{SERVE}
serve("server", 300)
print(len(os.listdir(".agentool")), waits)
"""
IDLE = f"""{SERVE}
serve("server", 300)
print("recorded", flush=True)
input()
import contextlib, time
current = None
for _ in range(6_000):
    with contextlib.suppress(FileNotFoundError):  # removed meanwhile
        current = size()
        if current <= {LIMIT}:
            break
    time.sleep(0.01)
print(current, flush=True)
"""


@contextmanager
def reading(folder: Path) -> Generator[None]:
    source = open_source(folder)
    yield
    del source


@contextmanager
def removing(folder: Path) -> Generator[None]:
    """Lock a folder as a program does that removes files."""
    file = os.open(folder, os.O_RDONLY)
    with exclusive_lock(file) as locked:
        assert locked
        yield
    os.close(file)


@pytest.mark.parametrize("in_use", [reading, removing])
def test_no_traced_call_waits_for_another_process(in_use: InUse, tmp_path: Path) -> None:
    folder = tmp_path / ".agentool"
    record(folder, [spans(1)])
    with in_use(folder):
        files, _, waits = python(tmp_path, CALLS, str(LIMIT)).partition(" ")
        assert waits == "[]\n"
        assert int(files) > 20
        assert size_of(folder) > 2 * LIMIT
    python(tmp_path, SERVER, str(LIMIT), "1")
    assert size_of(folder) <= LIMIT


def test_the_limit_holds_again_without_a_call_once_the_reader_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / ".agentool"
    record(folder, [spans(1)])
    with subprocess.Popen(
        [sys.executable, "-c", IDLE, str(LIMIT)],
        cwd=tmp_path,
        env=environ(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        with reading(folder):
            assert program.stdout.readline() == "recorded\n"
            assert size_of(folder) > 2 * LIMIT
        program.stdin.write("go on\n")
        program.stdin.flush()
        assert int(program.stdout.readline()) <= LIMIT
