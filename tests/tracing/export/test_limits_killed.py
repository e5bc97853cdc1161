"""No kill in a rotation or a removal loses a span that has ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.cli.recover import recover
from agentool_otel.model.spans import SpanRecord, is_fragment
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool
from agentool_otel.tracing.export.disk.journal import Journal
from agentool_otel.tracing.export.disk.leftovers import RECORDING
from agentool_otel.tracing.export.disk.recording import RecordingExporter
from agentool_otel.tracing.export.disk.removal import recordings_in
from tests.tracing.export import rotated
from tests.tracing.export.limited import environ, python, spans

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and locks")


def killed(kind: str, folder: Path, step: int) -> list[Path]:
    """Kill processes at every `step`-th call of the operating system; return their folders."""
    done = subprocess.run(
        [sys.executable, rotated.__file__, kind, str(folder), str(step)],
        env=environ(),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    survivor, code = map(int, done.stdout.split())
    assert (code, done.stderr) == (0, "")
    assert survivor > 20
    return [folder / str(n) for n in range(1, survivor, step)]


def finished(folder: Path) -> tuple[Counter[str], set[str]]:
    """Return how often each span is there, and which have their own end."""
    recover(folder / ".agentool")
    source = open_source(folder / ".agentool")
    recorded: list[SpanRecord] = list(source.spans())
    assert source.problems == []
    complete = {span.span_id for span in recorded if not span.attributes.get(agentool.INCOMPLETE)}
    return Counter(span.span_id for span in recorded), complete


def ended(folder: Path) -> list[str]:
    """Return the ids of the spans whose ends had returned."""
    return (folder / "ended").read_text().split()


THREADS = """
import sys
from agentool_otel.tracing.export.disk.limits import Limits
from tests.tracing.export import killed

Limits.part_size = lambda self, writers=1: 20_000
killed.main(int(sys.argv[1]), 1)
"""


def test_kills_of_threads_lose_nothing_in_a_rotation(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[3])
    python(tmp_path, THREADS, "30", PYTHONPATH=root, AGENTOOL_MAX_SIZE="10GB")
    reports = (tmp_path / "reports").iterdir()
    acknowledged = {line for file in reports for line in file.read_text().split()}
    files = recordings_in(tmp_path / ".agentool")
    recover(tmp_path / ".agentool")
    source = open_source(tmp_path / ".agentool")
    recorded = [span for span in source.spans() if not is_fragment(span)]
    complete = {span.span_id for span in recorded if not span.attributes.get(agentool.INCOMPLETE)}
    assert source.problems == []
    assert acknowledged <= complete
    assert set(Counter(span.span_id for span in recorded).values()) == {1}
    assert max(len(recording.files) for recording in files) > 1


def test_a_journal_of_several_files_has_no_position(tmp_path: Path) -> None:
    """Versions that know one file only take such a journal for none of theirs."""
    exporter = RecordingExporter(tmp_path)
    journal = Journal(exporter.place, RECORDING, part=lambda: exporter.part)
    headers: list[dict[str, Any]] = []
    for _ in range(2):
        exporter.put(spans(1)[0])
        journal.begin(0)
        (path,) = tmp_path.glob("*.open")
        headers.append(json.loads(path.read_bytes().partition(b"\n")[0]))
        exporter.rotate()
        journal.rewrite()
    assert [header["journal"] for header in headers] == [1, 2]
    assert ["from" in header for header in headers] == [True, False]
    assert headers[1]["part"] == 2


every_step = pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.thorough)])


@every_step
@pytest.mark.parametrize("kind", ["rotation", "nested"])
def test_a_kill_in_each_step_of_a_rotation_loses_nothing(
    kind: str, step: int, tmp_path: Path
) -> None:
    for folder in killed(kind, tmp_path, step):
        times, complete = finished(folder)
        assert set(ended(folder)) <= complete
        assert set(times.values()) == {1}


@every_step
def test_a_kill_in_each_step_of_a_removal_loses_no_newer_run(step: int, tmp_path: Path) -> None:
    for folder in killed("removal", tmp_path, step):
        times, complete = finished(folder)
        remaining = [span_id in complete for span_id in ended(folder)]
        assert remaining == sorted(remaining)  # the oldest are gone, and no other
        assert all(remaining[-6:])
        assert set(times.values()) == {1}
