"""Processes killed at random moments: ended spans are there once, and nothing is made up.

AGENTOOL_KILLS sets how many are killed in each test.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from agentool_otel.cli.recover import recover
from agentool_otel.model.spans import is_fragment
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from tests.tracing.export import killed
from tests.tracing.export.receiver import HttpReceiver
from tests.tracing.export.test_exits import received

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals")

KILLS = int(os.environ.get("AGENTOOL_KILLS", "40"))


def run(folder: Path, **environ: str) -> set[str]:
    """Kill processes; return the ids of the spans that had ended, with a log record in each."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    done = subprocess.run(
        [sys.executable, killed.__file__, str(KILLS), str(random.randrange(1 << 30))],
        cwd=folder,
        env={**clean, "OTEL_METRICS_EXPORTER": "none", **environ},
        capture_output=True,
        text=True,
        timeout=60 + KILLS,
        check=True,
    )
    assert done.stderr == ""
    ended = [line for file in (folder / "reports").iterdir() for line in file.read_text().split()]
    assert len(ended) == len(set(ended))
    return set(ended)


def test_spans_ended_before_a_kill_are_recorded_once(tmp_path: Path) -> None:
    ended = run(tmp_path)
    recover(tmp_path / ".agentool")
    source = open_source(tmp_path / ".agentool")
    result = Counter[str]()
    logged = Counter[str]()
    finished: set[str] = set()
    for span in source.spans():
        if is_fragment(span):
            logged[span.span_id] += len(span.events)
            continue
        result[span.span_id] += 1
        if not span.attributes.get(agentool.INCOMPLETE):
            finished.add(span.span_id)
    assert source.problems == []
    assert ended <= finished
    assert set(result.values()) == {1}
    assert ended <= logged.keys()
    assert set(logged.values()) == {1}
    print(f"{KILLS} kills: {len(ended)} spans ended, {len(result)} recovered", file=sys.stderr)


LOGS_ELSEWHERE = {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://127.0.0.1:10/v1/logs"}


@pytest.mark.thorough
@pytest.mark.parametrize("more", [{}, LOGS_ELSEWHERE], ids=["one endpoint", "two endpoints"])
def test_spans_ended_before_a_kill_arrive_at_an_endpoint_that_was_down(
    more: dict[str, str], tmp_path: Path
) -> None:
    ended = run(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", **more)
    with HttpReceiver() as receiver:
        recover(tmp_path / ".agentool", OtlpTarget(receiver.endpoint, "http/protobuf"))
        arrived = Counter((span_id.hex(), marked) for span_id, marked in received(receiver))
        logged = Counter(record.span_id.hex() for record in receiver.logs())
    assert ended <= {span_id for span_id, marked in arrived if not marked}
    assert max(arrived.values()) == 1  # nothing was sent before, so nothing twice
    assert ended <= logged.keys()
    assert max(logged.values()) == 1


@pytest.mark.thorough
def test_spans_ended_before_a_kill_arrive_at_an_endpoint_that_is_up(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        ended = run(
            tmp_path,
            OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
            OTEL_BSP_SCHEDULE_DELAY="5",
        )
        if (tmp_path / ".agentool").exists():
            recover(tmp_path / ".agentool")
        arrived = {span_id.hex() for span_id, marked in received(receiver) if not marked}
        logged = {record.span_id.hex() for record in receiver.logs()}
    assert ended <= arrived
    assert ended <= logged
