"""Files of earlier commits are read, recovered, sent and shown.

`tests/fixtures/record/earlier.py` has the programs. A journal notes its own inode, which a checkout
does not have: it gets that of the copy.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import orjson
import pytest

from agentool_otel.cli.recover import recover
from agentool_otel.loading import load
from agentool_otel.model.documents import ReasoningTrace, ToolCall
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from tests.cli.conftest import agentool
from tests.tracing.export.receiver import HttpReceiver
from tests.tracing.export.test_exits import received

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs locks")

FIXTURES = Path(__file__).parents[2] / "fixtures" / "earlier"
EARLIER = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())

each = pytest.mark.parametrize("name", EARLIER)


def checked_out(name: str, folder: Path) -> Path:
    """Return a copy of a fixture in which the journals are those of this machine."""
    copy = folder / ".agentool"
    shutil.copytree(FIXTURES / name, copy)
    for path in copy.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    for journal in copy.glob("*.open"):
        first, _, rest = journal.read_bytes().partition(b"\n")
        header = {**orjson.loads(first), "inode": journal.stat().st_ino}
        journal.write_bytes(orjson.dumps(header) + b"\n" + rest)
    return copy


def runs(folder: Path) -> dict[str, ReasoningTrace]:
    return {str(trace.input): trace for trace in load(folder)}


def calls(trace: ReasoningTrace) -> list[str]:
    return [step.tool_call.name for step in trace.steps if isinstance(step.tool_call, ToolCall)]


def test_several_earlier_commits_are_there() -> None:
    assert len(EARLIER) >= 5


@each
def test_a_recording_of_an_earlier_commit_is_whole(name: str, tmp_path: Path) -> None:
    trace = runs(checked_out(name, tmp_path))["Is it open? (recorded)"]
    assert (trace.agent_id, trace.status, trace.output) == ("guide", "success", "Yes.")
    assert calls(trace) == ["note", "look"]
    (details,) = [
        step.tool_call.arguments["details"]
        for step in trace.steps
        if isinstance(step.tool_call, ToolCall) and step.tool_call.name == "look"
    ]
    assert details == "x" * 8_000


@each
def test_a_journal_of_an_earlier_commit_is_recovered(name: str, tmp_path: Path) -> None:
    folder = checked_out(name, tmp_path)
    recover(folder, OtlpTarget("http://127.0.0.1:9", "http/protobuf"))
    (trace,) = (trace for trace in load(folder) if trace.status == "incomplete")
    assert trace.agent_id == "guide"
    assert calls(trace) == ["note", "look"]


@each
def test_a_spool_of_an_earlier_commit_is_sent(name: str, tmp_path: Path) -> None:
    folder = checked_out(name, tmp_path)
    with HttpReceiver() as receiver:
        recover(folder, OtlpTarget(receiver.endpoint, "http/protobuf"))
        spans = received(receiver)
        logs = list(receiver.logs())
    assert sorted(marked for _, marked in spans) == [False] * 4 + [True] * 2
    assert len(logs) in (0, 2)  # the first commits have no log records
    assert not [*folder.glob("*.open"), *folder.glob("*.spool")]


@each
def test_runs_of_an_earlier_commit_are_shown(name: str, tmp_path: Path) -> None:
    folder = checked_out(name, tmp_path)
    done = agentool("show", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "guide  ✓ success" in done.stdout
