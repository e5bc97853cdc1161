"""Nothing leaks: a canary and secrets are everywhere, and every byte that leaves is read."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tracing.export.receiver import HttpReceiver

pytest.importorskip("openai")
pytest.importorskip("langchain_openai")

ROOT = Path(__file__).parent.parent.parent
CANARY = "canary-of-the-content-test"
SECRET = "sk-proj-0123456789abcdefCANARYghijkl"
HIDDEN = SECRET.removeprefix("sk-proj-").encode()
"""Part of the secret that must not be found, whatever precedes it."""


def leave(folder: Path, mode: str, *arguments: str, **environ: str) -> bytes:
    """Run the program; return its stdout, its stderr and the content of all files in its folder."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    done = subprocess.run(
        [sys.executable, "-m", "tests.guest.canary_program", *arguments],
        env={
            **clean,
            "PYTHONPATH": str(ROOT),
            "CANARY": CANARY,
            "SECRET": SECRET,
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": mode,
            "OTEL_RESOURCE_ATTRIBUTES": f"my.api_key={SECRET},note=Bearer {SECRET}",
            "LANGSMITH_TRACING": "false",
            **environ,
        },
        cwd=folder,
        timeout=120,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    files = [path for path in folder.rglob("*") if path.is_file()]
    return b"\n".join([done.stdout, done.stderr, *(path.read_bytes() for path in files)])


def around(data: bytes, description: bytes) -> bytes:
    """Return the surroundings of a match, for the message of a failure."""
    at = data.find(description)
    return b"" if at < 0 else data[max(0, at - 300) : at + 60]


pytestmark = pytest.mark.thorough
MODES = ("SPAN_ONLY", "EVENT_ONLY", "SPAN_AND_EVENT", "NO_CONTENT")
IN_LOGS = {"OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN": "logs/dup"}


@pytest.mark.parametrize("mode", MODES)
def test_a_recording_holds_no_secret_and_content_only_if_wanted(tmp_path: Path, mode: str) -> None:
    left = leave(tmp_path, mode, **IN_LOGS)
    assert b"execute_tool give" in left
    assert b"other.event" in left
    assert around(left, HIDDEN) == b""
    if mode == "NO_CONTENT":
        assert around(left, CANARY.encode()) == b""
    else:
        assert CANARY.encode() in left


@pytest.mark.parametrize("mode", MODES)
def test_no_secret_goes_over_the_network(tmp_path: Path, mode: str) -> None:
    with HttpReceiver() as receiver:
        left = leave(tmp_path, mode, receiver.endpoint, **IN_LOGS)
        sent = b"\n".join(body for bodies in receiver.bodies.values() for body in bodies)
    assert b"execute_tool give" in sent
    assert b"other.event" in sent
    assert b"other.duration" in sent
    assert around(sent + left, HIDDEN) == b""
    if mode == "NO_CONTENT":
        assert around(sent + left, CANARY.encode()) == b""
    else:
        assert CANARY.encode() in sent


def test_in_event_only_mode_no_span_holds_content(tmp_path: Path) -> None:
    leave(tmp_path, "EVENT_ONLY")
    (recording,) = tmp_path.glob(".agentool/*.jsonl")
    lines = recording.read_bytes().splitlines()
    spans = b"\n".join(line for line in lines if line.startswith(b'{"resourceSpans"'))
    assert b"execute_tool give" in spans
    assert around(spans, CANARY.encode()) == b""


def test_files_are_readable_by_their_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        leave(tmp_path, "SPAN_ONLY")
    finally:
        os.umask(before)
    written = list(tmp_path.rglob("*"))
    assert written
    for path in written:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
