"""Refusals of a receiver are named once at first, and summed up at the end."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.ground.environment import Signal
from agentool_otel.tracing.export.disk.files import RecordingDir
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from agentool_otel.tracing.export.send.outbox import Outbox
from tests.tracing.export.logged import record
from tests.tracing.export.receiver import HttpReceiver
from tests.tracing.export.samples import span_with

NOUNS: dict[Signal, str] = {"traces": "span", "logs": "log record"}


@contextmanager
def logged() -> Generator[list[str]]:
    """Collect the log messages of the outbox in a list."""
    lines: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    log, handler = logging.getLogger("agentool_otel.tracing.export.send.outbox"), Collect()
    log.addHandler(handler)
    try:
        yield lines
    finally:
        log.removeHandler(handler)


def send(kind: Signal, batches: list[int], receiver: HttpReceiver, folder: str | None) -> Outbox:
    """Send batches of so many items and close."""
    place = None if folder is None else RecordingDir(Path(folder))
    outbox = Outbox(OtlpTarget.at(receiver.endpoint, {}), place, signal=kind)
    for size in batches:
        for _ in range(size):
            outbox.put(record() if kind == "logs" else span_with({}))
        outbox.flush(60)
    outbox.close(60)
    return outbox


@pytest.mark.parametrize("kind", NOUNS)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=3))
@settings(max_examples=10)
def test_the_sum_of_what_is_refused_is_logged_at_the_end(kind: Signal, batches: list[int]) -> None:
    noun, total = NOUNS[kind], sum(batches)
    with TemporaryDirectory() as folder, HttpReceiver(status=400) as receiver, logged() as lines:
        assert send(kind, batches, receiver, folder).refused == total
    first, *last = lines
    number = int(first.removeprefix(f"{receiver.endpoint} refused ").split()[0])
    assert f"refused {number} {noun}{'s' * (number > 1)} (HTTP 400" in first
    assert f"): {'they are' if number > 1 else 'it is'} kept in {folder}" in first
    assert last == [
        f"{total} {noun}s were refused by {receiver.endpoint} (HTTP 400 Bad Request) and are "
        f"kept in {folder}; `agentool-otel recover` sends them"
    ] * (number < total)


def test_what_is_refused_and_has_no_place_is_lost_and_summed_up() -> None:
    with HttpReceiver(status=400) as receiver, logged() as lines:
        outbox = send("traces", [3, 2], receiver, None)
    assert (outbox.refused, outbox.dropped) == (0, 5)
    assert lines[0].endswith(": lost")
    assert lines[1:] == [
        f"spans could not be delivered to {receiver.endpoint} (HTTP 400 Bad Request); "
        "5 were lost; 0 were delivered"
    ]
