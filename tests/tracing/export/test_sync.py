"""AGENTOOL_SYNC: what was written is synced to the disk, in groups and never by the caller.

A power failure is played by a copy: each sync copies the file as it is then, and what a machine
would have after its end are these copies.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, shutil, sys, threading
from pathlib import Path
import agentool_otel

syncs = []

def synced(file):
    syncs.append(threading.current_thread().name)
    path = Path(os.readlink(f"/proc/self/fd/{file}"))
    Path("disk").mkdir(exist_ok=True)
    if path.is_file():
        Path("disk", path.name).write_bytes(path.read_bytes())

os.fdatasync = os.fsync = synced
agentool_otel.instrument()

@agentool_otel.tool
def work(number):
    return number

for number in range(200):
    work(number)
END
"""
FLUSHED = """
callers = syncs.count("MainThread")
agentool_otel.flush()
print(callers, len(syncs))
os._exit(0)
"""

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")


def run(folder: Path, end: str, **more: str) -> str:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("END", end)],
        cwd=folder,
        env={**clean, "OTEL_METRICS_EXPORTER": "none", "AGENTOOL_QUIET": "on", **more},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def on_disk(folder: Path, suffix: str) -> bytes:
    return b"".join(path.read_bytes() for path in (folder / "disk").glob(f"*{suffix}"))


def results(folder: Path) -> int:
    lines = on_disk(folder, ".jsonl").splitlines()
    return sum("execute_tool work" in json.dumps(json.loads(line)) for line in lines)


def test_without_it_nothing_is_synced(tmp_path: Path) -> None:
    assert run(tmp_path, FLUSHED).split() == ["0", "0"]


def test_flush_returns_when_the_disk_has_the_recording(tmp_path: Path) -> None:
    run(tmp_path, FLUSHED, AGENTOOL_SYNC="1")
    assert results(tmp_path) == 200
    assert on_disk(tmp_path, ".open")


def test_the_disk_has_everything_at_the_end_of_the_program(tmp_path: Path) -> None:
    run(tmp_path, "", AGENTOOL_SYNC="on")
    assert results(tmp_path) == 200


def test_calls_share_a_sync_and_wait_for_none(tmp_path: Path) -> None:
    callers, syncs = map(int, run(tmp_path, FLUSHED, AGENTOOL_SYNC="1").split())
    assert callers <= 1  # the journal, before it is put in its place
    assert syncs < 100


def test_what_waits_to_be_sent_is_synced_too(tmp_path: Path) -> None:
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    run(tmp_path, FLUSHED.replace("flush()", "flush(0.1)"), AGENTOOL_SYNC="1", **endpoint)
    (spool,) = (tmp_path / ".agentool").glob("*.spool")
    assert on_disk(tmp_path, ".spool") == spool.read_bytes()


def test_a_forked_process_syncs_its_own_file(tmp_path: Path) -> None:
    fork = """
if os.fork() == 0:
    work("in the child")
    agentool_otel.flush()
    os._exit(0)
os.wait()
"""
    run(tmp_path, fork + FLUSHED, AGENTOOL_SYNC="1")
    assert results(tmp_path) == 201
